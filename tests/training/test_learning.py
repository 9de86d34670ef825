"""The whole algorithm on games whose best score is known."""

import pytest

from interplay.training.algorithms import sp


def last_return(trained):
    return trained.curve[-1]["return"]


def test_self_play_learns_to_name_the_cue(experiment):
    trained = sp.train(experiment(steps=16 * 8 * 40), quiet=True)
    assert trained.curve[0]["return"] < 6  # by chance half of 8
    assert last_return(trained) > 7.5


@pytest.mark.parametrize("memory", [0, 8])
def test_only_memory_recalls_what_is_no_longer_seen(experiment, memory):
    given = experiment(
        "Recall", network={"recurrent": memory}, ppo={"learning_rate": ((0.0, 2e-2),)}, steps=16 * 8 * 60
    )
    trained = sp.train(given, quiet=True)
    assert last_return(trained) > 1.8 if memory else last_return(trained) < 1.4
