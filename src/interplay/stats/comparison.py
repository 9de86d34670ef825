"""Two groups under one bootstrap: their difference and the probability that one improves on the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from interplay.errors import InterplayError
from interplay.stats._checks import Numbers, Seed, complete, rows_present
from interplay.stats.bootstrap import Interval, bootstrap_counts
from interplay.stats.estimators import Estimator, estimator
from interplay.stats.resampling_design import ResamplingDesign, default_units, design

_GROUP = "group"


@dataclass(frozen=True)
class Grouped:
    """Rows sorted by value, the rows of each group, and one design for all of them."""

    values: np.ndarray  # [row], ascending
    names: tuple[Any, ...]
    rows: tuple[np.ndarray, ...]  # per group
    plan: ResamplingDesign


@dataclass(frozen=True)
class GroupComparison:
    """Group a against group b."""

    a: Any
    b: Any
    difference: Interval  # statistic of a less statistic of b
    improvement: Interval  # probability that a value of a exceeds a value of b, ties half


def probability_of_improvement(
    x: Numbers, y: Numbers, x_counts: ArrayLike | None = None, y_counts: ArrayLike | None = None
) -> Any:
    """P(X > Y) + P(X = Y) / 2 over all pairs: the Mann-Whitney U divided by the number of pairs."""
    (a,), (b,) = complete(x, names=["x"]), complete(y, names=["y"])
    order = np.argsort(b, kind="stable")
    v = np.ones((1, len(b)), np.int64) if y_counts is None else np.atleast_2d(y_counts)[:, order]
    w = np.ones((1, len(a)), np.int64) if x_counts is None else np.atleast_2d(x_counts)
    upto = np.concatenate([np.zeros((len(v), 1), np.int64), np.cumsum(v, axis=1)], axis=1)
    below, to = np.searchsorted(b[order], a, side="left"), np.searchsorted(b[order], a, side="right")
    wins = np.sum(w * (upto[:, below] + upto[:, to]), axis=1) / 2
    share = wins / (w.sum(axis=1) * upto[:, -1])
    return float(share[0]) if x_counts is None and y_counts is None else share


def compare(
    values: Iterable[float | None],
    groups: Any,
    a: Any,
    b: Any,
    factors: Mapping[str, Any] | None = None,
    *,
    seed: Seed,
    units: Sequence[str] | None = None,
    fixed: Sequence[str] = (),
    shared: Sequence[str] = (),
    statistic: str | Estimator = "iqm",
    level: float = 0.95,
    method: str = "expanded",
    replicates: int = 2000,
) -> GroupComparison:
    """Compare two groups (algorithms).

    Units in `shared` (the partners both met) are drawn once for both, so that a hard draw of partners is hard for both;
    the others (training seeds) are drawn for each group on its own.

    Args:
        values: The values.
        groups: The group of each value.
        a: One group.
        b: The other.
        factors: Columns of what was sampled, beside the values.
        seed: The seed of the bootstrap.
        units: The factors that are resampled; by default all that are not fixed.
        fixed: Factors that are never resampled.
        shared: Units that both groups have in common.
        statistic: The statistic of each group.
        level: The confidence level.
        method: The kind of interval.
        replicates: Bootstrap replicates.

    Raises:
        InterplayError: A group has no rows, or both are the same.
    """
    labels = list(groups)
    for name in (a, b):
        if name not in labels:
            raise InterplayError(f"no rows of group {name!r}; the groups are {list(dict.fromkeys(labels))}")
    if a == b:
        raise InterplayError(f"cannot compare group {a!r} with itself")
    keep = [i for i, g in enumerate(labels) if g in (a, b)]
    part = {name: [list(column)[i] for i in keep] for name, column in (factors or {}).items()}
    numbers = list(values)
    data = grouped([numbers[i] for i in keep], [labels[i] for i in keep], part, units=units, fixed=fixed, shared=shared)
    in_a, in_b = (data.rows[data.names.index(name)] for name in (a, b))
    x, y, of = data.values[in_a], data.values[in_b], estimator(statistic)
    options: dict[str, Any] = {"seed": seed, "level": level, "method": method, "replicates": replicates}
    return GroupComparison(
        a=a,
        b=b,
        difference=bootstrap_counts(lambda c: of(x, c[:, in_a]) - of(y, c[:, in_b]), data.plan, **options),
        improvement=bootstrap_counts(
            lambda c: probability_of_improvement(x, y, c[:, in_a], c[:, in_b]), data.plan, **options
        ),
    )


def grouped(
    values: Numbers,
    groups: Any,
    factors: Mapping[str, Any] | None,
    *,
    units: Sequence[str] | None,
    fixed: Sequence[str],
    shared: Sequence[str],
) -> Grouped:
    """One design for several groups: units that are not shared are nested in the group, which is never resampled."""
    if _GROUP in (factors or {}):
        raise InterplayError(f"factor {_GROUP!r}: pass the groups as `groups`, and name the factors otherwise")
    x, columns = rows_present(values, {**(factors or {}), _GROUP: groups})
    labels = columns.pop(_GROUP)
    named = default_units(columns, fixed) if units is None else list(units)
    for name in shared:
        if name not in named:
            raise InterplayError(f"shared factor {name!r} is not among the units {named}")
    order = np.argsort(x, kind="stable")
    sorted_columns = {name: [column[i] for i in order] for name, column in columns.items()}
    names = tuple(dict.fromkeys(labels))
    block = np.array([names.index(labels[i]) for i in order])
    plan = design(
        sorted_columns | {_GROUP: block.tolist()},
        len(x),
        units=[unit if unit in shared else f"{_GROUP}/{unit}" for unit in named],
        fixed=[*fixed, _GROUP],
        blocks=block,
    )
    return Grouped(x[order], names, tuple(np.flatnonzero(block == k) for k in range(len(names))), plan)
