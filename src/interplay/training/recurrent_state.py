"""Memories of the learners in an `ActiveSeatGame`, where one slot has a memory for each seat of the game.

Memories are [learner, slot, memory seat, memory]. In a rollout the one of the seat to move is selected and stored turn
by turn. For training, the steps of a slot are sorted by seat: a sequence then holds the turns of one seat, and where
another's begin, the memory is the one that this seat had when it played.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PyTree

from interplay.training.stage_state import TrainingSetup
from interplay.training.team_assignment import seats_to_roles, to_learners

Seat = Int[Array, "learner slot"] | None  # whose memory it is; None: every slot has one


def active_seat(setup: TrainingSetup, state: PyTree, rotation: Array) -> Seat:
    """Return who is to move in states [env, ...]."""
    if setup.memory_seats == 1:
        return None
    by_env = jax.vmap(setup.game.active_seat)(state)[:, None]  # type: ignore[attr-defined]
    return to_learners(setup.plan, seats_to_roles(setup.plan, by_env, rotation)).astype(jnp.int8)


def select(memory: Float[Array, "learner slot seat memory"], seat: Seat) -> Float[Array, "learner slot memory"]:
    """Return the memories of these seats."""
    selected = memory[:, :, 0]
    if seat is None:
        return selected
    for other in range(1, memory.shape[2]):
        selected = jnp.where((seat == other)[..., None], memory[:, :, other], selected)
    return selected


def store(
    memory: Float[Array, "learner slot seat memory"], seat: Seat, new: Float[Array, "learner slot memory"]
) -> Float[Array, "learner slot seat memory"]:
    """Return all memories, with new ones for these seats."""
    if seat is None:
        return new[:, :, None]
    mine = seat[..., None] == jnp.arange(memory.shape[2], dtype=seat.dtype)
    return jnp.where(mine[..., None], new[:, :, None], memory)


def order_by_seat(seat: Int[Array, "step learner slot"]) -> Int[Array, "step learner slot"]:
    """Return the order in which the steps of each slot are sorted by seat."""
    return jnp.argsort(seat, axis=0, stable=True)


def sequence_starts(
    seat: Int[Array, "step learner slot"],
    start: Bool[Array, "step learner slot"],
    order: Int[Array, "step learner slot"],
) -> Bool[Array, "step learner slot"]:
    """Return where, in that order, the steps of another seat or of another episode begin.

    An episode begins for all seats, but `start` marks only the first step of it.
    """
    episodes = jnp.cumsum(start, axis=0)
    seats, episodes = (jnp.take_along_axis(x, order, axis=0) for x in (seat, episodes))
    return jnp.concatenate([start[:1], (seats[1:] != seats[:-1]) | (episodes[1:] != episodes[:-1])])
