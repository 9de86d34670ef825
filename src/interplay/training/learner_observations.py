"""What the learners observe, and the precision in which networks read it."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, PyTree

from interplay.agents.networks import Core
from interplay.training.actor_critic import planes_axis, policy_shape
from interplay.training.stage_state import TrainingSetup
from interplay.training.team_assignment import seats_to_roles, to_learners

ROUND = 16  # numbers


def observe(setup: TrainingSetup, state: PyTree, rotation: Int[Array, " env"]) -> tuple[Array, Any]:
    """Return what the policies of all slots read, and what their values read (None: the same)."""
    plan, network = setup.plan, setup.experiment.network
    seats = jax.vmap(lambda s: setup.game.observe(s, network.encoding))(state)
    roles = seats_to_roles(plan, seats, rotation)
    if network.critic == "own":
        return to_learners(plan, roles), None
    axis = planes_axis(policy_shape(setup.game, network)) + 1  # after the axis of environments
    views = []
    for role in range(plan.roles):
        order = [(role + i) % plan.roles for i in range(plan.roles)]  # the own view first
        views.append(jnp.concatenate([roles[:, r] for r in order], axis=axis))
    return to_learners(plan, roles), to_learners(plan, jnp.stack(views, axis=1))


def members_for_play(setup: TrainingSetup, members: PyTree) -> PyTree:
    """Return the members [learner, ...] in the precision of play.

    Where products are of half precision, the matrices are converted once and not in every step, and the first one is
    padded as observations are.
    """
    network = setup.experiment.network
    if network.precision != "bfloat16" or not isinstance(members.policy, Core):
        return members

    def matrix(x: Array) -> Array:
        return x.astype(jnp.bfloat16) if x.ndim >= 3 else x

    policy = jax.tree.map(matrix, members.policy)
    if policy.shape.trunk == "mlp" and not policy.shape.mask and not policy.shape.extra:
        first = policy.trunk.layers[0].weight
        more = -first.shape[1] % ROUND
        policy = eqx.tree_at(lambda p: p.trunk.layers[0].weight, policy, jnp.pad(first, ((0, 0), (0, more), (0, 0))))
    return eqx.tree_at(lambda m: m.policy, members, policy)


def to_network_dtype(setup: TrainingSetup, x: Any) -> PyTree:
    """Return observations in the precision in which networks read them.

    At half precision vectors are padded with zeros: products are quick only if rows begin at round addresses.
    """
    if setup.experiment.network.precision != "bfloat16" or x is None or x.dtype != jnp.float32:
        return x
    x, encoding = x.astype(jnp.bfloat16), setup.game.encodings[setup.experiment.network.encoding]
    flat = encoding.shape is not None and len(encoding.shape) == 1 and not encoding.useful
    return jnp.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, -x.shape[-1] % ROUND)]) if flat else x
