"""What the learners remember where one seat plays for all that move in turn: a memory for each seat of the real game.

Memories are [learner, slot, mind, memory]. In a rollout they are taken up and put back turn by turn. For training, the
steps of a slot are sorted by whose they are: a sequence is then the turns of one seat, and where another's begin, its
memory is taken up as it was when it played.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from interplay.training.setup import TrainingSetup
from interplay.training.team_assignment import seats_to_roles, to_learners

Who = Int[Array, "learner slot"] | None  # whose mind it is; None: every slot has one


def movers(setting: TrainingSetup, state: Any, rotation: Array) -> Who:
    """Who is to move in states [env, ...]."""
    if setting.minds == 1:
        return None
    by_env = jax.vmap(setting.game.mover)(state)[:, None]  # type: ignore[attr-defined]
    return to_learners(setting.plan, seats_to_roles(setting.plan, by_env, rotation)).astype(jnp.int8)


def pick(memory: Float[Array, "learner slot mind memory"], who: Who) -> Float[Array, "learner slot memory"]:
    found = memory[:, :, 0]
    if who is None:
        return found
    for mind in range(1, memory.shape[2]):
        found = jnp.where((who == mind)[..., None], memory[:, :, mind], found)
    return found


def put(
    memory: Float[Array, "learner slot mind memory"], who: Who, new: Float[Array, "learner slot memory"]
) -> Float[Array, "learner slot mind memory"]:
    if who is None:
        return new[:, :, None]
    mine = who[..., None] == jnp.arange(memory.shape[2], dtype=who.dtype)
    return jnp.where(mine[..., None], new[:, :, None], memory)


def by_mind(who: Int[Array, "step learner slot"]) -> Int[Array, "step learner slot"]:
    """The order in which the steps of each slot are those of one mind after the other."""
    return jnp.argsort(who, axis=0, stable=True)


def taken_up(
    who: Int[Array, "step learner slot"],
    start: Bool[Array, "step learner slot"],
    order: Int[Array, "step learner slot"],
) -> Bool[Array, "step learner slot"]:
    """Where, in that order, the steps of another mind or of another episode begin: it starts for all minds, but is seen
    to start by one."""
    episode = jnp.cumsum(start, axis=0)
    own, its = (jnp.take_along_axis(x, order, axis=0) for x in (who, episode))
    return jnp.concatenate([start[:1], (own[1:] != own[:-1]) | (its[1:] != its[:-1])])
