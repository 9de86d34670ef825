"""Do several measures rank the same agents alike? Rank correlations with intervals, from tidy rows.

The rows are (agent, measure, value) beside the columns of what was sampled. One bootstrap draws for all measures at
once: training seeds for each agent on its own, partners once for all agents, and a seed or a partner that stands under
several measures is drawn for all of them together. A row without a seed or partner (a published rank) is never drawn.
Agents are fixed: intervals say how sure the agreement is on these agents, p whether other orders would agree as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from interplay.errors import InterplayError
from interplay.stats._checks import Seed, generator, open_unit
from interplay.stats.correlation import kendall, spearman
from interplay.stats.estimators import estimator
from interplay.stats.ranks import ranks
from interplay.table import Row, Table

LEAST_AGENTS = 3
_CHUNK = 1 << 22  # counts held at once


@dataclass(frozen=True)
class DrawnRankings:
    """Agents under several measures, as measured and as drawn again. NaN where an agent has no such value."""

    agents: tuple[Any, ...]
    measures: tuple[str, ...]
    estimates: np.ndarray  # [measure, agent], as given
    signs: np.ndarray  # [measure], -1 where lower is better
    replicates: np.ndarray  # [replicate, measure, agent]


@dataclass(frozen=True)
class Agreement:
    """How alike measures rank agents."""

    pairs: Table  # a row per pair of measures: spearman, kendall, each with low, high and p
    ranks: Table  # a row per agent and measure: value, rank, rank_low, rank_high, first_share
    measures: tuple[str, ...]
    agents: tuple[Any, ...]


def rank_agreement(
    table: Table,
    *,
    seed: Seed,
    own: Sequence[str] = ("seed",),
    shared: Sequence[str] = ("partner",),
    statistic: str | Mapping[str, str] = "mean",
    lower: Sequence[str] = (),
    level: float = 0.95,
    replicates: int = 2000,
) -> Agreement:
    """Spearman and Kendall for every pair of measures, and every agent's rank under each, with intervals.

    `own` and `shared` name columns of sampled units, drawn for each agent on its own or for all together; those that
    the table lacks are ignored. `statistic` is one for all or by measure; `lower` names measures where less is better.
    """
    open_unit(level, "level")
    if replicates < 100:
        raise InterplayError(f"{replicates} replicates are too few for an interval; use at least 100, better 2000")
    drawn = draw(
        table, seed=seed, own=own, shared=shared, statistic=statistic, lower=lower, replicates=replicates
    )  # fmt: skip
    tails = (1 - level) / 2, (1 + level) / 2
    pairs = [_pair(drawn, a, b, tails) for a, b in combinations(range(len(drawn.measures)), 2)]
    ranked = [row for m in range(len(drawn.measures)) for row in _ranked(drawn, m, tails)]
    return Agreement(Table.of(pairs, "Agreement of measures"), Table.of(ranked, "Ranks"), drawn.measures, drawn.agents)


def draw(
    table: Table,
    *,
    seed: Seed,
    own: Sequence[str],
    shared: Sequence[str],
    statistic: str | Mapping[str, str] = "mean",
    lower: Sequence[str] = (),
    replicates: int = 2000,
) -> DrawnRankings:
    """Every agent under every measure, once as given and once for each replicate of the experiment."""
    rows = _usable(table, lower, statistic)
    agents, measures = (tuple(dict.fromkeys(r[name] for r in rows)) for name in ("agent", "measure"))
    units = [_levels(rows, unit, per_agent=unit in own) for unit in (*own, *shared) if unit in table.columns]
    units = [u for u in units if u.varies]
    cells = {
        (m, a): np.array([i for i, r in enumerate(rows) if (r["measure"], r["agent"]) == (measure, agent)], np.int64)
        for m, measure in enumerate(measures) for a, agent in enumerate(agents)
    }  # fmt: skip
    values = np.array([r["value"] for r in rows], float)
    order = {key: of[np.argsort(values[of], kind="stable")] for key, of in cells.items() if len(of)}
    named = {m: statistic if isinstance(statistic, str) else statistic.get(m, "mean") for m in measures}

    def measured(counts: np.ndarray) -> np.ndarray:
        estimates_drawn = np.full((len(counts), len(measures), len(agents)), np.nan)
        for (m, a), of in order.items():
            weights = counts[:, of]
            drawn = weights.any(axis=1)
            estimates_drawn[drawn, m, a] = (
                estimator(named[measures[m]])(values[of], weights[drawn]) if drawn.any() else np.nan
            )
        return estimates_drawn

    rng, parts, left = generator(seed), [], replicates if units else 0
    while left:
        size = min(left, max(1, _CHUNK // len(rows)))
        counts = np.ones((size, len(rows)), np.int64)
        for unit in units:
            counts *= unit.draw(size, rng)
        parts.append(measured(counts))
        left -= size
    estimates = measured(np.ones((1, len(rows)), np.int64))
    signs = np.array([-1.0 if m in lower else 1.0 for m in measures])
    return DrawnRankings(agents, measures, estimates[0], signs, np.concatenate(parts) if parts else estimates)


@dataclass(frozen=True)
class _Levels:
    """The levels of a unit in strata.

    A level is drawn among those of its agent (or all) that stand under the same measures, so that each measure keeps as
    many levels as it has.
    """

    place: np.ndarray  # [row], the level, or the number of levels where the row has none
    strata: tuple[np.ndarray, ...]  # levels of each stratum

    @property
    def varies(self) -> bool:
        return any(len(s) > 1 for s in self.strata)

    def draw(self, replicates: int, rng: np.random.Generator) -> np.ndarray:
        levels = sum(map(len, self.strata))
        counts = np.ones((replicates, levels + 1), np.int64)
        for stratum in self.strata:
            counts[:, stratum] = rng.multinomial(len(stratum), np.full(len(stratum), 1 / len(stratum)), replicates)
        return counts[:, self.place]


def _levels(rows: Sequence[Row], unit: str, *, per_agent: bool) -> _Levels:
    under: dict[tuple[Any, Any], set[Any]] = {}
    keys = [None if r.get(unit) is None else (r["agent"] if per_agent else None, r[unit]) for r in rows]
    for key, row in zip(keys, rows, strict=True):
        if key is not None:
            under.setdefault(key, set()).add(row["measure"])
    index = {key: i for i, key in enumerate(under)}
    strata: dict[Any, list[int]] = {}
    for key, measures in under.items():
        strata.setdefault((key[0], frozenset(measures)), []).append(index[key])
    place = np.array([len(index) if key is None else index[key] for key in keys])
    return _Levels(place, tuple(np.array(s) for s in strata.values()))


def _usable(table: Table, lower: Sequence[str], statistic: str | Mapping[str, str]) -> list[Row]:
    for name in ("agent", "measure", "value"):
        if name not in table.columns:
            raise InterplayError(f"no column {name!r}; this table has {', '.join(table.columns) or 'none'}")
    rows = []
    for place, row in enumerate(table, 1):
        value = row["value"]
        if row["agent"] is None or row["measure"] is None:
            raise InterplayError(f"row {place}: agent and measure need a name")
        if value is None:
            continue  # null is null: the agent has no such value here
        if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
            raise InterplayError(f"row {place}: the value of {row['measure']} is {value!r}, not a number")
        rows.append(row)
    measures = {row["measure"] for row in rows}
    if len(measures) < 2 or len({row["agent"] for row in rows}) < LEAST_AGENTS:
        raise InterplayError(
            f"rankings are compared between at least 2 measures of at least {LEAST_AGENTS} agents; this table has "
            f"{len(measures)} and {len({row['agent'] for row in rows})} with values"
        )
    for name in (*lower, *(statistic if isinstance(statistic, Mapping) else ())):
        if name not in measures:
            raise InterplayError(f"no measure {name!r}; the measures are {', '.join(sorted(map(str, measures)))}")
    return rows


def _pair(drawn: DrawnRankings, a: int, b: int, tails: tuple[float, float]) -> Row:
    both = np.isfinite(drawn.estimates[[a, b]]).all(axis=0)
    row: Row = {"measure": drawn.measures[a], "other": drawn.measures[b], "agents": int(both.sum())}
    x, y = (drawn.signs[m] * drawn.estimates[m, both] for m in (a, b))
    if both.sum() < LEAST_AGENTS or np.ptp(x) == 0 or np.ptp(y) == 0:
        return row | {f"{k}{e}": None for k in ("spearman", "kendall") for e in ("", "_low", "_high", "_p")}
    u, v = (drawn.signs[m] * drawn.replicates[:, m][:, both] for m in (a, b))
    for name, exact, rows in (("spearman", spearman, spearman_by_row), ("kendall", kendall, kendall_by_row)):
        correlation = exact(x, y)
        low, high = _range(rows(u, v), tails) if len(u) > 1 else (None, None)
        row |= {name: correlation.r, f"{name}_low": low, f"{name}_high": high, f"{name}_p": correlation.p}
    return row


def _ranked(drawn: DrawnRankings, m: int, tails: tuple[float, float]) -> list[Row]:
    has = np.flatnonzero(np.isfinite(drawn.estimates[m]))
    observed = ranks(drawn.signs[m] * drawn.estimates[m, has])
    redrawn = drawn.signs[m] * drawn.replicates[:, m][:, has]
    redrawn = redrawn[np.isfinite(redrawn).all(axis=1)]
    places = ranks(redrawn) if len(redrawn) > 1 else None
    rows = []
    for i, a in enumerate(has):
        low, high = (None, None) if places is None else np.quantile(places[:, i], tails, method="nearest")
        rows.append({
            "agent": drawn.agents[a], "measure": drawn.measures[m], "value": drawn.estimates[m, a], "rank": observed[i],
            "rank_low": low, "rank_high": high,
            "first_share": None if places is None else float(np.mean(places[:, i] == 1)),
        })  # fmt: skip
    return rows


def spearman_by_row(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Rank correlation of each row of [replicate, agent]; NaN where a row is incomplete or all ties."""
    correlations = np.full(len(x), np.nan)
    whole = np.isfinite(x).all(axis=1) & np.isfinite(y).all(axis=1)
    if whole.any():
        u, v = (ranks(part[whole]) - (part.shape[1] + 1) / 2 for part in (x, y))
        size = np.sqrt((u**2).sum(axis=1) * (v**2).sum(axis=1))
        correlations[whole] = np.divide((u * v).sum(axis=1), size, out=np.full(len(u), np.nan), where=size > 0)
    return correlations


def kendall_by_row(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Kendall's tau-b of each row."""
    u, v = (np.sign(part[:, :, None] - part[:, None, :]) for part in (x, y))
    size = np.sqrt(np.abs(u).sum(axis=(1, 2)) * np.abs(v).sum(axis=(1, 2)))
    return np.divide((u * v).sum(axis=(1, 2)), size, out=np.full(len(u), np.nan), where=size > 0)


def _range(drawn: np.ndarray, tails: tuple[float, float]) -> tuple[float | None, float | None]:
    defined = drawn[np.isfinite(drawn)]
    if len(defined) < 0.9 * len(drawn):
        return None, None
    low, high = np.quantile(defined, tails)
    return float(low), float(high)
