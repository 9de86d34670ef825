"""Linear mixed models against closed forms and statsmodels, and that tests hold their level with few partners."""

import numpy as np
import pytest

from interplay.errors import InterplayError
from interplay.stats import t_test_paired
from interplay.stats.models import crossed, linear_mixed


def ratings(people=30, partners=6, *, liking=0.6, level=0.8, keep=1.0, seed=0):
    rng = np.random.default_rng(seed)
    person, partner = np.indices((people, partners)).reshape(2, -1)
    kept = rng.random(len(person)) < keep
    person, partner = person[kept], partner[kept]
    x, z = rng.normal(size=partners)[partner], rng.normal(size=len(person))
    y = 3 + 0.5 * z + rng.normal(0, level, people)[person] + rng.normal(0, liking, partners)[partner]
    return person, partner, x, z, y + rng.normal(size=len(person))


def test_a_balanced_design_gives_the_analysis_of_variance():
    """The slope on a property of partners is tested by the partners' means, with partners - 2 degrees of freedom."""
    person, partner, x, _, y = ratings()
    made = linear_mixed(y, {"x": x}, {"person": person, "partner": partner})
    means = np.array([y[partner == j].mean() for j in range(6)])
    values = np.array([x[partner == j][0] for j in range(6)])
    from interplay.stats import linear_fit

    line = linear_fit(values, means)
    one = made.coefficient("x")
    assert one.estimate == pytest.approx(line.slope, abs=1e-8)
    assert (one.se, one.p) == (pytest.approx(line.slope_se, rel=1e-5), pytest.approx(line.p, rel=1e-4))
    assert one.df == pytest.approx(4, abs=1e-6)
    assert (one.low, one.high) == (pytest.approx(line.low, rel=1e-4), pytest.approx(line.high, rel=1e-4))


def test_degrees_of_freedom_stay_with_the_partners_where_their_variance_is_estimated_as_nothing():
    for seed in range(20):
        person, partner, x, _, y = ratings(liking=0.0, seed=seed)
        made = linear_mixed(y, {"x": x}, {"person": person, "partner": partner})
        assert made.coefficient("x").df == pytest.approx(4, abs=1e-4)
        if made.variances["partner"] == 0:
            return
    pytest.fail("no study had an estimate of 0")


def test_two_partners_are_the_paired_t_test():
    person, partner, _, _, y = ratings(25, 2, level=1.5)
    made = linear_mixed(y, {"partner": [f"p{k}" for k in partner]}, {"person": person})
    test = t_test_paired(y[partner == 1], y[partner == 0])
    pair = made.pairs("partner")["p0", "p1"]
    assert (-pair.estimate, pair.df) == (pytest.approx(test.estimate), pytest.approx(24, abs=1e-3))
    assert pair.p == pytest.approx(test.p, rel=1e-5)
    assert made.factor("partner").p == pytest.approx(test.p, rel=1e-5)


def test_the_likelihood_is_that_of_statsmodels():
    mixed_lm = pytest.importorskip("statsmodels.regression.mixed_linear_model").MixedLM
    person, partner, x, z, y = ratings(20, 5, keep=0.7)
    made = linear_mixed(y, {"x": x, "z": z}, {"person": person, "partner": partner})
    components = {"person": np.eye(20)[person], "partner": np.eye(5)[partner]}
    from statsmodels.regression.mixed_linear_model import VCSpec

    names = [[f"{k}{i}" for i in range(m.shape[1])] for k, m in components.items()]
    spec = VCSpec(list(components), [[n] for n in names], [[m] for m in components.values()])
    theirs = mixed_lm(y, np.column_stack([np.ones(len(y)), x, z]), groups=np.ones(len(y)), exog_vc=spec).fit(reml=True)
    assert made.coefficients == pytest.approx(np.asarray(theirs.fe_params), abs=1e-4)
    assert made.variances["person"] == pytest.approx(theirs.vcomp[0], rel=1e-2)
    assert made.variances["residual"] == pytest.approx(theirs.scale, rel=1e-3)
    assert -made.deviance / 2 == pytest.approx(theirs.llf, abs=1e-4)


def test_scoring_finds_what_a_general_optimiser_finds():
    from interplay.stats.models import linear_mixed_model

    for seed in range(12):
        person, partner, x, z, y = ratings(12, 4, liking=0.3 * (seed % 3), keep=0.6 + 0.4 * (seed % 2), seed=seed)
        groups = {"person": person, "partner": partner}
        made = linear_mixed(y, {"x": x, "z": z}, groups, slopes={"person": z})
        pieces = made._pieces
        other = pieces.solve(linear_mixed_model._optimise(pieces))[0]
        assert made.deviance < other + 1e-6


