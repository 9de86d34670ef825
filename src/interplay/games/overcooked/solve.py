"""Shortest plans to a first soup: A* on the real rules, for one chef alone and for all together.

Successors come from `rules.step` itself. The estimate of the steps that are left solves a relaxed kitchen: chefs do not
stand in each other's way, and somebody is always at the counter to take what another one puts there.
"""

from __future__ import annotations

import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from interplay.games.overcooked import rules
from interplay.games.overcooked.game import Overcooked
from interplay.games.overcooked.layouts import beside
from interplay.games.overcooked.lower_bounds import NEVER, RelaxedOvercooked
from interplay.games.overcooked.recipes import read_recipe
from interplay.games.overcooked.state import COUNTER, DISHES, ONIONS, POT, SERVING, STAY, TOMATOES, OvercookedState
from interplay.games.registry import make
from interplay.games.search import Children, RowHash, SearchResult, find_plan

BATCH = 512  # states expanded at once
EXPAND_TOGETHER = 300_000  # states looked at before a search for the joint optimum settles for bounds


class OvercookedSolver:
    """Searches one kitchen for plans to a first delivery of an ordered soup."""

    goal = "one ordered soup is delivered"

    def __init__(self, game: Overcooked, *, limit: int = EXPAND_TOGETHER):
        self.game, self.limit = game, limit

    def reached(self, state: OvercookedState, step: Any) -> bool:
        """Return whether a soup was delivered for points."""
        return bool(np.any(np.asarray(step.reward) > 0))

    def by_itself(self, seat: int) -> tuple[Overcooked, dict[str, Any]]:
        """Return the kitchen with one chef, who starts where this seat does."""
        whole = self.game.start(self.game.init(jax.random.key(0)))
        start = {name: np.asarray(value)[seat : seat + 1] for name, value in whole.items()}
        return make(self.game.id, **{**self.game.options, "players": 1}), start  # type: ignore[return-value]

    def alone(self, seat: int) -> SearchResult:
        """Search a plan of one chef; the others stand idle where they start, in the way or not."""
        start = self.game.init(jax.random.key(0))
        others = [int(c) for s, c in enumerate(start.cell) if s != seat]
        missing = self._missing([int(start.cell[seat])], others)
        if missing:
            return SearchResult(actions=None, lower=None, why=missing)
        return self._solo(start, seat, others)

    def unhindered(self, seat: int) -> SearchResult:
        """Search a plan of one chef in a kitchen without the others."""
        start = self.game.init(jax.random.key(0))
        missing = self._missing([int(start.cell[seat])], [])
        if missing:
            return SearchResult(actions=None, lower=None, why=missing)
        mine = slice(seat, seat + 1)
        single = OvercookedState(**{**vars(start), **{f: getattr(start, f)[mine] for f in ("cell", "facing", "held")}})
        return self._solo(single, 0, [])

    def together(self) -> SearchResult:
        """Search a joint plan: the shortest if the search gets there, else a plan and a lower bound."""
        start = self.game.init(jax.random.key(0))
        missing = self._missing([int(c) for c in start.cell], [], hand_over=True)
        if missing:
            return SearchResult(actions=None, lower=None, why=missing)
        joint = np.array(list(itertools.product(range(6), repeat=self.game.num_seats)), np.int32)
        space = _OvercookedSpace(self.game, start, joint, [], counters=True)
        return space.solve(self.limit)

    def _solo(self, start: OvercookedState, seat: int, others: list[int]) -> SearchResult:
        joint = np.full((6, start.cell.shape[0]), STAY, np.int32)
        joint[:, seat] = range(6)
        return _OvercookedSpace(self.game, start, joint, others, counters=False, movers=(seat,)).solve(self.limit)

    def _missing(self, starts: list[int], blocked: list[int], hand_over: bool = False) -> str:
        """Return what keeps these chefs from any soup, in words; nothing if they can reach all it takes.

        Necessary and sufficient: whoever works alone must face every station, and whoever can do that can carry one
        thing after another. Together, things also travel over counters.
        """
        layout, terrain = self.game.layout, self.game.layout.terrain
        faced = _beside(layout, starts, blocked)
        wanted = {"a pot": POT, "the dishes": DISHES, "a serving hatch": SERVING}
        lacking = [name for name, kind in wanted.items() if not faced & set(layout.cells(kind))]
        have = {letter: bool(faced & set(layout.cells(k))) for letter, k in (("O", ONIONS), ("T", TOMATOES))}
        recipes = [read_recipe(order) for order in self.game.menu.orders]
        if not any((have["O"] or not onions) and (have["T"] or not tomatoes) for onions, tomatoes in recipes):
            lacking.append("the ingredients of any order")
        if lacking:
            who = "this chef" if len(starts) == 1 else "nobody"
            return f"{who} {'cannot' if len(starts) == 1 else 'can'} reach {' or '.join(lacking)}"
        if hand_over:
            relaxed = RelaxedOvercooked(self.game.kitchen, terrain, counters=True, blocked=[])
            start = self.game.init(jax.random.key(0))
            if int(relaxed.estimate(start, tuple(range(self.game.num_seats)))[0]) >= NEVER:
                return "no counter links the chefs who reach the ingredients, the pots, the dishes and the hatch"
        return ""


