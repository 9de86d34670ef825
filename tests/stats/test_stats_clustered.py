"""Regressions by person against the textbook's dense formulas and statsmodels, scales against theirs, and how often
they cry wolf."""

import numpy as np
import pytest

from interplay.errors import InterplayError
from interplay.stats import clustered_fit, cronbach_alpha, design_fit, effect_interval, friedman, linear_fit, within_fit


def ratings(rng, people=12, most=9, slope=0.0, person=1.0):
    who = np.repeat(np.arange(people), rng.integers(2, most, people))
    level = rng.normal(0, person, people)
    x = rng.normal(size=people)[who] + rng.normal(size=len(who))  # partly the person's own
    return slope * x + level[who] + rng.normal(size=len(who)), x, who


def dense(y, x, who):
    """CR2 and its degrees of freedom with whole matrices, term by term as in Bell and McCaffrey (2002)."""
    design = np.column_stack([np.ones_like(x), x])
    bread = np.linalg.inv(design.T @ design)
    hat = design @ bread @ design.T
    residual = y - hat @ y
    meat, columns = np.zeros((2, 2)), []
    for one in np.unique(who):
        at = np.flatnonzero(who == one)
        values, vectors = np.linalg.eigh(np.eye(len(at)) - hat[np.ix_(at, at)])
        root = vectors @ np.diag(values**-0.5) @ vectors.T
        score = design[at].T @ root @ residual[at]
        meat += np.outer(score, score)
        columns.append((np.eye(len(y)) - hat)[:, at] @ root @ design[at] @ bread[:, 1])
    columns = np.array(columns).T
    own = np.linalg.eigvalsh(columns.T @ columns)
    return np.sqrt((bread @ meat @ bread)[1, 1]), own.sum() ** 2 / (own**2).sum()


def test_clustered_errors_are_the_textbooks():
    y, x, who = ratings(np.random.default_rng(3))
    found = clustered_fit(y, x, who)[0]
    se, df = dense(y, x, who)
    assert found.slope == pytest.approx(linear_fit(x, y).slope)
    assert found.r == pytest.approx(linear_fit(x, y).r)
    assert (found.se, found.df) == (pytest.approx(se), pytest.approx(df))
    assert found.clusters == 12
    assert found.low < found.slope < found.high


def test_many_people_agree_with_statsmodels():
    sm = pytest.importorskip("statsmodels.api")
    y, x, who = ratings(np.random.default_rng(4), people=150)
    theirs = sm.OLS(y, sm.add_constant(x)).fit(cov_type="cluster", cov_kwds={"groups": who})
    assert clustered_fit(y, x, who)[0].se == pytest.approx(theirs.bse[1], rel=0.02)
    dummies = np.column_stack([x, np.eye(150)[who]])
    fixed = sm.OLS(y, dummies).fit(cov_type="cluster", cov_kwds={"groups": who, "use_correction": False})
    own = within_fit(y, x, who)[0]
    assert own.slope == pytest.approx(fixed.params[0])
    assert own.se == pytest.approx(fixed.bse[0], rel=0.02)


def test_several_columns_and_designs_without_a_constant():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 2))
    y = x @ [1.0, -2.0] + 0.01 * rng.normal(size=80)
    first, second = clustered_fit(y, x, np.arange(80))
    assert (first.slope, second.slope) == (pytest.approx(1, abs=0.01), pytest.approx(-2, abs=0.01))
    assert design_fit(y, x, np.arange(80))[1].slope == pytest.approx(-2, abs=0.01)


def test_p_values_are_honest_where_people_differ():
    """No relation at all: 5 in 100 are found. Least squares that takes every answer for a person finds far more."""
    rng = np.random.default_rng(1)
    p = {"clustered": [], "within": [], "naive": []}
    for _ in range(400):
        y, x, who = ratings(rng, people=20, most=7)
        p["clustered"].append(clustered_fit(y, x, who)[0].p)
        p["within"].append(within_fit(y, x, who)[0].p)
        p["naive"].append(linear_fit(x, y).p)
    share = {name: np.mean(np.array(values) < 0.05) for name, values in p.items()}
    assert 0.017 < share["clustered"] < 0.083  # 3 standard errors are 0.033
    assert 0.017 < share["within"] < 0.083
    assert share["naive"] > 0.1


