"""Estimators agree with scipy and numpy, and counts mean repetition."""

import csv
import gzip
import os
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from interplay import stats
from interplay.errors import InterplayError
from interplay.stats.estimators import ESTIMATORS

values = st.lists(st.integers(-50, 50).map(lambda k: k / 4), min_size=1, max_size=30)


@given(values)
def test_iqm_is_the_25_percent_trimmed_mean(x):
    assert stats.iqm(x) == pytest.approx(scipy.stats.trim_mean(x, 0.25), abs=1e-9)


@settings(deadline=None)
@given(st.data(), values, st.sampled_from(sorted(ESTIMATORS)))
def test_counts_mean_repetition(data, x, name):
    counts = data.draw(st.lists(st.integers(0, 5), min_size=len(x), max_size=len(x)).filter(lambda c: sum(c) >= 2))
    repeated = np.repeat(x, counts)
    assert ESTIMATORS[name](x, counts) == pytest.approx(ESTIMATORS[name](repeated), abs=1e-9)


@given(values, st.floats(0, 1))
def test_quantile_is_numpys(x, q):
    assert stats.quantile(x, q) == pytest.approx(np.quantile(x, q), abs=1e-9)


def test_many_replicates_at_once_equal_one_at_a_time():
    rng = np.random.default_rng(0)
    x, counts = rng.normal(size=40), rng.integers(0, 4, size=(7, 40))
    for of in ESTIMATORS.values():
        assert of(x, counts) == pytest.approx([of(x, row) for row in counts])


def test_small_estimators():
    x = [0.2, 0.5, 1.0, 1.4]
    assert stats.mean(x) == pytest.approx(0.775)
    assert stats.sd(x) == pytest.approx(np.std(x, ddof=1))
    assert stats.iqr(x) == pytest.approx(scipy.stats.iqr(x))
    assert stats.share_above(x, threshold=1.0) == 0.25
    assert stats.optimality_gap(x, target=1.0) == pytest.approx((0.8 + 0.5) / 4)


def test_missing_values_raise_or_go_by_request():
    with pytest.raises(InterplayError, match=r"1 of 3 rows are missing.*missing='drop'"):
        stats.mean([1.0, None, 3.0])
    assert stats.mean([1.0, None, 3.0], missing="drop") == 2.0
    with pytest.raises(InterplayError, match="at least 1"):
        stats.iqm([])
    with pytest.raises(InterplayError, match="at least 1"):
        stats.iqm([float("nan")], missing="drop")
    with pytest.raises(InterplayError, match="not a column of numbers"):
        stats.mean(["many"])
    with pytest.raises(InterplayError, match="infinite"):
        stats.mean([1.0, float("inf")])
    with pytest.raises(InterplayError, match="whole numbers"):
        stats.mean([1.0, 2.0], counts=[0.5, 0.5])


def br_prox(layout, algorithm, population):
    """Rows of the public ZSC-Eval results with their clipped ratio to the best response; 1 where that has no return."""
    with gzip.open(Path(os.environ["INTERPLAY_DATA"]) / "zsc_eval" / f"{layout}.csv.gz", "rt") as file:
        rows = [r for r in csv.DictReader(file) if (r["algorithm"], r["population"]) == (algorithm, population)]
    got, best = (np.array([float(r[name]) for r in rows]) for name in ("return", "best_response_return"))
    return rows, np.minimum(np.divide(got, best, out=np.ones_like(got), where=best > 0), 1), best > 0


needs_data = pytest.mark.skipif(
    "INTERPLAY_DATA" not in os.environ, reason="INTERPLAY_DATA is not set: it names the folder with zsc_eval/*.csv.gz"
)


@needs_data
@pytest.mark.parametrize(
    ("layout", "algorithm", "population", "expected"),
    [("random0", "sp", "", 0.849), ("random3", "mep", "12", 0.671)],  # forced coordination and counter circuit
)
def test_iqm_of_public_zsc_eval_results(layout, algorithm, population, expected):
    """BR-Prox recomputed by others from the repository's results with the right best responses."""
    rows, ratio, _ = br_prox(layout, algorithm, population)
    assert stats.iqm(ratio) == pytest.approx(expected, abs=5e-4)
    factors = {name: [r[name] for r in rows] for name in ("seed", "partner", "skill", "ego_seat")}
    made = stats.bootstrap(ratio, factors, units=["seed", "partner"], fixed=["skill", "ego_seat"], seed=0)
    assert made.low < made.estimate < made.high
    assert made.resampled == ("seed", "partner")


@needs_data
def test_cells_without_a_best_response_flatter_self_play():
    _, ratio, has_best = br_prox("random0", "sp", "")
    assert stats.iqm(ratio[has_best]) == pytest.approx(0.666, abs=5e-4)
