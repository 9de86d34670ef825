"""The metric interface, and `measure`: replay a set of traces once, pass it to every metric, return one tidy table."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from interplay.errors import InterplayError
from interplay.games.api import Game, is_jax
from interplay.registry import Registry
from interplay.rollout.engine import engine_by_name
from interplay.rollout.episode import Episode
from interplay.table import Row, Table, plain, write_rows
from interplay.traces import Replay, ReplayBatch, TraceSet, game_of, replay_batches, replays
from interplay.traces.replay import check_agrees

CHUNK = 64  # episodes replayed at once
FRONT = [
    "game",
    "episode",
    "agents",
    "privileged",
    "seed",
    "seat",
    "agent",
    "metric",
    "value",
]  # columns of measurements

METRICS = Registry(
    "metric",
    entry_points="interplay.metrics",
    table={
        "score": "interplay.metrics.score:SCORE",
        "events": "interplay.metrics.events:EVENTS",
        "communication": "interplay.metrics.communication.metric:COMMUNICATION",
        "counterfactual": "interplay.metrics.counterfactual:COUNTERFACTUAL",
        "crossplay": "interplay.metrics.crossplay:CROSSPLAY",
        "information": "interplay.metrics.information:INFORMATION",
        "model_calls": "interplay.metrics.model_calls:MODEL_CALLS",
        "prediction": "interplay.metrics.action_prediction:PREDICTION",
        "hanabi/dominance": "interplay.metrics.hanabi.dominance:DOMINANCE",
        "hanabi/behaviour": "interplay.metrics.hanabi.behaviour:BEHAVIOUR",
        "hanabi/context": "interplay.metrics.hanabi.context_independence:CONTEXT",
        "hanabi/conventions": "interplay.metrics.hanabi.conventions:CONVENTIONS",
        "hanabi/pool": "interplay.metrics.hanabi.agent_pool:POOL",
        "interdependence": "interplay.metrics.interdependence.metric:INTERDEPENDENCE",
    },
)


@dataclass(frozen=True)
class Sample:
    """Some episodes of one game, with their numbers in the trace set. They are replayed on first use."""

    game: Game
    numbers: Sequence[int]
    episodes: Sequence[Episode]
    options: Mapping[str, Any] = field(default_factory=dict)
    _shared: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def replays(self) -> list[Replay]:
        """The replay of every episode, compared with its record; computed once."""
        if is_jax(self.game):
            return self.shared("replays", lambda one: [replay for batch in one.batches for replay in batch.each()])
        return self.shared("replays", lambda one: list(replays(one.game, one.episodes, chunk=CHUNK)))

    @property
    def batches(self) -> list[ReplayBatch]:
        """Every episode of a JAX game played again as arrays [episode, step, ...], compared with its record."""
        return self.shared("batches", _replay_batches)

    def shared(self, name: str, build: Callable[[Sample], Any]) -> Any:
        """What several metrics need of a sample, built when the first of them asks."""
        if name not in self._shared:
            self._shared[name] = build(self)
        return self._shared[name]

    def about(self) -> list[Row]:
        """The columns with which every row of an episode begins."""
        return [about(number, episode) for number, episode in zip(self.numbers, self.episodes, strict=True)]


def _replay_batches(sample: Sample) -> list[ReplayBatch]:
    batches = list(replay_batches(sample.game, sample.episodes, chunk=CHUNK))
    for batch in batches:
        for episode, replay in zip(batch.episodes, batch.each(), strict=True):
            check_agrees(sample.game, episode, replay)
    return batches


class Compute(Protocol):
    """The function that computes a metric on one sample."""

    def __call__(self, sample: Sample) -> Iterable[Any]:
        """Return rows, or the parts that `finish` makes rows of."""
        ...


class Finish(Protocol):
    """The function that makes rows of the parts of all samples."""

    def __call__(self, parts: Sequence[Any], options: Mapping[str, Any]) -> Iterable[Row]:
        """Return the rows of the parts that `compute` gave for each sample."""
        ...


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A metric: how it is computed and how it is described.

    `compute` gives rows with at least `metric` and `value`. A metric over many episodes at once (an entropy) has
    `finish` too: then `compute` gives parts, such as counts, and `finish` makes rows of the parts of all samples.
    """

    name: str
    doc: str
    compute: Compute
    direction: str  # "higher" or "lower" is better, or "neither"
    unit: str
    source: str  # where it is defined
    finish: Finish | None = None
    needs: tuple[str, ...] = ("traces",)  # also: policies, panel, ratings
    options: Mapping[str, str] = field(default_factory=dict)  # what may be set, and what it does
    describing: tuple[str, ...] = ()  # columns that describe a value (an interval, a count): no keys to group by


def about(number: int, episode: Episode) -> Row:
    """Which episode a row speaks of, and who played it."""
    names = [identity.name for identity in episode.agents]
    return {
        "game": episode.game_id,
        "episode": number,
        "agents": " | ".join(names),
        "privileged": any(identity.privileged for identity in episode.agents),
        "seed": episode.seed,
    }


def metric(name: str) -> Metric:
    """Return the metric of this name.

    Raises:
        InterplayError: There is no such metric.
    """
    return METRICS.load(name)


