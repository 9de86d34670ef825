"""Stand-ins: frozen partners that take a learner's place for whole episodes, with odds that change while it learns.

The learner fills every role of a table, and role 0 for certain. At the start of an episode each other role is taken by
a stand-in with the odds of the hour; what happens there is then nothing to learn from. A group of environments has one
stand-in, so that no weights have to be gathered environment by environment.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from interplay.errors import InterplayError
from interplay.rollout.seat import policy_turn
from interplay.training.schedule import Schedule
from interplay.training.team_assignment import TeamPlan, seats_to_roles

FIXED = 1  # role 0 is always the learner's


@dataclass(frozen=True)
class StandIns:
    """How often a role other than the first is taken, by the share of the budget that is spent."""

    odds: Schedule


def check(plan: TeamPlan, guests: Any, envs: int) -> None:
    if not plan.alone or not plan.rotate or len(plan.tables) != 1:
        raise InterplayError("stand-ins take places of one learner that fills a single table and takes turns in seats")
    if guests is None:
        raise InterplayError("the scheme has stand-ins, but no frozen partners were given")
    if envs % guests.number:
        raise InterplayError(f"envs: {envs} cannot be shared equally among {guests.number} stand-ins")


def draw(odds: Float[Array, ""], number: Float[Array, "*env role"]) -> Bool[Array, "*env role"]:
    """Which roles are taken, from numbers between 0 and 1."""
    return (number < odds) & (jnp.arange(number.shape[-1]) >= FIXED)


def fresh_memory(guests: Any, arrays: Any, envs: int, plan: TeamPlan, key: PRNGKeyArray) -> Any:
    """Memories of the right shape; what is in them is set at the start of each episode."""
    places = envs // guests.number * (plan.roles - FIXED)

    def one(arrays: Any, key: PRNGKeyArray) -> Any:
        return jax.vmap(lambda k: guests.policy(arrays).init(k, jnp.int32(0)))(jax.random.split(key, places))

    return jax.vmap(one)(arrays, jax.random.split(key, guests.number))


def act(game: Any, plan: TeamPlan, guests: Any, arrays: Any, world: Any, key: PRNGKeyArray) -> tuple[Any, Array]:
    """What the stand-ins would do in all roles, [env, role]; in role 0, where there are none, 0."""
    from interplay.training.setup import where

    number, envs, roles = guests.number, world.rotation.shape[0], plan.roles

    def grouped(x: Array) -> Array:
        rest = x.shape[2:]
        return x[:, FIXED:].reshape(number, envs // number * (roles - FIXED), *rest)

    everyone = jax.vmap(lambda s: (game.observe(s, guests.static.encoding), game.legal(s)))(world.state)
    seen, legal = jax.tree_util.tree_map(lambda x: grouped(seats_to_roles(plan, x, world.rotation)), everyone)
    seats = grouped((jnp.arange(roles)[None] + world.rotation[:, None]) % roles)
    start = grouped(jnp.broadcast_to(world.start[:, None], (envs, roles)))

    def one(arrays: Any, memory: Any, seen: Any, legal: Array, seat: Array, start: Array, key: Any) -> tuple:
        policy = guests.policy(arrays)
        keys = jax.random.split(key, (2, seat.shape[0]))
        memory = where(start, jax.vmap(policy.init)(keys[0], seat), memory)
        memory, action, *_ = jax.vmap(partial(policy_turn, policy))(memory, seen, legal, keys[1])
        return memory, action

    keys = jax.random.split(key, number)
    memory, action = jax.vmap(one)(arrays, world.guest_memory, seen, legal, seats, start, keys)
    actions: Int[Array, "env role"] = jnp.pad(action.reshape(envs, roles - FIXED), ((0, 0), (FIXED, 0)))
    return memory, actions
