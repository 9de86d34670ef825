"""All objective metrics of every agent of a pool, from its cross-play: the table compared with human preference.

One pass over the traces: counts by team, which become one value with each partner, and their mean and spread.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from interplay.metrics import crossplay, information
from interplay.metrics.api import Metric, Sample
from interplay.metrics.grouping import MEAN, TeamGroup, by_pair, over_partners, team
from interplay.metrics.hanabi import behaviour, dominance
from interplay.metrics.hanabi import context_independence as context
from interplay.metrics.hanabi.moves import KNOWN, moves, per_seat, rules_of
from interplay.table import Row, Table

BOMBS = ("zero", "keep")


class PoolRates(NamedTuple):
    """Of one seat: numerators and denominators by metric and sense of `known`."""

    top: dict[tuple[str, str | None], float]
    bottom: dict[tuple[str, str | None], float]


class PoolPart(NamedTuple):
    """The counts that one sample adds."""

    scores: dict[str, dict[TeamGroup, crossplay.CrossplaySums]]  # by what becomes of the points once the lives are lost
    information: Any
    context: Any
    rates: dict[TeamGroup, list[PoolRates]]


def compute(sample: Sample) -> Iterator[PoolPart]:
    """Yield the counts of a sample by team."""
    yield PoolPart(
        {bomb: _scores(sample, bomb) for bomb in BOMBS},
        next(iter(information.compute(sample))),
        next(iter(context.compute(sample))),
        _rates(sample),
    )


def _scores(sample: Sample, bomb: str) -> dict[TeamGroup, crossplay.CrossplaySums]:
    """The same games under either convention: the rule set that was played only changes the count."""
    rules_of(sample)
    sums: dict[TeamGroup, crossplay.CrossplaySums] = {}
    for batch in sample.batches:
        points = np.asarray(batch.states.fireworks[:, -1]).sum(axis=-1)
        alive = np.asarray(batch.states.lives[:, -1]) > 0
        scores = points if bomb == "keep" else points * alive
        for episode, score in zip(batch.episodes, scores.tolist(), strict=True):
            crossplay.add_game(sums, episode, score)
    return sums


def _rates(sample: Sample) -> dict[TeamGroup, list[PoolRates]]:
    """Shares of a game count once a game (g1 to g3); ipp and communicativeness once a play, and once a turn."""
    record = moves(sample)
    turns = per_seat(sample, record, np.ones(len(record.seat)))
    counts: dict[tuple[str, str | None], tuple[np.ndarray, np.ndarray]] = dict(behaviour.counts(sample, record))
    for name in dominance.NAMES:
        which = dominance.flags(record, name)
        for sense, known in enumerate(KNOWN):
            times = per_seat(sample, record, which[:, sense])
            counts[name, known] = np.divide(times, turns, out=np.zeros_like(times), where=turns > 0), turns > 0
    sums: dict[TeamGroup, list[PoolRates]] = {}
    teams = [team(e) for e in sample.episodes]
    for group in dict.fromkeys(teams):
        mine = np.array([t == group for t in teams])
        sums[group] = [
            PoolRates(*({key: float(both[i][mine, seat].sum()) for key, both in counts.items()} for i in range(2)))
            for seat in range(len(group.seats))
        ]
    return sums


def finish(parts: Sequence[PoolPart], options: Mapping[str, Any]) -> Iterator[Row]:
    """Yield every metric of each agent with each partner."""
    for bomb in BOMBS:
        for row in crossplay.finish([p.scores[bomb] for p in parts], options):
            yield {**row, "bomb": bomb}
    yield from information.finish([p.information for p in parts], options)
    yield from context.finish([p.context for p in parts], options)
    yield from _rate_rows(parts)


def _rate_rows(parts: Iterable[PoolPart]) -> Iterator[Row]:
    pairs = by_pair(p.rates for p in parts)
    keys = {key: None for rates in pairs.values() for rate in rates for key in rate.top}
    for name, known in keys:
        values = {}
        for pair, rates in pairs.items():
            top, bottom = (sum(part[i][name, known] for part in rates) for i in range(2))
            values[pair] = top / bottom if bottom else None
        for row in over_partners(values):
            yield {**row, "metric": name, "known": known}


POOL = Metric(
    name="hanabi/pool",
    doc="every objective metric of every agent of a pool: scores with itself, with its algorithm and with others under "
    "both bomb conventions, lengths, entropies, ic, ci, g1 to g3, ipp and communicativeness, with each partner and as "
    "mean and standard deviation over partners",
    compute=compute,
    finish=finish,
    describing=("sd", "games", "algorithms", "partners", "n"),
    direction="neither",
    unit="as each metric",
    source="the objective-metrics study of human preference in Hanabi, Table 3",
    options=context.CONTEXT.options,
)

COLUMNS: dict[str, dict[str, Any]] = {  # of the wide table: which rows each shows
    "self_play": {"metric": "self_play"},
    "intra_xp": {"metric": "intra_xp"},
    "inter_xp": {"metric": "inter_xp"},
    "ci": {"metric": "ci", "over": MEAN},
    "ic": {"metric": "ic", "role": information.ANSWERS, "over": MEAN, "estimate": information.PLUG_IN},
    "ic_corrected": {"metric": "ic", "role": information.ANSWERS, "over": MEAN, "estimate": information.CORRECTED},
    "ad_entropy": {"metric": "ad_entropy", "over": MEAN, "estimate": information.PLUG_IN},
    "ard_entropy": {
        "metric": "ard_entropy",
        "role": information.ANSWERS,
        "over": MEAN,
        "estimate": information.PLUG_IN,
    },
    "ard_entropy_led": {
        "metric": "ard_entropy",
        "role": information.LEADS,
        "over": MEAN,
        "estimate": information.PLUG_IN,
    },
    "g1": {"metric": "g1", "over": MEAN},
    "g2": {"metric": "g2", "over": MEAN},
    "g3": {"metric": "g3", "over": MEAN},
    "ipp": {"metric": "ipp", "known": "told", "over": MEAN},
    "communicativeness": {"metric": "communicativeness", "over": MEAN},
    "length": {"metric": "inter_xp_length"},
}


def wide(table: Table, *, bomb: str = "keep", known: str = "public", messages: str = "actions") -> Table:
    """A row for each agent, as the published Table 3: a column for each metric, and one for its spread.

    The spread of scores and lengths is over games, that of all else over partners.
    """
    choices = {"bomb": bomb, "known": known, "messages": messages}
    uses = {**dict.fromkeys(("self_play", "intra_xp", "inter_xp", "length"), ("bomb",)), "ci": ("messages",)}
    uses |= dict.fromkeys(("g1", "g2", "g3"), ("known",))
    rows = []
    for (agent,), part in table.groups("agent").items():
        row: Row = {"agent": agent}
        for column, where in COLUMNS.items():
            matching = part.where(**where, **{c: choices[c] for c in uses.get(column, ())})
            row[column] = matching.rows[0]["value"] if matching.rows else None
            row[f"{column}_sd"] = matching.rows[0]["sd"] if matching.rows else None
        rows.append(row)
    return Table.of(rows, f"Objective metrics (bomb: {bomb}, known: {known}, messages: {messages})")


def measures(table: Table, *, bomb: str = "keep", known: str = "public") -> Table:
    """Return a pool's metrics as `interplay study analyse --objective` reads them: agent, measure, value.

    IC is the corrected estimate, `pool_ic_plug_in` the uncorrected one; scores keep points after the third bomb unless
    `bomb` says otherwise.
    """
    rows = []
    for row in wide(table, bomb=bomb, known=known):
        for column in COLUMNS:
            if row[column] is not None:
                name = {"ic": "ic_plug_in", "ic_corrected": "ic"}.get(column, column)
                rows.append({"agent": row["agent"], "measure": f"pool_{name}", "value": row[column]})
    return Table.of(rows, f"Metrics of a pool (bomb: {bomb}, known: {known})")