def test_intervals_hold_the_slope():
    rng = np.random.default_rng(2)
    held = {"clustered": 0, "within": 0}
    for _ in range(200):
        y, x, who = ratings(rng, people=15, slope=0.5)
        for name, function in (("clustered", clustered_fit), ("within", within_fit)):
            made = function(y, x, who)[0]
            held[name] += made.low < 0.5 < made.high
    assert all(0.9 < count / 200 < 0.995 for count in held.values())


@pytest.mark.parametrize(
    ("y", "x", "who", "told"),
    [
        ([1, 2, 3], [1, 2, 3], "aab", "too few"),
        ([1, 1, 1, 1], [1, 2, 3, 4], "abcd", "same"),
        ([1, 2, 3, 4], [2, 2, 2, 2], "abcd", "same"),
        ([1, 2, 3], [1, 2, 3, 4], "abc", "one each"),
        ([1, 2, np.nan], [1, 2, 3], "abc", "missing"),
    ],
)
def test_what_has_no_slope_says_why(y, x, who, told):
    with pytest.raises(InterplayError, match=told):
        clustered_fit(y, x, list(who))


def test_nothing_within_people():
    with pytest.raises(InterplayError, match="two ratings"):
        within_fit([1, 2, 3, 4], [1, 2, 3, 5], list("abcd"))
    with pytest.raises(InterplayError, match="does not change"):
        within_fit([1, 2, 3, 4, 5, 7], [1, 1, 2, 2, 3, 3], list("aabbcc"))


def test_effects_intervals_hold_the_effect():
    rng = np.random.default_rng(5)
    held = 0
    for _ in range(1500):
        x = rng.normal(0.6, 1.0, 12)
        low, high = effect_interval(x.mean() / x.std(ddof=1) * np.sqrt(12), 12)
        held += low < 0.6 < high
    assert 0.933 < held / 1500 < 0.967
    low, high = effect_interval(100.0, 50)  # beyond what the noncentral t can be computed for
    assert low < 100 / np.sqrt(50) < high


def test_alpha_by_the_book():
    rng = np.random.default_rng(0)
    items = rng.normal(size=(60, 1)) + rng.normal(size=(60, 4))
    found = cronbach_alpha(items, np.arange(60), seed=0)
    book = 4 / 3 * (1 - items.var(axis=0, ddof=1).sum() / items.sum(axis=1).var(ddof=1))
    assert found.alpha == pytest.approx(book)
    three = 3 / 2 * (1 - items[:, 1:].var(axis=0, ddof=1).sum() / items[:, 1:].sum(axis=1).var(ddof=1))
    assert found.without[0] == pytest.approx(three)
    assert found.item_rest[2] == pytest.approx(np.corrcoef(items[:, 2], np.delete(items, 2, 1).sum(axis=1))[0, 1])
    assert found.low < 0.8 < found.high  # 4 items that share half of their variance
    twice = cronbach_alpha(np.repeat(items, 4, axis=0), np.repeat(np.arange(60), 4), seed=0)
    assert twice.high - twice.low > 0.8 * (found.high - found.low)  # the same people again are no more people
    with pytest.raises(InterplayError, match="same sum"):
        cronbach_alpha([[1, 2], [2, 1], [1, 2]], [0, 1, 2], seed=0)


def test_friedman_is_scipys():
    from scipy.stats import friedmanchisquare

    table = np.random.default_rng(0).integers(1, 6, (15, 5)).astype(float)
    theirs = friedmanchisquare(*table.T)
    found = friedman(table)
    assert (found.chi2, found.p) == (pytest.approx(theirs.statistic), pytest.approx(theirs.pvalue))
