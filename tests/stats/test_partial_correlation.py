"""Partial correlations within people: against residuals by hand, and the error rate of their intervals."""

import numpy as np
import pytest

from interplay.errors import InterplayError
from interplay.stats.partial_correlation import partial_correlation


def data(rng, people=30, games=6, effect=0.0):
    who = np.repeat(np.arange(people), games)
    own = rng.normal(size=(3, people))[:, who] * 2
    z = rng.normal(size=len(who))
    x = 0.7 * z + rng.normal(size=len(who))
    y = 0.7 * z + effect * x + rng.normal(size=len(who))
    return x + own[0], y + own[1], z + own[2], who


def test_it_is_the_correlation_of_residuals_within_people():
    x, y, z, who = data(np.random.default_rng(0), effect=0.4)
    centred = [v - np.array([v[who == w].mean() for w in who]) for v in (x, y, z)]
    left = [v - centred[2] * (v @ centred[2]) / (centred[2] @ centred[2]) for v in centred[:2]]
    result = partial_correlation(list(x), list(y), list(z), list(who), seed=0)
    assert result.r == pytest.approx(np.corrcoef(*left)[0, 1])
    assert result.low < result.r < result.high
    assert (result.rows, result.people) == (180, 30)


def test_intervals_miss_zero_about_one_time_in_twenty_where_there_is_nothing():
    rng = np.random.default_rng(1)
    missed = 0
    for n in range(200):
        result = partial_correlation(*map(list, data(rng)), seed=n, replicates=400)
        missed += not result.low <= 0 <= result.high
    assert 2 <= missed <= 24  # 10 expected; percentile intervals of 30 people are a little narrow


def test_what_cannot_be_said_is_null():
    assert partial_correlation([1, 2], [1, 2], [0, 1], ["a", "b"], seed=0).r is None  # one game each
    flat = partial_correlation([1, 1, 1], [1, 2, 3], [0, 1, 0], ["a"] * 3, seed=0)
    assert flat.r is None
    constant = partial_correlation([1, 2, 4], [1, 2, 3], [5, 5, 5], ["a"] * 3, seed=0)
    assert constant.r == pytest.approx(np.corrcoef([1, 2, 4], [1, 2, 3])[0, 1])
    some = partial_correlation([1, None, 4, 2], [1, 2, 3, 1], [5, 6, 5, 4], ["a"] * 4, seed=0)
    assert some.rows == 3
    with pytest.raises(InterplayError, match="different lengths"):
        partial_correlation([1], [1, 2], [1], [1], seed=0)
