"""A short vector of what a seat knows, for small networks.

The own place, hand and role; teammates; the way to the nearest of everything; what lies around; every room's fires and
victims; the time. It holds no more than the encoding `knowledge`, and nothing of the past.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from interplay.games.rescue.encodings import KNOWN, SEEN, TREATED, UNSEEN, Knowledge, knowledge
from interplay.games.rescue.rules import RescueRules
from interplay.games.rescue.state import DANGER, EXTINGUISHER, KIT, ROLES, TOOLS, WALL, WORK, RescueState

AROUND = 2  # cells in each direction whose passability is shown
NEAREST = ("victim seen", "victim known", "fire", "debris", "kit", "extinguisher")
NOT_THERE = 2**30
FACED = (*NEAREST, "teammate", "wall", "danger")


class RescueFeatures:
    """The encoding `features` of one house."""

    def __init__(self, rules: RescueRules):
        self.rules, self.seats = rules, len(rules.roles)
        xs, ys = np.divmod(np.arange(rules.width * rules.height), rules.height)
        self._xy = np.stack([xs, ys], axis=-1).astype(np.float32)
        self._scale = np.array([rules.width, rules.height], np.float32)
        self._rows = np.eye(rules.width, dtype=np.float32)[xs], np.eye(rules.height, dtype=np.float32)[ys]
        rooms = int(np.max(rules.room)) + 1
        self._rooms = (rules.room[None, :] == np.arange(rooms)[:, None]).astype(np.float32)  # [room, cell]
        offsets = range(-AROUND, AROUND + 1)
        self._window = np.array([dx * rules.height + dy for dx in offsets for dy in offsets], np.int32)
        self._pad = AROUND * rules.height + AROUND

    @property
    def size(self) -> int:
        """The number of features."""
        mine = self.rules.width + self.rules.height + 4 + len(TOOLS) + len(ROLES) + 1
        others = (self.seats - 1) * (2 + len(TOOLS) + len(ROLES))
        return mine + others + 4 * len(NEAREST) + len(FACED) + len(self._window) + 3 * len(self._rooms) + 4

    def __call__(self, state: RescueState) -> Float[Array, "seat feature"]:
        """Return the features of every seat."""
        return jax.vmap(lambda known: self._seat(state, known))(knowledge(self.rules, state))

    def _seat(self, state: RescueState, known: Knowledge) -> Float[Array, " feature"]:
        seats, roles = jnp.arange(self.seats), jnp.asarray(self.rules.roles)
        cell, xy = known.cell[known.seat], jnp.asarray(self._xy)
        hands = (known.held[:, None] == jnp.arange(len(TOOLS))).astype(jnp.float32)
        kinds = (roles[:, None] == jnp.arange(len(ROLES))).astype(jnp.float32)
        mates = jnp.concatenate([(xy[known.cell] - xy[cell]) / self._scale, hands, kinds], axis=-1)
        order = jnp.argsort(seats == known.seat, stable=True)[: self.seats - 1]  # the others, in their order
        things = self._things(known)
        there = jnp.zeros(known.terrain.shape[0], bool).at[known.cell].set(True).at[cell].set(False)
        faced = [*things, there, known.terrain == WALL, known.terrain == DANGER]
        front = jnp.asarray(self.rules.front)[cell * 4 + known.facing[known.seat]]
        blocked = (known.terrain == WALL) | there | jnp.any(things, axis=0) | (known.victims == TREATED)
        window = jnp.pad(blocked, self._pad, constant_values=True)[cell + self._pad + self._window]
        rooms = jnp.asarray(self._rooms)
        in_rooms = jnp.stack([known.burning, things[1], known.victims == TREATED]).astype(jnp.float32) @ rooms.T
        parts = [
            *(jnp.asarray(table)[cell] for table in self._rows),
            known.facing[known.seat] == jnp.arange(4),
            hands[known.seat],
            kinds[known.seat],
            known.guarded[known.seat][None],
            mates[order].reshape(-1),
            self._ways(things, cell).reshape(-1),
            jnp.stack([mask[front] for mask in faced]),
            window,
            (jnp.minimum(in_rooms, 4.0) / 4).reshape(-1),
            self._times(state, known, cell),
        ]
        return jnp.concatenate([p.astype(jnp.float32) for p in parts])

    @staticmethod
    def _things(known: Knowledge) -> Any:
        """Return where each of NEAREST is, [thing, cell]."""
        tools = [known.tools == kind for kind in (KIT, EXTINGUISHER)]
        return jnp.stack([known.victims == SEEN, known.victims == KNOWN, known.burning, known.debris, *tools])

    def _ways(self, things: Any, cell: Any) -> Float[Array, "thing 4"]:
        """Return (dx, dy) to the nearest as the crow flies, whether there is one, and how many."""
        xy, size = jnp.asarray(self._xy), len(self._xy)
        far = jnp.sum(jnp.abs(xy - xy[cell]), axis=-1).astype(jnp.int32)
        nearest = far * size + jnp.arange(size)  # distance and cell in one number: a minimum is faster than an argmin
        nearest = jnp.min(jnp.where(things, nearest, NOT_THERE), axis=-1)
        exists = nearest < NOT_THERE
        delta = jnp.where(exists[:, None], (xy[nearest % size] - xy[cell]) / self._scale, 0.0)
        number = jnp.minimum(jnp.sum(things, axis=-1), 4) / 4
        return jnp.concatenate([delta, exists[:, None], number[:, None]], axis=-1)

    def _times(self, state: RescueState, known: Knowledge, cell: Any) -> Float[Array, 4]:
        """Return the time left, when fires spread next, the work done on a victim beside, and the own danger."""
        seen = known.victims[state.victim_cell] > UNSEEN
        beside = jnp.isin(state.victim_cell, jnp.asarray(self.rules.front).reshape(-1, 4)[cell]) & seen
        work = jnp.max(jnp.where(beside, state.work, 0), initial=0) / WORK
        left = (self.rules.horizon - state.time) / self.rules.horizon
        spread = jnp.maximum(self.rules.spread, 1)
        return jnp.stack([left, (state.time % spread) / spread, work, known.terrain[cell] == DANGER])
