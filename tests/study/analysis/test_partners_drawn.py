"""Default analyses beside ratings: relations that partners alone make are not found too often."""

import numpy as np
import pytest
from scipy import stats as scipy_stats

from interplay.study.analysis.interdependence import _correlated, change_over_games
from interplay.study.analysis.ranks import by_person


def test_ranks_against_own_scores_exchange_the_partners():
    rng = np.random.default_rng(0)
    liked, good = np.array([3.0, 1.0, 2.0, 0.0, 4.0]), np.array([2.0, 0.0, 3.0, 1.0, 4.0])
    places = np.argsort(np.argsort(-(liked + rng.normal(0, 0.3, (30, 5))), axis=1), axis=1) + 1.0
    scores = good + rng.normal(0, 0.3, (30, 5))
    scores[3, 2] = np.nan
    row = by_person(places, scores)
    known = [i for i in range(30) if i != 3]
    each = [scipy_stats.spearmanr(-places[i], scores[i]).statistic for i in known]
    assert row["spearman"] == pytest.approx(np.mean(each))
    assert (row["people"], row["left_out"], row["partners"]) == (29, 1, 5)
    assert row["spearman_low"] > 0.3  # all people agree, since these partners are liked and good by chance
    assert row["p"] > 0.05  # five partners in some order say little
    best = by_person(places, liked + rng.normal(0, 0.1, (30, 5)))
    assert best["p"] <= 4 / 120  # the order and its reverse, of 120


def test_ranks_against_own_scores_hold_their_level():
    found = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        places = np.argsort(np.argsort(rng.normal(size=5) + rng.normal(0, 0.5, (20, 5)), axis=1), axis=1) + 1.0
        scores = rng.normal(size=5) + rng.normal(0, 0.5, (20, 5))
        found.append(by_person(places, scores)["p"] < 0.05)
    assert np.mean(found) < 0.1  # a t test over people, which was the test before, finds .645


def games(seed):
    rng = np.random.default_rng(seed)
    helped, made = rng.normal(size=6), rng.normal(size=6)
    return [
        {"person": f"p{i}", "partner": f"b{k}", "game": "one", "turn": k + 1,
         "constructive": helped[k] + 0.2 * rng.normal(), "score": made[k] + 0.2 * rng.normal()}
        for i in range(30) for k in range(6)
    ]  # fmt: skip


def test_score_against_hand_overs_takes_partners_as_drawn():
    mixed, alone = 0, 0
    for seed in range(12):
        rows = games(seed)
        mixed += _correlated(rows, seed=0)["p"] < 0.05
        alone += scipy_stats.pearsonr(*([row[c] for row in rows] for c in ("constructive", "score"))).pvalue < 0.05
    assert mixed <= 2
    assert alone >= 8  # counting games as if they were independent
    rows, rng = games(0), np.random.default_rng(0)
    planted = [row | {"score": 2 * row["constructive"] + 0.2 * rng.normal()} for row in rows]
    row = _correlated(planted, seed=0)
    assert row["slope_low"] < 2 < row["slope_high"]
    assert max(row["p"], row["p_within"]) < 0.001
    turns = [row | {"turn": (int(row["person"][1:]) + row["turn"]) % 6 + 1} for row in rows]
    learning = [row | {"score": row["score"] + 0.5 * row["turn"]} for row in turns]
    assert change_over_games(learning, "score")["per_game"] == pytest.approx(0.5, abs=0.1)
