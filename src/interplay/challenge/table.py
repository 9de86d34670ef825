"""A game in play, as the arena that plays it and the host that serves it share it."""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from interplay.agents.api import Agent, Identity
from interplay.challenge.schedule import Seats
from interplay.games.api import Game
from interplay.rollout.episode import CHECK_EVERY, Episode, RecordedEvent

TEXT = "text"  # beside a game's encodings: the game as text for a seat, where games are played in plain Python


@dataclass(frozen=True)
class Look:
    """What the candidate's seats see at one time; nothing else ever leaves the server."""

    t: int
    observations: Mapping[int, Any]  # by seat of the candidate: a record of arrays, of that seat alone
    legal: Mapping[int, np.ndarray]  # by seat, [action] bool
    turn: Mapping[int, bool]
    done: bool
    score: float  # of the team, so far
    taken: Mapping[int, int] = field(default_factory=dict)  # what the candidate's seats did one step before


@dataclass
class Table:
    """One game in play: who sits where, and what has happened so far."""

    seats: Seats
    chance: tuple[int, int]
    encoding: str
    slot: int = -1  # its place in an arena's pool
    start: Mapping[str, np.ndarray] = field(default_factory=dict)
    actions: list[np.ndarray] = field(default_factory=list)
    check_steps: list[int] = field(default_factory=list)
    checks: list[int] = field(default_factory=list)
    last_check: int = 0
    rewards: np.ndarray | None = None
    terminated: bool = False
    done: bool = False
    remarks: list[RecordedEvent] = field(default_factory=list)
    states: list[Any] = field(default_factory=list)  # of a game that cannot be replayed

    @property
    def candidate(self) -> tuple[int, ...]:
        return tuple(seat for seat, who in enumerate(self.seats) if who is None)

    @property
    def score(self) -> float:
        return 0.0 if self.rewards is None else float(np.sum(self.rewards))

    def begin(self, start: Mapping[str, np.ndarray], check: int) -> None:
        self.start, self.rewards = start, np.zeros(len(self.seats))
        self.check_steps, self.checks, self.last_check = [0], [check], check

    def record(self, joint: np.ndarray, reward: np.ndarray, terminated: bool, done: bool, check: int) -> None:
        """One step that was played."""
        assert self.rewards is not None
        self.actions.append(np.asarray(joint, np.int16))
        self.rewards = self.rewards + reward
        self.terminated, self.done, self.last_check = terminated, done, check
        if len(self.actions) % CHECK_EVERY == 0 or done:
            self._mark()

    def _mark(self) -> None:
        """Keep the checksum of the state after the last step."""
        if self.check_steps[-1] != len(self.actions):
            self.check_steps.append(len(self.actions))
            self.checks.append(self.last_check)

    def remark(self, kind: str, **payload: Any) -> None:
        t = len(self.actions)
        seq = sum(r.t == t for r in self.remarks)
        self.remarks.append(RecordedEvent(t=t, seq=seq, seat=None, kind=kind, payload=payload))

    def episode(self, game: Game, partners: Sequence[Identity], candidate: Identity, index: int) -> Episode:
        """What happened, as a trace holds it."""
        self._mark()  # a game that was abandoned ends anywhere
        return Episode(
            game_id=game.id,
            options=json.loads(json.dumps(dict(game.options))),
            rules_version=game.rules_version,
            agents=tuple(candidate if who is None else partners[who] for who in self.seats),
            seed=0,  # what chance decided is in `start`; the secret it came from stays on the server
            index=index,
            start=dict(self.start),
            actions=np.array(self.actions, np.int16).reshape(-1, len(self.seats)),
            check_steps=np.array(self.check_steps, np.int32),
            checks=np.array(self.checks, np.uint32),
            rewards=np.zeros(len(self.seats)) if self.rewards is None else self.rewards.astype(np.float64),
            terminated=self.terminated,
            events=tuple(self.remarks),
            states=None if game.replayable else pickle.dumps(self.states),
        )


class Arena(Protocol):
    """Where games of one kind are played with the hidden partners."""

    game: Game
    partners: list[Agent]

    async def begin(self, table: Table, skip: bool) -> list[Look]:
        """Deal; what the candidate's seats see first (and, with `skip`, until it is to move)."""
        ...

    async def advance(self, table: Table, actions: Mapping[int, int], skip: bool) -> list[Look]:
        """Play the candidate's actions, which are legal, and the partners'. With `skip`, go on until the candidate is
        to move or the game is over; the looks in between come along."""
        ...

    def leave(self, table: Table) -> None:
        """The table is no longer needed."""
        ...

    def warm(self, encoding: str) -> None:
        """Compile what playing with this encoding needs."""
        ...

    def close(self) -> None: ...


class Fault(Exception):
    """A partner or the game failed: the host's fault, not the candidate's."""
