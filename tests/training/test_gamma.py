"""GAMMA: a model of a population whose latents act as its members do, and egos that learn with them."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from interplay.agents.api import Agent
from interplay.agents.networks import Core
from interplay.agents.neural import NeuralPolicy
from interplay.errors import InterplayError
from interplay.games.registry import make
from interplay.training.actor_critic import policy_shape
from interplay.training.algorithms.gamma import GAMMAOptions, GAMMAPartnerModel, fit, partner_of, record
from interplay.training.config import Network

GAME = make("overcooked/cramped_room", horizon=20)
NETWORK = Network(encoding="features", trunk="mlp", widths=(16, 16))
SHAPE = policy_shape(GAME, NETWORK)
OPTIONS = GAMMAOptions(
    episodes=24, latent=2, chunk=10, hidden=16, batch=16, updates=600, learning_rate=1e-2, kl_weight=(0.01, 0.1)
)


def member(action: int) -> Agent:
    """A member that nearly always takes one action."""
    core = Core(SHAPE, 0.01, jax.random.key(action))
    bias = jnp.zeros(6).at[action].set(6.0)
    return Agent(f"m{action}", NeuralPolicy(eqx.tree_at(lambda c: c.head.bias, core, bias), "features"), {})


def test_latents_act_as_different_members_do():
    recorded = record(GAME, [member(4), member(5)], "features", OPTIONS.episodes, jax.random.key(0))
    assert recorded.actions.shape == (24, 20, 2)
    assert set(np.unique(recorded.actions)) >= {4, 5}
    model, entropy, divergence = fit(SHAPE, recorded, OPTIONS, jax.random.key(1))
    assert entropy < 0.4  # one action for all would be at least log 2 = .69
    assert divergence < OPTIONS.kl_cap
    seen = recorded.seen[0, 0, 0]
    latents = jax.random.normal(jax.random.key(2), (40, 2))
    chosen = {int(jnp.argmax(partner_of(model, z).step(jnp.zeros(0), seen)[1])) for z in latents}
    assert {4, 5} <= chosen


def test_a_fixed_latent_joins_the_first_bias():
    model = GAMMAPartnerModel(SHAPE, OPTIONS, jax.random.key(0))
    seen, z = jax.random.normal(jax.random.key(1), SHAPE.input), jnp.array([0.5, -2.0])
    direct = model.decoder.step(model.decoder.start(), seen, z)[1]
    core = partner_of(model, z)
    assert core.shape == SHAPE
    np.testing.assert_allclose(core.step(core.start(), seen)[1], direct, rtol=1e-5, atol=1e-6)


def test_options_are_checked():
    with pytest.raises(InterplayError, match=r"algorithm\.options\.partners: 0; at least 1"):
        GAMMAOptions(partners=0)