def _beside(layout: Any, starts: list[int], blocked: list[int]) -> set[int]:
    """Return the cells that chefs can come to face when others stand on the blocked ones."""
    if not blocked:
        return beside(layout, starts)
    rows = [list(row) for row in layout.rows]
    for cell in blocked:
        x, y = layout.xy(cell)
        rows[y][x] = "X"
    walled = type(layout)(tuple("".join(row) for row in rows), layout.starts)
    return beside(walled, starts) - set(blocked)


class _OvercookedSpace:
    """States as rows of bytes, and their successors under the given joint actions."""

    def __init__(
        self,
        game: Overcooked,
        start: OvercookedState,
        joint: np.ndarray,
        blocked: list[int],
        *,
        counters: bool,
        movers: tuple[int, ...] | None = None,
    ):
        self.kitchen, self.start, self.joint, self.counters = game.kitchen, start, joint, counters
        self.seats = start.cell.shape[0]
        self.movers = tuple(range(self.seats)) if movers is None else movers
        terrain = np.array(game.layout.terrain)
        self.relaxed = RelaxedOvercooked(game.kitchen, tuple(terrain.tolist()), counters=counters, blocked=blocked)
        self.places = np.flatnonzero((terrain == COUNTER) | (terrain == POT))
        self._hash = RowHash(3 * self.seats + len(self.places) + len(game.kitchen.pots))
        self._expand = jax.jit(jax.vmap(self._children))

    def solve(self, limit: int) -> SearchResult:
        """Search any plan first, quickly; then the shortest, or a bound on it."""
        row, estimate = np.asarray(self._pack(self.start)), int(self.relaxed.estimate(self.start, self.movers)[0])
        none = "no state within reach leads to a soup"
        return find_plan(
            self.expand, row, estimate, self.joint, limit=limit, batch=BATCH, first_batch=64, why_none=none
        )

    def expand(self, rows: np.ndarray) -> Children:
        size = 64 if len(rows) <= 64 else BATCH  # two shapes to compile
        padded = np.concatenate([rows, np.repeat(rows[-1:], size - len(rows), axis=0)])
        outputs = [np.asarray(a)[: len(rows)] for a in self._expand(padded)]
        children, low, high, estimate, guide, goal = outputs
        return Children(children, RowHash.joined(low, high), estimate, guide, goal)

    def _children(self, row: Any) -> tuple:
        state = self._unpack(row)

        def successor(actions: Any) -> tuple:
            after, step = rules.step(self.kitchen, state, actions)
            packed = self._pack(after)
            estimate, guide = self.relaxed.estimate(after, self.movers)
            if not self.counters:  # alone, nothing is set down
                estimate = jnp.where(jnp.any(after.items[self._set_down] > 0), NEVER, estimate)
            return packed, *self._hash.words(packed), estimate, guide, jnp.any(step.reward > 0)

        return jax.vmap(successor)(jnp.asarray(self.joint))

    @property
    def _set_down(self) -> np.ndarray:
        return np.flatnonzero(self.kitchen.terrain == COUNTER)

    def _pack(self, state: OvercookedState) -> Any:
        parts = [state.cell, state.facing, state.held, state.items[self.places], state.timer[self.kitchen.pots] + 1]
        return jnp.concatenate([p.astype(jnp.uint8) for p in parts])

    def _unpack(self, row: Any) -> OvercookedState:
        n = self.seats
        cuts = np.cumsum([n, n, n, len(self.places)])
        cell, facing, hands, items, timer = (p.astype(jnp.int32) for p in jnp.split(row, cuts))
        size = self.start.items.shape[0]
        return OvercookedState(
            time=jnp.zeros((), jnp.int32),
            cell=cell,
            facing=facing,
            held=hands,
            items=jnp.zeros(size, jnp.int8).at[self.places].set(items.astype(jnp.int8)),
            timer=jnp.full(size, -1, jnp.int8).at[self.kitchen.pots].set((timer - 1).astype(jnp.int8)),
        )
