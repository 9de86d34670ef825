"""Bootstrap intervals that respect how the data were sampled: seeds, partners, then episodes inside their cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from interplay.errors import InterplayError
from interplay.stats._checks import Missing, Numbers, Seed, generator, one_of, open_unit, rows_present
from interplay.stats.estimators import Estimator, estimator
from interplay.stats.resampling_design import ResamplingDesign, ResamplingUnit, design

METHODS = ("expanded", "percentile", "basic", "bca")
Statistic = Callable[[np.ndarray], np.ndarray]  # counts [replicate, N] -> [replicate]
_MOST_LEVELS, _BLOCKS = 1000, 200  # a jackknife over more levels leaves out blocks of them


@dataclass(frozen=True)
class Interval:
    """An estimate, its interval, and what the interval was computed over."""

    estimate: float
    low: float
    high: float
    level: float
    method: str
    n: int
    resampled: tuple[str, ...] = ()
    not_resampled: tuple[str, ...] = ()
    se: float | None = None
    replicates: int | None = None

    @property
    def half_width(self) -> float:
        """Half the width of the interval."""
        return (self.high - self.low) / 2


def bootstrap(
    values: Numbers,
    factors: Mapping[str, Any] | None = None,
    *,
    seed: Seed,
    units: Sequence[str] | None = None,
    fixed: Sequence[str] = (),
    statistic: str | Estimator = "iqm",
    level: float = 0.95,
    method: str = "expanded",
    replicates: int = 2000,
    episodes: bool = True,
    missing: Missing = "raise",
) -> Interval:
    """A statistic of `values` with an interval. `factors` gives the columns beside them.

    `units` are the factors whose levels were drawn from a population (default: all that are not `fixed`), see
    `resampling`. Factors with one level cannot be resampled; the result names them, and the interval is then about
    that level alone. `method` is one of `METHODS`: "expanded" is the percentile interval widened for few levels.
    """
    x, columns = rows_present(values, factors or {}, missing)
    order = np.argsort(x, kind="stable")
    x = x[order]
    columns = {name: [column[i] for i in order] for name, column in columns.items()}
    plan = design(columns, len(x), units=units, fixed=fixed, episodes=episodes)
    of = estimator(statistic)
    return bootstrap_counts(
        lambda counts: of(x, counts), plan, seed=seed, level=level, method=method, replicates=replicates
    )


def bootstrap_counts(
    statistic: Statistic,
    plan: ResamplingDesign,
    *,
    seed: Seed,
    level: float = 0.95,
    method: str = "expanded",
    replicates: int = 2000,
    redrawn: Statistic | None = None,
) -> Interval:
    """Return any statistic of counts of the rows of a design, with an interval.

    Args:
        statistic: A function of counts [replicate, row]. NaN says that a replicate has no such statistic (a correlation
            without spread); those are left out.
        plan: The design.
        seed: The seed of the draws.
        level: The confidence level.
        method: The kind of interval.
        replicates: The number of draws, at least 100.
        redrawn: Takes the statistic's place in the replicates where these draw more than rows (what the values were
            divided by).

    Raises:
        InterplayError: The statistic is not defined in a tenth of the replicates or more.
    """
    open_unit(level, "level")
    one_of(method, METHODS, "method")
    if replicates < 100:
        raise InterplayError(f"{replicates} replicates are too few for an interval; use at least 100, better 2000")
    rows = len(plan.row_place)
    estimate = float(statistic(np.ones((1, rows), np.int64))[0])
    of = redrawn or statistic
    drawn = np.concatenate([of(c) for c in plan.counts(replicates, generator(seed))])
    defined = drawn[~np.isnan(drawn)]
    if len(defined) < 0.9 * replicates:
        raise InterplayError(
            f"the statistic is not defined in {replicates - len(defined)} of {replicates} resamples; "
            "there are too few levels to say how sure it is"
        )
    low, high = _limits(defined, estimate, statistic, plan, level, method)
    return Interval(
        estimate=estimate,
        low=low,
        high=high,
        level=level,
        method=method,
        n=rows,
        resampled=plan.resampled,
        not_resampled=plan.not_resampled,
        se=float(defined.std(ddof=1)),
        replicates=len(defined),
    )


def _limits(
    drawn: np.ndarray, estimate: float, statistic: Statistic, plan: ResamplingDesign, level: float, method: str
) -> tuple[float, float]:
    from scipy.special import ndtr, ndtri

    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    if method == "expanded":
        tails = ndtr(_expansion(statistic, plan, level) * np.sign(tails - 0.5))
    if method == "bca":
        slack = 1e-9 * np.ptp(drawn)  # equal resamples may differ by rounding, and ties count half
        below = np.mean([np.mean(drawn < estimate - slack), np.mean(drawn <= estimate + slack)])
        if not 0 < below < 1:
            raise InterplayError("the bca interval is not defined: all replicates lie on one side; use 'percentile'")
        z0, a = ndtri(below), _acceleration(statistic, plan)
        shifted = z0 + ndtri(tails)
        tails = ndtr(z0 + shifted / (1 - a * shifted))
    low, high = np.quantile(drawn, tails)
    if method == "basic":
        low, high = 2 * estimate - high, 2 * estimate - low
    return float(low), float(high)


def _expansion(statistic: Statistic, plan: ResamplingDesign, level: float) -> float:
    """The normal quantile that makes a percentile interval as wide as a t interval.

    Resampling n levels gives a spread too small by sqrt((n - 1) / n) and knows nothing of t tails (Hesterberg 2015).
    With several units the degrees of freedom follow Satterthwaite, from the jackknife variance of each unit.
    """
    from scipy.special import ndtri, stdtrit

    parts = [_jackknife(statistic, unit) for unit in plan.jackknife_units()]
    variances = np.array([p.variance for p in parts])
    shrunk = np.array([p.variance * p.shrinkage for p in parts])
    if variances.sum() == 0:
        return float(ndtri((1 + level) / 2))
    df = variances.sum() ** 2 / np.sum(variances**2 / np.array([p.df for p in parts]))
    return float(stdtrit(df, (1 + level) / 2) * np.sqrt(variances.sum() / shrunk.sum()))


def _acceleration(statistic: Statistic, plan: ResamplingDesign) -> float:
    influence = np.concatenate([_jackknife(statistic, unit).influence for unit in plan.jackknife_units()])
    spread = np.sum(influence**2)
    return 0.0 if spread == 0 else float(np.sum(influence**3) / (6 * spread**1.5))


@dataclass(frozen=True)
class _Jackknife:
    influence: np.ndarray  # [level], zero in strata of one level
    variance: float
    shrinkage: float  # by how much resampling understates this variance
    df: float


def _jackknife(statistic: Statistic, unit: ResamplingUnit) -> _Jackknife:
    """Leaves out one level of a unit at a time, or one block of levels where there are very many."""
    levels, stratum = np.arange(len(unit.stratum)), unit.stratum
    size = np.bincount(stratum)[stratum]
    df = max(int(np.count_nonzero(size > 1)) - len(np.unique(stratum[size > 1])), 1)
    if blocked := len(levels) > _MOST_LEVELS:
        levels, stratum, size = levels % _BLOCKS, np.zeros(_BLOCKS, np.int64), np.full(_BLOCKS, _BLOCKS)
    carried = levels[unit.top]  # [column, row]
    without = np.full(len(stratum), np.nan)
    for level in np.flatnonzero(size > 1):
        remaining = (carried != level).all(axis=0)
        if remaining.any():
            without[level] = statistic(remaining[None].astype(np.int64))[0]
    influence = np.zeros(len(stratum))
    for s in np.unique(stratum):
        here = (stratum == s) & np.isfinite(without)
        influence[here] = without[here].mean() - without[here] if here.any() else 0.0
    share = (size - 1) / size
    variance, shrunk = float(np.sum(share * influence**2)), float(np.sum(share**2 * influence**2))
    shrinkage = 1.0 if blocked or variance == 0 else shrunk / variance
    return _Jackknife(influence, variance, shrinkage, df)
