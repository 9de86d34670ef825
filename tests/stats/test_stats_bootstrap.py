"""The bootstrap agrees with scipy where the design is flat and covers where it is not."""

import time
from functools import partial

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from interplay import stats
from interplay.errors import InterplayError
from interplay.stats.bootstrap import METHODS
from interplay.stats.resampling_design import design
from interplay.table import Table


def crossed(seeds, partners, episodes, rng, *, seed_sd=1.0, partner_sd=1.0, cell_sd=0.5, episode_sd=1.0):
    """Values of mean 0 from a crossed design played in two seats, and their factors."""
    s, p, seat, _ = np.indices((seeds, partners, 2, episodes)).reshape(4, -1)
    y = rng.normal(0, seed_sd, seeds)[s] + rng.normal(0, partner_sd, partners)[p]
    y = y + rng.normal(0, cell_sd, (seeds, partners))[s, p] + rng.normal(0, episode_sd, len(s))
    return y, {"seed": s.tolist(), "partner": p.tolist(), "seat": seat.tolist()}


@pytest.mark.parametrize("method", ["percentile", "basic", "bca"])
def test_flat_design_agrees_with_scipy(method):
    x = np.random.default_rng(0).exponential(size=60)
    ours = stats.bootstrap(x, seed=1, statistic="mean", method=method, replicates=20_000)
    theirs = scipy.stats.bootstrap(
        (x,), np.mean, n_resamples=20_000, method=method.replace("bca", "BCa"), rng=np.random.default_rng(2)
    )
    assert ours.low == pytest.approx(theirs.confidence_interval.low, abs=0.01)
    assert ours.high == pytest.approx(theirs.confidence_interval.high, abs=0.015)
    assert ours.se == pytest.approx(theirs.standard_error, rel=0.03)


def test_expanded_interval_of_a_flat_design_is_as_wide_as_a_t_interval():
    x = np.random.default_rng(0).normal(size=8)
    ours, student = stats.bootstrap(x, seed=0, statistic="mean", replicates=20_000), stats.mean_interval(x)
    assert ours.half_width == pytest.approx(student.half_width, rel=0.06)


def test_same_seed_same_interval_and_row_order_does_not_matter():
    y, factors = crossed(4, 5, 3, np.random.default_rng(0))
    go = partial(stats.bootstrap, y, factors, fixed=["seat"])
    assert go(seed=3) == go(seed=3) == go(seed=np.random.default_rng(3))
    assert go(seed=3) != go(seed=4)
    order = np.random.default_rng(1).permutation(len(y))
    shuffled = {name: [column[i] for i in order] for name, column in factors.items()}
    assert stats.bootstrap(y[order], shuffled, fixed=["seat"], seed=3) == go(seed=3)
    with pytest.raises(InterplayError, match="seed must be"):
        go(seed=None)


def test_crossed_counts_are_products_of_factor_draws():
    s, p = np.indices((4, 6)).reshape(2, -1)
    plan = design({"seed": s, "partner": p}, 24, units=["seed", "partner"])
    counts = np.concatenate(list(plan.counts(200, np.random.default_rng(0)))).reshape(200, 4, 6)
    assert (counts.sum(axis=(1, 2)) == 24).all()
    assert (np.linalg.matrix_rank(counts) == 1).all()
    assert counts.mean(axis=0) == pytest.approx(np.ones((4, 6)), abs=0.5)


def test_nested_levels_are_drawn_inside_their_parents():
    a = np.repeat([0, 1, 2], [4, 4, 4])
    b = np.tile([0, 0, 1, 1], 3)  # the same names in every parent are not the same levels
    fixed_parent = design({"a": a, "b": b}, 12, units=["a/b"], fixed=["a"])
    counts = np.concatenate(list(fixed_parent.counts(100, np.random.default_rng(0))))
    assert (counts.reshape(-1, 3, 4).sum(axis=2) == 4).all()
    assert fixed_parent.resampled == ("b", "episode")
    both = design({"a": a, "b": b}, 12, units=["a/b"])
    sums = np.concatenate(list(both.counts(100, np.random.default_rng(0)))).reshape(-1, 3, 4).sum(axis=2)
    assert (sums % 4 == 0).all()
    assert both.resampled == ("a", "b", "episode")


def test_columns_that_share_a_population_share_the_draw():
    i, j = np.indices((5, 5)).reshape(2, -1)
    plan = design({"i": i, "j": j}, 25, units=["i+j"])
    counts = np.concatenate(list(plan.counts(50, np.random.default_rng(0)))).reshape(-1, 5, 5)
    assert (counts == counts.transpose(0, 2, 1)).all()


