"""A candidate's game with hidden partners, and what of it leaves the server."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

from interplay.agents.api import Identity
from interplay.challenge.schedule import Seats
from interplay.rollout.episode import Episode
from interplay.rollout.live import LiveEngine, LiveTable, PartnerFault, play_on

THINK_S = 300.0  # how long a partner that is a Python object may think


@dataclass(frozen=True)
class CandidateView:
    """What the candidate's seats see at one time; nothing else ever leaves the server."""

    t: int
    observations: Mapping[int, Any]  # by seat of the candidate: a record of arrays, of that seat alone
    legal: Mapping[int, np.ndarray]  # by seat, [action] bool
    turn: Mapping[int, bool]
    done: bool
    score: float  # of the team, so far
    taken: Mapping[int, int] = field(default_factory=dict)  # what the candidate's seats did one step before


class CandidateTable:
    """One game in play: who sits where, and what has happened so far."""

    def __init__(self, seats: Seats, chance: tuple[int, int], encoding: str):
        """Lay a table.

        Args:
            seats: By seat, the number of a partner, or None for the candidate.
            chance: What chance decides, as the data of a key.
            encoding: In which the candidate's seats see the game.
        """
        self.seats = seats
        bots = {seat: str(number) for seat, number in enumerate(seats) if number is not None}
        self.live = LiveTable(
            chance, bots, encoding=encoding, observed=lambda live: self._views.append(candidate_view(live))
        )
        self._views: list[CandidateView] = []

    @property
    def encoding(self) -> str:
        """In which the candidate's seats see the game."""
        return self.live.encoding or ""

    @property
    def candidate(self) -> tuple[int, ...]:
        """The candidate's seats."""
        return tuple(seat for seat, number in enumerate(self.seats) if number is None)

    async def begin(self, engine: LiveEngine, skip: bool) -> list[CandidateView]:
        """Deal; what the candidate's seats see first (and, with `skip`, until one of them is to move)."""
        try:
            await asyncio.wrap_future(engine.begin(self.live))
            engine.resume(self.live)
            if skip and not self.live.done and not any(self.live.turn[seat] for seat in self.candidate):
                await play_on(engine, self.live, {}, until_asked=True, think_s=THINK_S)
        except Exception as error:
            raise _fault(error) from error
        return self._new_views()

    async def advance(self, engine: LiveEngine, actions: Mapping[int, int], skip: bool) -> list[CandidateView]:
        """Play the candidate's actions, which are legal, and the partners'.

        With `skip`, go on until the candidate is to move or the game is over; the views in between come along.
        """
        try:
            await play_on(engine, self.live, actions, until_asked=skip, think_s=THINK_S)
        except Exception as error:
            raise _fault(error) from error
        return self._new_views()

    def _new_views(self) -> list[CandidateView]:
        views, self._views = self._views, []
        return views

    def episode(self, partners: Sequence[Identity], candidate: Identity, index: int) -> Episode:
        """What happened, as a trace holds it."""
        return self.live.episode([candidate if who is None else partners[who] for who in self.seats], index)


def _fault(error: Exception) -> PartnerFault:
    if isinstance(error, PartnerFault):
        return error
    return PartnerFault(f"the server failed: {type(error).__name__}")


def candidate_view(live: LiveTable) -> CandidateView:
    """The candidate's own rows of a table as it is, and no others."""
    seats = live.people
    return CandidateView(
        t=live.t,
        observations={seat: _row(live.observation, seat) for seat in seats},
        legal={seat: np.array(live.legal[seat]) for seat in seats},
        turn={seat: bool(live.turn[seat]) and not live.done for seat in seats},
        done=live.done,
        score=live.score,
        taken={seat: int(live.actions[-1][seat]) for seat in seats} if live.actions else {},
    )


def _row(observation: Any, seat: int) -> Any:
    if isinstance(observation, list):  # the game as text
        return observation[seat]
    return jax.tree_util.tree_map(lambda x: np.array(x[seat]), observation)
