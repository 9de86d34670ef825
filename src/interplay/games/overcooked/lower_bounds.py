"""Lower bounds on the steps to a soup, from a relaxed kitchen.

A pose is cell * 4 + facing. In the relaxed kitchen chefs walk through each other, and what lies on a counter can be
taken at once by anyone whose pose faces it. So the way of one thing, from where it is to where it is used, is a
shortest path through poses and counters, and no plan is shorter than the ways of what its soup needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from interplay.games.overcooked.recipes import SOUPS, read_recipe
from interplay.games.overcooked.state import (
    COUNTER,
    DISHES,
    FLOOR,
    NUM_ITEMS,
    ONIONS,
    POT,
    SERVING,
    TOMATOES,
    OvercookedItem,
    OvercookedState,
    soup,
)
from interplay.games.overcooked.static_tables import StaticTables
from interplay.games.search import NEVER

MOST = 3  # ingredients of a soup


class RelaxedOvercooked:
    """Tables of the relaxed kitchen, and the estimate made of them."""

    def __init__(self, kitchen: StaticTables, terrain: Sequence[int], *, counters: bool, blocked: Iterable[int]):
        self.kitchen, self.terrain = kitchen, np.array(terrain)
        size = len(self.terrain)
        self.floor = self.terrain == FLOOR
        self.floor[list(blocked)] = False
        self.front = kitchen.front.reshape(size, 4)
        walk = kitchen.walk.reshape(size, 6)[:, :4]
        self._next = np.where(self.floor[walk], walk, np.arange(size)[:, None]) * 4 + np.arange(4)  # [cell, move] pose
        self.poses = np.flatnonzero(np.repeat(self.floor, 4))
        self.facing = np.where(np.repeat(self.floor, 4), self.front.reshape(-1), -1)  # [pose] the cell it faces
        self.counters = np.flatnonzero(self.terrain == COUNTER) if counters else np.zeros(0, np.int64)
        self.walks = self._walks()
        self._recipes = [read_recipe(order) for order in kitchen.menu.orders]
        self._ordered = np.isin(np.arange(NUM_ITEMS), [soup(*r) for r in self._recipes])
        to_serving = self._ways(np.flatnonzero(self.terrain == SERVING))
        self.soup_hand, self.soup_counter = self._tables(to_serving)
        self.pots = [self._pot(int(pot), to_serving) for pot in kitchen.pots]

    def _walks(self) -> Int[np.ndarray, "pose pose"]:
        """Return the steps from pose to pose, with nobody in the way."""
        size = 4 * len(self.terrain)
        steps = np.full((size, size), NEVER, np.int32)
        for source in self.poses:
            steps[source, source], queue = 0, [source]
            for pose in queue:
                for other in self._next[pose // 4]:
                    if steps[source, other] == NEVER:
                        steps[source, other] = steps[source, pose] + 1
                        queue.append(other)
        return steps

    def _ways(self, targets: Int[np.ndarray, " target"]) -> Int[np.ndarray, " pose"]:
        """Return the steps until a thing in hand at a pose is used at one of these cells, the interact included."""
        way = np.where(np.isin(self.facing, targets), 1, NEVER).astype(np.int64)
        while True:
            new = way.copy()
            carried = 1 + way[self._next].min(axis=1)  # [cell]
            new[self.poses] = np.minimum(new[self.poses], carried[self.poses // 4])
            for counter in self.counters:  # put there, and taken by whoever is best placed
                near = self.facing == counter
                if near.any():
                    new[near] = np.minimum(new[near], 2 + way[near].min())
            if np.array_equal(new, way):
                return np.minimum(way, NEVER)
            way = new

    def _fetched(self, sources: np.ndarray, way: np.ndarray) -> Int[np.ndarray, " pose"]:
        """Return the steps until a thing from one of these cells, fetched by a chef with free hands, is used."""
        at = np.flatnonzero(np.isin(self.facing, sources))
        if not len(at):
            return np.full(len(way), NEVER, np.int64)
        return np.minimum((self.walks[:, at] + 1 + way[at]).min(axis=1), NEVER)

    def _freed(self, fetched: np.ndarray) -> Int[np.ndarray, " pose"]:
        """Return the same for a chef who first has to put down what it holds."""
        places = [POT, SERVING, *([COUNTER] if len(self.counters) else [])]
        at = np.flatnonzero(np.isin(self.facing, np.flatnonzero(np.isin(self.terrain, places))))
        return np.minimum((self.walks[:, at] + 1 + fetched[at]).min(axis=1), NEVER)

    def _tables(self, way: np.ndarray) -> tuple[Any, Any]:
        """Return [pose] for a thing in hand, [pose, counter] for one that a chef at the pose takes from a counter."""
        taken = [self._fetched(np.array([c]), way) for c in self.counters]
        table = np.stack(taken, axis=1) if taken else np.zeros((len(way), 0), np.int64)
        return jnp.asarray(way, jnp.int32), jnp.asarray(table, jnp.int32)

    def _pot(self, pot: int, to_serving: np.ndarray) -> dict[Any, Any]:
        way = self._ways(np.array([pot]))
        hand, counter = self._tables(way)
        table: dict[Any, Any] = {"cell": pot, "hand": hand, "counter": counter}
        for item, kind in (
            (OvercookedItem.ONION, ONIONS),
            (OvercookedItem.TOMATO, TOMATOES),
            (OvercookedItem.DISH, DISHES),
        ):
            sources = np.flatnonzero(self.terrain == kind)
            fetched = self._fetched(sources, way)
            freed = self._freed(fetched)
            at = np.isin(self.facing, sources) & (fetched < NEVER)
            between = int((freed[at] - fetched[at] + 1).min()) if at.any() else NEVER
            table[item] = jnp.asarray(fetched, jnp.int32), jnp.asarray(freed, jnp.int32), min(between, NEVER)
        at = self.facing == pot
        table["serve"] = int(to_serving[at].min()) if at.any() else NEVER
        reach = self.walks[:, at].min(axis=1) + 1 if at.any() else np.full(len(way), NEVER)
        table["start"] = jnp.asarray(np.minimum(reach, NEVER), jnp.int32)
        return table

    def estimate(self, state: OvercookedState, movers: tuple[int, ...]) -> tuple[Int[Array, ""], Int[Array, ""]]:
        """Return a lower bound on the steps to the next delivery of an ordered soup, and a guide.

        The bound is NEVER if there can be no delivery. The guide is no bound: the ways of all that the soup needs, one
        after the other.
        """
        pose = state.cell * 4 + state.facing
        ordered = self._ordered
        ways = [jnp.where(jnp.asarray(ordered)[state.held[s]], self.soup_hand[pose[s]], NEVER) for s in movers]
        lying = jnp.asarray(ordered)[state.items[self.counters]]
        taken = jnp.min(self.soup_counter[pose[jnp.array(movers)]], axis=0)
        ways.append(jnp.min(jnp.where(lying, taken, NEVER), initial=NEVER))
        plated = jnp.stack(ways).min()
        through = [self._through(table, state, pose, movers) for table in self.pots]
        lower, guide = (jnp.minimum(jnp.stack([plated, *way]).min(), NEVER) for way in zip(*through))
        return lower, guide

    def _through(
        self, table: dict[Any, Any], state: OvercookedState, pose: Any, movers: tuple[int, ...]
    ) -> tuple[Any, Any]:
        """Return the least number of steps, and the guide, if this pot's next soup is the one."""
        item, timer = state.items[table["cell"]].astype(jnp.int32), state.timer[table["cell"]].astype(jnp.int32)
        dish = self._arrivals(table, state, pose, movers, OvercookedItem.DISH)[0]
        cooking = (timer >= 0) & jnp.asarray(self._ordered)[item]
        plated = jnp.where(cooking, jnp.maximum(timer + 1, dish), NEVER)
        guide = jnp.where(cooking, timer + 1 + dish, NEVER)
        onions = self._arrivals(table, state, pose, movers, OvercookedItem.ONION)
        tomatoes = self._arrivals(table, state, pose, movers, OvercookedItem.TOMATO)
        start = jnp.min(table["start"][pose[jnp.array(movers)]])
        have = [jnp.asarray([SOUPS.get(i, (0, 0))[k] for i in range(NUM_ITEMS)])[item] for k in range(2)]
        for recipe in self._recipes:
            if self.kitchen.menu.auto_cook and sum(recipe) != MOST:
                continue
            need = [n - h for n, h in zip(recipe, have)]
            last = jnp.maximum(_nth(onions, need[0]), _nth(tomatoes, need[1]))
            cooks = last if self.kitchen.menu.auto_cook else jnp.where(sum(need) > 0, last + 1, start)
            able = (timer < 0) & (need[0] >= 0) & (need[1] >= 0)
            time = self.kitchen.menu.time(recipe)
            plated = jnp.minimum(plated, jnp.where(able, jnp.maximum(cooks + time, dish), NEVER))
            work = _first(onions, need[0]) + _first(tomatoes, need[1]) + start
            guide = jnp.minimum(guide, jnp.where(able, work + time + dish, NEVER))
        return plated + table["serve"], guide + table["serve"]

    def _arrivals(
        self, table: dict[Any, Any], state: OvercookedState, pose: Any, movers: tuple[int, ...], item: OvercookedItem
    ) -> Array:
        """Return the first three arrivals of this kind of thing at the pot, if every chef did nothing else."""
        fetched, freed, between = table[item]
        times = []
        for s in movers:
            times.append(jnp.where(state.held[s] == item, table["hand"][pose[s]], NEVER)[None])
            first = jnp.where(state.held[s] == OvercookedItem.NOTHING, fetched[pose[s]], freed[pose[s]])
            times.append(first + between * jnp.arange(MOST))
        taken = jnp.min(table["counter"][pose[jnp.array(movers)]], axis=0)
        times.append(jnp.where(state.items[self.counters] == item, taken, NEVER))
        return _least(jnp.concatenate(times))


def _least(times: Array) -> Array:
    """Return the three least, in order: a few minima cost less than a sort."""
    least = []
    for _ in range(MOST):
        at = jnp.argmin(times)
        least.append(times[at])
        times = jnp.where(jnp.arange(times.shape[0]) == at, NEVER, times)
    return jnp.stack(least)


def _nth(times: Array, number: Any) -> Any:
    """Return when the last of so many has arrived; at once if none is needed."""
    return jnp.where(number > 0, times[jnp.clip(number - 1, 0, MOST - 1)], 0)


def _first(times: Array, number: Any) -> Any:
    """Return the sum of the first so many."""
    return jnp.sum(jnp.where(jnp.arange(MOST) < number, times, 0))
