"""The ego of hidden-utility self-play: which partners it is given, and that it learns with them."""

import numpy as np
import pytest

from interplay.errors import InterplayError
from interplay.training.algorithms import train
from interplay.training.algorithms.hsp import BIASED, EgoOptions, counted, greedy_selection, most_different
from interplay.training.config import Algorithm
from interplay.training.kept import reopened

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
    given = small(algorithm=Algorithm("hsp", OPTIONS), rollout=4, output={"folder": str(folder)})
    return train(given, quiet=True), folder


@pytest.mark.slow
def test_the_ego_meets_players_of_both_kinds(ego):
    trained, folder = ego
    pairs = reopened(folder, stage="pairs")
    met = counted(pairs, 4, seed=0)
    assert met.events[0, BIASED, 1] > 3.2  # the first likes to be wrong, in nearly all of 4 steps
    assert met.events[1, BIASED, 0] > 3.2
    chosen = trained.policies[0]["biased_partners"]
    assert len(chosen) == 2
    assert 0 in chosen  # whichever came first, the one unlike the others is among them
    # 4 points of its own; of its partners, two of eight chosen to like or dislike it, and two at three skills.
    assert 5 < np.mean(trained.returns(2)) < 7.8


@pytest.mark.slow
def test_pairs_that_do_not_score_are_left_out(ego):
    _, folder = ego
    pairs = reopened(folder, stage="pairs")
    assert 0 not in most_different(pairs, EgoOptions(least_return=5.0), seed=0)  # only its partner scores: 4 of 8
    with pytest.raises(InterplayError, match="no pair scores more than 99 together"):
        most_different(pairs, EgoOptions(least_return=99.0), seed=0)


@pytest.mark.slow
def test_a_population_of_another_game_is_refused(ego, experiment):
    _, folder = ego
    options = {"pairs_from": str(folder), "population_from": str(folder)}
    with pytest.raises(InterplayError, match=r"was trained in .*Match .* not in .*Recall"):
        train(experiment("Recall", algorithm=Algorithm("hsp", options)), quiet=True)


def test_options_that_cannot_be(experiment):
    with pytest.raises(InterplayError, match="events_of: 'both'; biased or response"):
        train(experiment(algorithm=Algorithm("hsp", {"events_of": "both"})), quiet=True)
    with pytest.raises(InterplayError, match="give preferences, or choices to draw them from"):
        train(experiment(algorithm=Algorithm("hsp")), quiet=True)
