"""The graph of worlds: which world follows from which act at which station, by the rules themselves.

Worlds are numbered as they are met. Lineages are left out, since plans do not depend on them, and so are acts that
cannot help: a plan stays a plan without what is done to things that do not end up in the delivered dish.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np

from interplay.games.collab_kitchen import rules
from interplay.games.collab_kitchen.bounds import Ways
from interplay.games.collab_kitchen.dishes import INGREDIENTS, KINDS, cooked, parts, process, raw
from interplay.games.collab_kitchen.layouts import Station
from interplay.games.collab_kitchen.rules import KitchenRules
from interplay.games.collab_kitchen.state import (
    DELIVER,
    FILL,
    FIRST_INGREDIENT,
    PUT,
    START,
    TAKE,
    KitchenItem,
    KitchenWorld,
    Utensil,
)


class WorldAct(NamedTuple):
    """An act of a seat at a station (its number)."""

    station: int
    action: int


class Turn(NamedTuple):
    """What both cooks do with their hands in a step (None: they may walk), and the world after it."""

    first: WorldAct | None
    second: WorldAct | None
    world: int


class Worlds:
    """The worlds of one kitchen, for the acting seats of its floor."""

    def __init__(self, constants: KitchenRules, ways: Ways, thorough: bool):
        self.rules, self.ways, self.thorough = constants, ways, thorough
        self.all: list[KitchenWorld] = []
        self._number: dict[KitchenWorld, int] = {}
        self._turns: dict[int, list[Turn]] = {}
        self._bounds: dict[int, np.ndarray] = {}
        self._work: dict[int, int] = {}
        dish = constants.dish
        self.needed = Counter(parts(dish.food))
        self.raw = Counter(raw(dish.food))
        self.stations = constants.layout.stations

    def number(self, world: KitchenWorld) -> int:
        """Return the number of a world, a new one if it was not met before."""
        bare = _bare(world)
        number = self._number.get(bare)
        if number is None:
            number = self._number[bare] = len(self.all)
            self.all.append(bare)
        return number

    def delivered(self, number: int) -> bool:
        """Return whether the dish is delivered in a world."""
        return self.all[number].delivered is not None

    def bound(self, number: int) -> np.ndarray:
        """Return the lower bound of a world for every joint pose."""
        bound = self._bounds.get(number)
        if bound is None:
            bound = self._bounds[number] = self.ways.bound(self.all[number])
        return bound

    def work(self, number: int) -> int:
        """Return the work that is left in a world."""
        work = self._work.get(number)
        if work is None:
            work = self._work[number] = self.ways.work(self.all[number])
        return work

    def stage(self, number: int) -> tuple[str, ...]:
        """Return how far the recipe is: what foods there are, wherever they are."""
        return tuple(sorted(item.name for item in self._things(self.all[number])))

    def turns(self, number: int) -> list[Turn]:
        """Return everything that hands can do in one step, doing nothing first."""
        turns = self._turns.get(number)
        if turns is None:
            turns = self._turns[number] = self._all_turns(self.all[number])
        return turns

    def _all_turns(self, world: KitchenWorld) -> list[Turn]:
        first, second = self.ways.floor.first.seat, self.ways.floor.second.seat
        layout = self.rules.layout

        def turn(a: WorldAct | None, b: WorldAct | None, after: KitchenWorld) -> Turn:
            return Turn(a, b, self.number(rules.tick(layout, after)))

        turns = [turn(None, None, world)]
        acts_b = self._acts(world, second) if second >= 0 else []
        turns += [turn(None, b, after) for b, after in acts_b]
        for a, after in self._acts(world, first):
            turns.append(turn(a, None, after))
            for b, _ in acts_b:
                if a.station == b.station and self.stations[a.station].letter not in "IDS":
                    continue
                both = rules.use(self.rules, after, second, self.stations[b.station], b.action)
                if both is not None:
                    turns.append(turn(a, b, both.world))
        return turns

    def _acts(self, world: KitchenWorld, seat: int) -> list[tuple[WorldAct, KitchenWorld]]:
        """Return the acts of one seat that may help."""
        missing = self._missing(world)
        faced = set(self._poses(seat).faces.tolist())
        acts = []
        for number, station in enumerate(self.stations):
            if number not in faced:
                continue
            for action in self._tried(world, seat, station, missing):
                outcome = rules.use(self.rules, world, seat, station, action)
                if outcome is not None:
                    acts.append((WorldAct(number, action), outcome.world))
        return acts

    def _poses(self, seat: int):
        floor = self.ways.floor
        return floor.first if seat == floor.first.seat else floor.second

    def _missing(self, world: KitchenWorld) -> Counter[str]:
        """Return what still has to come from the dispensers, `dish` included."""
        there: Counter[str] = Counter()
        dishes = 0
        for item in self._things(world):
            served = item.on_dish and item.food == self.rules.dish.food
            dishes += item.on_dish and (served or not item.food)
            if item.food in self.needed and (not item.on_dish or served):
                there.update(raw(item.food))
        missing = self.raw - there
        if self.rules.dish.plated and not dishes:
            missing["dish"] = 1
        return missing

    def _things(self, world: KitchenWorld) -> list[KitchenItem]:
        items = [item for item in (*world.hands, *world.counters) if item is not None]
        for station, utensil in zip(self.rules.layout.utensils, world.utensils):
            if utensil.left in (None, 0):
                items += utensil.contents
            else:
                items.append(KitchenItem(_product(station, utensil), False, ""))
        return items

    def _useful(self, item: KitchenItem) -> bool:
        if item.on_dish:
            return (not item.food and self.rules.dish.plated) or rules.is_ordered(self.rules.dish, item)
        return item.food in self.needed

    def _tried(self, world: KitchenWorld, seat: int, station: Station, missing: Counter[str]) -> list[int]:
        item, letter = world.hands[seat], station.letter
        if letter == "I":
            return [FIRST_INGREDIENT + INGREDIENTS.index(k) for k in missing if k != "dish"]
        if letter == "D":
            return [TAKE] if missing["dish"] else []
        if letter == "S":
            wanted = item is not None and (rules.is_ordered(self.rules.dish, item) or not self._useful(item))
            return [DELIVER] if wanted else []
        if letter == "X":
            if item is not None:
                return [PUT]
            lying = world.counters[station.index]
            return [TAKE] if lying is not None and self._useful(lying) else []
        return self._at_utensil(world.utensils[station.index], item, station)

    def _at_utensil(self, utensil: Utensil, item: KitchenItem | None, station: Station) -> list[int]:
        if item is not None:
            if utensil.done:
                return [FILL]
            return [PUT] if self.thorough or self._fits(utensil, item, station) else []
        if utensil.left is None and utensil.contents:
            product = _product(station, utensil) in self.needed
            started = [START] if product else []
            hopeless = not product and not self._may_become(tuple(i.food for i in utensil.contents), station)
            return [*started, TAKE] if self.thorough or hopeless else started
        return [TAKE] if utensil.done else []

    def _fits(self, utensil: Utensil, item: KitchenItem, station: Station) -> bool:
        """Return whether the recipe wants this food beside what is in the utensil."""
        foods = (*(i.food for i in utensil.contents), item.food)
        return not item.on_dish and self._may_become(foods, station)

    def _may_become(self, foods: tuple[str, ...], station: Station) -> bool:
        kind, have = KINDS[station.letter], Counter(foods)
        for food in self.needed:
            made = process(food)
            if made is not None and made.kind == kind and not have - Counter(made.inputs):
                return True
        return False


def _product(station: Station, utensil: Utensil) -> str:
    return cooked(KINDS[station.letter].makes, tuple(i.food for i in utensil.contents))


def _bare(world: KitchenWorld) -> KitchenWorld:
    """Return a world without lineages."""

    def bare(item: KitchenItem | None) -> KitchenItem | None:
        return None if item is None else KitchenItem(item.food, item.on_dish, "")

    return KitchenWorld(
        hands=tuple(map(bare, world.hands)),
        counters=tuple(map(bare, world.counters)),
        utensils=tuple(
            u._replace(contents=tuple(KitchenItem(i.food, False, "") for i in u.contents)) for u in world.utensils
        ),
        taken=0,
        delivered=bare(world.delivered),
    )
