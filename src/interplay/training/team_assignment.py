"""Who sits where: tables, roles and seats, as index arithmetic that costs a compiled program next to nothing.

A table is a group of environments with one team. The team names who plays each role: a learner, or a guest (a
frozen partner). A role takes the seat that the episode's rotation gives it: seat (role + rotation) % seats.

Axes: env = table x place at the table; a learner's slots are all (table, role) that it fills, each with the table's
environments, so that every learner acts on one batch [learner, slot].
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from interplay.errors import InterplayError

GUEST = -1


@dataclass(frozen=True)
class TeamPlan:
    """The seating plan of a run."""

    tables: tuple[tuple[int, ...], ...]  # [table][role] number of the learner, or GUEST
    weights: tuple[tuple[float, ...], ...] | None = None  # [table][role] of the advantages there; None: all 1
    rotate: bool = False  # roles take seats at random, anew in every episode
    streams: tuple[int, ...] | None = None  # [table] which kind of table it is, for values that are told
    scored: tuple[bool, ...] | None = None  # [table] whether its episodes count in the logged returns; None: all

    def __post_init__(self) -> None:
        filled = sorted({who for table in self.tables for who in table if who != GUEST})
        if filled != list(range(len(filled))) or not filled:
            raise InterplayError(f"a seating plan numbers its learners 0, 1, ...; this one has {filled}")
        counts = {who: sum(table.count(who) for table in self.tables) for who in filled}
        if len(set(counts.values())) > 1:
            raise InterplayError(f"every learner fills equally many places of a seating plan; here {counts}")

    @property
    def roles(self) -> int:
        return len(self.tables[0])

    @cached_property
    def learners(self) -> int:
        return 1 + max(who for table in self.tables for who in table)

    @cached_property
    def slots(self) -> np.ndarray:
        """[learner, slot] which place (table * roles + role) it is."""
        flat = np.array(self.tables).reshape(-1)
        return np.stack([np.flatnonzero(flat == who) for who in range(self.learners)])

    @cached_property
    def guests(self) -> np.ndarray:
        """[guest slot] which place it is."""
        return np.flatnonzero(np.array(self.tables).reshape(-1) == GUEST)

    @cached_property
    def sits(self) -> np.ndarray:
        """[learner, table] 1 where the learner sits at the table, and the table's episodes count."""
        scored = self.scored or (True,) * len(self.tables)
        seated = [[who in table and own for table, own in zip(self.tables, scored)] for who in range(self.learners)]
        return np.array(seated, np.float32)

    @property
    def alone(self) -> bool:
        """One learner in every place: nothing has to be sorted."""
        return self.learners == 1 and not len(self.guests)

    @cached_property
    def weight_table(self) -> np.ndarray:
        """[table, role]"""
        given = np.ones((len(self.tables), self.roles)) if self.weights is None else self.weights
        return np.array(given, np.float32)

    @property
    def kinds(self) -> int:
        """How many kinds of tables values can be told."""
        return 0 if self.streams is None else 1 + max(self.streams)

    def per_table(self, envs: int) -> int:
        """Environments at each table."""
        if envs % len(self.tables):
            raise InterplayError(f"envs: {envs} cannot be shared equally among {len(self.tables)} tables")
        return envs // len(self.tables)


def seats_to_roles(plan: TeamPlan, x: Array, rotation: Int[Array, " env"]) -> Array:
    """[env, seat, ...] -> [env, role, ...]"""
    return _rolled(x, rotation) if plan.rotate else x


def roles_to_seats(plan: TeamPlan, x: Array, rotation: Int[Array, " env"]) -> Array:
    """[env, role, ...] -> [env, seat, ...]"""
    return _rolled(x, -rotation) if plan.rotate else x


def _rolled(x: Array, by: Int[Array, " env"]) -> Array:
    seats = x.shape[1]
    by = (by % seats).reshape(-1, *[1] * (x.ndim - 1))
    rolled = x
    for shift in range(1, seats):
        rolled = jnp.where(by == shift, jnp.roll(x, -shift, axis=1), rolled)
    return rolled


def to_learners(plan: TeamPlan, x: Array) -> Array:
    """[env, role, ...] -> [learner, slot, ...], where slot runs over the learner's places and their environments."""
    if plan.alone:
        return x.reshape(1, x.shape[0] * x.shape[1], *x.shape[2:])
    taken = _places(plan, x)[plan.slots.reshape(-1)]
    return taken.reshape(plan.learners, plan.slots.shape[1] * taken.shape[1], *x.shape[2:])


def to_guests(plan: TeamPlan, x: Array) -> Array:
    """[env, role, ...] -> [guest slot, place at the table, ...]"""
    return _places(plan, x)[plan.guests]


def to_roles(plan: TeamPlan, learners: Array, guests: Array | None) -> Array:
    """[learner, slot] and [guest slot, place at the table] -> [env, role]"""
    if plan.alone:
        return learners.reshape(-1, plan.roles)
    per_table = learners.shape[1] // plan.slots.shape[1]
    rows = learners.reshape(-1, per_table)
    order = plan.slots.reshape(-1)
    if guests is not None:
        rows, order = jnp.concatenate([rows, guests]), np.concatenate([order, plan.guests])
    back = np.argsort(order)
    tables = rows[back].reshape(len(plan.tables), plan.roles, per_table)
    return jnp.moveaxis(tables, 1, 2).reshape(-1, plan.roles)


def spread(plan: TeamPlan, x: Array) -> Array:
    """[env, ...] -> [learner, slot, ...]: the same for every role."""
    return to_learners(plan, jnp.broadcast_to(x[:, None], (x.shape[0], plan.roles, *x.shape[1:])))


def _places(plan: TeamPlan, x: Any) -> Array:
    """[env, role, ...] -> [table * roles, place at the table, ...]"""
    tables = len(plan.tables)
    per_table = x.shape[0] // tables  # written out, since an array of size 0 cannot tell
    split = x.reshape(tables, per_table, *x.shape[1:])
    return jnp.moveaxis(split, 2, 1).reshape(tables * plan.roles, per_table, *x.shape[2:])
