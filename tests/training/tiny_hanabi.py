"""A tiny Hanabi, its experiments, and rollouts in it, shared by the tests of Hanabi's learning methods."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from interplay.agents.api import Info, Policy
from interplay.games.hanabi.suit_permutation import suits_of
from interplay.training.actor_critic import new_member
from interplay.training.advantages import new_normaliser
from interplay.training.collect import begin, collect
from interplay.training.config import Experiment
from interplay.training.frozen_partners import PartnerStats
from interplay.training.loader import build
from interplay.training.reward_weights import equal_reward_weights
from interplay.training.stage_state import TrainingSetup
from interplay.training.update import ValueEstimates, prepare

TINY = {"suits": "RYG", "copies": [2, 1], "hand_size": 2, "hint_tokens": 3}
NETWORK = {"encoding": "belief", "trunk": "mlp", "widths": [16]}


def experiment(name: str = "sp", options=None, *, players: int = 2, folder=None, network=None, **changes) -> Experiment:
    base = {
        "game": {"name": f"hanabi/{players}p", "options": TINY},
        "algorithm": {"name": name, "options": options or {}},
        "steps": 2 * 8 * 12,
        "envs": 8,
        "rollout": 12,
        "network": NETWORK | (network or {}),
        "ppo": {"epochs": 1, "minibatches": 2},
        "output": {"folder": None if folder is None else str(folder), "logs": 2, "checkpoints": 1, "snapshots": 1},
    }
    return build(Experiment, base | changes)


def cards_seen_as(rules, order):
    """The identity as which each real card is seen when the colours are named in another order, [identity]."""
    real = (suits_of(rules, order)[:, None] * rules.ranks + np.arange(rules.ranks)).reshape(-1)
    return np.argsort(real)  # real[i] is what is seen as i


class FirstLegal(Policy):
    """The first legal action, whatever is seen."""

    number: jax.Array

    @property
    def encoding(self) -> str:
        return "nothing"

    def act(self, memory, obs, legal, key):
        logits = jnp.where(legal, -jnp.arange(legal.shape[0], dtype=jnp.float32), -1e9) + 0.0 * self.number
        return memory, jnp.argmax(logits), Info(logits)


def rollouts(setup: TrainingSetup):
    """A compiled function of a seed: a world, what was collected in it, and the training sequences."""
    game = setup.game
    arrays = setup.partners.arrays if setup.partners else ()
    number = setup.partners.number if setup.partners else 0
    stats = PartnerStats(returns=jnp.zeros((number, setup.plan.roles)), episodes=jnp.zeros((number, setup.plan.roles)))
    traits = jax.tree_util.tree_map(lambda x: x[0], equal_reward_weights(game, setup.experiment.rewards, 1, 1))

    @jax.jit
    def go(seed):
        key = jax.random.key(seed)
        member = new_member(game, setup.experiment.network, 0, key)
        members = jax.tree_util.tree_map(lambda x: x[None], member)
        world = begin(setup, member, stats, arrays, key)
        played = collect(setup, members, traits, arrays, world, jnp.float32(0), key)
        batch, *_ = prepare(ValueEstimates(setup, members, new_normaliser(1), world, *played[:3]))
        return world, played, batch

    return go
