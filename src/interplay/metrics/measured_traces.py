"""A trace set that was read and measured once: what reports are made of."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.games.registry import scoring
from interplay.metrics.api import Metric, Sample, measure_samples, samples
from interplay.rollout.episode import Episode
from interplay.table import Row, Table
from interplay.traces import Replay, TraceSet

MOST_EPISODES = 600  # measured for a report; `interplay measure` measures all


class MeasuredTraces:
    """A trace set whose episodes are read once, replayed once and measured once by each metric.

    Of a set with many episodes the first of each team are measured; scores are those of all episodes.
    """

    def __init__(self, traces: TraceSet, *, shown: Sequence[int] | None = None, most: int = MOST_EPISODES):
        """Choose the episodes.

        Args:
            traces: The set.
            shown: Numbers of episodes that will be shown; by default the one with the best score and the worst.
            most: Episodes that are measured at the most, those shown aside.

        Raises:
            InterplayError: An episode that is to be shown is not in the set.
        """
        self.traces, self.summary = traces, traces.summary()
        if not len(self.summary):
            raise InterplayError(f"{traces.name} holds no episodes, so there is nothing to report")
        numbers = {row["episode"] for row in self.summary}
        for number in shown or ():
            if number not in numbers:
                count, last = len(numbers), max(numbers)
                raise InterplayError(f"{traces.name} has no episode {number}; it has {count}, the last is {last}")
        self.shown = list(shown) if shown is not None else _extremes(self.summary)
        self.measured = set(_first_of_each_team(self.summary, most))
        self._tables: dict[str, Table] = {}

    @cached_property
    def samples(self) -> list[Sample]:
        """The measured and the shown episodes, game by game."""
        wanted = self.measured | set(self.shown)
        every = len(wanted) == len(self.summary)
        chosen = self.traces if every else self.traces.select(where=lambda row: row["episode"] in wanted)
        return list(samples(chosen, {}))

    @cached_property
    def games(self) -> list[Game]:
        """The games of the measured episodes, each once."""
        return list({id(sample.game): sample.game for sample in self.samples}.values())

    @cached_property
    def scores(self) -> Table:
        """The score of every episode: game, episode, agents, privileged, seed, scoring, metric, value."""
        rows = [
            {
                "game": row["game"],
                "episode": row["episode"],
                "agents": " | ".join(row["agents"]),
                "privileged": any(row["privileged"]),
                "seed": row["seed"],
                **scoring(row["game"], row["options"]),
                "metric": "score",
                "value": row["score"],
            }
            for row in self.summary
        ]
        return Table.of(rows, "measurements")

    def measure(self, metrics: Sequence[str | Metric], *, shown: bool = False, **options: Any) -> Table:
        """Metrics of the measured episodes, or of the shown ones alone; the same question is answered once.

        Args:
            metrics: Names of metrics, or metrics.
            shown: Measure the shown episodes alone.
            options: As `interplay.measure` takes them.
        """
        key = json.dumps([[str(m) for m in metrics], shown, options], sort_keys=True, default=str)
        if key not in self._tables:
            wanted = set(self.shown) if shown else self.measured
            parts = (_only(sample, wanted, options) for sample in self.samples)
            self._tables[key] = measure_samples((part for part in parts if part.numbers), metrics, options)
        return self._tables[key]

    def episode(self, number: int) -> tuple[Game, Episode, Replay]:
        """An episode of those shown, its game and its replay."""
        for sample in self.samples:
            if number in sample.numbers:
                place = list(sample.numbers).index(number)
                return sample.game, sample.episodes[place], sample.replays[place]
        raise InterplayError(f"episode {number} was not read for this report")


def _only(sample: Sample, wanted: set[int], options: dict[str, Any]) -> Sample:
    """The wanted episodes of a sample; the whole one keeps what was replayed for others."""
    keep = [i for i, number in enumerate(sample.numbers) if number in wanted]
    if len(keep) == len(sample.numbers):
        return replace(sample, options=options)
    part = Sample(sample.game, [sample.numbers[i] for i in keep], [sample.episodes[i] for i in keep], options)
    part.shared("replays", lambda _: [sample.replays[i] for i in keep])
    return part


def _extremes(summary: Table) -> list[int]:
    """The episode with the best score and the one with the worst."""
    best, worst = (pick(summary.rows, key=lambda r: r["score"])["episode"] for pick in (max, min))
    return [best] if best == worst else [best, worst]


def _first_of_each_team(summary: Table, most: int) -> list[int]:
    if len(summary) <= most:
        return [row["episode"] for row in summary]
    teams: dict[str, list[Row]] = {}
    for row in summary:
        teams.setdefault(str((row["game"], row["options"], row["agents"])), []).append(row)
    each = max(1, most // len(teams))
    return [row["episode"] for rows in teams.values() for row in rows[:each]]
