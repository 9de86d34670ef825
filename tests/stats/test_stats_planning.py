"""Variance components, the widths they predict, and the power of t tests."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.power import TTestIndPower, TTestPower

from interplay import stats
from interplay.errors import InterplayError

SDS = {"seed": 1.0, "partner": 2.0, "seed:partner": 0.7, "episode": 1.5}


def play(seeds, partners, episodes, rng, sds=SDS):
    s, p, _ = np.indices((seeds, partners, episodes)).reshape(3, -1)
    y = rng.normal(0, sds["seed"], seeds)[s] + rng.normal(0, sds["partner"], partners)[p]
    y = y + rng.normal(0, sds["seed:partner"], (seeds, partners))[s, p] + rng.normal(0, sds["episode"], len(s))
    return y, {"seed": s.tolist(), "partner": p.tolist()}


def test_components_of_a_balanced_pilot_are_those_of_the_analysis_of_variance():
    y, factors = play(4, 5, 3, np.random.default_rng(2))
    cube = y.reshape(4, 5, 3)
    cell, grand = cube.mean(axis=2), cube.mean()
    ms_seed = 15 * np.sum((cell.mean(axis=1) - grand) ** 2) / 3
    ms_partner = 12 * np.sum((cell.mean(axis=0) - grand) ** 2) / 4
    deviation = cell - cell.mean(axis=1, keepdims=True) - cell.mean(axis=0, keepdims=True) + grand
    ms_cell = 3 * np.sum(deviation**2) / 12
    ms_episode = np.sum((cube - cell[:, :, None]) ** 2) / 40
    expected = {
        "seed": (ms_seed - ms_cell) / 15,
        "partner": (ms_partner - ms_cell) / 12,
        "seed:partner": (ms_cell - ms_episode) / 3,
        "episode": ms_episode,
    }
    found = stats.variance_components(y, factors).variances
    assert found == pytest.approx({k: max(v, 0) for k, v in expected.items()})


def test_components_are_unbiased_for_unequal_cells():
    rng = np.random.default_rng(0)
    found = []
    for _ in range(150):
        y, factors = play(6, 6, 3, rng)
        keep = np.flatnonzero(rng.random(len(y)) < 0.7)
        part = {name: [column[i] for i in keep] for name, column in factors.items()}
        found.append(list(stats.variance_components(y[keep], part).variances.values()))
    truth = [1.0, 4.0, 0.49, 2.25]
    assert np.mean(found, axis=0) == pytest.approx(truth, rel=0.2)


def test_planned_standard_error_is_what_repeated_experiments_show():
    rng = np.random.default_rng(0)
    means = [play(4, 10, 2, rng)[0].mean() for _ in range(1500)]
    plan = stats.expected_width(stats.assumed_components(SDS), {"seed": 4, "partner": 10}, 2)
    assert plan.se == pytest.approx(np.std(means), rel=0.06)
    assert plan.se**2 == pytest.approx(1 / 4 + 4 / 10 + 0.49 / 40 + 2.25 / 80)
    assert sum(plan.sources.values()) == pytest.approx(1)


def test_planned_width_is_that_of_the_bootstrap_interval():
    rng = np.random.default_rng(1)
    options = {"statistic": "mean", "replicates": 300}
    widths = [stats.bootstrap(*play(8, 12, 2, rng), seed=rng, **options).half_width for _ in range(40)]
    plan = stats.expected_width(stats.assumed_components(SDS), {"seed": 8, "partner": 12}, 2)
    assert np.mean(widths) == pytest.approx(plan.half_width, rel=0.15)


def test_fixed_seats_add_no_uncertainty_of_their_own():
    rng = np.random.default_rng(0)
    s, p, seat, _ = np.indices((6, 6, 2, 3)).reshape(4, -1)
    y = 10.0 * seat + rng.normal(0, 1, 6)[s] + rng.normal(0, 1, 6)[p] + rng.normal(0, 1, len(s))
    found = stats.variance_components(y, {"seed": s, "partner": p, "seat": seat}, fixed=["seat"])
    assert found.fixed == {"seat": 2}
    assert found.variances["seat"] > 20
    assert stats.expected_width(found, {"seed": 6, "partner": 6}, 3).se < 1


@settings(max_examples=25, deadline=None)
@given(st.floats(0.7, 2.4), st.floats(1, 50), st.floats(1, 50))
def test_cheapest_design_meets_its_target_and_nothing_nearby_is_cheaper(target, seed_cost, partner_cost):
    parts, costs = stats.assumed_components(SDS), {"seed": seed_cost, "partner": partner_cost, "episode": 0.1}
    most = {"seed": 40, "partner": 60, "episode": 8}
    plan = stats.cheapest_design(parts, target, costs=costs, most=most)
    assert plan.half_width <= target
    for name in plan.levels:
        fewer = plan.levels | {name: plan.levels[name] - 1}
        if fewer[name] >= 2:
            assert stats.expected_width(parts, fewer, plan.episodes).half_width > target
    assert plan.cost == pytest.approx(
        seed_cost * plan.levels["seed"] + partner_cost * plan.levels["partner"] + 0.1 * plan.total_episodes
    )


def test_more_episodes_cannot_replace_partners():
    parts = stats.assumed_components({"partner": 2.0, "episode": 1.0})
    with pytest.raises(InterplayError, match=r"no design within the bounds.*Raise `most`"):
        stats.cheapest_design(parts, 0.5, most={"seed": 5, "partner": 10, "episode": 100})


def test_search_of_a_million_designs_is_quick():
    start = time.process_time()
    plan = stats.cheapest_design(stats.assumed_components(SDS), 0.9, costs={"seed": 1000.0, "partner": 1.0})
    assert plan.half_width <= 0.9
    assert time.process_time() - start < 5  # about half a second on a quiet core


def test_planning_errors():
    y, factors = play(3, 3, 1, np.random.default_rng(0))
    assert not stats.variance_components(y, factors).separated
    with pytest.raises(InterplayError, match="factor 'seed' has one level"):
        stats.variance_components([1.0, 2.0], {"seed": [0, 0], "partner": [0, 1]})
    with pytest.raises(InterplayError, match="unknown source of variance 'colour'"):
        stats.assumed_components({"colour": 1.0})
    with pytest.raises(InterplayError, match="levels must name seed, partner"):
        stats.expected_width(stats.assumed_components(SDS), {"seed": 3}, 1)
    with pytest.raises(InterplayError, match=r"not crossed|cross the factors"):
        stats.variance_components([1.0, 2.0, 3.0], {"seed": [0, 1, 2], "partner": [0, 1, 2]})


@pytest.mark.parametrize("one_sided", [False, True])
def test_power_agrees_with_statsmodels(one_sided):
    side = "larger" if one_sided else "two-sided"
    for n in (5, 20, 80):
        two, one = (
            TTestIndPower().power(0.4, n, 0.05, alternative=side),
            TTestPower().power(0.4, n, 0.05, alternative=side),
        )
        assert stats.t_test_power(0.4, n, one_sided=one_sided) == pytest.approx(two, abs=1e-6)
        assert stats.t_test_power(0.4, n, kind="paired", one_sided=one_sided) == pytest.approx(one, abs=1e-6)


def test_sample_sizes_of_cohens_tables():
    """Cohen 1988: 26, 64 and 393 a group for large, medium and small effects at power 0.8 (394 without rounding)."""
    assert [stats.t_test_sample_size(d) for d in (0.8, 0.5, 0.2)] == [26, 64, 394]
    assert stats.t_test_sample_size(0.5, kind="paired") == 34
    with pytest.raises(InterplayError, match="absent effect"):
        stats.t_test_sample_size(0.0)
