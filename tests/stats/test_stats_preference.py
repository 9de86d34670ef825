"""People's ratings against objective metrics: known answers, statsmodels, and the printed numbers of a paper."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.errors import InterplayError
from interplay.stats import predict_ratings, relations
from interplay.stats.correlation import pearson_p_value
from interplay.stats.multiple_testing import bonferroni_threshold
from interplay.stats.preference.ridge import PENALTIES, Prepared, choose
from interplay.table import Table

# Agents' means of "Objective Metrics ... Human Preference" (Allen et al. 2025), Table 3; missing: not defined there.
TABLE_3 = {
    "self_play": [23.128, 20.684, 21.268, 23.428, 24.168, 23.896, 1.180, 23.288],
    "intra_xp": [22.000, None, 21.168, 23.301, 23.927, 23.002, None, None],
    "inter_xp": [16.125, 6.197, 12.535, 14.822, 13.539, 16.402, 1.641, 10.393],
    "ad_entropy": [2.653, 2.560, 2.760, 2.821, 2.800, 2.737, 2.912, 2.727],
    "ard_entropy": [4.579, 4.271, 4.763, 4.736, 4.727, 4.688, 4.109, 4.636],
    "ci": [0.107, 0.118, 0.103, 0.104, 0.103, 0.105, 0.101, 0.105],
    "ic": [0.442, 0.450, 0.163, 0.271, 0.329, 0.357, 0.023, 0.370],
    "g3": [0.097, 0.067, 0.131, 0.119, 0.106, 0.109, 0.045, 0.092],
}
AGENTS = ["AP+Aux", "HolmesBot", "OBL1", "OBL2", "OBL4", "OP+Aux", "RandomBot", "SmartBot"]
PRINTED = {  # Table 5, undamaged cells: metric, RandomBot included, r, slope
    ("self_play", False): (0.168, 1.049),
    ("inter_xp", True): (0.370, 0.600),
    ("inter_xp", False): (0.047, 0.109),
    ("ad_entropy", True): (-0.086, -6.805),
    ("ard_entropy", False): (0.233, 11.505),
    ("ci", True): (-0.028, -47.543),
    ("ci", False): (-0.218, -340.670),
    ("g3", True): (0.421, 121.216),
    ("g3", False): (0.166, 63.551),
}


def ratings(effect: dict[str, float], *, people: int = 60, noise: float = 7.0, seed: int = 0, bend=None) -> Table:
    """Ratings of the paper's agents that depend on their metrics in a known way."""
    rng = np.random.default_rng(seed)
    rows = []
    for i, agent in enumerate(AGENTS):
        metrics = {name: values[i] for name, values in TABLE_3.items()}
        centre = 18 + sum(slope * metrics[name] for name, slope in effect.items()) + (bend(metrics) if bend else 0)
        rows += [
            {"agent": agent, "person": f"{agent} {p}", "rating": centre + noise * rng.normal(), **metrics}
            for p in range(people)
        ]
    return Table.of(rows)


def test_relations_find_a_known_slope_and_tell_it_with_and_without_an_outlier():
    table = relations(ratings({"self_play": 0.5}, people=400), ["self_play", "intra_xp"], without=["RandomBot"])
    assert [(r["sample"], r["metric"], r["n"], r["agents"]) for r in table] == [
        ("all", "self_play", 3200, 8),
        ("all", "intra_xp", 2000, 5),  # null for the rule-based agents, never 0
        ("without RandomBot", "self_play", 2800, 7),
        ("without RandomBot", "intra_xp", 2000, 5),
    ]
    first = table.rows[0]
    assert first["slope_low"] < 0.5 < first["slope_high"]
    assert abs(first["slope"] - 0.5) < 0.05
    assert first["significant"]
    assert first["p_bonferroni"] == pytest.approx(min(1, 4 * first["p"]))


def test_relations_agree_with_statsmodels():
    sm = pytest.importorskip("statsmodels.api")
    data = ratings({"g3": 60.0})
    y = np.array(data.column("rating"))
    for metric in ("g3", "inter_xp", "ci"):
        (row,) = relations(data, [metric])
        x = np.array(data.column(metric))
        fit = sm.OLS(y, sm.add_constant(x)).fit()
        low, high = fit.conf_int()[1]
        assert [row["slope"], row["p"], row["slope_low"], row["slope_high"]] == pytest.approx(
            [fit.params[1], fit.pvalues[1], low, high]
        )
        assert row["r"] == pytest.approx(np.sign(fit.params[1]) * np.sqrt(fit.rsquared))
    x = np.array(data.column("ic"))
    (row,) = relations(ratings({}, bend=lambda m: -200 * (m["ic"] - 0.25) ** 2), ["ic"], peaked=["ic"])
    data = ratings({}, bend=lambda m: -200 * (m["ic"] - 0.25) ** 2)
    fit = sm.OLS(np.array(data.column("rating")), np.column_stack([np.ones_like(x), x, x * x])).fit()
    assert (row["shape"], row["slope"]) == ("parabola", None)
    assert [row["r"], row["p"]] == pytest.approx([np.sqrt(fit.rsquared), fit.f_pvalue])
    assert row["peak"] == pytest.approx(-fit.params[1] / (2 * fit.params[2]))
    assert 0.2 < row["peak"] < 0.3


