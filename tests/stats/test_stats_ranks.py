"""Ranks, their shares and their stability; comparisons of two groups."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from interplay import stats
from interplay.errors import InterplayError


def table(shifts, seeds=5, partners=8, seed=0, partner_sd=1.0):
    """Algorithms that differ by a shift, each with its own seeds, all with the same partners."""
    rng = np.random.default_rng(seed)
    partner_effect = rng.normal(0, partner_sd, partners)
    rows = [
        (name, s, p, shift + partner_effect[p] + seed_effect + rng.normal(0, 0.3))
        for name, shift in shifts.items()
        for s, seed_effect in enumerate(rng.normal(0, 0.3, seeds))
        for p in range(partners)
    ]
    name, s, p, value = zip(*rows, strict=True)
    return list(value), list(name), {"seed": list(s), "partner": list(p)}


@given(st.lists(st.integers(0, 5), min_size=1, max_size=8))
def test_ranks_are_scipys_with_the_best_first(scores):
    assert stats.ranks(scores) == pytest.approx(scipy.stats.rankdata([-s for s in scores]))
    assert stats.ranks(scores, higher_is_better=False) == pytest.approx(scipy.stats.rankdata(scores))


@given(st.integers(1, 6), st.integers(1, 5), st.integers(0, 99))
def test_rank_shares_sum_to_one_both_ways(rows, groups, seed):
    shares = stats.rank_shares(np.random.default_rng(seed).integers(0, 3, (rows, groups)))
    assert shares.sum(axis=0) == pytest.approx(np.ones(groups))
    assert shares.sum(axis=1) == pytest.approx(np.ones(groups))


def test_rank_shares_come_in_steps_of_one_row():
    """As ZSC-Eval, Table 9: 27 tables (nine layouts by three sizes), so self-play's 81.48 % last is 22 of 27."""
    scores = np.tile([3.0, 2.0, 1.0], (27, 1))
    scores[:5] = [1.0, 2.0, 3.0]
    assert round(100 * stats.rank_shares(scores)[2, 2], 2) == 81.48


def test_concordance():
    """Kendall's W of 4 raters: (m + 1)-rater form of the mean Spearman correlation, r = (m W - 1) / (m - 1)."""
    scores = np.random.default_rng(0).normal(size=(4, 6))
    pairs = [scipy.stats.spearmanr(scores[i], scores[j]).statistic for i in range(4) for j in range(i)]
    assert stats.kendall_w(scores) == pytest.approx((np.mean(pairs) * 3 + 1) / 4)
    assert stats.kendall_w([[1, 1, 2], [3, 3, 9]]) == pytest.approx(1.0)  # ties are corrected for
    with pytest.raises(InterplayError, match="at least 2 raters"):
        stats.kendall_w([[1, 2]])


def test_clear_ranking_is_stable_and_a_tie_is_not():
    values, groups, factors = table({"a": 0.0, "b": 3.0, "c": 6.0})
    clear = stats.rank_stability(values, groups, factors, shared=["partner"], seed=0, replicates=300)
    assert clear.names == ("c", "b", "a")
    assert clear.shares == pytest.approx(np.eye(3), abs=0.01)
    assert clear.tau == pytest.approx(1, abs=0.01)
    assert clear.concordance == pytest.approx(1, abs=0.01)
    assert clear.resampled == ("seed", "partner")
    values, groups, factors = table({"a": 0.0, "b": 0.0, "c": 0.0})
    tie = stats.rank_stability(values, groups, factors, shared=["partner"], seed=0, replicates=300)
    assert tie.tau < 0.9
    assert tie.beats + tie.beats.T == pytest.approx(np.ones((3, 3)))
    assert tie.beats.diagonal() == pytest.approx([0.5] * 3)


def test_lower_is_better_turns_the_ranking_round():
    values, groups, factors = table({"a": 0.0, "b": 3.0})
    found = stats.rank_stability(values, groups, factors, seed=0, higher_is_better=False, replicates=100)
    assert found.names == ("a", "b")
    assert found.beats[0, 1] > 0.9


def test_shared_partners_make_a_comparison_sharper():
    values, groups, factors = table({"a": 0.5, "b": 0.0}, partner_sd=3.0)
    shared = stats.compare(values, groups, "a", "b", factors, shared=["partner"], statistic="mean", seed=0)
    alone = stats.compare(values, groups, "a", "b", factors, statistic="mean", seed=0)
    assert shared.difference.estimate == pytest.approx(alone.difference.estimate)
    assert shared.difference.half_width < alone.difference.half_width / 2
    a, b = (np.array(values)[np.array(groups) == g] for g in "ab")
    assert shared.improvement.estimate == pytest.approx(scipy.stats.mannwhitneyu(a, b).statistic / (len(a) * len(b)))


def test_comparison_errors():
    values, groups, factors = table({"a": 0.5, "b": 0.0})
    with pytest.raises(InterplayError, match=r"no rows of group 'z'; the groups are \['a', 'b'\]"):
        stats.compare(values, groups, "a", "z", factors, seed=0)
    with pytest.raises(InterplayError, match="shared factor 'seat' is not among the units"):
        stats.compare(values, groups, "a", "b", factors, shared=["seat"], seed=0)
    with pytest.raises(InterplayError, match="at least two groups"):
        stats.rank_stability([1.0, 2.0], ["a", "a"], seed=0)
    with pytest.raises(InterplayError, match="nothing to resample"):  # not: a perfectly stable ranking
        stats.rank_stability([1.0, 2.0], ["a", "b"], {"seed": [0, 0]}, seed=0)
