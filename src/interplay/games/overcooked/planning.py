"""Overcooked as a planning model: chefs who walk, turn and interact, one at a time, for one ordered soup.

Time is left out: a soup that cooks can be plated at once, and a plan that is played waits for it.
"""

from __future__ import annotations

from collections.abc import Sequence
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
from interplay.games.pddl_task import PlanAction, PlanningOperator, PlanningTask, write_task

KINDS = {COUNTER: "counter", POT: "pot", ONIONS: "onions", TOMATOES: "tomatoes", DISHES: "dishes", SERVING: "serving"}
GIVEN = {ONIONS: "onion", TOMATOES: "tomato", DISHES: "dish"}
WAYS = ACTIONS[:STAY]
TYPES = (
    "chef way thing recipe place - object",
    "floor station - place",
    "counter pot dispenser serving - station",
    "onions tomatoes dishes - dispenser",
)
PREDICATES = (
    "(at ?c - chef ?f - floor)",
    "(clear ?p - place)",  # a floor without a chef, a counter without a thing
    "(next ?f - floor ?w - way ?p - place)",
    "(facing ?c - chef ?w - way)",
    "(free ?c - chef)",
    "(holding ?c - chef ?t - thing)",
    "(on ?t - thing ?k - counter)",
    "(gives ?d - dispenser ?t - thing)",
    "(contains ?p - pot ?r - recipe)",
    "(grows ?r - recipe ?t - thing ?more - recipe)",
    "(empty ?r - recipe)",
    "(fills ?r - recipe)",  # cooking begins by itself
    "(room-in ?r - recipe)",  # it does not
    "(open ?p - pot)",  # not cooking
    "(cooking ?p - pot)",
    "(dish ?t - thing)",
    "(soup-of ?t - thing ?r - recipe)",
    "(ordered ?r - recipe)",
    "(delivered)",
)
_FACE = "(at ?c ?f) (facing ?c ?w) (next ?f ?w ?s)"
_WHO = "?c - chef ?f - floor ?w - way"
OPERATORS = (
    PlanningOperator(
        "walk",
        "?c - chef ?f - floor ?to - floor ?w - way ?old - way",
        "(at ?c ?f) (facing ?c ?old) (next ?f ?w ?to) (clear ?to)",
        "(not (at ?c ?f)) (at ?c ?to) (clear ?f) (not (clear ?to)) (not (facing ?c ?old)) (facing ?c ?w)",
    ),
    PlanningOperator(
        "turn",
        "?c - chef ?f - floor ?s - station ?w - way ?old - way",
        "(at ?c ?f) (facing ?c ?old) (next ?f ?w ?s)",
        "(not (facing ?c ?old)) (facing ?c ?w)",
    ),
    PlanningOperator(
        "fetch",
        f"{_WHO} ?s - dispenser ?t - thing",
        f"{_FACE} (free ?c) (gives ?s ?t)",
        "(holding ?c ?t) (not (free ?c))",
    ),
    PlanningOperator(
        "put-down",
        f"{_WHO} ?s - counter ?t - thing",
        f"{_FACE} (holding ?c ?t) (clear ?s)",
        "(on ?t ?s) (free ?c) (not (holding ?c ?t)) (not (clear ?s))",
    ),
    PlanningOperator(
        "pick-up",
        f"{_WHO} ?s - counter ?t - thing",
        f"{_FACE} (on ?t ?s) (free ?c)",
        "(holding ?c ?t) (clear ?s) (not (on ?t ?s)) (not (free ?c))",
    ),
    PlanningOperator(
        "pot",
        f"{_WHO} ?s - pot ?t - thing ?r - recipe ?more - recipe",
        f"{_FACE} (holding ?c ?t) (open ?s) (contains ?s ?r) (grows ?r ?t ?more) (room-in ?more)",
        "(contains ?s ?more) (not (contains ?s ?r)) (free ?c) (not (holding ?c ?t))",
    ),
    PlanningOperator(
        "pot-last",
        f"{_WHO} ?s - pot ?t - thing ?r - recipe ?more - recipe",
        f"{_FACE} (holding ?c ?t) (open ?s) (contains ?s ?r) (grows ?r ?t ?more) (fills ?more)",
        "(contains ?s ?more) (not (contains ?s ?r)) (free ?c) (not (holding ?c ?t)) (cooking ?s) (not (open ?s))",
    ),
    PlanningOperator(
        "cook",
        f"{_WHO} ?s - pot ?r - recipe ?t - thing",
        f"{_FACE} (free ?c) (open ?s) (contains ?s ?r) (soup-of ?t ?r)",
        "(cooking ?s) (not (open ?s))",
    ),
    PlanningOperator(
        "plate",
        f"{_WHO} ?s - pot ?t - thing ?r - recipe ?soup - thing ?none - recipe",
        f"{_FACE} (holding ?c ?t) (dish ?t) (cooking ?s) (contains ?s ?r) (soup-of ?soup ?r) (empty ?none)",
        "(holding ?c ?soup) (not (holding ?c ?t)) (not (cooking ?s)) (open ?s) "
        "(contains ?s ?none) (not (contains ?s ?r))",
    ),
    PlanningOperator(
        "serve",
        f"{_WHO} ?s - serving ?t - thing ?r - recipe",
        f"{_FACE} (holding ?c ?t) (soup-of ?t ?r) (ordered ?r)",
        "(delivered) (free ?c) (not (holding ?c ?t))",
    ),
)


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
        operators = [o for o in OPERATORS if self._used(o.name)]
        return write_task(
            "overcooked", TYPES, PREDICATES, operators, objects | recipes, [*facts, *known], "(delivered)"
        )

    def _used(self, name: str) -> bool:
        """Return whether soups cook as an action needs: by themselves (pot-last), or started by a chef (cook)."""
        return {"cook": not self.game.menu.auto_cook, "pot-last": self.game.menu.auto_cook}.get(name, True)

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
