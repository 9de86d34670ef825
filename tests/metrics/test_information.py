"""Entropies and coordination: by hand, and what must hold of any counts."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import interplay
from interplay.agents.api import Identity
from interplay.metrics.information import entropy, mutual_information
from tests.metrics.hanabi.scripted import compiled, episode, recoloured, traces

HANDS = ["R3 Y3 G3 W3 B3", "R1 Y1 G4 W4 B4"]


def one(found, metric, agent, over, estimate="plug-in", role="answers"):
    role = None if metric == "ad_entropy" else role
    (row,) = found.where(metric=metric, agent=agent, over=over, estimate=estimate, role=role).rows
    return row["value"]


def test_by_hand():
    """Ann: hint 1, hint 4, hint 4. Bob answers play 0, play 0; Ann answers each of these with hint 4."""
    moves = ["hint +1 1", "play 0", "hint +1 4", "play 0", "hint +1 4"]
    found = interplay.measure(traces(episode(HANDS, moves)), ["information"])
    assert one(found, "ad_entropy", "ann", "pairing") == pytest.approx(math.log(3) - 2 / 3 * math.log(2))
    assert one(found, "ad_entropy", "bob", "pairing") == 0
    # Bob's pairs are (hint 1, play 0) and (hint 4, play 0): one bit of pairs, and none of it shared.
    assert one(found, "ard_entropy", "bob", "pairing") == pytest.approx(math.log(2))
    assert one(found, "ic", "bob", "pairing") == pytest.approx(0)
    # Those are the pairs that Ann led; hers are (play 0, hint 4) twice.
    assert one(found, "ard_entropy", "ann", "pairing", role="leads") == pytest.approx(math.log(2))
    assert one(found, "ard_entropy", "ann", "pairing") == 0
    # Miller and Madow add (cells - 1) / 2N: 3 actions of 2 kinds.
    assert one(found, "ad_entropy", "ann", "pairing", "miller-madow") == pytest.approx(
        math.log(3) - 2 / 3 * math.log(2) + 1 / 6
    )


def test_an_answer_that_follows_the_question_is_worth_its_entropy():
    counts = np.diag([5, 5])
    assert mutual_information(counts) == pytest.approx(math.log(2))
    assert mutual_information(np.full((4, 4), 3)) == pytest.approx(0)
    # 2 + 2 - 2 cells, less one each: log 2 + (1 + 1 - 1) / 20
    assert mutual_information(counts, corrected=True) == pytest.approx(math.log(2) + 1 / 20)
    assert entropy(np.zeros(4, int)) is None
    assert mutual_information(np.zeros((2, 2), int)) is None


def test_the_correction_takes_the_bias_away():
    """Independent actions share nothing; the plug-in estimate says about 180 / N for 20 x 20 cells."""
    rng = np.random.default_rng(0)
    n, counts = 4000, np.zeros((20, 20), int)
    np.add.at(counts, (rng.integers(20, size=n), rng.integers(20, size=n)), 1)
    assert mutual_information(counts) == pytest.approx(19 * 19 / 2 / n, rel=0.2)
    assert abs(mutual_information(counts, corrected=True)) < 0.01


@given(arrays(np.int64, (5, 4), elements=st.integers(0, 30)), st.permutations(range(5)))
def test_names_of_actions_do_not_matter(counts, order):
    if counts.sum() == 0:
        return
    shared = mutual_information(counts)
    assert shared == pytest.approx(mutual_information(counts[list(order)]))
    assert -1e-9 <= shared <= min(entropy(counts.sum(0)), entropy(counts.sum(1))) + 1e-9


def test_both_seats_count_for_an_agent():
    """Ann plays once in each seat with Bob, and with herself: three partners' worth of rows for two partners."""
    ann, bob = Identity("ann", "a", False), Identity("bob", "b", False)
    moves = ["hint +1 1", "play 0", "hint +1 4", "play 1"]
    games = [episode(HANDS, moves, who) for who in ([ann, bob], [bob, ann], [ann, ann])]
    found = interplay.measure(traces(*games), ["information"])
    pairs = found.where(metric="ad_entropy", agent="ann", over="pairing", estimate="plug-in")
    assert {r["partner"]: (r["relation"], round(r["value"], 6)) for r in pairs} == {
        "bob": ("inter_xp", round(math.log(4), 6)),
        "ann": ("self_play", round(math.log(4), 6)),
    }
    (mean,) = found.where(metric="ad_entropy", agent="ann", over="mean of pairings", estimate="plug-in").rows
    assert (mean["partners"], mean["sd"]) == (2, pytest.approx(0))
    (pooled,) = found.where(metric="ad_entropy", agent="ann", over="all games", estimate="plug-in").rows
    assert pooled["n"] == 8


def test_against_a_plain_count_and_colours_are_all_alike():
    games = interplay.play(compiled()[0], ["random", "hanabi/simple"], episodes=4, seed=7)
    pairs: dict = {}
    for e in games:
        made = [int(e.actions[t, t % 2]) for t in range(e.length)]
        for t in range(1, e.length):
            if t % 2 == 1:
                pairs[made[t - 1], made[t]] = pairs.get((made[t - 1], made[t]), 0) + 1
    n = sum(pairs.values())
    expected = -sum(v / n * math.log(v / n) for v in pairs.values())
    found = interplay.measure(games, ["information"])
    assert one(found, "ard_entropy", "hanabi/simple", "pairing") == pytest.approx(expected)
    other = interplay.measure(traces(*(recoloured(e, "BGRWY") for e in games)), ["information"])
    assert other.column("value") == pytest.approx(found.column("value"))


def test_games_without_turns():
    """In a kitchen all act at once; a no-op does not exist, and staying is an action like any other."""
    games = interplay.play("overcooked/cramped_room", ["random", "stay"], episodes=1, seed=0)
    found = interplay.measure(games, ["information"])
    assert one(found, "ad_entropy", "stay", "pairing") == 0
    assert one(found, "ad_entropy", "random", "pairing") == pytest.approx(math.log(6), abs=0.05)
    assert one(found, "ard_entropy", "random", "pairing") == pytest.approx(math.log(6), abs=0.05)
