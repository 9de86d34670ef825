"""Networks of JaxMARL's style play as policies of ours."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import interplay
from interplay.agents.api import as_agent, content_hash
from interplay.agents.foreign.array_files import read_flat_safetensors
from interplay.agents.jaxmarl import from_jaxmarl
from interplay.errors import InterplayError
from interplay.games.interop.jaxmarl import load_jaxmarl
from interplay.rollout.check_agent import check_agent

KITCHEN = interplay.make("overcooked/cramped_room", horizon=20)
SIZE = int(np.prod(KITCHEN.encodings["planes"].shape))
HIDDEN = 8


class FeedForward(nn.Module):
    """An actor-critic as in JaxMARL's feed-forward PPO; `form` is what it gives for a distribution."""

    actions: int
    form: str = "logits"

    @nn.compact
    def __call__(self, x):
        x = nn.tanh(nn.Dense(HIDDEN)(x))
        logits = nn.Dense(self.actions)(x)
        value = nn.Dense(1)(x)[..., 0]
        return {
            "array": logits,
            "logits": (SimpleNamespace(logits=logits, probs=None), value),
            "probs": (SimpleNamespace(probs=jax.nn.softmax(logits)), value),
            "dict": {"logits": logits},
        }[self.form]


class Recurrent(nn.Module):
    """An actor-critic as in JaxMARL's recurrent PPO: hidden states are put back where an episode was done."""

    actions: int

    @nn.compact
    def __call__(self, hidden, x: Sequence):
        obs, dones = x
        states = []
        cell, embed, actor = nn.GRUCell(HIDDEN), nn.Dense(HIDDEN), nn.Dense(self.actions)
        for t in range(obs.shape[0]):
            hidden = jnp.where(dones[t][:, None], jnp.zeros_like(hidden), hidden)
            hidden, out = cell(hidden, nn.relu(embed(obs[t])))
            states.append(out)
        return hidden, SimpleNamespace(logits=actor(jnp.stack(states))), jnp.zeros(obs.shape[:2])


def flat(obs):
    return obs.reshape(-1).astype(jnp.float32)


def feed_forward(form="logits", **options):
    network = FeedForward(6, form)
    params = FeedForward(6).init(jax.random.key(0), jnp.zeros((1, SIZE)))
    return network, params, from_jaxmarl(network.apply, params, encoding="planes", preprocess=flat, **options)


def recurrent():
    network = Recurrent(6)
    hidden = jnp.zeros((1, HIDDEN))
    params = network.init(jax.random.key(0), hidden, (jnp.zeros((1, 1, SIZE)), jnp.zeros((1, 1), bool)))
    return network, params, from_jaxmarl(network.apply, params, encoding="planes", hidden=hidden, preprocess=flat)


def view(game=KITCHEN, seat=0):
    state = game.init(jax.random.key(0))
    return game.observe(state, "planes")[seat], game.legal(state)[seat]


@pytest.mark.parametrize("form", ["array", "logits", "probs"])
def test_a_feed_forward_network_keeps_the_contract_whatever_it_gives(form):
    _, params, policy = feed_forward(form)
    check_agent(policy, KITCHEN, steps=5)
    obs, legal = view()
    expected = jax.nn.log_softmax(FeedForward(6, "array").apply(params, flat(obs)[None])[0])
    *_, info = policy.act(None, obs, legal, jax.random.key(0))
    assert np.allclose(jax.nn.log_softmax(info.logits), expected, atol=1e-5)


def test_a_recurrent_network_keeps_the_contract_and_its_memory():
    network, params, policy = recurrent()
    check_agent(policy, KITCHEN, steps=5)
    obs, legal = view()
    memory, logits = policy.init(jax.random.key(0), 0), []
    for _ in range(3):
        memory, _, info = policy.act(memory, obs, legal, jax.random.key(0))
        logits.append(info.logits)
    rows = jnp.broadcast_to(flat(obs), (3, 1, SIZE))
    hidden, pi, _ = network.apply(params, jnp.zeros((1, HIDDEN)), (rows, jnp.zeros((3, 1), bool)))
    assert np.allclose(np.stack(logits), pi.logits[:, 0], atol=1e-5)
    assert np.allclose(memory, hidden, atol=1e-5)
    assert not np.allclose(logits[0], logits[2])


def test_its_hash_is_that_of_its_weights_not_of_this_process():
    one, two = (as_agent(feed_forward()[2]) for _ in range(2))
    assert content_hash(one) == content_hash(two)
    assert " at 0x" not in repr(one.policy)


def test_greedy_takes_the_likeliest_and_otherwise_actions_are_drawn():
    obs, legal = view()
    _, _, greedy = feed_forward(greedy=True)
    _, _, drawn = feed_forward()
    keys = [jax.random.key(i) for i in range(30)]
    assert len({int(greedy.act(None, obs, legal, k)[1]) for k in keys}) == 1
    assert len({int(drawn.act(None, obs, legal, k)[1]) for k in keys}) > 1


def test_the_mask_of_legal_actions_is_handed_on_if_asked_for():
    seen = []

    def apply(params, obs, legal):
        seen.append(legal.shape)
        return jnp.where(legal > 0, 0.0, -1e9) + params

    policy = from_jaxmarl(apply, jnp.zeros(6), encoding="nothing", takes_legal=True)
    check_agent(policy, KITCHEN, steps=2)
    assert set(seen) == {(1, 6)}


def test_it_plays_at_home_too():
    load_jaxmarl()
    game = interplay.make("jaxmarl/MPE_simple_spread_v3")
    network = FeedForward(5)
    params = network.init(jax.random.key(0), jnp.zeros((1, 18)))
    check_agent(from_jaxmarl(network.apply, params, encoding="obs"), game, steps=3)


def test_parameters_saved_as_jaxmarl_saves_them_are_read(tmp_path):
    # JaxMARL's save_params is these two calls; its module cannot be imported without packages that it does not name.
    from flax.traverse_util import flatten_dict
    from safetensors.flax import save_file

    _, params, _ = feed_forward()
    save_file(flatten_dict(params, sep=","), tmp_path / "agent.safetensors")
    again = read_flat_safetensors(tmp_path / "agent.safetensors")
    assert jax.tree_util.tree_structure(again) == jax.tree_util.tree_structure(params)
    assert jax.tree_util.tree_all(jax.tree_util.tree_map(np.array_equal, again, params))
    (tmp_path / "broken.safetensors").write_bytes(b"no weights")
    with pytest.raises(InterplayError, match=r"broken.* is damaged"):
        read_flat_safetensors(tmp_path / "broken.safetensors")


def test_a_network_that_does_not_fit_says_why():
    with pytest.raises(InterplayError, match=r"'planes'; hanabi/2p has hle"):
        feed_forward()[2].bind(interplay.make("hanabi/2p"))
    with pytest.raises(InterplayError, match="cannot read 'planes' of overcooked/coordination_ring"):
        feed_forward()[2].bind(interplay.make("overcooked/coordination_ring"))
    with pytest.raises(InterplayError, match="dict"):
        feed_forward("dict")[2].bind(KITCHEN)
    network = FeedForward(4)
    params = network.init(jax.random.key(0), jnp.zeros((1, SIZE)))
    with pytest.raises(InterplayError, match="among 4 actions; the game has 6"):
        from_jaxmarl(network.apply, params, encoding="planes", preprocess=flat).bind(KITCHEN)
