"""BR-Prox of algorithms: the published tables to three decimals, intervals, weak best responses, rank tables."""

import csv
import gzip
import math
import os
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import trim_mean, ttest_ind

from interplay.errors import InterplayError
from interplay.metrics.brprox.ratios import cells
from interplay.metrics.brprox.table import read_table
from interplay.stats import iqm, mean_interval
from interplay.stats.brprox.best_response_returns import BestResponses, iqm_by_row
from interplay.stats.brprox.ranks import against, name, rank_table, shares, sizes
from interplay.stats.brprox.summary import _above, br_prox, summarise
from interplay.table import Table

needs_data = pytest.mark.skipif(
    "INTERPLAY_DATA" not in os.environ, reason="INTERPLAY_DATA is not set: it names the folder with zsc_eval/*.csv.gz"
)
LAYOUTS = ("random0", "random1", "random3", "random0_m", "random1_m")


def source(layout):
    return Path(os.environ["INTERPLAY_DATA"]) / "zsc_eval" / f"{layout}.csv.gz"


@pytest.fixture(scope="module")
def published():
    """Every given layout, summarised once with few replicates."""
    return {layout: summarise(read_table(source(layout)), seed=0, replicates=200) for layout in LAYOUTS}


def by_agent(summary):
    return {(row["algorithm"], row["population"]): row for row in summary}


@needs_data
@pytest.mark.parametrize(
    ("layout", "best"),
    [("random0", 0.865), ("random1", 0.751), ("random3", 0.671), ("random0_m", 0.796), ("random1_m", 0.756)],
)
def test_the_best_published_values(published, layout, best):
    """Recomputed by others from the same tables with the right best responses."""
    assert max(published[layout].summary.column("iqm")) == pytest.approx(best, abs=5e-4)


@needs_data
def test_the_page_shows_these_numbers(published):
    page = (Path(__file__).parents[2] / "docs" / "results" / "br_prox.md").read_text()
    for found in published.values():
        best = max(found.summary, key=lambda row: row["iqm"])
        assert f"| {name(best)} | {best['iqm']:.3f} | {best['honest_iqm']:.3f} |" in page
        for row in found.summary:
            assert f"| {name(row)} | {row['rank']:g} | {row['iqm']:.3f} [" in page


@needs_data
def test_forced_coordination_is_flattered_by_best_responses_without_a_return(published):
    found = published["random0"]
    agents = by_agent(found.summary)
    assert agents["sp", None]["iqm"] == pytest.approx(0.849, abs=5e-4)
    assert agents["sp", None]["honest_iqm"] == pytest.approx(0.666, abs=5e-4)
    assert len(found.excluded) == 12
    assert len(found.best_responses) == 40
    assert {row["n_excluded"] for row in found.summary} == {60}  # 12 of 40 rulers, five seeds
    assert agents["sp", None]["rank"] < agents["e3t", None]["rank"]
    assert agents["sp", None]["honest_rank"] > agents["e3t", None]["honest_rank"]


@needs_data
@pytest.mark.parametrize("layout", LAYOUTS)
def test_agrees_with_a_plain_trimmed_mean(published, layout):
    """Read and counted here without our code, trimmed by scipy."""
    with gzip.open(source(layout), "rt") as file:
        rows = list(csv.DictReader(file))
    for (algorithm, population), row in by_agent(published[layout].summary).items():
        name = "" if population is None else str(population)
        mine = [r for r in rows if (r["algorithm"], r["population"]) == (algorithm, name)]
        pairs = [(float(r["return"]), float(r["best_response_return"])) for r in mine]
        ratio = [got / best for got, best in pairs if best > 0]
        assert row["iqm"] == pytest.approx(trim_mean([min(1, g / b) if b > 0 else 1.0 for g, b in pairs], 0.25))
        assert row["honest_iqm"] == pytest.approx(trim_mean(np.minimum(ratio, 1), 0.25))
        assert row["unclipped_iqm"] == pytest.approx(trim_mean(ratio, 0.25))
        assert row["honest_iqr"] == pytest.approx(np.subtract(*np.percentile(np.minimum(ratio, 1), [75, 25])))
        assert row["n_above"] == len(row["above"]) == sum(r > 1 for r in ratio)
        assert row["above_share"] == pytest.approx(np.mean(np.array(ratio) > 1))
        assert (row["n"], row["n_seeds"]) == (len(mine), 5)
        assert row["low"] <= row["iqm"] <= row["high"]
        assert row["honest_low"] <= row["honest_iqm"] <= row["honest_high"]


