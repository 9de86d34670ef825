"""Tests of one sample, two paired samples and two independent samples. All assume independent observations."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from interplay.errors import InterplayError
from interplay.stats._checks import Missing, Numbers, Seed, complete, generator, one_of, open_unit, varying
from interplay.stats.comparison import probability_of_improvement

ALTERNATIVES = ("two-sided", "less", "greater")


@dataclass(frozen=True)
class TestResult:
    """A test, what it estimates, and how large the effect is."""

    __test__ = False  # a record, whatever pytest thinks of its name

    test: str
    statistic: float
    df: float | None
    p: float
    estimate: float
    low: float | None
    high: float | None
    level: float
    effect: float | None
    effect_name: str
    n: tuple[int, ...]
    alternative: str


def t_test_one_sample(
    x: Numbers, *, mean: float = 0.0, alternative: str = "two-sided", level: float = 0.95, missing: Missing = "raise"
) -> TestResult:
    """Does the mean differ from a given one? The effect is (mean - given) / sd."""
    (a,) = complete(x, names=["x"], missing=missing, least=2)
    return _one_sample("one-sample t", varying(a, "x"), mean, "cohen_d", alternative, level)


def t_test_paired(
    x: Numbers, y: Numbers, *, alternative: str = "two-sided", level: float = 0.95, missing: Missing = "raise"
) -> TestResult:
    """Does the mean of x - y differ from 0? With missing="drop" a pair goes if either half is missing."""
    a, b = complete(x, y, names=["x", "y"], missing=missing, least=2)
    return _one_sample("paired t", varying(a - b, "x - y"), 0.0, "cohen_dz", alternative, level)


def t_test_welch(
    x: Numbers, y: Numbers, *, alternative: str = "two-sided", level: float = 0.95, missing: Missing = "raise"
) -> TestResult:
    """Do two independent means differ? Without assuming equal variances; the effect is in mean-variance sds."""
    a, b = _two_varying(x, y, missing)
    sd = np.sqrt((a.var(ddof=1) + b.var(ddof=1)) / 2)
    return _two_samples("welch t", a, b, sd, False, alternative, level)


def t_test_pooled(
    x: Numbers, y: Numbers, *, alternative: str = "two-sided", level: float = 0.95, missing: Missing = "raise"
) -> TestResult:
    """Student's two-sample test with one variance for both. Prefer Welch unless a protocol names this one."""
    a, b = _two_varying(x, y, missing)
    squares = (len(a) - 1) * a.var(ddof=1) + (len(b) - 1) * b.var(ddof=1)
    return _two_samples("pooled t", a, b, np.sqrt(squares / (len(a) + len(b) - 2)), True, alternative, level)


def mann_whitney(x: Numbers, y: Numbers, *, alternative: str = "two-sided", missing: Missing = "raise") -> TestResult:
    """Does one independent sample tend to larger values? The estimate is P(X > Y) + P(X = Y) / 2."""
    from scipy.stats import mannwhitneyu

    one_of(alternative, ALTERNATIVES, "alternative")
    a, b = _two(x, y, missing, least=1)
    result = mannwhitneyu(a, b, alternative=alternative)
    share = probability_of_improvement(a, b)
    return _rank_result("mann-whitney", result, share, 2 * share - 1, (len(a), len(b)), alternative)


def wilcoxon(x: Numbers, y: Numbers, *, alternative: str = "two-sided", missing: Missing = "raise") -> TestResult:
    """Return the signed-rank test of paired samples; pairs without a difference are left out.

    The estimate is the median of x - y over all pairs.

    Raises:
        InterplayError: x and y agree in every pair.
    """
    from scipy.stats import rankdata
    from scipy.stats import wilcoxon as signed_rank

    one_of(alternative, ALTERNATIVES, "alternative")
    a, b = complete(x, y, names=["x", "y"], missing=missing)
    moved = (a - b)[a != b]
    if len(moved) == 0:
        raise InterplayError("x and y agree in every pair; there is nothing to rank")
    result = signed_rank(moved, alternative=alternative)
    order = rankdata(np.abs(moved))
    effect = float(np.sum(np.sign(moved) * order) / order.sum())
    return _rank_result("wilcoxon", result, float(np.median(a - b)), effect, (len(a),), alternative)


