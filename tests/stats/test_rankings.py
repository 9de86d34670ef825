"""Do measures rank agents alike: correlations per replicate against scipy, and what is drawn together."""

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from interplay.errors import InterplayError
from interplay.stats.measure_agreement import draw, kendall_by_row, rank_agreement, spearman_by_row
from interplay.table import Table


def tidy(measures, agents=6, seeds=5, noise=0.1, seed=0):
    """`measures`: name -> the agents' true values; a row per agent, measure and training seed."""
    rng = np.random.default_rng(seed)
    return Table.of(
        {"agent": f"agent {a}", "measure": name, "seed": s, "value": true[a] + noise * rng.normal()}
        for name, true in measures.items() for a in range(agents) for s in range(seeds)
    )  # fmt: skip


def test_rows_of_correlations_agree_with_scipy():
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 5, (30, 7)).astype(float), rng.integers(0, 5, (30, 7)).astype(float)
    assert spearman_by_row(x, y) == pytest.approx([spearmanr(a, b)[0] for a, b in zip(x, y, strict=True)])
    assert kendall_by_row(x, y) == pytest.approx([kendalltau(a, b)[0] for a, b in zip(x, y, strict=True)])
    x[0, 0], x[1] = np.nan, 3.0
    assert np.isnan(spearman_by_row(x, y)[:2]).all()
    assert np.isnan(kendall_by_row(x, y)[:2]).all()


def test_measures_that_agree_disagree_or_have_nothing_to_do_with_each_other():
    truth = np.arange(6.0)
    found = rank_agreement(tidy({"a": truth, "same": truth * 3 + 1, "reverse": -truth}), seed=0, replicates=300)
    pairs = {(r["measure"], r["other"]): r for r in found.pairs}
    assert pairs["a", "same"]["spearman"] == pytest.approx(1)
    assert pairs["a", "same"]["kendall"] == pytest.approx(1)
    assert pairs["a", "reverse"]["spearman"] == pytest.approx(-1)
    assert pairs["a", "same"]["spearman_p"] == pytest.approx(2 / 720)
    assert pairs["a", "same"]["spearman_low"] == pytest.approx(1)  # far apart: no draw changes an order
    turned = rank_agreement(
        tidy({"a": truth, "reverse": -truth}), seed=0, replicates=300, lower=["reverse"]
    )  # fmt: skip
    assert turned.pairs.rows[0]["spearman"] == pytest.approx(1)


def test_noise_widens_the_interval_and_the_ranks():
    truth = np.arange(6.0)
    sure, unsure = (
        rank_agreement(tidy({"a": truth, "b": truth}, noise=n), seed=0, replicates=500) for n in (0.01, 3.0)
    )
    width = [r.pairs.rows[0]["spearman_high"] - r.pairs.rows[0]["spearman_low"] for r in (sure, unsure)]
    assert width[0] == pytest.approx(0)
    assert width[1] > 0.2
    assert all(r["rank_low"] == r["rank"] == r["rank_high"] for r in sure.ranks)
    assert any(r["rank_low"] < r["rank_high"] for r in unsure.ranks)
    first = [r["first_share"] for r in unsure.ranks if r["measure"] == "a"]
    assert sum(first) == pytest.approx(1)


def test_shared_partners_are_drawn_once_for_all_agents():
    """Partners differ much, agents by a constant: a hard draw is hard for all, so the order is never in doubt."""
    rng = np.random.default_rng(1)
    hard = 10 * rng.normal(size=8)
    rows = [
        {"agent": a, "measure": m, "partner": p, "value": hard[p] + a * sign}
        for m, sign in (("up", 1.0), ("again", 2.0)) for a in range(4) for p in range(8)
    ]  # fmt: skip
    together = rank_agreement(Table.of(rows), seed=0, replicates=300)
    assert together.pairs.rows[0]["spearman_low"] == pytest.approx(1)
    apart = rank_agreement(Table.of(rows), seed=0, own=["partner"], shared=[], replicates=300)
    assert apart.pairs.rows[0]["spearman_low"] < 1