@needs_data
def test_partners_are_split_in_halves_and_said_by_what(published):
    found = published["random3"]
    groups = {(r["partner"], r["skill"]): r["partners"] for r in found.best_responses}
    assert sorted(groups.values()) == ["expert"] * 10 + ["moderate"] * 10
    assert found.split_by == "best_response_return"  # these tables do not hold the partners' self-play return
    mep = found.cells.where(algorithm="mep", population=12)
    middle = np.median(
        [np.mean([r["return"] for r in found.best_responses if (r["partner"], r["skill"]) == k]) for k in groups]
    )
    for split, above in (("expert", True), ("moderate", False)):
        seats = {}
        for r in mep:
            seats.setdefault((r["partner"], r["skill"]), {})[r["ego_seats"]] = r["best_response_return"]
        mine = [r for r in mep if (np.mean([*seats[r["partner"], r["skill"]].values()]) > middle) == above]
        expected = trim_mean([min(1, r["return"] / r["best_response_return"]) for r in mine], 0.25)
        assert by_agent(found.summary)["mep", 12][f"{split}_iqm"] == pytest.approx(expected)


@needs_data
def test_human_ranks_of_the_published_study(published):
    from interplay.papers.zsc.printed import human_ranks

    ring = against(published["random1"].cells, human_ranks("coordination_ring"), seed=0, replicates=200)
    assert ring.where(measure="compatible").rows[0]["populations"] == "fcp 12, mep 12, hsp 12, cole 25"
    assert [r["spearman"] for r in ring.where(measure="compatible")] == pytest.approx([1.0, 1.0, 1.0])
    assert ring.rows[0]["spearman_p"] == pytest.approx(2 / math.factorial(5))
    circuit = against(published["random3"].cells, human_ranks("counter_circuit"), seed=0, replicates=200)
    assert [r["spearman"] for r in circuit.where(measure="honest")] == pytest.approx([0.6, 0.6, 0.6])
    assert all(r["spearman_low"] <= r["spearman"] <= r["spearman_high"] for r in circuit)


@needs_data
def test_shares_of_ranks_over_layouts_and_sizes(published):
    rows = [row | {"layout": layout} for layout, found in published.items() for row in found.summary]
    table = shares(Table.of(rows))
    assert {row["algorithm"] for row in table} == {"sp", "e3t", "fcp", "mep", "trajedi", "cole", "hsp"}
    for row in table:
        assert sum(row[str(k)] for k in range(1, 8)) == pytest.approx(100)
    for k in range(1, 8):
        assert sum(row[str(k)] for row in table) == pytest.approx(100)


def test_iqm_of_rows_with_their_own_values():
    rng = np.random.default_rng(0)
    values, counts = rng.normal(size=(20, 13)), rng.integers(0, 4, (20, 13))
    for row, count, found in zip(values, counts, iqm_by_row(values, counts), strict=True):
        assert found == pytest.approx(iqm(row, count)) == pytest.approx(trim_mean(np.repeat(row, count), 0.25))
    assert math.isnan(iqm_by_row(values[:1], np.zeros((1, 13), int))[0])


def egos(returns, seeds=3, partners=4, algorithm="a", **more):
    return [
        {"algorithm": algorithm, "seed": s, "partner": p, "ego_seat": seat, "return": returns(s, p, seat), **more}
        for s in range(seeds) for p in range(partners) for seat in (0, 1)
    ]  # fmt: skip


def rulers(episodes=8, spread=4.0, partners=4):
    rng = np.random.default_rng(3)
    return [
        {"partner": p, "ego_seat": seat, "episode": e, "return": 20 + spread * rng.normal()}
        for p in range(partners) for seat in (0, 1) for e in range(episodes)
    ]  # fmt: skip


def test_uncertain_best_responses_widen_the_interval():
    got = egos(lambda s, p, seat: 10 + s + 0.1 * p)
    plain, wide = (
        br_prox(got, rulers(), seed=0, replicates=1000, method="percentile", propagate=p).summary.rows[0]
        for p in (False, True)
    )
    assert plain["iqm"] == wide["iqm"]
    assert wide["high"] - wide["low"] > 1.1 * (plain["high"] - plain["low"])
    again = br_prox(got, rulers(), seed=0, replicates=1000, method="percentile", propagate=True).summary.rows[0]
    assert again == wide
    sure = br_prox(got, rulers(spread=0.0), seed=0, replicates=1000, method="percentile").summary.rows[0]
    same = br_prox(got, rulers(spread=0.0), seed=0, replicates=1000, method="percentile", propagate=True)
    for column in ("iqm", "low", "high", "expert_low", "moderate_honest_high"):
        assert same.summary.rows[0][column] == pytest.approx(sure[column])


