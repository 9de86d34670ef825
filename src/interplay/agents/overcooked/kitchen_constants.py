"""Constants of a kitchen for the scripted chefs: walks, counters between chefs, and what belongs into a pot."""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from interplay.games.overcooked.layouts import OvercookedLayout
from interplay.games.overcooked.recipes import MAX_INGREDIENTS, SOUPS, Menu, Recipe, read_recipe
from interplay.games.overcooked.state import COUNTER, FLOOR, NUM_ITEMS, ONIONS, SERVING, TOMATOES
from interplay.games.overcooked.static_tables import UNREACHABLE, StaticTables, walking_distances

FAR = 500.0  # a cost beyond this is no way at all


class Tables(eqx.Module):
    """Constants of one kitchen. Distances are steps; `UNREACHABLE` where there is no way."""

    terrain: Int[Array, " cell"]
    front: Int[Array, "cell 4"]  # the cell faced from a cell in a direction
    walk: Int[Array, "cell cell"]  # from standing here to standing in, or beside, there
    to_pot: Float[Array, "cell pot"]  # from standing in a floor cell
    across_pot: Float[Array, "cell pot"]  # for something that lies here, from the better side
    via_pot: Float[Array, "cell pot"]  # from standing here, handing over once across a counter
    to_serve: Float[Array, " cell"]
    across_serve: Float[Array, " cell"]
    via_serve: Float[Array, " cell"]
    middle: Bool[Array, " cell"]  # counters between two sides that are a walk apart; all counters where there is none
    lane: Bool[Array, " cell"]  # floor that leads nowhere but to its own end
    roomy: Bool[Array, "cell cell"]  # whether a chef here could let one there pass
    pots: Int[Array, " pot"]
    room: Int[Array, "item kind"]  # onions, tomatoes that a pot with these contents may still take
    missing: Int[Array, " item"]  # ingredients until such a pot is complete
    starts: Bool[Array, " item"]  # such a pot should be started by an interact
    value: Float[Array, " item"]
    height: int = eqx.field(static=True)
    seats: int = eqx.field(static=True)
    longest: int = eqx.field(static=True)  # no sensible walk is longer

    @classmethod
    def from_kitchen(cls, kitchen: StaticTables, seats: int) -> Tables:
        """Compute the tables of a kitchen for a number of seats."""
        layout, terrain = kitchen.layout, kitchen.terrain
        walk, front = walking_distances(layout), kitchen.front.reshape(-1, 4)
        serving = np.array(layout.cells(SERVING))
        lies = _from_beside(walk, front, terrain)
        counters = np.flatnonzero(terrain == COUNTER)
        via = (walk[:, counters, None] + 1 + lies[None, counters, :]).min(axis=1)
        via = np.minimum(via, UNREACHABLE)
        room, missing, starts = _contents(kitchen.menu, layout)
        finite = walk[walk < UNREACHABLE]
        pot, serve = (
            [t[:, kitchen.pots] for t in (walk, lies, via)],
            [t[:, serving].min(axis=1) for t in (walk, lies, via)],
        )
        return cls(
            terrain=jnp.asarray(terrain),
            front=jnp.asarray(front),
            walk=jnp.asarray(walk, jnp.int16),
            to_pot=jnp.asarray(pot[0], jnp.float32),
            across_pot=jnp.asarray(pot[1], jnp.float32),
            via_pot=jnp.asarray(pot[2], jnp.float32),
            to_serve=jnp.asarray(serve[0], jnp.float32),
            across_serve=jnp.asarray(serve[1], jnp.float32),
            via_serve=jnp.asarray(serve[2], jnp.float32),
            middle=jnp.asarray(_middle(walk, front, terrain)),
            lane=jnp.asarray(_lanes(front, terrain)),
            roomy=jnp.asarray(_roomy(walk, front, terrain)),
            pots=jnp.asarray(kitchen.pots),
            room=jnp.asarray(room),
            missing=jnp.asarray(missing),
            starts=jnp.asarray(starts),
            value=jnp.asarray(kitchen.value),
            height=layout.height,
            seats=seats,
            longest=int(finite.max()) + 6,
        )


