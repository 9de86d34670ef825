"""Each metric on its own: a line, or a parabola with a peak, of people's ratings on an objective metric.

After the analysis of objective metrics of Hanabi agents and human preference (Table 5 of that paper): slope, r and p of
a regression with one row per rating, a Bonferroni threshold, with and without an agent that stands apart. Where the
metric belongs to the agent, all ratings of one agent share one x. Their p value then counts people, while the question
is about agents: `p_agents`, which exchanges the agents' metrics among the agents, is the one that answers it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import islice, permutations

import numpy as np

from interplay.errors import InterplayError
from interplay.stats._checks import Seed, generator
from interplay.stats.multiple_testing import bonferroni, bonferroni_threshold
from interplay.stats.preference.rating_columns import check_columns, codes, numbers
from interplay.stats.regression import linear_fit, quadratic_fit
from interplay.table import Row, Table

EXACT_UP_TO = 7  # 7! = 5,040 orders of the agents are all tried; above, as many random ones
COLUMNS = [
    "sample", "metric", "shape", "r", "slope", "slope_low", "slope_high", "p", "p_bonferroni", "significant",
    "p_agents", "peak", "n", "agents", "note",
]  # fmt: skip


def relations(
    table: Table,
    metrics: Sequence[str],
    *,
    rating: str = "rating",
    agent: str = "agent",
    peaked: Sequence[str] = (),
    without: Sequence[str] = (),
    tests: int | None = None,
    alpha: float = 0.05,
    orders: int = 5000,
    seed: Seed = 0,
) -> Table:
    """One row per metric, of all ratings and again without the agents named in `without`.

    `peaked` metrics get a parabola with a highest point; if the data bend the other way, the best such curve is the
    line, and the note says so. `tests` is the divisor of the Bonferroni correction (default: the fits made here).
    Rows without the metric or the rating are left out, and n says how many remain. A fit that is not possible is null.
    """
    check_columns(table, [rating, agent, *metrics])
    strangers = [name for name in (*peaked,) if name not in metrics]
    if strangers:
        raise InterplayError(f"peaked: {strangers[0]!r} is not among the metrics {', '.join(metrics)}")
    known = set(table.column(agent))
    unknown = [name for name in without if name not in known]
    if unknown:
        raise InterplayError(f"without: no rating is about {unknown[0]!r}; they are about {', '.join(map(str, known))}")
    samples = {"all": table}
    if without:
        rows = [row for row in table if row[agent] not in without]
        samples[f"without {', '.join(without)}"] = Table(table.columns, rows, table.title)
    rng = generator(seed)
    fits: list[Row] = [
        {"sample": name} | _relate(part, metric, rating, agent, metric in peaked, orders, rng)
        for name, part in samples.items()
        for metric in metrics
    ]
    p_values = [row["p"] for row in fits]
    count = tests if tests is not None else sum(p is not None for p in p_values)
    if count:
        threshold = bonferroni_threshold(alpha, count)
        adjusted = bonferroni([np.nan if p is None else p for p in p_values], tests=max(count, 1))
        for row, p in zip(fits, adjusted, strict=True):
            row["p_bonferroni"] = p
            row["significant"] = None if row["p"] is None else bool(row["p"] < threshold)
    return Table.of(fits, f"{rating}: one metric at a time ({count} tests)", columns=COLUMNS)


def _relate(
    table: Table, metric: str, rating: str, agent: str, peaked: bool, orders: int, rng: np.random.Generator
) -> Row:
    x, y, (who, _) = numbers(table, metric), numbers(table, rating), codes(table, agent)
    here = ~(np.isnan(x) | np.isnan(y))
    x, y, who = x[here], y[here], np.unique(who[here], return_inverse=True)[1]
    agents = int(who.max()) + 1 if len(who) else 0
    row: Row = {"metric": metric, "n": len(x), "agents": agents, "shape": "line"}
    try:
        line = linear_fit(x, y)
    except InterplayError as error:
        return row | {"shape": None, "p": None, "note": str(error)}
    row |= {"r": line.r, "slope": line.slope, "slope_low": line.low, "slope_high": line.high, "p": line.p}
    curve = None
    if peaked:
        try:
            curve = quadratic_fit(x, y)
        except InterplayError as error:
            row["note"] = f"no parabola: {error}"
        else:
            if curve.a < 0:
                row |= {"shape": "parabola", "r": curve.r, "p": curve.p, "peak": curve.vertex}
                row |= {"slope": None, "slope_low": None, "slope_high": None}
            else:
                curve, row["note"] = None, "the data have no peak, so the best curve with one is the line"
    own = np.array([np.ptp(x[who == i]) <= 1e-12 * max(1.0, np.abs(x).max()) for i in range(agents)])
    if own.all() and agents >= 3:
        row["p_agents"] = _exchange_agents(x, y, who, agents, curve is not None, orders, rng)
    return row


def _exchange_agents(
    x: np.ndarray, y: np.ndarray, who: np.ndarray, agents: int, curved: bool, orders: int, rng: np.random.Generator
) -> float:
    """How often the agents' metrics, dealt out to the agents anew, explain as much of the ratings."""
    value = np.array([x[who == i][0] for i in range(agents)])
    total = math.factorial(agents)
    if agents <= EXACT_UP_TO:
        deals = np.array(list(islice(permutations(range(agents)), total)))
    else:
        deals = np.array([np.arange(agents), *(rng.permutation(agents) for _ in range(orders))])  # as it is, and others
    count = np.bincount(who, minlength=agents).astype(float)
    mean = np.bincount(who, weights=y, minlength=agents) / count
    explained = _explained(value[deals], mean, count, curved)
    observed = _explained(value[None], mean, count, curved)[0]
    return float(np.mean(explained >= observed - 1e-12 * max(1.0, abs(observed))))


def _explained(x: np.ndarray, mean: np.ndarray, count: np.ndarray, curved: bool) -> np.ndarray:
    """[deal] What a line, or a parabola with a peak, explains of the agents' mean ratings."""
    weight = count / count.sum()
    x = x - (x * weight).sum(axis=1, keepdims=True)
    y = mean - (mean * weight).sum()
    sxx, sxy = (x * x * weight).sum(axis=1), (x * y * weight).sum(axis=1)
    line = sxy**2 / sxx
    if not curved:
        return line
    z = x * x - (x * x * weight).sum(axis=1, keepdims=True)
    z = z - x * ((z * x * weight).sum(axis=1) / sxx)[:, None]  # what x does not tell
    szz, szy = (z * z * weight).sum(axis=1), (z * y * weight).sum(axis=1)
    bend = np.divide(szy, szz, out=np.zeros_like(szz), where=szz > 1e-15 * sxx**2)
    return line + np.where(bend < 0, bend * szy, 0.0)