def test_a_curve_that_bends_the_wrong_way_is_a_line():
    data = ratings({}, bend=lambda m: 200 * (m["ic"] - 0.25) ** 2, noise=3)
    (row,) = relations(data, ["ic"], peaked=["ic"])
    assert row["shape"] == "line"
    assert "no peak" in row["note"]
    assert row["slope"] == pytest.approx(relations(data, ["ic"]).rows[0]["slope"])


def test_many_people_do_not_make_many_agents():
    """Agents differ for a reason that no metric knows: p per rating finds it everywhere, p over agents does not."""
    false_by_people = false_by_agents = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        rows = []
        for agent in range(8):
            x, liked = rng.normal(size=2)
            rows += [{"agent": agent, "x": x, "rating": liked + 0.5 * rng.normal()} for _ in range(40)]
        (row,) = relations(Table.of(rows), ["x"], orders=400, seed=seed)
        false_by_people += row["p"] < 0.05
        false_by_agents += row["p_agents"] < 0.05
    assert false_by_people >= 25
    assert false_by_agents <= 6


def test_the_exchange_of_agents_is_exact_for_few():
    """Three agents can be exchanged in 6 ways, and a line does not tell an order from its reverse."""
    rows = [{"agent": a, "x": a, "rating": a + e} for a in (1, 2, 3) for e in (-0.1, 0, 0.1)]
    assert relations(Table.of(rows), ["x"]).rows[0]["p_agents"] == pytest.approx(2 / 6)


def test_metrics_of_single_ratings_have_no_p_over_agents():
    rng = np.random.default_rng(0)
    rows = [{"agent": i % 4, "x": rng.normal(), "rating": rng.normal()} for i in range(80)]
    assert relations(Table.of(rows), ["x"]).rows[0]["p_agents"] is None


def test_printed_slopes_and_correlations_of_the_paper_belong_together():
    """slope = r times the spread of ratings / the spread of agents: every row must tell the same spread of ratings."""
    spreads = []
    for (metric, random_bot), (r, slope) in PRINTED.items():
        x = [
            v
            for a, v in zip(AGENTS, TABLE_3[metric], strict=True)
            if v is not None and (random_bot or a != "RandomBot")
        ]
        spreads.append(slope / r * np.std(x))
    assert 7.2 < min(spreads) < max(spreads) < 8.5
    data = ratings({"g3": 100.0}, people=50)
    for row in relations(data, list(TABLE_3), without=["RandomBot"]):  # our fits keep the same law
        kept = [
            r for r in data if r[row["metric"]] is not None and (row["sample"] == "all" or r["agent"] != "RandomBot")
        ]
        x, y = (np.array([r[c] for r in kept], float) for c in (row["metric"], "rating"))
        assert row["slope"] == pytest.approx(row["r"] * y.std() / x.std())


def test_printed_p_values_of_the_paper():
    """241 people rated two agents each; without RandomBot about 408 ratings remain."""
    assert pearson_p_value(-0.086, 482) == pytest.approx(0.060, abs=0.002)
    assert pearson_p_value(-0.028, 482) == pytest.approx(0.542, abs=0.01)
    assert pearson_p_value(0.047, 408) == pytest.approx(0.344, abs=0.01)
    assert pearson_p_value(0.058, 408) == pytest.approx(0.242, abs=0.01)
    assert bonferroni_threshold(0.05, 18) == pytest.approx(0.00278, abs=5e-6)
    table = relations(ratings({}), ["g3"], without=["RandomBot"], tests=18)
    assert [r["p_bonferroni"] for r in table] == pytest.approx([min(1, 18 * r["p"]) for r in table])


def test_ridge_agrees_with_statsmodels_and_with_algebra():
    sm = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(70, 4)) @ rng.normal(size=(4, 4)), rng.normal(size=(70, 2))
    z, centred = (x - x.mean(0)) / x.std(0), y - y.mean(0)
    for penalty in (0.0, 0.03, 2.0):
        ours = Prepared.of(x).coefficients(y, np.array(penalty))
        by_hand = np.linalg.solve(z.T @ z + 70 * penalty * np.eye(4), z.T @ centred)
        np.testing.assert_allclose(ours, by_hand, rtol=1e-9)
        theirs = sm.OLS(centred[:, 0], z).fit_regularized(alpha=penalty, L1_wt=0).params
        np.testing.assert_allclose(ours[:, 0], theirs, rtol=1e-6)
    np.testing.assert_array_equal(Prepared.of(x).predict(x, y, np.array(np.inf)), np.broadcast_to(y.mean(0), y.shape))


def test_a_metric_that_does_not_vary_plays_no_part():
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.normal(size=30), np.full(30, 0.1)])
    fitted = Prepared.of(x).coefficients(x[:, :1] * 2, np.array(1e-6))
    assert fitted[:, 0] == pytest.approx([2 * x[:, 0].std(), 0], abs=1e-4)