def test_the_spread_of_drawn_best_responses_is_that_of_their_mean():
    """One ego, one ruler known by its standard error: the interval is that of J / J_BR."""
    got = egos(lambda s, p, seat: 10.0, partners=2)
    best = [{"partner": p, "ego_seat": seat, "return": 20.0, "return_se": 1.0} for p in (0, 1) for seat in (0, 1)]
    row = br_prox(got, best, seed=1, replicates=4000, method="percentile", propagate=True).summary.rows[0]
    rng = np.random.default_rng(2)
    drawn = 10 / rng.normal(20, 1, (4000, 4))  # two partners with two seats each, drawn with replacement
    both = np.array(
        [np.mean(np.sort(np.repeat(d.reshape(2, 2)[rng.integers(2, size=2)].ravel(), 3))[3:-3]) for d in drawn]
    )
    assert (row["low"], row["high"]) == pytest.approx(tuple(np.quantile(both, [0.025, 0.975])), abs=0.006)


def test_noise_is_not_named_more_often_than_promised():
    """Egos as good as their rulers, many cells: a pair is named in about one table of twenty, or fewer."""
    rng = np.random.default_rng(0)
    named = 0
    for _ in range(40):
        got, best = rng.normal(20, 3, (30, 10)), rng.normal(20, 3, (30, 10))
        rows = [
            {"algorithm": "a", "seed": 0, "partner": p, "ego_seat": 0, "episode": e, "return": got[p, e]}
            for p in range(30) for e in range(10)
        ]  # fmt: skip
        held = [{"partner": p, "ego_seat": 0, "episode": e, "return": best[p, e]} for p in range(30) for e in range(10)]
        made = cells(rows, held)
        named += any(_above(made.table, BestResponses.of(made), 1.0).column("beyond_noise"))
    assert named <= 6  # 2 are expected


def test_propagation_needs_a_spread():
    best = [{"partner": p, "ego_seat": seat, "return": 20.0} for p in range(4) for seat in (0, 1)]
    with pytest.raises(InterplayError, match="without spread"):
        br_prox(egos(lambda *_: 10.0), best, seed=0, propagate=True)


def test_an_ego_above_the_best_response_is_named_and_noise_told_apart():
    """Partner 0: clearly better than the ruler. Partner 1: better by less than the noise. The others below."""
    rng = np.random.default_rng(5)
    centre = {0: 40.0, 1: 20.3, 2: 10.0, 3: 10.0}
    got = [
        {"algorithm": "a", "seed": 0, "partner": p, "ego_seat": 0, "episode": e, "return": centre[p] + shift}
        for p in centre for e, shift in enumerate(rng.permutation(np.linspace(-2, 2, 20)))
    ]  # fmt: skip
    best = [
        {"partner": p, "ego_seat": 0, "episode": e, "return": 20.0 + shift}
        for p in centre for e, shift in enumerate(np.linspace(-2, 2, 20))
    ]  # fmt: skip
    found = br_prox(got, best, seed=0, replicates=200)
    above = {row["partner"]: row for row in found.above}
    assert {p: row["beyond_noise"] for p, row in above.items()} == {0: True, 1: False}
    values = [[r["return"] for r in rows if r["partner"] == 1] for rows in (got, best)]
    assert above[1]["p"] == pytest.approx(ttest_ind(*values, equal_var=False, alternative="greater")[1])
    (row,) = found.summary.rows
    assert (row["n_above"], row["n_beyond_noise"], row["above_share"]) == (2, 1, 0.5)
    assert [pair["partner"] for pair in row["above"]] == [0, 1]
    exceeded = {r["partner"]: r["n_above"] for r in found.best_responses}
    assert exceeded == {0: 1, 1: 1, 2: 0, 3: 0}
    ruler = found.best_responses.rows[0]
    given = mean_interval([r["return"] for r in best if r["partner"] == 0])
    assert (ruler["return"], ruler["low"], ruler["high"]) == pytest.approx((20.0, given.low, given.high))
    assert br_prox(got, best, seed=0, replicates=200, times=2.1).summary.rows[0]["n_beyond_noise"] == 0


def test_exact_returns_have_no_noise():
    """No spread at all: what is above is beyond noise, what is equal is not above."""
    best = [{"partner": p, "ego_seat": 0, "return": 20.0, "return_se": 0.0} for p in (0, 1)]
    got = [
        {"algorithm": "a", "seed": 0, "partner": p, "ego_seat": 0, "return": 20.0 + p, "return_se": 0.0} for p in (0, 1)
    ]
    (pair,) = br_prox(got, best, seed=0, replicates=200).above.rows
    assert (pair["partner"], pair["beyond_noise"]) == (1, True)