def test_both_seats_of_a_pair_move_together():
    y, factors = crossed(3, 4, 2, np.random.default_rng(0))
    plan = design(factors, len(y), units=["seed", "partner"], fixed=["seat"])
    counts = np.concatenate(list(plan.counts(50, np.random.default_rng(0)))).reshape(-1, 12, 2, 2)
    assert (counts[:, :, 0].sum(axis=-1) == counts[:, :, 1].sum(axis=-1)).all()


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 5), st.integers(2, 5), st.integers(1, 3), st.sampled_from(METHODS), st.integers(0, 99))
def test_intervals_move_with_the_data(seeds, partners, episodes, method, seed):
    y, factors = crossed(seeds, partners, episodes, np.random.default_rng(seed))
    go = partial(stats.bootstrap, factors=factors, fixed=["seat"], seed=seed, method=method, replicates=200)
    here, there = go(y), go(3 * y + 7)
    assert here.low <= here.high
    assert [there.estimate, there.low, there.high] == pytest.approx(
        [3 * v + 7 for v in (here.estimate, here.low, here.high)], abs=1e-6
    )


def test_crossed_bootstrap_covers_where_the_flat_one_does_not():
    """Six seeds by eight partners: the flat interval takes episodes of one seed for independent evidence."""
    rng = np.random.default_rng(0)
    hits = {"crossed": 0, "flat": 0}
    runs = 150
    for _ in range(runs):
        y, factors = crossed(6, 8, 2, rng)
        options = {"statistic": "mean", "seed": rng, "replicates": 400}
        ours = stats.bootstrap(y, factors, fixed=["seat"], **options)
        flat = stats.bootstrap(y, **options)
        hits["crossed"] += ours.low <= 0 <= ours.high
        hits["flat"] += flat.low <= 0 <= flat.high
    assert hits["flat"] / runs < 0.6
    assert 0.91 <= hits["crossed"] / runs <= 1.0


def test_one_seed_is_legal_and_the_result_says_so():
    y, factors = crossed(1, 6, 3, np.random.default_rng(0))
    made = stats.bootstrap(y, factors, fixed=["seat"], seed=0)
    assert made.not_resampled == ("seed",)
    assert made.resampled == ("partner", "episode")
    with pytest.raises(InterplayError, match="nothing to resample"):
        stats.bootstrap([1.0], {"seed": [1]}, seed=0)


def test_clear_errors():
    y, seeds = [1.0, 2.0, 3.0], [0, 1, 2]
    with pytest.raises(InterplayError, match="unknown factor 'sead'; the columns are seed"):
        stats.bootstrap(y, {"seed": seeds}, units=["sead"], seed=0)
    with pytest.raises(InterplayError, match="factor 'seed' has 2 rows, the values have 3"):
        stats.bootstrap(y, {"seed": [0, 1]}, seed=0)
    with pytest.raises(InterplayError, match="missing levels"):
        stats.bootstrap(y, {"seed": [0, None, 1]}, seed=0)
    with pytest.raises(InterplayError, match="unknown statistic"):
        stats.bootstrap(y, seed=0, statistic="iqmm")
    with pytest.raises(InterplayError, match="unknown method"):
        stats.bootstrap(y, seed=0, method="magic")
    with pytest.raises(InterplayError, match="list"):
        stats.bootstrap(y, {"seed": seeds}, units="seed", seed=0)
    with pytest.raises(InterplayError, match="too sparse"):  # each group met one partner, and not the same
        stats.rank_stability(range(12), range(12), {"partner": range(12)}, shared=["partner"], seed=0)


def test_missing_values_leave_by_request_with_their_factors():
    made = stats.bootstrap([1, None, 3, 4], {"seed": [0, 1, 2, 3]}, seed=0, statistic="mean", missing="drop")
    assert made.n == 3
    assert made.estimate == pytest.approx(8 / 3)


def test_large_tables_are_fast():
    y, factors = crossed(10, 20, 250, np.random.default_rng(0))
    assert len(y) == 100_000
    start = time.process_time()
    stats.bootstrap(y, factors, fixed=["seat"], seed=0, replicates=200)
    assert time.process_time() - start < 3  # about 0.4 s on a quiet core


def test_interval_table_has_a_row_per_group():
    y, factors = crossed(4, 4, 2, np.random.default_rng(0))
    rows = [
        {"algorithm": name, "value": float(v) + shift, "seed": s, "partner": p, "seat": k}
        for name, shift in (("sp", 0.0), ("fcp", 5.0))
        for v, s, p, k in zip(y, *factors.values(), strict=True)
    ]
    empty = [{"algorithm": "null", "value": None, "seed": 0, "partner": 0, "seat": 0}]
    go = partial(stats.interval_table, by=["algorithm"], units=["seed", "partner"], fixed=["seat"], seed=0)
    found = go(Table.of(rows + empty))
    assert [r["algorithm"] for r in found.rows] == ["sp", "fcp", "null"]
    assert found.rows[1]["low"] == pytest.approx(found.rows[0]["low"] + 5)
    assert found.rows[2]["estimate"] is None
    assert go(Table.of(rows[len(y) :])).rows == [found.rows[1]]
    with pytest.raises(InterplayError, match="no column 'colour'"):
        stats.interval_table(Table.of(rows), by=["colour"], seed=0)
