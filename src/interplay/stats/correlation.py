"""Pearson, Spearman and Kendall correlations with intervals, closed-form or by the bootstrap of a design."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from interplay.errors import InterplayError
from interplay.stats._checks import Missing, Numbers, Seed, complete, one_of, open_unit, varying
from interplay.stats.bootstrap import Interval, bootstrap_counts
from interplay.stats.resampling_design import design

_EXACT_UP_TO = 8  # 8! = 40,320 orders


@dataclass(frozen=True)
class Correlation:
    """A correlation of n independent pairs. The interval is Fisher's; null where n is below 4."""

    kind: str
    r: float
    p: float
    n: int
    low: float | None
    high: float | None
    level: float


def pearson(x: Numbers, y: Numbers, *, level: float = 0.95, missing: Missing = "raise") -> Correlation:
    """Linear correlation, its t-test p value and Fisher's interval."""
    a, b = _columns(x, y, missing)
    r = float(_weighted_r(a, b, np.ones((1, len(a)), np.int64))[0])
    return _result("pearson", r, pearson_p_value(r, len(a)), len(a), level, spread=1.0)


def spearman(x: Numbers, y: Numbers, *, level: float = 0.95, missing: Missing = "raise") -> Correlation:
    """Rank correlation. p is exact, over all orders of y, up to 8 pairs (the t approximation is poor there)."""
    a, b = _columns(x, y, missing)
    ones = np.ones((1, len(a)), np.int64)
    ranked = _ranks(a, ones)[0], _ranks(b, ones)[0]
    r = float(_weighted_r(*ranked, ones)[0])
    p = _exact_p(*ranked) if len(a) <= _EXACT_UP_TO else pearson_p_value(r, len(a))
    return _result("spearman", r, p, len(a), level, spread=1 + r * r / 2)  # Bonett and Wright 2000


def kendall(x: Numbers, y: Numbers, *, missing: Missing = "raise") -> Correlation:
    """Kendall's tau-b."""
    from scipy.stats import kendalltau

    a, b = _columns(x, y, missing)
    result: Any = kendalltau(a, b)
    return Correlation("kendall", float(result.statistic), float(result.pvalue), len(a), None, None, 0.95)


def pearson_p_value(r: float, n: int) -> float:
    """The two-sided p value of a printed correlation of n pairs."""
    from scipy.special import stdtr

    if n < 3:
        return 1.0  # two points always lie on a line
    if not -1 <= r <= 1:
        raise InterplayError(f"a correlation lies between -1 and 1, not {r}")
    if abs(r) == 1:
        return 0.0
    return float(2 * stdtr(n - 2, -abs(r) * math.sqrt((n - 2) / (1 - r * r))))


def correlation_interval(
    x: Numbers,
    y: Numbers,
    factors: Mapping[str, Any] | None = None,
    *,
    seed: Seed,
    kind: str = "pearson",
    units: Sequence[str] | None = None,
    fixed: Sequence[str] = (),
    level: float = 0.95,
    method: str = "percentile",
    replicates: int = 2000,
) -> Interval:
    """A correlation with a bootstrap interval that respects people, seeds or partners, as `bootstrap` does."""
    one_of(kind, ("pearson", "spearman"), "kind")
    a, b = _columns(x, y, "raise")
    columns = dict(factors or {})
    plan = design(columns, len(a), units=units, fixed=fixed)

    def statistic(counts: np.ndarray) -> np.ndarray:
        if kind == "pearson":
            return _weighted_r(a, b, counts)
        return _weighted_r(_ranks(a, counts), _ranks(b, counts), counts)

    return bootstrap_counts(statistic, plan, seed=seed, level=level, method=method, replicates=replicates)


def _columns(x: Numbers, y: Numbers, missing: Missing) -> tuple[np.ndarray, np.ndarray]:
    a, b = complete(x, y, names=["x", "y"], missing=missing, least=2)
    return varying(a, "x"), varying(b, "y")


def _weighted_r(x: np.ndarray, y: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Pearson's r per replicate, NaN where a column is constant; x and y are [N] or [replicate, N]."""
    rounding = [1e-24 * counts.sum(axis=1) * np.max(u**2) for u in (x, y)]  # what a constant column may leave
    n = counts.sum(axis=1, keepdims=True)
    x = x - (counts * x).sum(axis=1, keepdims=True) / n
    y = y - (counts * y).sum(axis=1, keepdims=True) / n
    sxx, syy, sxy = ((counts * u * v).sum(axis=1) for u, v in ((x, x), (y, y), (x, y)))
    varies = (sxx > rounding[0]) & (syy > rounding[1])
    return np.clip(np.divide(sxy, np.sqrt(sxx * syy), out=np.full_like(sxy, np.nan), where=varies), -1, 1)


def _ranks(x: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Mid-ranks [replicate, N] that the values would have if each stood as often as its count."""
    level = np.unique(x, return_inverse=True)[1]
    order = np.argsort(level, kind="stable")
    starts = np.searchsorted(level[order], np.arange(level.max() + 1))
    counts_of_level = np.add.reduceat(counts[:, order], starts, axis=1)
    upto = np.cumsum(counts_of_level, axis=1)
    return (upto - (counts_of_level - 1) / 2)[:, level]


def _exact_p(x: np.ndarray, y: np.ndarray) -> float:
    """Share of all orders of y with a rank correlation at least as strong."""
    from itertools import permutations

    x, y = x - x.mean(), y - y.mean()
    orders = np.array(list(permutations(range(len(y)))), dtype=np.int8)
    products = y[orders] @ x
    return float(np.mean(np.abs(products) >= abs(x @ y) - 1e-9))


def _result(kind: str, r: float, p: float, n: int, level: float, *, spread: float) -> Correlation:
    from scipy.special import ndtri

    z = float(ndtri((1 + open_unit(level, "level")) / 2))
    if n < 4:
        return Correlation(kind, r, p, n, None, None, level)
    if abs(r) == 1:
        return Correlation(kind, r, p, n, r, r, level)
    half = z * math.sqrt(spread / (n - 3))
    return Correlation(kind, r, p, n, math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half), level)


def correlation_or_nan(a: np.ndarray, b: np.ndarray) -> float:
    """Pearson's r of two columns; not a number where one of them does not vary."""
    return float(np.corrcoef(a, b)[0, 1]) if np.ptp(a) > 0 and np.ptp(b) > 0 else math.nan
