"""Ordinal mixed models: against plain ordinal regression, and what is planted."""

import numpy as np
import pytest

from interplay.errors import InterplayError
from interplay.stats.models import ordinal_mixed


def answers(people=60, partners=6, *, slope=0.8, person_sd=1.2, liking=0.8, seed=0, points=5):
    rng = np.random.default_rng(seed)
    person, partner = np.indices((people, partners)).reshape(2, -1)
    z = rng.normal(size=len(person))
    x = rng.normal(size=partners)[partner]
    latent = slope * z + rng.normal(0, person_sd, people)[person] + rng.normal(0, liking, partners)[partner]
    cuts = np.linspace(-2, 2, points - 1)
    return person, partner, x, z, 1 + (latent + rng.logistic(size=len(person)) > cuts[:, None]).sum(axis=0)


def test_without_variance_it_is_ordinal_regression():
    ordered = pytest.importorskip("statsmodels.miscmodels.ordinal_model").OrderedModel
    for link in ("logit", "probit"):
        for seed in range(20):
            person, _, _, z, y = answers(person_sd=0.0, liking=0.0, seed=seed)
            made = ordinal_mixed(y, {"z": z}, {"person": person}, link=link, reml=False)
            if made.variances["person"] == 0:
                break
        assert made.variances["person"] == 0
        theirs = ordered(y, z[:, None], distr=link).fit(method="bfgs", disp=False)
        assert made.coefficients[1] == pytest.approx(theirs.params[0], rel=1e-3)
        assert np.sqrt(made.covariance[1, 1]) == pytest.approx(theirs.bse[0], rel=1e-2)
        assert made.log_likelihood == pytest.approx(theirs.llf, abs=1e-3)


def test_what_was_planted_is_found():
    slopes, sds = [], []
    for seed in range(8):
        person, partner, _, z, y = answers(seed=seed, partners=8)
        made = ordinal_mixed(y, {"z": z}, {"person": person, "partner": partner})
        slopes.append(made.coefficient("z"))
        sds.append(made.variances["person"] ** 0.5)
    assert np.mean([e.estimate for e in slopes]) == pytest.approx(0.8, abs=0.1)
    assert np.mean(sds) == pytest.approx(1.2, abs=0.15)
    assert sum(e.low < 0.8 < e.high for e in slopes) >= 6


def test_a_property_of_partners_has_as_many_degrees_of_freedom_as_partners_less_two():
    person, partner, x, _, y = answers(partners=6)
    made = ordinal_mixed(y, {"x": x}, {"person": person, "partner": partner}).coefficient("x")
    assert made.df == pytest.approx(4, abs=0.1)


def test_probabilities_add_up_and_means_follow_the_order():
    person, partner, _, _, y = answers(liking=1.5)
    names = [f"p{k}" for k in partner]
    made = ordinal_mixed(y, {"partner": names}, {"person": person})
    means = made.means("partner")
    raw = {f"p{k}": y[partner == k].mean() for k in range(6)}
    assert means == {name: pytest.approx(value, abs=0.12) for name, value in raw.items()}
    assert made.probabilities(np.zeros(6)).sum() == pytest.approx(1)
    assert made.factor("partner").p < 1e-6
    with pytest.raises(InterplayError, match="thresholds"):
        made.coefficient("constant")


def test_answers_that_a_column_separates_are_told():
    person, _, _, _, _ = answers(20, 6)
    z = np.where(np.arange(120) % 2, 1.0, -1.0)
    with pytest.raises(InterplayError, match="explain every value"):
        ordinal_mixed(np.where(z > 0, 2.0, 1.0), {"z": z}, {"person": person})
    mixed = np.where(z > 0, 3.0, 1.0 + (np.arange(120) % 4 == 0))
    with pytest.raises(InterplayError, match="separate"):
        ordinal_mixed(mixed, {"z": z}, {"person": person})
    with pytest.raises(InterplayError, match="linear model"):
        ordinal_mixed(np.arange(120.0), {"z": z}, {"person": person})
