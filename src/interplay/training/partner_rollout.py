"""Actions and memories of frozen partners."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, PRNGKeyArray

from interplay.rollout.seat import policy_turn
from interplay.training.setup import RolloutWorld, TrainingSetup, where
from interplay.training.team_assignment import TeamPlan, seats_to_roles, to_partners


def act(setup: TrainingSetup, partners: Any, world: RolloutWorld, key: PRNGKeyArray) -> tuple[Any, Array]:
    """Return the partners' memories after a step, and their actions, [partner slot, environment of the table].

    Args:
        setup: Of the stage.
        partners: Their arrays, [partner, ...].
        world: The environments.
        key: Of their random choices.
    """
    plan, game = setup.plan, setup.game
    assert setup.partners is not None
    policy_of, encoding = setup.partners.policy, setup.partners.static.encoding
    everyone = jax.vmap(lambda s: (game.observe(s, encoding), game.legal(s)))(world.state)
    seen, legal = jax.tree_util.tree_map(lambda x: to_partners(plan, seats_to_roles(plan, x, world.rotation)), everyone)
    seats = to_partners(plan, _seats_of_roles(plan, world.rotation))
    start = to_partners(plan, jnp.broadcast_to(world.start[:, None], (world.start.shape[0], plan.roles)))

    def one(arrays: Any, memory: Any, seen: Any, legal: Array, seat: Array, start: Array, key: Any) -> tuple:
        policy = policy_of(arrays)
        keys = jax.random.split(key, (2, seat.shape[0]))
        fresh = jax.vmap(policy.init)(keys[0], seat)
        memory = where(start, fresh, memory)
        turn = jax.vmap(partial(policy_turn, policy))(memory, seen, legal, keys[1])
        return turn.memory, turn.action

    arrays = jax.tree_util.tree_map(lambda x: x[world.partners], partners)
    keys = jax.random.split(key, len(plan.partner_slots))
    return jax.vmap(one)(arrays, world.partner_memory, seen, legal, seats, start, keys)


def fresh_memory(setup: TrainingSetup, partners: Any, assigned: Int[Array, " partner_slot"], key: PRNGKeyArray) -> Any:
    """Return memories of the right shape; their contents are set at the start of each episode."""
    assert setup.partners is not None
    policy_of, per_table = setup.partners.policy, setup.plan.envs_per_table(setup.experiment.envs)

    def one(arrays: Any, key: Any) -> Any:
        return jax.vmap(lambda k: policy_of(arrays).init(k, jnp.int32(0)))(jax.random.split(key, per_table))

    arrays = jax.tree_util.tree_map(lambda x: x[assigned], partners)
    return jax.vmap(one)(arrays, jax.random.split(key, len(setup.plan.partner_slots)))


def _seats_of_roles(plan: TeamPlan, rotation: Int[Array, " env"]) -> Int[Array, "env role"]:
    return (jnp.arange(plan.roles)[None] + rotation[:, None]) % plan.roles