def test_people_whose_slopes_differ_leave_fewer_degrees_of_freedom():
    person, partner, _, z, y = ratings(12, 10)
    y = y + np.random.default_rng(3).normal(0, 0.8, 12)[person] * z
    groups = {"person": person, "partner": partner}
    alike = linear_mixed(y, {"z": z}, groups).coefficient("z")
    vary = linear_mixed(y, {"z": z}, groups, slopes={"person": z}).coefficient("z")
    assert vary.se > 1.5 * alike.se
    assert vary.df < 15 < alike.df


def test_false_positives_and_coverage_with_few_partners():
    """Partners differ in liking, and nothing else is there. Least squares by person finds a third of these."""
    p, held = [], []
    for seed in range(300):
        person, partner, x, z, y = ratings(20, 5, seed=1000 + seed, keep=0.8)
        made = linear_mixed(y, {"x": x, "z": z}, {"person": person, "partner": partner})
        p.append(made.coefficient("x").p)
        slope = made.coefficient("z")
        held.append(slope.low < 0.5 < slope.high)
    assert 0.015 < np.mean(np.array(p) < 0.05) < 0.09
    assert 0.91 < np.mean(held) < 0.985


def test_marginal_means_weigh_levels_equally():
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(20), 6)
    game = np.where(rng.random(120) < 0.8, "one", "two")
    partner = np.tile(["a", "b", "c"], 40)
    y = 2.0 + (game == "two") + 0.5 * (partner == "b") + 1e-3 * rng.normal(size=120)
    made = linear_mixed(y + rng.normal(0, 1e-2, 20)[person], {"partner": partner, "game": game}, {"person": person})
    means = {name: e.estimate for name, e in made.means("partner").items()}
    assert means == {
        "a": pytest.approx(2.5, abs=0.02),
        "b": pytest.approx(3.0, abs=0.02),
        "c": pytest.approx(2.5, abs=0.02),
    }
    assert made.factor("game").p < 1e-9


def test_random_effects_are_predicted_and_shrunk():
    person, partner, _, z, y = ratings(40, 6)
    made = linear_mixed(y, {"z": z}, {"person": person, "partner": partner, "cell": crossed(person // 2, partner)})
    raw = np.array([y[person == k].mean() for k in range(40)]) - y.mean()
    shrunk = np.array([made.random["person"][k] for k in range(40)])
    assert np.corrcoef(raw, shrunk)[0, 1] > 0.9
    assert shrunk.std() < raw.std()
    assert set(made.variances) == {"person", "partner", "cell", "residual"}


@pytest.mark.parametrize(
    ("fixed", "groups", "words"),
    [
        ({"x": [1.0, 1.0, 1.0, 1.0]}, {"g": "aabb"}, "all 4 values are the same"),
        ({"x": [1.0, 2.0, 3.0, float("nan")]}, {"g": "aabb"}, "missing"),
        ({"x": [1.0, 2.0, 3.0]}, {"g": "aabb"}, "3 rows"),
        ({"f": "aaaa"}, {"g": "aabb"}, "one level only"),
        ({"x": [1.0, 2.0, 3.0, 4.0]}, {}, "at least one grouping"),
        ({"x": [1.0, 2.0, 3.0, 4.0]}, {"g": "abcd"}, "a level for every row"),
        ({"x": [1.0, 1.0, 2.0, 2.0]}, {"g": "aabb"}, "too few"),
        ({"x": [1.0, 2.0, 3.0, 4.0], "w": [2.0, 4.0, 6.0, 8.0]}, {"g": "aabb"}, "depend on one another"),
    ],
)
def test_what_cannot_be_fitted_is_told(fixed, groups, words):
    with pytest.raises(InterplayError, match=words):
        linear_mixed([1.0, 2.0, 3.0, 5.0], fixed, groups)


@pytest.mark.parametrize("seed", [2, 38])
def test_a_correction_that_leaves_no_variance_is_left_out(seed):
    """Eight ratings of four people: Kenward and Roger's covariance has a variance below 0."""
    rng = np.random.default_rng(seed)
    people, partners = [i // 2 for i in range(8)], rng.integers(0, 5, 8).tolist()
    x = rng.normal(size=8).round(2).tolist()
    y = rng.integers(1, 8, 8).astype(float).tolist()
    fit = linear_mixed(y, {"slope": x}, {"person": people, "partner": partners}, slopes={"partner": x})
    made, at = fit.coefficient("slope"), fit.fixed.weights("slope")
    assert made.low < made.estimate < made.high
    assert made.se == pytest.approx(np.sqrt(at @ fit.covariance @ at))
    assert 0 <= fit.joint(np.eye(2)).p <= 1
