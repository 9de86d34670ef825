"""Held near a frozen policy: what that policy would have thought of every step of a rollout.

The frozen policy is asked along the same sequences, after they were played. Its memory is its own: it goes on from
rollout to rollout and begins anew only where an episode does, so that its opinion in the middle of a game is the one
that it would have had, had it followed the game from its start.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from interplay.training.loss import log_probs
from interplay.training.setup import RolloutWorld, TrainingSetup
from interplay.training.team_assignment import spread


def opinion(
    setting: TrainingSetup, anchors: Any, world: RolloutWorld, rollout: Any
) -> tuple[Float[Array, "learner slot mind memory"], Float[Array, "step learner slot action"]]:
    """The anchors' memory after the rollout, and the logarithms of their odds in each step of it.

    `anchors` are networks [learner, ...]; `world` is the one in which the rollout began.
    """
    steps, ppo = setting.experiment.rollout, setting.experiment.ppo
    blocks = math.gcd(steps, ppo.minibatches * ppo.microbatches)  # no more memory than a minibatch needs
    start = jax.vmap(lambda x: spread(setting.plan, x))(rollout.start)
    who = jnp.zeros(start.shape, jnp.int8) if rollout.who is None else rollout.who
    whole = (rollout.seen, start, rollout.legal, who)
    parts = jax.tree_util.tree_map(lambda x: x.reshape(blocks, steps // blocks, *x.shape[1:]), whole)

    def asked(anchor: Any, memory: Array, seen: Array, start: Array, legal: Array, who: Array) -> tuple[Array, Array]:
        """[mind, memory] and [step, ...]: each step takes up the memory of whose it is."""

        def turn(memory: Array, now: tuple[Array, Array, Array]) -> tuple[Array, Array]:
            features, start, who = now
            memory = jnp.where(start, 0.0, memory)
            mine = (jnp.arange(setting.minds) == who)[:, None]
            own, out = anchor.recall(jnp.sum(jnp.where(mine, memory, 0.0), axis=0), features)
            return jnp.where(mine, own, memory), out

        memory, features = jax.lax.scan(turn, memory, (jax.vmap(anchor.trunk)(seen), start, who))
        return memory, log_probs(anchor.outputs(features, seen), legal)

    of_slots = jax.vmap(asked, in_axes=(None, 0, 1, 1, 1, 1), out_axes=(0, 1))
    of_learners = jax.vmap(of_slots, in_axes=(0, 0, 1, 1, 1, 1), out_axes=(0, 1))

    def block(memory: Array, part: tuple[Array, ...]) -> tuple[Array, Array]:
        return of_learners(anchors, memory, *part)

    memory, odds = jax.lax.scan(block, world.anchor_memory, parts)
    return memory, odds.reshape(steps, *odds.shape[2:])
