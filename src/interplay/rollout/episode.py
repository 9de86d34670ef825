"""The record of an episode as a rollout gives it, ready to become a trace."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from interplay.agents.api import Identity, Move, TraceEvent
from interplay.games.api import Game

CHECK_EVERY = 50  # steps between two checksums of a trace


@dataclass(frozen=True, kw_only=True)
class RecordedEvent:
    """An event of a trace that is no action: a message, a plan, a verdict, a timing."""

    t: int  # steps played before it
    seq: int  # orders the events of one step
    seat: int | None  # None: it belongs to no seat
    kind: str
    payload: Mapping[str, Any]


class EventLog:
    """The events of one episode in their order, numbered within each step."""

    def __init__(self) -> None:
        self.events: list[RecordedEvent] = []

    def add(self, t: int, seat: int | None, event: TraceEvent) -> None:
        """Append an event; one that comes late belongs to the step of the last one."""
        if self.events:
            t = max(t, self.events[-1].t)
        seq = self.events[-1].seq + 1 if self.events and self.events[-1].t == t else 0
        self.events.append(RecordedEvent(t=t, seq=seq, seat=seat, kind=event.kind, payload=dict(event.payload)))


@dataclass(frozen=True, kw_only=True)
class Episode:
    """One episode. States, observations and game events are not kept where replay gives them again."""

    game_id: str
    options: Mapping[str, Any]
    rules_version: str
    agents: tuple[Identity, ...]  # by seat
    seed: int
    index: int  # the episode's number within its team
    start: Mapping[str, np.ndarray]  # `game.init(key, **start)` gives the first state
    actions: np.ndarray  # [step, seat] int16
    check_steps: np.ndarray  # [check] steps played when the checksum was taken: 0, 50, ..., and the last
    checks: np.ndarray  # [check] uint32
    rewards: np.ndarray  # [seat] float64: points credited to each seat
    terminated: bool
    events: tuple[RecordedEvent, ...] = ()
    states: Mapping[str, np.ndarray] | None = None  # of a game that cannot be replayed: see `games.state_arrays`

    @classmethod
    def of(cls, game: Game, **facts: Any) -> Episode:
        """Make the record of an episode of this game; `facts` are the fields that the game does not tell."""
        options = json.loads(json.dumps(dict(game.options)))
        return cls(game_id=game.id, options=options, rules_version=game.rules_version, **facts)

    @property
    def length(self) -> int:
        """Steps played."""
        return len(self.actions)

    @property
    def score(self) -> float:
        """The team's score."""
        return float(np.sum(self.rewards))


class EpisodeRecorder:
    """Collects what happens in one episode, step by step, for runners that step one game at a time."""

    def __init__(self, game: Game, state: Any, start: Mapping[str, Any], check: int):
        self.game, self.start, self.log = game, {n: np.array(v) for n, v in start.items()}, EventLog()
        self.actions: list[np.ndarray] = []
        self.rewards = np.zeros(game.num_seats)
        self.terminated = self.done = False
        self.check = check  # of the state as it is
        self._check_steps, self._checks = [0], [check]
        self._kept: tuple[list[Any], list[Any]] | None = None if game.replayable else ([state], [])

    @property
    def t(self) -> int:
        """Steps played so far."""
        return len(self.actions)

    @property
    def score(self) -> float:
        """The team's points so far."""
        return float(sum(self.rewards.tolist()))

    def record(self, actions: np.ndarray, reward: Any, terminated: bool, done: bool, check: int) -> None:
        """Note one step that was played.

        Args:
            actions: The joint action, [seat].
            reward: What each seat earned, [seat].
            terminated: Whether the game is over by its own rules.
            done: Whether the episode is over, by its rules or by its horizon.
            check: The checksum of the state that came of it.
        """
        self.actions.append(np.asarray(actions, np.int16))
        self.rewards = self.rewards + np.asarray(reward, np.float64)
        self.terminated, self.done, self.check = bool(terminated), bool(done), int(check)
        if self.done or self.t % CHECK_EVERY == 0:
            self.keep_check()

    def joint(self, moves: Sequence[Move]) -> np.ndarray:
        """The joint action of all seats' moves, whose events are noted."""
        for seat, move in enumerate(moves):
            for event in move.events:
                self.log.add(self.t, seat, event)
        return np.array([move.action for move in moves], np.int32)

    def keep_state(self, state: Any, step: Any) -> None:
        """Keep a state and the step that led to it, of a game that cannot be replayed."""
        if self._kept is not None:
            self._kept[0].append(state)
            self._kept[1].append(step)

    def keep_check(self) -> None:
        """Keep the checksum of the state as it is, once."""
        if self._check_steps[-1] != self.t:
            self._check_steps.append(self.t)
            self._checks.append(self.check)

    def episode(self, agents: Sequence[Identity], seed: int, index: int) -> Episode:
        """The episode so far, whether it has come to its end or was broken off."""
        from interplay.games.state_arrays import pack

        self.keep_check()
        return Episode.of(
            self.game,
            agents=tuple(agents),
            seed=seed,
            index=index,
            start=dict(self.start),
            actions=np.array(self.actions, np.int16).reshape(-1, self.game.num_seats),
            check_steps=np.array(self._check_steps, np.int32),
            checks=np.array(self._checks, np.uint32),
            rewards=np.asarray(self.rewards, np.float64),
            terminated=self.terminated,
            events=tuple(self.log.events),
            states=None if self._kept is None else pack(self.game, *self._kept),
        )