def _from_beside(walk: np.ndarray, front: np.ndarray, terrain: np.ndarray) -> np.ndarray:
    """Return [cell, cell] the walk that is left after picking something up here, from the side where it is shortest."""
    sides = np.where((terrain[front] == FLOOR)[:, :, None], walk[front], UNREACHABLE)
    return sides.min(axis=1)


def _middle(walk: np.ndarray, front: np.ndarray, terrain: np.ndarray) -> np.ndarray:
    """Return the counters between two sides that are a walk apart; all counters where there is none."""
    counters = terrain == COUNTER
    between = np.zeros(len(terrain), bool)
    for cell in np.flatnonzero(counters):
        sides = [c for c in front[cell] if terrain[c] == FLOOR]
        between[cell] = any(walk[a, b] > 2 for a in sides for b in sides)
    return between if between.any() else counters


def _lanes(front: np.ndarray, terrain: np.ndarray) -> np.ndarray:
    """Return the dead ends, by cutting off end after end until rings and the ways between them are left."""
    left = terrain == FLOOR
    while True:
        ways = np.sum(left[front] & (front != np.arange(len(front))[:, None]), axis=1)
        ends = left & (ways <= 1)
        if not ends.any():
            return (terrain == FLOOR) & ~left
        left = left & ~ends


def _roomy(walk: np.ndarray, front: np.ndarray, terrain: np.ndarray) -> np.ndarray:
    """Return [mine, theirs] whether the floor left to me, theirs blocked, is more than a dead-end lane."""
    roomy = np.ones((len(terrain), len(terrain)), bool)
    near = (walk > 0) & (walk <= 2) & (terrain == FLOOR)[None, :]
    for mine, theirs in zip(*np.nonzero(near), strict=True):
        seen, queue = {mine}, [mine]
        for cell in queue:
            fresh = [c for c in front[cell] if terrain[c] == FLOOR and c != theirs and c not in seen]
            seen.update(fresh)
            queue += fresh
        ways = [sum(c in seen and c != cell for c in front[cell]) for cell in seen]
        roomy[mine, theirs] = max(ways) > 2 or sum(ways) >= 2 * len(seen)  # a fork, or a ring
    return roomy


def _contents(menu: Menu, layout: OvercookedLayout) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return for each item as a pot's contents: room for onions and tomatoes, ingredients missing, to be started."""
    room = np.zeros((NUM_ITEMS, 2), np.int32)
    missing, starts = np.zeros(NUM_ITEMS, np.int32), np.zeros(NUM_ITEMS, bool)
    wanted = _wanted(menu, layout)
    for item, contents in {0: (0, 0), **SOUPS}.items():
        size = sum(contents)
        within = [r for r in wanted if r[0] >= contents[0] and r[1] >= contents[1]]
        best = max((menu.value(r) for r in within), default=0.0)
        goals = [r for r in within if menu.value(r) == best]
        if not goals and menu.auto_cook:  # spoiled: fill it up, so that it cooks and can be cleared
            room[item], missing[item] = MAX_INGREDIENTS - size, MAX_INGREDIENTS - size
        elif goals and contents not in goals:
            room[item] = np.max([np.subtract(r, contents) for r in goals], axis=0)
            missing[item] = min(sum(r) for r in goals) - size
        else:
            starts[item] = size > 0 and not menu.auto_cook
    return room, missing, starts


def _wanted(menu: Menu, layout: OvercookedLayout) -> list[Recipe]:
    """Return the ordered recipes that this kitchen has the ingredients for and that can be cooked as they are."""
    orders = [read_recipe(order) for order in menu.orders]
    has = (bool(layout.cells(ONIONS)), bool(layout.cells(TOMATOES)))
    feasible = [r for r in orders if (has[0] or not r[0]) and (has[1] or not r[1])]
    whole = [r for r in feasible if sum(r) == MAX_INGREDIENTS or not menu.auto_cook]
    return whole or feasible or orders