def permutation_test(
    x: Numbers,
    y: Numbers,
    *,
    seed: Seed,
    paired: bool = False,
    alternative: str = "two-sided",
    replicates: int = 10_000,
    missing: Missing = "raise",
) -> TestResult:
    """Difference of means under random relabelling (paired: random swaps). p counts the data as one relabelling."""
    one_of(alternative, ALTERNATIVES, "alternative")
    if replicates < 1:
        raise InterplayError("replicates must be at least 1")
    rng = generator(seed)
    if paired:
        a, b = complete(x, y, names=["x", "y"], missing=missing)
        drawn = _swapped(a - b, replicates, rng)
    else:
        a, b = _two(x, y, missing, least=1)
        drawn = _relabelled(np.concatenate([a, b]), len(a), replicates, rng)
    observed = float(a.mean() - b.mean())
    # ties with the data must count as extreme even where sums differ by rounding
    slack = 1e-9 * max(float(np.abs(drawn).max()), abs(observed))
    if alternative == "two-sided":
        extreme = np.abs(drawn) >= abs(observed) - slack
    else:
        extreme = drawn >= observed - slack if alternative == "greater" else drawn <= observed + slack
    p = (np.count_nonzero(extreme) + 1) / (replicates + 1)
    sizes = (len(a),) if paired else (len(a), len(b))
    name = "paired permutation" if paired else "permutation"
    return TestResult(name, observed, None, p, observed, None, None, 0.95, None, "", sizes, alternative)


def _swapped(difference: np.ndarray, replicates: int, rng: np.random.Generator) -> np.ndarray:
    rows = max(1, (1 << 20) // len(difference))
    parts = []
    for start in range(0, replicates, rows):
        signs = rng.integers(0, 2, size=(min(rows, replicates - start), len(difference)), dtype=np.int8)
        parts.append((2.0 * signs - 1) @ difference / len(difference))
    return np.concatenate(parts)


def _relabelled(pooled: np.ndarray, first: int, replicates: int, rng: np.random.Generator) -> np.ndarray:
    rest = len(pooled) - first
    drawn = np.empty(replicates)
    for k in range(replicates):
        total = pooled[rng.permutation(len(pooled))[:first]].sum()
        drawn[k] = total / first - (pooled.sum() - total) / rest
    return drawn


def _two(x: Numbers, y: Numbers, missing: Missing, least: int = 2) -> tuple[np.ndarray, np.ndarray]:
    (a,) = complete(x, names=["x"], missing=missing, least=least)
    (b,) = complete(y, names=["y"], missing=missing, least=least)
    return a, b


def _two_varying(x: Numbers, y: Numbers, missing: Missing) -> tuple[np.ndarray, np.ndarray]:
    a, b = _two(x, y, missing)
    if np.ptp(a) == 0 and np.ptp(b) == 0:
        raise InterplayError("x and y are both constant; a t test needs values that vary")
    return a, b


def _one_sample(name: str, x: np.ndarray, null: float, effect_name: str, alternative: str, level: float) -> TestResult:
    from scipy.stats import ttest_1samp

    test, effect = functools.partial(ttest_1samp, x, null), (x.mean() - null) / x.std(ddof=1)
    return _t_result(name, test, x.mean(), effect, effect_name, (len(x),), alternative, level)


def _two_samples(
    name: str, a: np.ndarray, b: np.ndarray, sd: float, equal_var: bool, alternative: str, level: float
) -> TestResult:
    from scipy.stats import ttest_ind

    test, estimate = functools.partial(ttest_ind, a, b, equal_var=equal_var), a.mean() - b.mean()
    return _t_result(name, test, estimate, estimate / sd, "cohen_d", (len(a), len(b)), alternative, level)


def _t_result(
    name: str, test: Callable[..., Any], estimate: float, effect: float, effect_name: str,
    n: tuple[int, ...], alternative: str, level: float,
) -> TestResult:  # fmt: skip
    """The record of a test of scipy's; the interval has two sides whatever the alternative."""
    result = test(alternative=one_of(alternative, ALTERNATIVES, "alternative"))
    interval = test().confidence_interval(open_unit(level, "level"))
    t, df, p, low, high = map(float, (result.statistic, result.df, result.pvalue, interval.low, interval.high))
    return TestResult(name, t, df, p, float(estimate), low, high, level, float(effect), effect_name, n, alternative)


def _rank_result(
    name: str, result: Any, estimate: float, effect: float, n: tuple[int, ...], alternative: str
) -> TestResult:
    p, statistic = float(result.pvalue), float(result.statistic)
    return TestResult(name, statistic, None, p, estimate, None, None, 0.95, effect, "rank_biserial", n, alternative)
