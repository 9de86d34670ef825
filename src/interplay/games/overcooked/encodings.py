"""Observations of a kitchen: the field's standard planes, and short vectors of features."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, UInt8

from interplay.games.overcooked import packed_planes as packed
from interplay.games.overcooked import rules
from interplay.games.overcooked.state import (
    ACTIONS,
    COUNTER,
    DISHES,
    FLOOR,
    INTERACT,
    ONIONS,
    POT,
    SERVING,
    TOMATOES,
    OvercookedItem,
    OvercookedState,
    is_soup,
    onions_in,
    tomatoes_in,
)
from interplay.games.overcooked.static_tables import UNREACHABLE, StaticTables, walking_distances
from interplay.games.records import record

URGENT = 40  # steps before the horizon from which the urgency plane is on
MAP_PLANES = (POT, COUNTER, ONIONS, TOMATOES, DISHES, SERVING)


@record
class OvercookedView:
    """The encoding `state`: nothing is hidden in a kitchen, so a chef may see the whole state."""

    state: OvercookedState
    seat: Int[Array, ""]


def num_planes(seats: int) -> int:
    """Return the number of planes."""
    return 5 * seats + 16


def planes(kitchen: StaticTables, state: OvercookedState) -> UInt8[Array, "seat width height plane"]:
    """Return the standard observation, 26 planes for two chefs, equal to overcooked_ai's lossless encoding.

    The seat's own place first, then the others' in seat order; the same for the four directions; pots, counters,
    onions, tomatoes, dishes, serving; then onions and tomatoes in idle pots, in soups, steps left to cook, soups done,
    dishes, onions, tomatoes; urgency.
    """
    return jnp.moveaxis(planes_first(kitchen, state), 1, -1)


def planes_first(kitchen: StaticTables, state: OvercookedState) -> UInt8[Array, "seat plane width height"]:
    """Return the same planes with the plane axis first.

    Convolutions of equinox read them so, and they are several times cheaper to make on a CPU, since each plane is
    written in one piece.
    """
    if jax.default_backend() == "cpu":
        # Fusing the planes into whatever reads them would cost several times what writing them does.
        made = jax.lax.optimization_barrier(_bytewise(kitchen, state))
    else:
        made = packed.planes(kitchen, state, MAP_PLANES, URGENT)
    return made.reshape(*made.shape[:2], kitchen.layout.width, kitchen.layout.height)


def _bytewise(kitchen: StaticTables, state: OvercookedState) -> UInt8[Array, "seat plane cell"]:
    seats, size = state.cell.shape[0], state.items.shape[0]
    here = state.cell.astype(jnp.int16)[:, None] == jnp.arange(size, dtype=jnp.int16)  # [seat, cell]
    directions = jnp.arange(4, dtype=jnp.int8)[:, None]
    facing = here[:, None] & (state.facing.astype(jnp.int8)[:, None, None] == directions)  # [seat, 4, cell]
    shared = jnp.stack([p.astype(jnp.uint8) for p in _things(kitchen, state, here)])
    map_planes = np.stack([kitchen.terrain == kind for kind in MAP_PLANES]).astype(np.uint8)
    here, facing = here.astype(jnp.uint8), facing.astype(jnp.uint8)
    views = []
    for seat in range(seats):
        order = [seat, *(s for s in range(seats) if s != seat)]
        own = [here[s][None] for s in order] + [facing[s] for s in order]
        views.append(jnp.concatenate([*own, map_planes, shared]))
    return jnp.stack(views)


def _things(kitchen: StaticTables, state: OvercookedState, here) -> list:
    """Return the planes of things and time, the same for every seat, each [cell]."""
    zero = jnp.int8(0)
    carried = jnp.sum(jnp.where(here, state.held.astype(jnp.int8)[:, None], zero), axis=0, dtype=jnp.int8)
    thing = state.items + carried  # a chef stands on floor, where nothing lies
    soup, onions, tomatoes = is_soup(thing), (thing - OvercookedItem.SOUP) >> 2, (thing - OvercookedItem.SOUP) & 3
    pot = kitchen.terrain == POT
    filling = soup & pot & (state.timer < 0)
    cooked_or_cooking = soup & ~filling
    return [
        jnp.where(filling, onions, zero),
        jnp.where(filling, tomatoes, zero),
        jnp.where(cooked_or_cooking, onions, zero),
        jnp.where(cooked_or_cooking, tomatoes, zero),
        jnp.maximum(state.timer, 0),
        soup & (~pot | (state.timer == 0)),
        thing == OvercookedItem.DISH,
        thing == OvercookedItem.ONION,
        thing == OvercookedItem.TOMATO,
        jnp.full(thing.shape, kitchen.horizon - state.time < URGENT),
    ]


class OvercookedFeatures:
    """A short vector of features.

    For each chef, the seat's own first: facing, what is held, and the way to the nearest of everything; then every pot;
    then the time left. Built once per kitchen, since it needs its distances.
    """

    STANDING = (ONIONS, TOMATOES, DISHES, SERVING)  # what never moves: the way to it is looked up
    LYING = ("onion", "tomato", "dish", "soup", "empty_counter")

    def __init__(self, kitchen: StaticTables, seats: int):
        self.kitchen, self.seats = kitchen, seats
        layout = kitchen.layout
        self.distance = walking_distances(layout)
        xy = np.array([layout.xy(c) for c in range(layout.size)], np.float32)
        self._place = xy / np.array([layout.width, layout.height], np.float32)
        self._counters = np.array(layout.cells(COUNTER), np.int32)
        targets = [kitchen.terrain == kind for kind in self.STANDING]
        self._ways_to_standing = self._table(targets)
        self._ways_to_pots = self._table([np.arange(layout.size) == pot for pot in kitchen.pots])

    @property
    def size(self) -> int:
        """The number of features."""
        nearest, pots = len(self.STANDING) + len(self.LYING), len(self.kitchen.pots)
        return self.seats * (4 + 7 + 2 + 3 * (nearest + pots)) + 6 * pots + 1

    def __call__(self, state: OvercookedState) -> Float[Array, "seat feature"]:
        """Return the features of every seat."""
        chefs = self._chefs(state)
        left = ((self.kitchen.horizon - state.time) / self.kitchen.horizon).astype(jnp.float32)
        shared = jnp.concatenate([self._pot_contents(state), left[None]])
        views = []
        for seat in range(self.seats):
            order = [seat, *(s for s in range(self.seats) if s != seat)]
            views.append(jnp.concatenate([*(chefs[s] for s in order), shared]))
        return jnp.stack(views)

    def _chefs(self, state: OvercookedState) -> Float[Array, "seat feature"]:
        """Return the features of all chefs at once: on a GPU the number of operations counts, not their size."""
        item, cell = state.held, state.cell
        soup = is_soup(item)
        hand = [
            item == OvercookedItem.NOTHING,
            item == OvercookedItem.ONION,
            item == OvercookedItem.TOMATO,
            item == OvercookedItem.DISH,
            soup,
            jnp.where(soup, onions_in(item), 0) / 3,
            jnp.where(soup, tomatoes_in(item), 0) / 3,
        ]
        facing = (state.facing[:, None] == jnp.arange(4)).astype(jnp.float32)
        hands = jnp.stack([h.astype(jnp.float32) for h in hand], axis=-1)
        known = [jnp.asarray(t)[cell] for t in (self._place, self._ways_to_standing, self._ways_to_pots)]
        return jnp.concatenate([facing, hands, *known[:2], self._ways_to_lying(state), known[2]], axis=-1)

    def _ways_to_lying(self, state: OvercookedState) -> Float[Array, "seat way"]:
        """Return the way to the nearest counter with each thing on it, and the nearest empty one."""
        item = state.items[self._counters]
        kinds = [
            item == OvercookedItem.ONION,
            item == OvercookedItem.TOMATO,
            item == OvercookedItem.DISH,
            is_soup(item),
            item == OvercookedItem.NOTHING,
        ]
        there = jnp.stack(kinds)  # [thing, counter]
        far = jnp.asarray(self.distance[:, self._counters])[state.cell]  # [seat, counter]
        distance = jnp.where(there, far[:, None], UNREACHABLE)
        nearest = jnp.argmin(distance, axis=-1)  # [seat, thing]
        exists = jnp.min(distance, axis=-1) < UNREACHABLE
        place = jnp.asarray(self._place)
        delta = place[jnp.asarray(self._counters)[nearest]] - place[state.cell][:, None]
        ways = jnp.concatenate([jnp.where(exists[..., None], delta, 0.0), exists[..., None]], axis=-1)
        return ways.reshape(self.seats, -1)

    def _table(self, masks: list[np.ndarray]) -> Float[np.ndarray, "cell way"]:
        """Return (dx, dy, exists) from every cell to the nearest cell of each mask, as shares of the kitchen."""
        ways = np.zeros((len(self.distance), len(masks), 3), np.float32)
        for number, mask in enumerate(masks):
            distance = np.where(mask, self.distance, UNREACHABLE)
            nearest = distance.argmin(axis=1)
            exists = distance.min(axis=1) < UNREACHABLE
            delta = self._place[nearest] - self._place
            ways[:, number] = np.concatenate([delta * exists[:, None], exists[:, None]], axis=1)
        return ways.reshape(len(self.distance), -1)

    def _pot_contents(self, state: OvercookedState) -> Float[Array, " feature"]:
        item, timer = state.items[self.kitchen.pots], state.timer[self.kitchen.pots]
        soup = is_soup(item)
        per_pot = [
            item == OvercookedItem.NOTHING,
            jnp.where(soup, onions_in(item), 0) / 3,
            jnp.where(soup, tomatoes_in(item), 0) / 3,
            timer > 0,
            timer == 0,
            jnp.maximum(timer, 0) / 20,
        ]
        return jnp.stack([p.astype(jnp.float32) for p in per_pot], axis=-1).reshape(-1)


class Details:
    """The features, and everything else a chef can see, so that the vector determines the whole state.

    All chefs' surroundings, every counter, and last, for each action, whether it would do anything.
    """

    KINDS = (COUNTER, POT, ONIONS, TOMATOES, DISHES, SERVING)

    def __init__(self, kitchen: StaticTables, features: OvercookedFeatures):
        self.kitchen, self._features = kitchen, features
        reach = features.distance < UNREACHABLE
        counters = [c for c in kitchen.layout.cells(COUNTER) if reach[:, c].any()]
        self._counters = np.array(counters, np.int32)

    @property
    def size(self) -> int:
        """The number of features."""
        return self._features.size + self._features.seats * self._around + 4 * len(self._counters) + len(ACTIONS)

    @property
    def _around(self) -> int:
        return len(self.KINDS) + 4 + 4

    def __call__(self, state: OvercookedState) -> Float[Array, "seat feature"]:
        """Return the features of every seat."""
        around, counters = self._surroundings(state), self._on(state.items[self._counters]).reshape(-1)
        useful = self._useful(state)
        features, views = self._features(state), []
        for seat in range(self._features.seats):
            order = [seat, *(s for s in range(self._features.seats) if s != seat)]
            views.append(jnp.concatenate([features[seat], *(around[s] for s in order), counters, useful[seat]]))
        return jnp.stack(views)

    def _surroundings(self, state: OvercookedState) -> Float[Array, "seat feature"]:
        """Return what a chef faces and what lies there, and which of the four cells beside it are free."""
        front = rules.faced_cells(self.kitchen, state)
        kind = jnp.asarray(self.kitchen.terrain)[front][:, None] == np.array(self.KINDS)
        return jnp.concatenate([kind.astype(jnp.float32), self._on(state.items[front]), self._free(state)], axis=1)

    def _on(self, item: Array) -> Float[Array, "place 4"]:
        """Return what lies in a place: onion, tomato, dish or soup."""
        lies = [item == OvercookedItem.ONION, item == OvercookedItem.TOMATO, item == OvercookedItem.DISH, is_soup(item)]
        return jnp.stack(lies, axis=-1).astype(jnp.float32)

    def _free(self, state: OvercookedState) -> Float[Array, "seat 4"]:
        beside = jnp.asarray(self.kitchen.front).reshape(-1, 4)[state.cell]
        taken = jnp.any(beside[:, :, None] == state.cell, axis=-1)
        return ((jnp.asarray(self.kitchen.terrain)[beside] == FLOOR) & ~taken).astype(jnp.float32)

    def _useful(self, state: OvercookedState) -> Float[Array, "seat action"]:
        """Return which actions do anything: moves turn a chef at least; an interact may do nothing at all."""
        every = jnp.ones((self._features.seats, len(ACTIONS)), jnp.float32)
        return every.at[:, INTERACT].set(rules.effective_interacts(self.kitchen, state).astype(jnp.float32))
