"""What `import interplay` offers takes names where it takes games, and says what is wrong with anything else."""

from __future__ import annotations

import numpy as np
import pytest

import interplay
from interplay.agents.api import Agent, FunctionPlayer
from interplay.errors import IllegalAction, InterplayError

NAME = "overcooked/cramped_room"
BOTH = ["stay", "stay"]


@pytest.fixture(scope="module")
def game():
    return interplay.make(NAME, horizon=6)


@pytest.fixture(scope="module")
def traces(game):
    return interplay.play(game, BOTH, episodes=np.int64(2), seed=np.uint32(3))


MISTAKES = {
    "a game that is a number": (lambda g: interplay.make(3), "game: 3; give its name"),
    "an agent that is a number": (lambda g: interplay.agent(3), "agent: 3; give its name"),
    "no game": (lambda g: interplay.play(None, BOTH), "None is neither a game"),
    "one name for all agents": (lambda g: interplay.play(g, "stay"), "give a list of agents"),
    "one name for a cross-play": (lambda g: interplay.crossplay(g, "stay"), "give a list of agents"),
    "a seed with a fraction": (lambda g: interplay.play(g, BOTH, seed=0.5), "seed: 0.5; give a whole number"),
    "a seed below zero": (lambda g: interplay.play(g, BOTH, seed=-1), "from 0 to"),
    "half an episode": (lambda g: interplay.play(g, BOTH, episodes=1.5), "episodes: 1.5; give a whole number"),
    "a plain function": (lambda g: interplay.play(g, [len, "stay"]), "interplay.FunctionPlayer"),
    "pettingzoo's modes": (lambda g: interplay.to_pettingzoo(g, render_mode="human"), "render_mode 'human'"),
    "gymnasium's modes": (lambda g: interplay.to_gymnasium(g, ["stay"], render_mode="human"), "render_mode 'human'"),
    "gymnasium's seats": (lambda g: interplay.to_gymnasium(g, ["stay"], seat="first"), "'first'"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_told_in_words(game, mistake):
    call, message = MISTAKES[mistake]
    with pytest.raises(InterplayError, match=message):
        call(game)


def test_a_refused_run_leaves_nothing_behind(game, tmp_path):
    for wrong in ({"episodes": 0}, {"batch": 0}):
        with pytest.raises(InterplayError):
            interplay.play(game, BOTH, out=tmp_path / "traces", **{"episodes": 1, **wrong})
    assert len(interplay.play(game, BOTH, episodes=1, out=tmp_path / "traces")) == 1


def test_a_game_may_be_given_by_its_name():
    assert "step" in interplay.check_game(NAME, steps=2)
    assert interplay.to_pettingzoo(NAME).game.id == NAME
    assert interplay.to_gymnasium(NAME, "stay").game.id == NAME


def test_one_metric_needs_no_list(traces):
    assert interplay.measure(traces, "score").rows == interplay.measure(traces, ["score"]).rows


@pytest.mark.parametrize("answer", [np.int64(4), np.array(4), np.array([4])])
def test_a_function_may_answer_with_an_array_of_one_number(game, answer):
    player = Agent("mine", FunctionPlayer(lambda seen: answer, "nothing"))
    assert (interplay.play(game, [player, "stay"], episodes=1)[0].actions == 4).all()


@pytest.mark.parametrize("answer", ["up", None, 1.7, np.array([1, 2])])
def test_whatever_else_a_function_answers_is_told(game, answer):
    player = Agent("mine", FunctionPlayer(lambda seen: answer, "nothing"))
    with pytest.raises(IllegalAction, match=r"agent 'mine' in seat 0 .* an action is a whole number"):
        interplay.play(game, [player, "stay"], episodes=1)