def test_without_spread_nobody_can_tell_noise():
    best = [{"partner": p, "ego_seat": seat, "return": 20.0} for p in range(4) for seat in (0, 1)]
    (row,) = br_prox(egos(lambda s, p, seat: 30.0 * p), best, seed=0, replicates=200).summary.rows
    assert row["n_above"] == 18
    assert row["n_beyond_noise"] is None


def test_the_partners_own_self_play_splits_them_where_it_is_known():
    """Strong in self-play, but with a weak best response: the two ways to split disagree."""
    best = [{"partner": p, "ego_seat": seat, "return": 10.0 * (p + 1)} for p in range(4) for seat in (0, 1)]
    got = [row | {"self_play_return": 100.0 - row["partner"]} for row in egos(lambda s, p, seat: 5.0)]
    by_own = br_prox(got, best, seed=0, replicates=200)
    assert by_own.split_by == "self_play_return"
    assert {r["partner"]: r["partners"] for r in by_own.best_responses} == {
        0: "expert", 1: "expert", 2: "moderate", 3: "moderate",
    }  # fmt: skip
    without = br_prox(egos(lambda s, p, seat: 5.0), best, seed=0, replicates=200)
    assert {r["partner"]: r["partners"] for r in without.best_responses}[0] == "moderate"
    assert by_own.summary.rows[0]["expert_iqm"] == pytest.approx(0.375)  # of 5/10 and 5/20
    assert without.summary.rows[0]["expert_iqm"] == pytest.approx((5 / 30 + 5 / 40) / 2)


def test_null_where_there_is_nothing_to_say():
    """A single cell has no interval; a table of rulers without return has no honest number."""
    best = [{"partner": 0, "ego_seat": 0, "return": 0.0}]
    got = [{"algorithm": "a", "seed": 0, "partner": 0, "ego_seat": 0, "return": 3.0}]
    (row,) = br_prox(got, best, seed=0).summary.rows
    assert (row["iqm"], row["low"], row["high"]) == (1.0, None, None)
    assert row["honest_iqm"] is row["honest_rank"] is row["above_share"] is row["honest_iqr"] is None
    assert row["expert_iqm"] is None
    assert row["moderate_iqm"] == 1.0
    assert row["n_excluded"] == row["n"] == 1


def test_three_seats_are_summed_over_every_set_of_partners():
    from interplay.metrics.brprox.ratios import partner_seat_sets

    best = [{"partner": p, "partner_seats": s, "return": 10.0} for p in (0, 1) for s in partner_seat_sets(3)]
    got = [
        {"algorithm": "a", "seed": k, "partner": p, "partner_seats": s, "return": 10.0 * len(s) / 2}
        for k in (0, 1) for p in (0, 1) for s in partner_seat_sets(3)
    ]  # fmt: skip
    found = br_prox(got, best, seed=0, seats=3, replicates=200)
    (row,) = found.summary.rows
    assert row["n"] == 24
    assert row["iqm"] == pytest.approx(trim_mean([0.5] * 12 + [1.0] * 12, 0.25))
    assert len(found.best_responses) == 12
    assert found.notes == ()


def test_sizes_are_matched_by_order():
    rows = [{"algorithm": a, "population": p} for a, ps in
            {"fcp": (36, 12, 24), "cole": (25, 75, 50), "sp": (None,)}.items() for p in ps]  # fmt: skip
    assert sizes(Table.of(rows)) == [
        {"fcp": 12, "cole": 25, "sp": None}, {"fcp": 24, "cole": 50, "sp": None}, {"fcp": 36, "cole": 75, "sp": None},
    ]  # fmt: skip


def test_ranks_are_refused_where_they_mean_nothing():
    best = [{"partner": p, "ego_seat": seat, "return": 20.0} for p in range(4) for seat in (0, 1)]
    one = br_prox(egos(lambda *_: 10.0), best, seed=0, replicates=200).cells
    with pytest.raises(InterplayError, match="at least 3 agents"):
        rank_table(one, seed=0)
    with pytest.raises(InterplayError, match="1 of the ranked algorithms"):
        against(one, {"a": 1, "b": 2}, seed=0)
    with pytest.raises(InterplayError, match="one layout"):
        against(one + Table.of([r | {"layout": "other"} for r in one]), {"a": 1}, seed=0)
