"""JaxMARL's environments keep our contract, and play as they do at home."""

from __future__ import annotations

import subprocess
import sys

import jax
import numpy as np
import pytest

import interplay
from interplay.errors import ContractError, InterplayError, UnknownName
from interplay.games.check import check_game
from interplay.games.interop.jaxmarl import from_jaxmarl, load_jaxmarl

jaxmarl = load_jaxmarl()
KITCHEN = {"env_kwargs": {"layout": "coord_ring", "max_steps": 30}}


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("jaxmarl/overcooked", KITCHEN),
        ("jaxmarl/MPE_simple_spread_v3", {}),
        ("jaxmarl/MPE_simple_speaker_listener_v4", {"score": "sum"}),
    ],
)
def test_environments_keep_the_contract(name, options):
    check_game(interplay.make(name, **options), steps=40)


@pytest.mark.slow
def test_turns_of_its_hanabi_keep_the_contract():
    check_game(interplay.make("jaxmarl/hanabi", horizon=90), steps=12)


def test_overcooked_plays_as_it_does_at_home():
    game = interplay.make("jaxmarl/overcooked", **KITCHEN)
    env, key = game.env, jax.random.key(5)
    step, home_step = jax.jit(game.step), jax.jit(env.step_env)
    state = game.init(key)
    obs, home = env.reset(key)
    rng = np.random.default_rng(0)
    for t in range(30):
        assert np.array_equal(game.observe(state, "obs"), np.stack([obs[a] for a in env.agents]))
        actions = rng.integers(0, 6, 2)
        state, out = step(state, actions, key)
        obs, home, rewards, dones, infos = home_step(key, home, dict(zip(env.agents, actions, strict=True)))
        assert float(out.reward.sum()) == float(rewards["agent_0"])
        assert out.shaped.tolist() == [float(infos["shaped_reward"][a]) for a in env.agents]
        assert bool(out.truncated) == bool(dones["__all__"]) == (t == 29)
        assert not out.terminated


def test_a_team_reward_is_counted_once_and_own_rewards_are_added():
    env, key = jaxmarl.make("MPE_simple_spread_v3"), jax.random.key(2)
    _, inner = env.reset(key)
    _, _, rewards, _, _ = env.step_env(key, inner, dict.fromkeys(env.agents, 1))
    values = np.array([float(rewards[a]) for a in env.agents])
    for score, expected in (("mean", values.mean()), ("sum", values.sum())):
        game = from_jaxmarl(env, score=score)
        _, step = game.step(game.init(key), np.array([1, 1, 1]), key)
        assert float(step.reward.sum()) == pytest.approx(expected, rel=1e-5)
        assert np.count_nonzero(values) == 3


def test_agents_that_see_less_are_filled_up_and_cannot_take_actions_they_lack():
    game = interplay.make("jaxmarl/MPE_simple_speaker_listener_v4")
    state = game.init(jax.random.key(0))
    obs, _ = game.env.reset(jax.random.key(0))
    view = np.asarray(game.observe(state, "obs"))
    assert view.shape == (2, 11)
    assert np.array_equal(view[0], np.pad(np.asarray(obs["speaker_0"]), (0, 8)))
    assert np.array_equal(view[1], obs["listener_0"])
    assert np.asarray(game.legal(state)).sum(axis=1).tolist() == [3, 5]


def test_a_game_is_replayable_only_if_said_to_be_deterministic():
    noisy = jaxmarl.make("MPE_simple_spread_v3", u_noise=jax.numpy.ones(3))
    assert not from_jaxmarl(noisy).replayable
    with pytest.raises(ContractError, match="replayable = False"):
        check_game(from_jaxmarl(noisy, deterministic=True, id="jaxmarl/MPE_simple_spread_v3"), steps=3)


def test_errors_say_what_to_do():
    with pytest.raises(UnknownName, match="MPE_simple_spread_v3"):
        interplay.make("jaxmarl/simple_spread")
    with pytest.raises(UnknownName, match="coord_ring"):
        interplay.make("jaxmarl/overcooked", env_kwargs={"layout": "coordination_ring"})
    with pytest.raises(InterplayError, match="give horizon="):
        from_jaxmarl(jaxmarl.make("hanabi"))
    with pytest.raises(InterplayError, match="no discrete actions"):
        from_jaxmarl(jaxmarl.make("MPE_simple_spread_v3", action_type="Continuous"))
    with pytest.raises(InterplayError, match="'mean'"):
        from_jaxmarl(jaxmarl.make("MPE_simple_spread_v3"), score="max")
    game = interplay.make("jaxmarl/MPE_simple_spread_v3")
    with pytest.raises(InterplayError, match=r"state\.p_vel"):
        game.init(None, **{"state.p_pos": np.zeros((6, 2))})


def test_importing_it_prints_nothing():
    code = "from interplay.games.interop.jaxmarl import load_jaxmarl; load_jaxmarl()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


def test_without_it_the_error_says_what_to_install():
    code = "import sys, interplay; sys.modules['jaxmarl'] = None; interplay.make('jaxmarl/overcooked')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert 'pip install "interplay[jaxmarl]"' in done.stderr.splitlines()[-1]
