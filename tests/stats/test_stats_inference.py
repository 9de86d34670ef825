"""Tests, corrections, correlations and regressions agree with scipy, statsmodels and printed values."""

import gc

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from interplay import stats
from interplay.errors import InterplayError
from interplay.stats.correlation import pearson_p_value
from interplay.stats.hypothesis_tests import ALTERNATIVES


@pytest.fixture(autouse=True, scope="module")
def _little_to_collect():
    """statsmodels collects garbage with every correction, which takes long in a process that holds much."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture
def samples():
    rng = np.random.default_rng(5)
    return rng.normal(0.4, 1, 25), rng.normal(0, 2, 25)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_t_tests_agree_with_scipy(samples, alternative):
    x, y = samples
    for ours, theirs in [
        (
            stats.t_test_one_sample(x, mean=0.1, alternative=alternative),
            scipy.stats.ttest_1samp(x, 0.1, alternative=alternative),
        ),
        (stats.t_test_paired(x, y, alternative=alternative), scipy.stats.ttest_rel(x, y, alternative=alternative)),
        (
            stats.t_test_welch(x, y[:9], alternative=alternative),
            scipy.stats.ttest_ind(x, y[:9], equal_var=False, alternative=alternative),
        ),
        (
            stats.t_test_pooled(x, y[:9], alternative=alternative),
            scipy.stats.ttest_ind(x, y[:9], alternative=alternative),
        ),
    ]:
        assert (ours.statistic, ours.df, ours.p) == pytest.approx((theirs.statistic, theirs.df, theirs.pvalue))
        if alternative == "two-sided":
            low, high = theirs.confidence_interval()
            assert (ours.low, ours.high) == pytest.approx((low, high))


def test_rank_tests_agree_with_scipy(samples):
    x, y = samples
    ours, theirs = stats.mann_whitney(x, y), scipy.stats.mannwhitneyu(x, y)
    assert (ours.statistic, ours.p) == pytest.approx((theirs.statistic, theirs.pvalue))
    assert ours.estimate == pytest.approx(theirs.statistic / 625)
    assert stats.probability_of_improvement([1, 2, 2], [2, 0]) == pytest.approx(4 / 6)
    ours, theirs = stats.wilcoxon(x, y), scipy.stats.wilcoxon(x, y)
    assert (ours.statistic, ours.p) == pytest.approx((theirs.statistic, theirs.pvalue))


@pytest.mark.parametrize("paired", [False, True])
def test_permutation_test_agrees_with_scipy(samples, paired):
    x, y = samples[0][:8] + 1, samples[1][:8]
    ours = stats.permutation_test(x, y, paired=paired, seed=0, replicates=4000)
    theirs = scipy.stats.permutation_test(
        (x, y),
        lambda a, b, axis: a.mean(axis=axis) - b.mean(axis=axis),
        permutation_type="samples" if paired else "independent",
        n_resamples=20_000,
    )
    assert ours.p == pytest.approx(theirs.pvalue, abs=0.02)
    assert ours == stats.permutation_test(x, y, paired=paired, seed=0, replicates=4000)


def test_degenerate_samples_have_clear_errors():
    with pytest.raises(InterplayError, match="x: 1 values, at least 2 needed"):
        stats.t_test_one_sample([1.0])
    with pytest.raises(InterplayError, match="x - y: all 3 values are 1"):
        stats.t_test_paired([2, 3, 4], [1, 2, 3])
    with pytest.raises(InterplayError, match="unequal length: x has 2, y has 3"):
        stats.t_test_paired([1, 2], [1, 2, 3])
    with pytest.raises(InterplayError, match="agree in every pair"):
        stats.wilcoxon([1, 2], [1, 2])
    with pytest.raises(InterplayError, match="both constant"):
        stats.t_test_welch([1, 1], [2, 2])
    assert stats.t_test_paired([1, None, 3, 5], [0, 1, 1, 1], missing="drop").n == (3,)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_corrections_agree_with_statsmodels(p):
    for ours, name in [(stats.holm, "holm"), (stats.bonferroni, "bonferroni"), (stats.benjamini_hochberg, "fdr_bh")]:
        assert ours(p) == pytest.approx(multipletests(p, method=name)[1], abs=1e-12)


def test_corrections_keep_missing_entries_and_count_tests_not_shown():
    assert np.isnan(stats.holm([0.01, None, 0.04])[1])
    assert stats.bonferroni([0.01], tests=18)[0] == pytest.approx(0.18)
    # objective metrics of human preference, note of Table 5: 0.05 over 18 regressions
    assert stats.bonferroni_threshold(0.05, 18) == pytest.approx(0.00278, abs=5e-6)
    with pytest.raises(InterplayError, match="between 0 and 1"):
        stats.holm([1.2])
    with pytest.raises(InterplayError, match="fewer than"):
        stats.holm([0.1, 0.2], tests=1)


def test_correlations_agree_with_scipy():
    rng = np.random.default_rng(1)
    x = rng.integers(0, 9, 40)
    y = x + rng.integers(0, 9, 40)
    for ours, theirs in [
        (stats.pearson(x, y), scipy.stats.pearsonr(x, y)),
        (stats.spearman(x, y), scipy.stats.spearmanr(x, y)),
        (stats.kendall(x, y), scipy.stats.kendalltau(x, y)),
    ]:
        assert (ours.r, ours.p) == pytest.approx((theirs.statistic, theirs.pvalue))
    low, high = scipy.stats.pearsonr(x, y).confidence_interval()
    assert (stats.pearson(x, y).low, stats.pearson(x, y).high) == pytest.approx((low, high))


def test_spearman_p_is_exact_for_few_pairs():
    x, y = [1, 2, 3, 4, 5, 6], [2, 1, 4, 3, 6, 5]
    exact = scipy.stats.permutation_test(
        (x,), lambda a: scipy.stats.spearmanr(a, y).statistic, permutation_type="pairings", n_resamples=np.inf
    )
    assert stats.spearman(x, y).p == pytest.approx(exact.pvalue)


@pytest.mark.parametrize(
    ("human", "other", "printed"),
    [  # ranks of HSP, MEP, FCP, COLE, SP in ZSC-Eval, Table 2
        ([3, 1, 2, 4, 5], [2, 1, 3, 4, 5], 0.90),
        ([3, 1, 2, 4, 5], [4, 1, 3, 2, 5], 0.70),
        ([1, 3, 2, 4, 5], [1, 3, 2, 4, 5], 1.00),
        ([1, 3, 2, 4, 5], [3, 1, 2, 4, 5], 0.60),
        ([1, 3, 2, 4, 5], [4, 3, 2, 1, 5], 0.10),
    ],
)
def test_spearman_as_printed_by_zsc_eval(human, other, printed):
    assert stats.spearman(human, other).r == pytest.approx(printed)


@pytest.mark.parametrize(("r", "p", "n"), [(0.058, 0.242, 408), (0.047, 0.344, 408), (-0.086, 0.060, 478)])
def test_printed_correlations_fit_one_sample_size(r, p, n):
    """Objective metrics of human preference, Table 5: r and p of several metrics belong to one number of ratings."""
    assert pearson_p_value(r, n) == pytest.approx(p, abs=0.006)


@settings(max_examples=30, deadline=None)
@given(st.data(), st.sampled_from(["pearson", "spearman"]))
def test_weighted_correlation_means_repetition(data, kind):
    from interplay.stats.correlation import _ranks, _weighted_r

    n = data.draw(st.integers(3, 10))
    x, y = (np.array(data.draw(st.lists(st.integers(0, 5), min_size=n, max_size=n)), float) for _ in range(2))
    counts = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))[None]
    xs, ys = np.repeat(x, counts[0]), np.repeat(y, counts[0])
    columns = (x, y) if kind == "pearson" else (_ranks(x, counts), _ranks(y, counts))
    if len(xs) < 3 or np.ptp(xs) == 0 or np.ptp(ys) == 0:
        return
    repeated = stats.pearson(xs, ys) if kind == "pearson" else stats.spearman(xs, ys)
    assert _weighted_r(*columns, counts)[0] == pytest.approx(repeated.r, abs=1e-9)


def test_bootstrap_correlation_is_near_fishers_for_independent_pairs():
    rng = np.random.default_rng(0)
    x = rng.normal(size=150)
    y = 0.5 * x + rng.normal(size=150)
    fisher, ours = stats.pearson(x, y), stats.correlation_interval(x, y, seed=0)
    assert (ours.low, ours.high) == pytest.approx((fisher.low, fisher.high), abs=0.05)
    people = np.repeat(np.arange(15), 10)  # ten rows a person, all the same: only fifteen are evidence
    wider = stats.correlation_interval(x[:15][people], y[:15][people], {"person": people}, kind="spearman", seed=0)
    assert wider.half_width > 2 * ours.half_width
    with pytest.raises(InterplayError, match="y: all 3 values are 2"):
        stats.pearson([1, 2, 3], [2, 2, 2])


def test_resamples_without_spread_have_no_slope():
    """Five agents, one with its own x: a third of the resamples leave it out, and must not count as slopes."""
    x, y = [0.1, 0.1, 0.1, 0.1, 0.7], [1.0, 1.2, 0.9, 1.1, 2.0]
    for interval in (stats.slope_interval, stats.correlation_interval):
        with pytest.raises(InterplayError, match=r"not defined in .* of 500 resamples"):
            interval(x, y, seed=0, replicates=500)


def test_linear_fit_of_anscombe_and_scipy():
    """Anscombe 1973, first set: slope 0.500, intercept 3.00, standard error 0.118, r squared 0.667."""
    x = [10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5]
    y = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68]
    ours, theirs = stats.linear_fit(x, y), scipy.stats.linregress(x, y)
    assert (ours.slope, ours.intercept, ours.r_squared) == pytest.approx((0.500, 3.00, 0.667), abs=6e-4)
    assert (ours.slope, ours.r, ours.p, ours.slope_se) == pytest.approx(
        (theirs.slope, theirs.rvalue, theirs.pvalue, theirs.stderr)
    )
    assert ours.predict([0.0])[0] == pytest.approx(ours.intercept)
    made = stats.slope_interval(x, y, seed=0)
    assert made.low < 0.5 < made.high
    assert made.estimate == pytest.approx(ours.slope)


def test_quadratic_fit_agrees_with_statsmodels():
    import statsmodels.api as sm

    rng = np.random.default_rng(0)
    x = rng.uniform(5, 6, 50)
    y = 3 - 4 * (x - 5.4) ** 2 + rng.normal(0, 0.2, 50)
    ours, theirs = stats.quadratic_fit(x, y), sm.OLS(y, np.column_stack([x * x, x, np.ones(50)])).fit()
    assert (ours.a, ours.b, ours.c) == pytest.approx(tuple(theirs.params), rel=1e-6)
    assert (ours.p, ours.p_quadratic, ours.r_squared) == pytest.approx(
        (theirs.f_pvalue, theirs.pvalues[0], theirs.rsquared), rel=1e-5
    )
    assert ours.a < 0
    assert ours.vertex == pytest.approx(5.4, abs=0.1)
    with pytest.raises(InterplayError, match="3 distinct"):
        stats.quadratic_fit([1, 1, 2, 2], [1, 2, 3, 4])


def test_mean_and_proportion_intervals():
    x = [1.0, 2.0, 4.0, 7.0]
    low, high = scipy.stats.t.interval(0.9, 3, np.mean(x), scipy.stats.sem(x))
    made = stats.mean_interval(x, level=0.9)
    assert (made.low, made.high) == pytest.approx((low, high))
    # Newcombe 1998, Table I, method 3
    for successes, n, low, high in [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0, 0.1611)]:
        wilson = stats.proportion_interval(successes, n)
        assert (wilson.low, wilson.high) == pytest.approx((low, high), abs=5e-5)
        theirs = proportion_confint(successes, n, method="wilson")
        assert (wilson.low, wilson.high) == pytest.approx(theirs, abs=1e-12)
    with pytest.raises(InterplayError, match="3 successes of 2"):
        stats.proportion_interval(3, 2)
