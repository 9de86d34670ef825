"""Our games pass PettingZoo's own tests."""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
import pytest
from pettingzoo.test import parallel_api_test, parallel_seed_test

import interplay
from interplay.errors import IllegalAction, UnknownName
from interplay.games.interop.pettingzoo import to_pettingzoo

GAMES = {
    "kitchen": (interplay.make("overcooked/cramped_room", horizon=60), {}),
    "features": (interplay.make("overcooked/counter_circuit_multi", horizon=20), {"encoding": "features"}),
    "record": (interplay.make("overcooked/cramped_room", horizon=20), {"encoding": "state"}),
    "nothing": (interplay.make("overcooked/cramped_room", horizon=20), {"encoding": "nothing"}),
    "hanabi": (interplay.make("hanabi/2p"), {"action_mask": "observation"}),
}


@pytest.mark.parametrize("name", GAMES)
def test_the_parallel_api_test_passes_without_a_warning(name, capsys):
    game, options = GAMES[name]
    env = to_pettingzoo(game, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parallel_api_test(env, num_cycles=100)
    assert "Passed" in capsys.readouterr().out


@pytest.mark.parametrize("name", GAMES)
def test_the_seed_test_passes(name):
    game, options = GAMES[name]
    parallel_seed_test(lambda: to_pettingzoo(game, illegal="replace", **options), num_cycles=30)


@pytest.mark.parametrize("name", GAMES)
def test_observations_lie_in_their_spaces(name):
    game, options = GAMES[name]
    env = to_pettingzoo(game, **options)
    observations, infos = env.reset(seed=3)
    for place, agent in enumerate(env.agents):
        env.action_space(agent).seed(place)  # by chance five actions can end a game
    for _ in range(5):
        for agent in env.agents:
            assert env.observation_space(agent).contains(observations[agent])
            assert infos[agent]["action_mask"].shape == (len(game.action_names),)
        actions = {a: env.action_space(a).sample(infos[a]["action_mask"]) for a in env.agents}
        observations, _, _, _, infos = env.step(actions)


def test_seeds_decide_the_start_and_episodes_differ_without_one():
    env = to_pettingzoo(GAMES["hanabi"][0])
    again = [env.reset(seed=1)[0]["seat 0"] for _ in range(2)]
    other = env.reset()[0]["seat 0"]
    assert np.array_equal(*again)
    assert not np.array_equal(again[0], other)


def deliver(env):
    """Play `cramped_room` with a soup that is one interact away from being served, by cooking it alone."""
    game, rewards = env.game, []
    north, south, east, west, stay, act = range(6)
    fetch = [west, act, east, north, act]  # from beside the onions to the pot and back again
    plan = [west, west, *fetch, *[west, *fetch] * 2, *[stay] * 20, south, west, south, act, north, east, north, act]
    plan += [south, east, south, act]
    env.reset(seed=0, options={"start": {"positions": np.array([[2, 1], [3, 1]]), "facing": np.array([0, 0])}})
    env.step({game.seat_names[0]: north, game.seat_names[1]: stay})
    for action in plan:
        _, reward, *_ = env.step({game.seat_names[0]: action, game.seat_names[1]: stay})
        rewards.append(reward)
    return rewards


def test_a_reward_is_shared_by_the_team_or_given_to_the_seat_that_earned_it():
    game = interplay.make("overcooked/cramped_room")
    assert {"chef 1": 20.0, "chef 2": 20.0} in deliver(to_pettingzoo(game))
    assert {"chef 1": 20.0, "chef 2": 0.0} in deliver(to_pettingzoo(game, share_reward=False))


def test_illegal_actions_are_errors_that_say_what_is_legal():
    env = to_pettingzoo(GAMES["hanabi"][0])
    env.reset(seed=0)
    noop = len(env.game.action_names) - 1
    with pytest.raises(IllegalAction, match=r"'seat 0' chose action 20.*legal: .*play 0"):
        env.step({"seat 0": noop, "seat 1": noop})
    with pytest.raises(IllegalAction, match="no action for 'seat 1'"):
        env.step({"seat 0": 5})


def test_rendering():
    game = GAMES["kitchen"][0]
    env = to_pettingzoo(game, render_mode="ansi")
    env.reset(seed=0)
    assert env.render() == game.render(env._state)
    picture = to_pettingzoo(game, render_mode="rgb_array")
    picture.reset(seed=0)
    assert picture.render().shape[2] == 3
    assert picture.render().dtype == np.uint8


def test_an_unknown_encoding_is_an_error():
    with pytest.raises(UnknownName, match="did you mean planes"):
        to_pettingzoo(GAMES["kitchen"][0], "plans")


def test_without_pettingzoo_the_error_says_what_to_install():
    code = "import sys; sys.modules['pettingzoo'] = None; import interplay.games.interop.pettingzoo"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert 'pip install "interplay[pettingzoo]"' in done.stderr.splitlines()[-1]