def measure(
    traces: TraceSet,
    metrics: Sequence[str | Metric],
    *,
    progress: Callable[[int], None] | None = None,
    engine: str = "local",
    mean: bool = False,
    **options: Any,
) -> Table:
    """Measure a trace set and return a tidy table with one row per value.

    The columns are game, episode, agents, seat (or giver and receiver), metric, value, and those that the metrics add.

    Args:
        traces: The set.
        metrics: Names of metrics, or metrics.
        progress: Called with the number of episodes after each part is measured.
        engine: Where the work runs: `local`, or `ray`.
        mean: Average over the episodes of each team as they are measured, so that memory does not grow with the set.
        options: Options of the metrics; each goes to the metrics that declare it.

    Raises:
        InterplayError: The set is empty, or a metric or an option is not known.
    """
    chosen = _chosen(metrics, options)
    parts = _measured_parts(_samples_of(traces, options), chosen, options, progress, engine)
    return _means(parts, chosen) if mean else _table(parts, chosen)


def write_measured(
    traces: TraceSet,
    metrics: Sequence[str | Metric],
    path: Path,
    *,
    progress: Callable[[int], None] | None = None,
    engine: str = "local",
    **options: Any,
) -> int:
    """Measure a trace set into a file (.csv or .parquet) as it is read, so that memory does not grow with the set.

    Returns:
        The number of rows.
    """
    chosen = _chosen(metrics, options)
    return write_rows(path, _measured_parts(_samples_of(traces, options), chosen, options, progress, engine), FRONT)


def measure_samples(parts: Iterable[Sample], metrics: Sequence[str | Metric], options: Mapping[str, Any]) -> Table:
    """Measure samples, which may have been replayed already, and return a tidy table."""
    chosen = _chosen(metrics, options)
    return _table(_measured_parts(parts, chosen, options), chosen)


def _chosen(metrics: Sequence[str | Metric], options: Mapping[str, Any]) -> list[Metric]:
    if not metrics:
        raise InterplayError(f"name at least one metric: {', '.join(METRICS.names())}")
    listed = [metrics] if isinstance(metrics, str) else metrics
    chosen = [m if isinstance(m, Metric) else metric(m) for m in listed]
    known = {option: m.name for m in chosen for option in m.options}
    for option in options:
        if option not in known:
            described = ", ".join(f"{o} ({m})" for o, m in known.items()) or "no options"
            raise InterplayError(f"no metric here takes the option {option!r}; they take {described}")
    for one in chosen:
        for need in one.needs:
            if need != "traces" and options.get(need) is None:
                raise InterplayError(
                    f"the metric {one.name!r} needs {need}, not traces alone: {one.options.get(need, 'give them too')}"
                )
    return chosen


def _measured_parts(
    parts: Iterable[Sample],
    chosen: Sequence[Metric],
    options: Mapping[str, Any],
    progress: Callable[[int], None] | None = None,
    engine: str = "local",
) -> Iterator[list[Row]]:
    """Yield the rows of each sample, then those of the metrics over all samples."""
    unfinished: list[list[Any]] = [[] for _ in chosen]
    for episodes, results in engine_by_name(engine).map(functools.partial(_measure_sample, chosen), parts):
        for one, result, into in zip(chosen, results, unfinished, strict=True):
            if one.finish is None:
                yield result
            else:
                into.extend(result)
        if progress:
            progress(episodes)
    for one, metric_parts in zip(chosen, unfinished, strict=True):
        if one.finish is not None:
            yield list(one.finish(metric_parts, options))


def _table(parts: Iterable[list[Row]], chosen: Sequence[Metric]) -> Table:
    rows = [row for part in parts for row in part]
    columns = [c for c in FRONT if c in rows[0]] if rows else FRONT
    return replace(Table.of(rows, "measurements", columns=columns), describing=_describing(chosen))


def _means(parts: Iterable[list[Row]], chosen: Sequence[Metric]) -> Table:
    """Average over the episodes of each team; a value missing in all of them stays missing."""
    describing = _describing(chosen)
    left_out = {"episode", "value", "seed", *describing}
    columns: dict[str, None] = {}
    sums: dict[tuple[tuple[str, Any], ...], list[Any]] = {}
    for part in parts:
        for row in part:
            columns = columns or dict.fromkeys(c for c in FRONT if c in row)
            columns.update(dict.fromkeys(row))
            key = tuple(sorted((c, v) for c, v in row.items() if c not in left_out and v is not None))
            total = sums.setdefault(key, [0, 0])
            if (value := plain(row["value"])) is not None:
                total[0] += value
                total[1] += 1
    by = [c for c in columns or FRONT if c not in left_out]
    rows = [
        dict(key) | {"value": total / count if count else None, "episodes": count or None}
        for key, (total, count) in sums.items()
    ]
    return replace(Table.of(rows, "measurements", columns=[*by, "value", "episodes"]), describing=("episodes",))


def _describing(chosen: Sequence[Metric]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(c for one in chosen for c in one.describing))


def _samples_of(traces: TraceSet, options: Mapping[str, Any]) -> Iterator[Sample]:
    if len(traces) == 0:
        raise InterplayError(f"{traces.name} holds no episodes, so there is nothing to measure")
    return samples(traces, options)


def _measure_sample(chosen: Sequence[Metric], sample: Sample) -> tuple[int, list[list[Any]]]:
    return len(sample.numbers), [list(one.compute(sample)) for one in chosen]


def samples(traces: TraceSet, options: Mapping[str, Any]) -> Iterator[Sample]:
    """The set cut into runs of episodes of one game, in order."""
    items = traces.items()
    while part := list(islice(items, CHUNK)):
        runs: list[list[tuple[int, Episode]]] = []
        for number, episode in part:
            same = runs and game_of(runs[-1][0][1]) is game_of(episode)
            if same:
                runs[-1].append((number, episode))
            else:
                runs.append([(number, episode)])
        for run in runs:
            yield Sample(game_of(run[0][1]), [n for n, _ in run], [e for _, e in run], options)
