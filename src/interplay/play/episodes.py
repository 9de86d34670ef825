"""What a rollout hands on: each episode as recorded fact, ready to become a trace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from interplay.agents.api import Identity

CHECK_EVERY = 50  # steps between two checksums of a trace


@dataclass(frozen=True, kw_only=True)
class Remarked:
    """A remark of a seat, at a time; `seq` orders the remarks of one time step."""

    t: int
    seq: int
    seat: int | None
    kind: str
    payload: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Episode:
    """One episode. States, observations and game events are not kept: replay gives them again."""

    game_id: str
    options: Mapping[str, Any]
    rules_version: str
    agents: tuple[Identity, ...]  # by seat
    seed: int
    index: int  # the episode's number within its line-up
    start: Mapping[str, np.ndarray]  # `game.init(key, **start)` gives the first state
    actions: np.ndarray  # [step, seat] int16
    check_steps: np.ndarray  # [check] steps played when the checksum was taken: 0, 50, ..., and the last
    checks: np.ndarray  # [check] uint32
    rewards: np.ndarray  # [seat] float64: points credited to each seat
    terminated: bool
    events: tuple[Remarked, ...] = ()
    states: bytes | None = None  # of a game that cannot be replayed

    @property
    def length(self) -> int:
        return len(self.actions)

    @property
    def score(self) -> float:
        """The team's score."""
        return float(np.sum(self.rewards))