def test_the_penalty_follows_the_signal():
    rng = np.random.default_rng(1)
    x, fold = rng.normal(size=(120, 5)), np.arange(120) % 10
    signal, noise = x[:, 0] + 0.1 * rng.normal(size=120), rng.normal(size=120)
    chosen = choose(x, np.column_stack([signal, noise]), fold)
    assert chosen[0] < 0.1
    assert chosen[1] >= 1
    assert np.isinf(PENALTIES[-1])


def people(n: int, effect: float, seed: int = 0, agents: int = 4) -> Table:
    """Ratings by people, one each, that follow what happened in their game; agents have tastes of their own."""
    rng = np.random.default_rng(seed)
    liked = rng.normal(size=agents) * 0.3
    rows = []
    for person in range(n):
        agent, a, b = person % agents, rng.normal(), rng.normal()
        rating = effect * a + liked[agent] + rng.normal()
        rows.append({"agent": f"agent {agent}", "person": person, "a": a, "b": b, "rating": rating})
    return Table.of(rows)


@pytest.mark.parametrize("leave_out", ["agent", 10])
def test_prediction_finds_what_can_be_found(leave_out):
    """With effect 1 and noise 1 half of the variance can be predicted."""
    found = predict_ratings(people(600, 1.0), ["a", "b"], leave_out=leave_out, unit="person", shuffles=199)
    assert 0.35 < found.r_squared.low < found.r_squared.estimate < 0.6
    assert found.p == pytest.approx(1 / 200)
    assert found.chance < 0.02
    assert found.error < found.error_of_mean
    assert 0.92 < found.coverage < 0.98
    assert found.half_width == pytest.approx(1.96, abs=0.35)
    (a, b) = found.coefficients.rows
    assert 0.85 < a["per_sd"] < 1.15
    assert a["low"] < a["per_sd"] < a["high"]
    assert b["low"] < 0 < b["high"]
    assert len(found.predictions) == 600
    assert all(r["low"] < r["prediction"] < r["high"] for r in found.predictions)


def test_prediction_is_honest_about_noise():
    values = [
        predict_ratings(people(80, 0.0, seed), ["a", "b"], unit="person", shuffles=99, seed=seed) for seed in range(12)
    ]
    estimates = [v.r_squared.estimate for v in values]
    assert max(estimates) < 0.1
    assert min(estimates) < 0  # nothing hides a model that misleads
    assert sum(v.p < 0.05 for v in values) <= 2


def test_agents_metrics_are_shuffled_among_agents():
    """Eight agents, many people: the ratings cannot make up for the few agents."""
    lucky = predict_ratings(ratings({}, people=20, noise=3), ["g3", "ci"], unit="person", shuffles=99)
    assert lucky.r_squared.estimate < 0.2
    real = predict_ratings(ratings({"self_play": 2.0}, people=20, noise=3), ["self_play"], unit="person", shuffles=99)
    assert real.p < 0.2
    assert real.folds.column("group") == AGENTS


def test_the_same_seed_gives_the_same_numbers():
    table = people(60, 0.5)
    one, two = (predict_ratings(table, ["a", "b"], unit="person", shuffles=50, seed=4) for _ in range(2))
    assert one.table().rows == two.table().rows
    assert one.coefficients.rows == two.coefficients.rows


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda t: relations(t, ["c"]), "no column 'c'"),
        (lambda t: relations(t, ["a"], without=["Nobody"]), "no rating is about 'Nobody'"),
        (lambda t: relations(t, ["a"], peaked=["b"]), "peaked: 'b' is not among the metrics"),
        (lambda t: predict_ratings(t, []), "name at least one column"),
        (lambda t: predict_ratings(t, ["a"], leave_out=1), "a number from 2 to 60"),
        (lambda t: predict_ratings(Table.of(t.rows[:5]), ["a"]), "at least 10"),
        (lambda t: predict_ratings(Table.of([r | {"agent": "x"} for r in t]), ["a"]), "at least 3 are needed"),
        (lambda t: predict_ratings(Table.of([r | {"rating": 3} for r in t]), ["a"]), "nothing to predict"),
        (
            lambda t: predict_ratings(Table.of([*t.rows[1:], t.rows[0] | {"a": None}]), ["a"]),
            "1 of 60 rows are missing",
        ),
        (lambda t: relations(Table.of([r | {"a": "much"} for r in t]), ["a"]), "does not hold numbers"),
    ],
)
def test_errors_say_what_is_wrong(call, told):
    with pytest.raises(InterplayError, match=told):
        call(people(60, 0.5))


def test_a_metric_without_values_has_nulls_and_a_reason():
    table = relations(Table.of([r | {"a": 1.0} for r in people(60, 0.5)]), ["a", "b"])
    assert table.rows[0]["r"] is None
    assert "values that vary" in table.rows[0]["note"]
    assert table.rows[1]["p_bonferroni"] == pytest.approx(table.rows[1]["p"])  # one test was made