def test_one_seed_is_drawn_for_all_measures_of_its_agent():
    """The second measure is twice the first, seed by seed: drawn together it stays so in every replicate."""
    rng = np.random.default_rng(2)
    value = rng.normal(size=(4, 5))
    rows = [
        {"agent": a, "measure": m, "seed": s, "value": k * value[a, s]}
        for m, k in (("one", 1.0), ("twice", 2.0)) for a in range(4) for s in range(5)
    ]  # fmt: skip
    drawn = draw(Table.of(rows), seed=0, own=["seed"], shared=[], replicates=200)
    assert drawn.replicates[:, 1] == pytest.approx(2 * drawn.replicates[:, 0])
    assert drawn.replicates[:, 0].std(axis=0).min() > 0.05
    # the spread of a mean of five drawn with replacement
    expected = value.std(axis=1) / np.sqrt(5)
    many = draw(Table.of(rows), seed=0, own=["seed"], shared=[], replicates=4000)
    assert many.replicates[:, 0].std(axis=0) == pytest.approx(expected, rel=0.06)


def test_every_measure_keeps_its_own_panel():
    """Partners of one measure never stand in for those of another: no replicate loses a measure."""
    rows = [
        {"agent": a, "measure": m, "partner": f"{m} {p}", "value": float(a + p)}
        for m, n in (("few", 2), ("many", 40)) for a in range(4) for p in range(n)
    ]  # fmt: skip
    drawn = draw(Table.of(rows), seed=0, own=[], shared=["partner"], replicates=300)
    assert np.isfinite(drawn.replicates).all()


def test_a_published_rank_has_no_units_and_is_never_drawn():
    truth = np.arange(6.0)
    table = tidy({"a": truth}, noise=2.0)
    ranks = [{"agent": f"agent {a}", "measure": "people", "value": float(6 - a)} for a in range(6)]
    found = rank_agreement(Table.of([*table.rows, *ranks]), seed=0, lower=["people"], replicates=300)
    people = [r for r in found.ranks if r["measure"] == "people"]
    assert [r["rank"] for r in people] == [6, 5, 4, 3, 2, 1]
    assert all(r["rank_low"] == r["rank_high"] == r["rank"] for r in people)


def test_agents_without_a_value_are_left_out_of_that_pair_only():
    table = tidy({"a": np.arange(6.0), "b": np.arange(6.0)}, noise=0.01)
    rows = [r | {"value": None} if (r["agent"], r["measure"]) == ("agent 0", "b") else r for r in table]
    found = rank_agreement(Table.of(rows), seed=0, replicates=200)
    assert found.pairs.rows[0]["agents"] == 5
    assert found.pairs.rows[0]["spearman"] == pytest.approx(1)
    assert len([r for r in found.ranks if r["measure"] == "a"]) == 6
    few = [r | {"value": None} if r["measure"] == "b" and r["agent"] > "agent 1" else r for r in table]
    (pair,) = rank_agreement(Table.of(few), seed=0, replicates=200).pairs.rows
    assert pair["agents"] == 2
    assert pair["spearman"] is pair["kendall_p"] is None


def test_without_units_there_is_an_estimate_and_no_interval():
    rows = [{"agent": a, "measure": m, "value": float(a)} for m in "xy" for a in range(4)]
    (pair,) = rank_agreement(Table.of(rows), seed=0).pairs.rows
    assert pair["spearman"] == pytest.approx(1)
    assert pair["spearman_low"] is None


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        ([{"agent": "a", "value": 1.0}], {}, "no column 'measure'"),
        ([{"agent": None, "measure": "m", "value": 1.0}], {}, "row 1: agent and measure need a name"),
        ([{"agent": "a", "measure": "m", "value": "x"}], {}, "row 1: the value of m is 'x'"),
        ([{"agent": "a", "measure": "m", "value": 1.0}], {}, "at least 2 measures of at least 3 agents"),
        ([{"agent": a, "measure": m, "value": 1.0 * a} for m in "xy" for a in range(3)], {"lower": ["z"]},
         "no measure 'z'; the measures are x, y"),
        ([{"agent": a, "measure": m, "value": 1.0 * a} for m in "xy" for a in range(3)], {"level": 2.0}, "level"),
    ],
)  # fmt: skip
def test_what_cannot_be_ranked_is_told(rows, options, message):
    with pytest.raises(InterplayError, match=message):
        rank_agreement(Table.of(rows), seed=0, **options)
