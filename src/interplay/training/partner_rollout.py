"""Guests at the table: what frozen partners in places of their own do, and what they remember."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, PRNGKeyArray

from interplay.rollout.seat import policy_turn
from interplay.training.setup import RolloutWorld, TrainingSetup, where
from interplay.training.team_assignment import TeamPlan, seats_to_roles, to_guests


def act(setting: TrainingSetup, guests: Any, world: RolloutWorld, key: PRNGKeyArray) -> tuple[Any, Array]:
    """Their memories after the turn, and their actions, [guest slot, place at the table]."""
    plan, game = setting.plan, setting.game
    assert setting.guests is not None
    policy_of, encoding = setting.guests.policy, setting.guests.static.encoding
    everyone = jax.vmap(lambda s: (game.observe(s, encoding), game.legal(s)))(world.state)
    seen, legal = jax.tree_util.tree_map(lambda x: to_guests(plan, seats_to_roles(plan, x, world.rotation)), everyone)
    seats = to_guests(plan, _seats_of_roles(plan, world.rotation))
    start = to_guests(plan, jnp.broadcast_to(world.start[:, None], (world.start.shape[0], plan.roles)))

    def one(arrays: Any, memory: Any, seen: Any, legal: Array, seat: Array, start: Array, key: Any) -> tuple:
        policy = policy_of(arrays)
        keys = jax.random.split(key, (2, seat.shape[0]))
        fresh = jax.vmap(policy.init)(keys[0], seat)
        memory = where(start, fresh, memory)
        turn = jax.vmap(partial(policy_turn, policy))(memory, seen, legal, keys[1])
        return turn.memory, turn.action

    arrays = jax.tree_util.tree_map(lambda x: x[world.guests], guests)
    keys = jax.random.split(key, len(plan.guests))
    return jax.vmap(one)(arrays, world.guest_memory, seen, legal, seats, start, keys)


def fresh_memory(setting: TrainingSetup, guests: Any, chosen: Int[Array, " guest_slot"], key: PRNGKeyArray) -> Any:
    """Memories of the right shape; what is in them is set at the start of each episode."""
    assert setting.guests is not None
    policy_of, per_table = setting.guests.policy, setting.plan.per_table(setting.experiment.envs)

    def one(arrays: Any, key: Any) -> Any:
        return jax.vmap(lambda k: policy_of(arrays).init(k, jnp.int32(0)))(jax.random.split(key, per_table))

    arrays = jax.tree_util.tree_map(lambda x: x[chosen], guests)
    return jax.vmap(one)(arrays, jax.random.split(key, len(setting.plan.guests)))


def _seats_of_roles(plan: TeamPlan, rotation: Int[Array, " env"]) -> Int[Array, "env role"]:
    return (jnp.arange(plan.roles)[None] + rotation[:, None]) % plan.roles
