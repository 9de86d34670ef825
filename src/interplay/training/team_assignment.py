"""Who plays in which table, role and seat, and the index arithmetic between these axes.

A table is a group of environments with one team. The team names who plays each role: a learner, or a frozen partner. A
role takes the seat that the episode's rotation gives it: seat (role + rotation) % seats.

Axes: env = table x environment of the table; a learner's slots are all (table, role) that it fills, each with the
table's environments, so that every learner acts on one batch [learner, slot].
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from interplay.errors import InterplayError

PARTNER = -1  # in a team: a frozen partner


@dataclass(frozen=True)
class TeamPlan:
    """The teams of a run."""

    tables: tuple[tuple[int, ...], ...]  # [table][role] number of the learner, or PARTNER
    weights: tuple[tuple[float, ...], ...] | None = None  # [table][role] of the advantages there; None: all 1
    rotate: bool = False  # roles take seats at random, anew in every episode
    table_kinds: tuple[int, ...] | None = None  # [table] a number that value networks may read
    scored: tuple[bool, ...] | None = None  # [table] whether its episodes count in the logged returns; None: all
    start_from: tuple[int, ...] | None = None  # [table] whose states, at random times, its episodes begin in; -1: fresh

    def __post_init__(self) -> None:
        filled = sorted({who for table in self.tables for who in table if who != PARTNER})
        if filled != list(range(len(filled))) or not filled:
            raise InterplayError(f"a team plan numbers its learners 0, 1, ...; this one has {filled}")
        counts = {who: sum(table.count(who) for table in self.tables) for who in filled}
        if len(set(counts.values())) > 1:
            raise InterplayError(f"every learner fills equally many places of a team plan; here {counts}")

    @property
    def roles(self) -> int:
        """Roles of a team, as many as the game has seats."""
        return len(self.tables[0])

    @cached_property
    def learners(self) -> int:
        """Number of learners."""
        return 1 + max(who for table in self.tables for who in table)

    @cached_property
    def slots(self) -> np.ndarray:
        """Places (table * roles + role) of each learner, [learner, slot]."""
        flat = np.array(self.tables).reshape(-1)
        return np.stack([np.flatnonzero(flat == who) for who in range(self.learners)])

    @cached_property
    def partner_slots(self) -> np.ndarray:
        """Places (table * roles + role) of frozen partners, [partner slot]."""
        return np.flatnonzero(np.array(self.tables).reshape(-1) == PARTNER)

    @cached_property
    def scored_tables(self) -> np.ndarray:
        """1 where the learner plays at the table and the table's episodes count, [learner, table]."""
        scored = self.scored or (True,) * len(self.tables)
        seated = [[who in table and own for table, own in zip(self.tables, scored)] for who in range(self.learners)]
        return np.array(seated, np.float32)

    @property
    def single_learner(self) -> bool:
        """Whether one learner fills every place, so that nothing has to be sorted."""
        return self.learners == 1 and not len(self.partner_slots)

    @cached_property
    def weight_table(self) -> np.ndarray:
        """Weights of the advantages, [table, role]."""
        weights = np.ones((len(self.tables), self.roles)) if self.weights is None else self.weights
        return np.array(weights, np.float32)

    @property
    def num_kinds(self) -> int:
        """Number of kinds of tables that value networks may read."""
        return 0 if self.table_kinds is None else 1 + max(self.table_kinds)

    def envs_per_table(self, envs: int) -> int:
        """Return the environments of each table.

        Raises:
            InterplayError: If they cannot be shared equally.
        """
        if envs % len(self.tables):
            raise InterplayError(f"envs: {envs} cannot be shared equally among {len(self.tables)} tables")
        return envs // len(self.tables)

    def sum_by_table(self, x: Array) -> Array:
        """Sum [env, rotation] over the environments of each table: [table, rotation]."""
        return x.reshape(len(self.tables), -1, self.roles).sum(axis=1)


def seats_to_roles(plan: TeamPlan, x: Array, rotation: Int[Array, " env"]) -> Array:
    """Reorder [env, seat, ...] to [env, role, ...]."""
    return _roll(x, rotation) if plan.rotate else x


def roles_to_seats(plan: TeamPlan, x: Array, rotation: Int[Array, " env"]) -> Array:
    """Reorder [env, role, ...] to [env, seat, ...]."""
    return _roll(x, -rotation) if plan.rotate else x


def _roll(x: Array, by: Int[Array, " env"]) -> Array:
    seats = x.shape[1]
    by = (by % seats).reshape(-1, *[1] * (x.ndim - 1))
    rolled = x
    for shift in range(1, seats):
        rolled = jnp.where(by == shift, jnp.roll(x, -shift, axis=1), rolled)
    return rolled


def to_learners(plan: TeamPlan, x: Array) -> Array:
    """Reorder [env, role, ...] to [learner, slot, ...]; slots are the learner's places and their environments."""
    if plan.single_learner:
        return x.reshape(1, x.shape[0] * x.shape[1], *x.shape[2:])
    taken = _places(plan, x)[plan.slots.reshape(-1)]
    return taken.reshape(plan.learners, plan.slots.shape[1] * taken.shape[1], *x.shape[2:])


def to_partners(plan: TeamPlan, x: Array) -> Array:
    """Reorder [env, role, ...] to [partner slot, environment of the table, ...]."""
    return _places(plan, x)[plan.partner_slots]


def to_roles(plan: TeamPlan, learners: Array, partners: Array | None) -> Array:
    """Join [learner, slot] and [partner slot, environment of the table] to [env, role]."""
    if plan.single_learner:
        return learners.reshape(-1, plan.roles)
    per_table = learners.shape[1] // plan.slots.shape[1]
    rows = learners.reshape(-1, per_table)
    order = plan.slots.reshape(-1)
    if partners is not None:
        rows, order = jnp.concatenate([rows, partners]), np.concatenate([order, plan.partner_slots])
    back = np.argsort(order)
    tables = rows[back].reshape(len(plan.tables), plan.roles, per_table)
    return jnp.moveaxis(tables, 1, 2).reshape(-1, plan.roles)


def spread(plan: TeamPlan, x: Array) -> Array:
    """Repeat [env, ...] for every role, as [learner, slot, ...]."""
    return to_learners(plan, jnp.broadcast_to(x[:, None], (x.shape[0], plan.roles, *x.shape[1:])))


def _places(plan: TeamPlan, x: Any) -> Array:
    """Reorder [env, role, ...] to [table * roles, environment of the table, ...]."""
    tables = len(plan.tables)
    per_table = x.shape[0] // tables  # written out, since an array of size 0 cannot tell
    split = x.reshape(tables, per_table, *x.shape[1:])
    return jnp.moveaxis(split, 2, 1).reshape(tables * plan.roles, per_table, *x.shape[2:])
