"""Equivalence, Bayes factors and rankings, each against another way to the same number."""

import numpy as np
import pytest

from interplay.errors import InterplayError
from interplay.stats import friedman
from interplay.stats.models import Estimate, JointTest, rank_fit


def test_equivalence_is_the_interval_within_the_margin():
    one = Estimate(0.1, 0.1, 20)
    for margin in (0.2, 0.25, 0.3, 0.5):
        made = one.equivalence(margin)
        assert (made.p < 0.05) == (-margin < made.low and made.high < margin)
        assert made.p >= made.p_not_worse
    assert one.equivalence(0.3).p == pytest.approx(float(_t(20, -2.0)))
    with pytest.raises(InterplayError, match="margin"):
        one.equivalence(0.0)


def test_equivalence_agrees_with_statsmodels():
    weights = pytest.importorskip("statsmodels.stats.weightstats").DescrStatsW
    x = np.random.default_rng(0).normal(0.1, 1, 40)
    made = Estimate(float(x.mean()), float(x.std(ddof=1) / 40**0.5), 39).equivalence(0.4)
    assert made.p == pytest.approx(weights(x).ttost_mean(-0.4, 0.4)[0])


def test_the_bayes_factor_is_near_that_of_the_t_test():
    """Against Rouder's JZS Bayes factor, by numeric integration over the effect with the noncentral t."""
    from scipy.integrate import quad
    from scipy.stats import cauchy, nct, t

    for value, n in ((0.5, 30), (2.0, 30), (3.0, 60)):
        density = lambda d, v=value, n=n: nct.pdf(v, n - 1, d * n**0.5) * cauchy.pdf(d, scale=0.5**0.5)  # noqa: E731
        jzs = quad(density, -8, 8, points=[0, value / n**0.5], limit=500)[0] / t.pdf(value, n - 1)
        ours = Estimate(value / n**0.5, n**-0.5, n - 1).bayes(1.0)
        assert ours.bf10 == pytest.approx(jzs, rel=0.12)
        assert ours.low < ours.mean < ours.high
        assert 0 < ours.mean < value / n**0.5  # the prior draws towards 0


def test_a_wide_prior_leaves_the_likelihood():
    made = Estimate(1.0, 0.2, 30).bayes(1000.0)
    assert made.mean == pytest.approx(1.0, abs=1e-3)
    assert (made.low, made.high) == (
        pytest.approx(Estimate(1.0, 0.2, 30).low, abs=1e-3),
        pytest.approx(1.408, abs=2e-3),
    )
    assert made.p_positive == pytest.approx(1 - Estimate(1.0, 0.2, 30).p / 2, abs=1e-4)


def test_the_f_of_whole_rankings_is_iman_and_davenports():
    rng = np.random.default_rng(1)
    scores = rng.normal([0, 0.3, 0.6, 0.9], size=(15, 4))
    made = rank_fit([np.argsort(-row).tolist() for row in scores])
    chi2 = friedman(scores).chi2
    assert made.test.f == pytest.approx(14 * chi2 / (15 * 3 - chi2))
    assert (made.test.df1, made.test.df2) == (3, 42)
    assert sum(e.estimate for e in made.strengths.values()) == pytest.approx(0)


def test_partial_rankings_count_and_groups_apart_are_told():
    rng = np.random.default_rng(2)
    orders = []
    for _ in range(60):
        met = rng.permutation(5)[:3]
        worth = {k: k + rng.normal(0, 1.5) for k in met.tolist()}
        orders.append(sorted(worth, key=lambda k: -worth[k]))
    made = rank_fit(orders)
    assert sorted(made.strengths, key=lambda k: made.strengths[k].estimate) == [0, 1, 2, 3, 4]
    assert made.test.p < 1e-6
    with pytest.raises(InterplayError, match="share no item"):
        rank_fit([["a", "b"], ["b", "a"], ["c", "d"], ["d", "c"]] * 3)
    with pytest.raises(InterplayError, match="too few"):
        rank_fit([["a", "b"]])


def test_the_f_of_many_df_is_chi_squared():
    assert JointTest(2.0, 3, 1e7).p == pytest.approx(JointTest(2.0, 3, 9e5).p, rel=1e-4)


def _t(df, x):
    from scipy.special import stdtr

    return stdtr(df, x)
