"""Actions and memories of frozen partners."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray, PyTree

from interplay.rollout.seat import policy_turn
from interplay.training.frozen_partners import FrozenPartners
from interplay.training.stage_state import RolloutWorld, TrainingSetup, where
from interplay.training.team_assignment import seats_to_roles, to_partners


def act(setup: TrainingSetup, partners: PyTree, world: RolloutWorld, key: PRNGKeyArray) -> tuple[Any, Array]:
    """Return the partners' memories after a step, and their actions, [partner slot, environment of the table].

    Args:
        setup: Of the stage.
        partners: Their arrays, [partner, ...].
        world: The environments.
        key: Of their random choices.
    """
    arrays = jax.tree.map(lambda x: x[world.partners], partners)
    return act_in_groups(setup, arrays, world, partial(to_partners, setup.plan), key)


def act_in_groups(
    setup: TrainingSetup, arrays: PyTree, world: RolloutWorld, group: Any, key: PRNGKeyArray
) -> tuple[Any, Array]:
    """Return memories and actions of partners in groups of roles.

    Args:
        setup: Of the stage.
        arrays: Of each group's partner, [group, ...].
        world: The environments; its partner memory is [group, place, ...].
        group: Function from [env, role, ...] to [group, place, ...].
        key: Of their random choices.
    """
    plan, game, frozen = setup.plan, setup.game, setup.partners
    assert frozen is not None
    by_seat = jax.vmap(lambda s: (game.observe(s, frozen.static.encoding), game.legal(s)))(world.state)
    seen, legal = jax.tree.map(lambda x: group(seats_to_roles(plan, x, world.rotation)), by_seat)
    seats = group((jnp.arange(plan.roles)[None] + world.rotation[:, None]) % plan.roles)
    start = group(jnp.broadcast_to(world.start[:, None], (world.start.shape[0], plan.roles)))

    def one(
        arrays: PyTree, memory: PyTree, seen: PyTree, legal: Array, seat: Array, start: Array, key: PRNGKeyArray
    ) -> tuple:
        policy = frozen.policy(arrays)
        keys = jax.random.split(key, (2, seat.shape[0]))
        memory = where(start, jax.vmap(policy.init)(keys[0], seat), memory)
        turn = jax.vmap(partial(policy_turn, policy))(memory, seen, legal, keys[1])
        return turn.memory, turn.action

    keys = jax.random.split(key, seats.shape[0])
    return jax.vmap(one)(arrays, world.partner_memory, seen, legal, seats, start, keys)


def new_memories(frozen: FrozenPartners, arrays: PyTree, groups: int, places: int, key: PRNGKeyArray) -> PyTree:
    """Return memories [group, place, ...] of partners with arrays [group, ...].

    Their contents are set at the start of each episode.
    """

    def one(arrays: PyTree, key: PRNGKeyArray) -> Any:
        return jax.vmap(lambda k: frozen.policy(arrays).init(k, jnp.int32(0)))(jax.random.split(key, places))

    return jax.vmap(one)(arrays, jax.random.split(key, groups))
