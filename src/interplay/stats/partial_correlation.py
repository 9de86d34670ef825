"""Partial correlations within people: what one measure says of another beyond a third, with intervals over people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from interplay.errors import InterplayError


class PartialCorrelation(NamedTuple):
    """A partial correlation.

    Attributes:
        r: Of x and y given the covariate; None where one of them does not vary.
        low: Lower end of the bootstrap interval over people; None with fewer than three people.
        high: Upper end.
        rows: Pairs that it rests on.
        people: People with at least two of them (only those say anything within people).
    """

    r: float | None
    low: float | None
    high: float | None
    rows: int
    people: int


def partial_correlation(
    x: Sequence[Any],
    y: Sequence[Any],
    given: Sequence[Any],
    people: Sequence[Any],
    *,
    seed: int,
    replicates: int = 2000,
    level: float = 0.95,
) -> PartialCorrelation:
    """Correlate x and y within people, given a covariate; rows with a missing value are left out.

    All three are taken as deviations from each person's own means, so that people who rate high or score much do not
    make a correlation. The interval draws people whole, with replacement (percentile bootstrap).

    Args:
        x: A measure.
        y: What it may say something of, such as a rating.
        given: The covariate, such as the score.
        people: Who each row is of.
        seed: Of the bootstrap.
        replicates: Of the bootstrap.
        level: Of the interval.

    Raises:
        InterplayError: The columns have different lengths.
    """
    if not len(x) == len(y) == len(given) == len(people):
        raise InterplayError("partial_correlation: x, y, given and people have different lengths")
    known = [i for i in range(len(x)) if None not in (x[i], y[i], given[i], people[i])]
    columns = np.array([[float(v[i]) for i in known] for v in (x, y, given)])
    members: dict[Any, list[int]] = {}
    for place, i in enumerate(known):
        members.setdefault(people[i], []).append(place)
    sums = []
    for rows in members.values():
        if len(rows) > 1:
            own = columns[:, rows] - columns[:, rows].mean(axis=1, keepdims=True)
            sums.append(own @ own.T)
    count = len(sums)
    rows_used = sum(len(rows) for rows in members.values() if len(rows) > 1)
    if not count:
        return PartialCorrelation(None, None, None, 0, 0)
    scatter = np.stack(sums)  # [person, 3, 3]
    r = _partial(scatter.sum(axis=0)[None])[0]
    if count < 3 or not np.isfinite(r):
        return PartialCorrelation(float(r) if np.isfinite(r) else None, None, None, rows_used, count)
    weights = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), replicates)
    drawn = _partial(np.tensordot(weights, scatter, axes=1))
    drawn = drawn[np.isfinite(drawn)]
    if not len(drawn):
        return PartialCorrelation(float(r), None, None, rows_used, count)
    low, high = (float(q) for q in np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2]))
    return PartialCorrelation(float(r), low, high, rows_used, count)


def _partial(scatter: np.ndarray) -> np.ndarray:
    """Return r of the first two columns given the third, of [replicate, 3, 3] scatter matrices."""
    xx, yy, zz = (scatter[:, k, k] for k in range(3))
    with np.errstate(divide="ignore", invalid="ignore"):
        xy = scatter[:, 0, 1] / np.sqrt(xx * yy)
        # A covariate that does not vary explains nothing.
        xz, yz = (np.where(zz > 1e-12, scatter[:, k, 2] / np.sqrt(v * zz), 0.0) for k, v in ((0, xx), (1, yy)))
        return np.clip((xy - xz * yz) / np.sqrt((1 - xz**2) * (1 - yz**2)), -1, 1)
