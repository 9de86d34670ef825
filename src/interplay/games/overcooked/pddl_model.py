"""Overcooked as a planning model: chefs who walk, turn and interact, one at a time, for one ordered soup.

Time is left out: a soup that cooks can be plated at once, and a plan that is played waits for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from interplay.games.overcooked.recipes import ALL_RECIPES, SOUPS, read_recipe
from interplay.games.overcooked.state import (
    ACTIONS,
    COUNTER,
    DISHES,
    FLOOR,
    INTERACT,
    MOVES,
    ONIONS,
    POT,
    SERVING,
    STAY,
    TOMATOES,
)
from interplay.games.pddl_task import PlanAction, PlanningTask, without_action, write_problem

KINDS = {COUNTER: "counter", POT: "pot", ONIONS: "onions", TOMATOES: "tomatoes", DISHES: "dishes", SERVING: "serving"}
GIVEN = {ONIONS: "onion", TOMATOES: "tomato", DISHES: "dish"}
WAYS = ACTIONS[:STAY]
DOMAIN = Path(__file__).with_name("domain.pddl").read_text(encoding="utf-8")


class OvercookedPlanningModel:
    """The planning model of one kitchen."""

    leaves_out = "the time in which a soup cooks, and chefs who act at once"

    def __init__(self, game: Any):
        self.game, self.layout = game, game.layout
        self.start = game.init(jax.random.key(0))

    def task(self, seats: Sequence[int]) -> PlanningTask:
        """Return the task to deliver one ordered soup; chefs who do not act stand in the way."""
        layout, terrain = self.layout, self.layout.terrain
        objects: dict[str, str] = {f"chef_{s}": "chef" for s in seats} | dict.fromkeys(WAYS, "way")
        objects |= {"onion": "thing", "tomato": "thing", "dish": "thing"}
        facts = ["(dish dish)"]
        standing = {int(c) for c in np.asarray(self.start.cell)}
        for cell in range(layout.size):
            kind = terrain[cell]
            objects[self._name(cell)] = KINDS.get(kind, "floor")
            if (kind == FLOOR and cell not in standing) or kind == COUNTER:
                facts.append(f"(clear {self._name(cell)})")
            if kind == FLOOR:
                facts += self._neighbours(cell)
            if kind in GIVEN:
                facts.append(f"(gives {self._name(cell)} {GIVEN[kind]})")
            if kind == POT:
                facts += [f"(contains {self._name(cell)} r_0_0)", f"(open {self._name(cell)})"]
        for seat in seats:
            cell, facing = int(self.start.cell[seat]), int(self.start.facing[seat])
            facts += [
                f"(at chef_{seat} {self._name(cell)})",
                f"(facing chef_{seat} {WAYS[facing]})",
                f"(free chef_{seat})",
            ]
        recipes, known = self._recipes()
        unused = "cook" if self.game.menu.auto_cook else "pot-last"  # soups cook by themselves, or a chef starts them
        problem = write_problem("overcooked", objects | recipes, [*facts, *known], "(delivered)")
        return PlanningTask(without_action(DOMAIN, unused), problem)

    def _recipes(self) -> tuple[dict[str, str], list[str]]:
        """Return recipes and soups as objects, and the facts about them."""
        every = [(0, 0), *ALL_RECIPES]
        objects = {f"r_{o}_{t}": "recipe" for o, t in every} | {f"soup_{o}_{t}": "thing" for o, t in SOUPS.values()}
        facts = ["(empty r_0_0)"] + [f"(soup-of soup_{o}_{t} r_{o}_{t})" for o, t in SOUPS.values()]
        for o, t in every:
            for thing, more in (("onion", (o + 1, t)), ("tomato", (o, t + 1))):
                if more in ALL_RECIPES:
                    facts.append(f"(grows r_{o}_{t} {thing} r_{more[0]}_{more[1]})")
            full = o + t == 3 and self.game.menu.auto_cook
            facts.append(f"({'fills' if full else 'room-in'} r_{o}_{t})")
        facts += [f"(ordered r_{o}_{t})" for o, t in map(read_recipe, self.game.menu.orders)]
        return objects, facts

    def _neighbours(self, cell: int) -> list[str]:
        x, y = self.layout.xy(cell)
        neighbours = []
        for way, (dx, dy) in zip(WAYS, MOVES):
            near = (x + dx) * self.layout.height + y + dy
            neighbours.append(f"(next {self._name(cell)} {way} {self._name(near)})")
        return neighbours

    def _name(self, cell: int) -> str:
        x, y = self.layout.xy(cell)
        return f"{KINDS.get(self.layout.terrain[cell], 'floor')}_{x}_{y}"

    def action(self, name: str, arguments: Sequence[str]) -> PlanAction:
        """Return what an action of the task is in the kitchen."""
        seat = int(arguments[0].removeprefix("chef_"))
        if name in ("walk", "turn"):
            return PlanAction(seat, (WAYS.index(arguments[3]),))
        if name != "plate":
            return PlanAction(seat, (INTERACT,))
        x, y = map(int, arguments[3].split("_")[1:])
        pot = x * self.layout.height + y
        return PlanAction(seat, (INTERACT,), lambda state: int(state.timer[pot]) > 0)
