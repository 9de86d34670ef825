"""The ego of hidden-utility self-play: which partners it is given, and that it learns with them."""

import numpy as np
import pytest

from interplay.errors import InterplayError
from interplay.games.registry import make
from interplay.training.algorithms import train
from interplay.training.algorithms.hsp import (
    BIASED,
    PoolOptions,
    choose,
    greedy_selection,
    pairs,
    play_all_pairs,
    split_of,
)
from interplay.training.config import Algorithm
from interplay.training.saved_stages import load_stage

LONG = 16 * 8 * 36
PREFERENCES = [{"wrong": 3.0, "task": 0.0}, {"right": 3.0}, {"right": 2.0}]
OPTIONS = {
    "preferences": PREFERENCES,
    "pairs_steps": LONG,
    "biased": 2,
    "rounds": 4,
    "population": 2,
    "population_steps": LONG // 2,
    "population_envs": 8,
    "snapshots": 2,
}


def test_the_farthest_comes_next():
    events = np.array([[0.0, 100.0], [1.0, 100.0], [0.0, 0.0], [1.0, 50.0]])
    for seed in range(8):
        chosen = greedy_selection(events, 3, np.random.default_rng(seed))
        scaled = events / [1.0, 100.0]
        for number in (1, 2):
            far = {i: sum(np.abs(scaled[i] - scaled[j]).sum() for j in chosen[:number]) for i in range(4)}
            best = max(v for i, v in far.items() if i not in chosen[:number])
            assert far[chosen[number]] == best
    assert greedy_selection(events, 9, np.random.default_rng(0)) == [0, 1, 2, 3]


@pytest.fixture(scope="module")
def ego(tmp_path_factory):
    from tests.training.conftest import small

    folder = tmp_path_factory.mktemp("hsp")
    given = small(algorithm=Algorithm("hsp", OPTIONS), runs=1, rollout=4, output={"folder": str(folder)})
    return train(given, quiet=True), folder


@pytest.mark.slow
def test_the_ego_meets_players_of_both_kinds(ego):
    trained, folder = ego
    pairs = load_stage(folder, stage="pairs")
    met = play_all_pairs(pairs, 4, seed=0)
    assert met.events[0, BIASED, 1] > 3.2  # the first likes to be wrong, in nearly all of 4 steps
    assert met.events[1, BIASED, 0] > 3.2
    chosen = trained.policies[0]["biased_partners"]
    assert len(chosen) == 2
    assert 0 in chosen  # whichever came first, the one unlike the others is among them
    # 4 points of its own; of its partners, two of eight chosen to like or dislike it, and two at three skills.
    assert 5 < np.mean(trained.returns(2)) < 7.8


@pytest.mark.slow
def test_pairs_that_score_are_dealt_to_egos(ego):
    _, folder = ego
    pairs = load_stage(folder, stage="pairs")
    chosen, able = choose(pairs, PoolOptions(least_return=5.0), runs=1, seed=0)
    assert chosen == able == [[1, 2]]  # of the first only its partner scores: 4 of 8
    chosen, able = choose(pairs, PoolOptions(biased=1), runs=2, seed=0)
    assert able == [[0, 2], [1]]  # nobody has a partner of another's
    assert [len(own) for own in chosen] == [1, 1]
    assert chosen[0][0] in able[0]
    with pytest.raises(InterplayError, match="0 of 3 pairs score more than 99 together"):
        choose(pairs, PoolOptions(least_return=99.0), runs=1, seed=0)


def test_no_preference_is_for_training_and_evaluation():
    """Which half it is goes by what is liked and disliked, so that no near relative is on the other side."""
    from interplay.games.registry import make
    from interplay.partners.reward_space import draw as draw_evaluation
    from interplay.partners.reward_space import reward_space
    from interplay.training.algorithms.hsp import HSPOptions, draw

    assert split_of({"SOUP_PICKUP": 5.0, "task": 1.0}) == split_of({"task": 0.1, "SOUP_PICKUP": 10.0})
    for layout in ("counter_circuit", "forced_coordination_multi"):
        game = make(f"overcooked/{layout}")
        space = reward_space(game)
        options = HSPOptions(choices=space.choices, at_most=space.at_most)
        training, evaluation = draw(game, options, 60, seed=0), draw_evaluation(game, space, 64, seed=0)

        def signs(preferences):
            return {frozenset((e, w > 0) for e, w in p.items() if e != "task") for p in preferences}

        assert not signs(training) & signs(evaluation)
        assert {split_of(p) for p in training} == {"training"}
        assert {split_of(p) for p in evaluation} == {"evaluation"}
    with pytest.raises(InterplayError, match="split: 'both'; training, evaluation or all"):
        draw(game, HSPOptions(choices=space.choices, split="both"), 3, seed=0)


@pytest.mark.slow
def test_a_population_of_another_game_is_refused(ego, experiment):
    _, folder = ego
    options = {"pairs_from": str(folder), "population_from": str(folder)}
    with pytest.raises(InterplayError, match=r"was trained in .*Match .* not in .*Recall"):
        train(experiment("Recall", algorithm=Algorithm("hsp", options)), quiet=True)


def test_options_that_cannot_be(experiment):
    with pytest.raises(InterplayError, match="events_of: 'both'; biased or response"):
        train(experiment(algorithm=Algorithm("hsp", {"events_of": "both"})), quiet=True)
    with pytest.raises(InterplayError, match="comes without a reward space: give"):
        train(experiment(algorithm=Algorithm("hsp")), quiet=True)


def test_pairs_train_in_a_game_of_three_seats(experiment):
    """The response is paid for points and learns; the biased player is paid for being wrong, and is."""
    given = experiment("Three", runs=1, steps=16 * 8 * 40, horizon=4)
    trained = pairs(given, make("tests.training.toys:Three", horizon=4), [{"task": 0.0, "wrong": 1.0}], quiet=True)
    result = play_all_pairs(trained, rounds=10, seed=0)
    right, wrong = result.events[0, :, 0], result.events[0, :, 1]
    assert wrong[BIASED] > 3.5
    assert right[1:].min() > 3.5  # `play_all_pairs` seats the biased player once, and its response in both other seats
