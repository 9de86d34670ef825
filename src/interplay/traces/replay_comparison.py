"""The comparison of a replay with its record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from interplay.games.api import Game
from interplay.rollout.episode import Episode

if TYPE_CHECKING:
    from interplay.traces.replay import Replay


@dataclass(frozen=True, kw_only=True)
class Difference:
    """Where a replay and its record part ways."""

    what: str
    t: int | None = None  # steps played
    expected: str = ""  # what the record says
    found: str = ""  # what the replay gives

    def __str__(self) -> str:
        at = "" if self.t is None else f" at t={self.t}"
        numbers = f": recorded {self.expected}, replayed {self.found}" if self.expected or self.found else ""
        return f"{self.what}{at}{numbers}"


def compare(game: Game, episode: Episode, replay: Replay) -> list[Difference]:
    """Every way in which a replay disagrees with its record; none if all is well."""
    return [
        *_compare_checks(episode, replay),
        *_compare_legal(game, episode, replay),
        *_compare_end(episode, replay),
        *_compare_score(episode, replay),
    ]


def _compare_checks(episode: Episode, replay: Replay) -> Iterator[Difference]:
    steps = np.asarray(episode.check_steps)
    recorded, replayed = np.asarray(episode.checks), replay.checks[steps]
    wrong = np.flatnonzero(recorded != replayed)
    if wrong.size:
        first = wrong[0]
        since = f"the last that agrees is at t={steps[first - 1]}" if first > 0 else "even the start state differs"
        yield Difference(
            what=f"checksum of the state differs ({since})",
            t=int(steps[first]),
            expected=str(recorded[first]),
            found=str(replayed[first]),
        )


def _compare_legal(game: Game, episode: Episode, replay: Replay) -> Iterator[Difference]:
    illegal = np.argwhere(~replay.legal)
    if illegal.size:
        t, seat = (int(i) for i in illegal[0])
        action = int(episode.actions[t, seat])
        yield Difference(
            what=f"seat {seat} took an action that was not allowed",
            t=t,
            expected=f"{action} ({game.action_names[action]})",
            found="illegal",
        )


def _compare_end(episode: Episode, replay: Replay) -> Iterator[Difference]:
    terminated = np.asarray(replay.steps.terminated, dtype=bool)
    over = np.flatnonzero(terminated | np.asarray(replay.steps.truncated, dtype=bool))
    if over.size and over[0] + 1 < episode.length:
        t = int(over[0]) + 1
        yield Difference(what="the game was over", t=t, expected=f"{episode.length} steps", found=f"{t} steps")
    elif episode.terminated != bool(terminated[-1:].any()):
        yield Difference(
            what="the end differs",
            t=episode.length,
            expected=_ending(episode.terminated),
            found=_ending(not episode.terminated),
        )


def _ending(terminated: bool) -> str:
    return "ended by the rules" if terminated else "not ended by the rules"


def _compare_score(episode: Episode, replay: Replay) -> Iterator[Difference]:
    rewards = np.asarray(replay.steps.reward, dtype=np.float64)
    recorded, replayed = np.asarray(episode.rewards), rewards.sum(axis=0)
    wrong = np.flatnonzero(~(np.abs(recorded - replayed) <= _rounding(rewards)))
    if wrong.size:
        yield Difference(
            what=f"score differs (first at seat {wrong[0]})",
            t=episode.length,
            expected=f"{recorded.tolist()}, in all {recorded.sum():g}",
            found=f"{replayed.tolist()}, in all {replayed.sum():g}",
        )


def _rounding(rewards: np.ndarray) -> np.ndarray:
    """[seat] How far off a rollout may be that added up these rewards in 32 bits: whole points agree exactly."""
    if np.array_equal(rewards, np.round(rewards)):
        return np.zeros(rewards.shape[1])
    return np.finfo(np.float32).eps * (8 + np.sqrt(len(rewards))) * np.abs(rewards).sum(axis=0)
