"""Lower bounds on the steps to the delivered dish, if nobody were in the way and all hands were free.

Every food that is still to come has a path of its own: it is fetched, carried (by one cook, or by several over
counters), put in, processed, and so on to the hatch. No plan is shorter than the longest of these paths.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Int

from interplay.games.collab_kitchen.dishes import INGREDIENTS, KINDS, Dish, cooked, process
from interplay.games.collab_kitchen.floor import FAR, Floor, Poses
from interplay.games.collab_kitchen.layouts import KitchenLayout
from interplay.games.collab_kitchen.state import TAKES, KitchenItem, KitchenWorld

HATCH, DISHES = "S", "D"
_LETTER = {kind.name: letter for letter, kind in KINDS.items()}


class Spot(NamedTuple):
    """Where a thing is: in a seat's hands, or at one of some stations, which release it after `left` steps."""

    seat: int | None
    stations: tuple[int, ...] = ()
    left: int = 0


class BoundedThing(NamedTuple):
    """A thing that exists."""

    food: str
    on_dish: bool
    spot: Spot


class Leg(NamedTuple):
    """A thing on its way to a kind of station, and the steps that follow its arrival there."""

    spot: Spot
    to: str
    then: int


class Ways:
    """Carrying costs of one kitchen and one floor."""

    def __init__(self, layout: KitchenLayout, dish: Dish, floor: Floor):
        self.layout, self.dish, self.floor = layout, dish, floor
        self.cooks = [p for p in (floor.first, floor.second) if p.seat >= 0]
        self.stations = {
            letter: [k for k, s in enumerate(layout.stations) if s.letter == letter]
            for letter in (*KINDS, "I", "D", "S")
        }
        self.counters = [k for k, s in enumerate(layout.stations) if s.letter == "X"]
        self.utensils = [k for k, s in enumerate(layout.stations) if s.letter in KINDS]
        self.carrying: dict[
            tuple[int, str], Int[np.ndarray, " pose"]
        ] = {}  # (seat, kind): until a held thing is put there
        self.lying: dict[str, Int[np.ndarray, " station"]] = {}  # kind: until what lies at a station is put there
        for letter in self.stations:
            self._carry(letter)
        self.gap = {letter: self._gap(letter) for letter in self.stations}
        self.parent, self.tail = {}, {}
        self._tails(dish.food, HATCH, 0)

    def _carry(self, letter: str) -> None:
        """Compute the costs to a kind of station: by one cook, or over one counter after another."""
        lying = np.full(len(self.layout.stations), FAR, np.int32)
        while True:
            carrying = {}
            for cook in self.cooks:
                direct = cook.steps[:, self.stations[letter]].min(axis=1, initial=FAR) + 1
                over = (cook.steps[:, self.counters] + 1 + lying[self.counters]).min(axis=1, initial=FAR)
                carrying[cook.seat] = np.minimum(np.minimum(direct, over), FAR)
            better = np.array([self._from(k, carrying) for k in range(len(lying))], np.int32)
            if (better >= lying).all():
                break
            lying = np.minimum(lying, better)
        self.lying[letter] = lying
        for seat, cost in carrying.items():
            self.carrying[seat, letter] = cost

    def _from(self, station: int, carrying: dict[int, np.ndarray]) -> int:
        """Return the steps to take a thing from a station and carry it on, by whoever can."""
        costs = [carrying[c.seat][c.faces == station].min(initial=FAR) for c in self.cooks]
        return int(min(FAR, 1 + min(costs)))

    def _gap(self, letter: str) -> int:
        """Return the steps between two arrivals at a kind of station.

        A cook who alone comes there has to fetch in between.
        """
        here = self.stations[letter]
        coming = [c for c in self.cooks if np.isin(c.faces, here).any()]
        if len(coming) != 1 or len(here) != 1:
            return 1
        cook, rounds = coming[0], []
        for station in range(len(self.layout.stations)):
            there, back = cook.steps[cook.faces == here[0], station], cook.steps[cook.faces == station, here[0]]
            if station != here[0] and len(there) and len(back):
                rounds.append(int(there.min()) + 1 + int(back.min()) + 1)
        return min(rounds, default=1)

    def _tails(self, food: str, to: str, then: int) -> None:
        """Compute for each food where it goes, and the steps from its arrival there until the dish is delivered."""
        self.parent[food], self.tail[food] = to, then
        made = process(food)
        if made is not None:
            letter = _LETTER[made.kind.name]
            out = self._between(letter, to)
            for part in made.inputs:
                self._tails(part, letter, TAKES + out + then)

    def _between(self, letter: str, to: str) -> int:
        """Return the steps from a finished utensil of one kind to a station of another."""
        return int(self.lying[to][self.stations[letter]].min(initial=FAR))

    def legs(self, world: KitchenWorld) -> Iterator[Leg]:
        """Yield what is still on its way, wherever it is now."""
        things = [t for t in self._things(world) if not t.on_dish or self._served(t)]
        needed = [self.dish.food]
        for food in needed:
            here = next((t for t in things if t.food == food), None)
            if here is not None:
                things.remove(here)
                yield Leg(here.spot, self.parent[food], self.tail[food])
            elif food in INGREDIENTS:
                yield Leg(Spot(None, tuple(self.stations["I"])), self.parent[food], self.tail[food])
            else:
                made = process(food)
                assert made is not None
                needed += made.inputs
        if self.dish.plated and not any(map(self._served, self._things(world))):
            yield self._dish_leg(world)

    def _served(self, thing: BoundedThing) -> bool:
        return thing.on_dish and self.dish.plated and thing.food == self.dish.food

    def _dish_leg(self, world: KitchenWorld) -> Leg:
        made = process(self.dish.food)
        assert made is not None
        letter = _LETTER[made.kind.name]
        then = self._between(letter, HATCH) - 1
        for thing in self._things(world):
            if thing.on_dish and not thing.food:
                return Leg(thing.spot, letter, then)
        return Leg(Spot(None, tuple(self.stations[DISHES])), letter, then)

    def _things(self, world: KitchenWorld) -> Iterator[BoundedThing]:
        """Yield everything that exists; what a utensil works on counts as its product."""
        for seat, item in enumerate(world.hands):
            if item is not None:
                yield BoundedThing(item.food, item.on_dish, Spot(seat))
        for station, item in zip(self.counters, world.counters):
            if item is not None:
                yield BoundedThing(item.food, item.on_dish, Spot(None, (station,)))
        for station, utensil in zip(self.utensils, world.utensils):
            if utensil.left is None or utensil.left == 0:
                for item in utensil.contents:
                    yield BoundedThing(item.food, False, Spot(None, (station,)))
            else:
                yield BoundedThing(self.makes(station, utensil.contents), False, Spot(None, (station,), utensil.left))

    def makes(self, station: int, contents: tuple[KitchenItem, ...]) -> str:
        """Return what a utensil makes of its contents."""
        return cooked(KINDS[self.layout.stations[station].letter].makes, tuple(i.food for i in contents))

    def bound(self, world: KitchenWorld) -> Int[np.ndarray, " joint"]:
        """Return a lower bound on the steps for every joint pose."""
        a, b = self.floor.first, self.floor.second
        longest = np.zeros((a.count, b.count), np.int32)
        meeting: dict[tuple[str, int], list[np.ndarray]] = {}
        for leg in self.legs(world):
            steps = self._steps(leg, a, b)
            longest = np.maximum(longest, steps)
            if not self._there(leg):
                meeting.setdefault((leg.to, leg.then), []).append(np.broadcast_to(steps, longest.shape))
        for (letter, _), arrivals in meeting.items():
            if len(arrivals) > 1:  # they come one after the other: the j-th of m is followed by m - j more
                waits = np.arange(len(arrivals) - 1, -1, -1)[:, None, None] * self.gap[letter]
                longest = np.maximum(longest, (np.sort(arrivals, axis=0) + waits).max(axis=0))
        if self.floor.alone:
            longest = np.maximum(longest, self._one_by_one(world, a))
        return np.minimum(longest, FAR).reshape(-1).astype(np.int16)  # many worlds are kept

    def _steps(self, leg: Leg, a: Poses, b: Poses) -> np.ndarray:
        if leg.spot.seat is not None:
            if leg.spot.seat not in (a.seat, b.seat):
                return np.full((1, 1), FAR)
            carrying = self.carrying[leg.spot.seat, leg.to] + leg.then
            return carrying[:, None] if leg.spot.seat == a.seat else carrying[None, :]
        costs = []
        for station in leg.spot.stations:
            reach = np.minimum(a.steps[:, station][:, None], b.steps[:, station][None, :])
            on = 0 if self._there(leg) else self.lying[leg.to][station]
            costs.append(np.maximum(reach, leg.spot.left) + on + leg.then)
        return np.minimum.reduce(costs)

    def _one_by_one(self, world: KitchenWorld, cook: Poses) -> np.ndarray:
        """Return the bound of a cook alone, who carries one thing after the other and starts every utensil: the sum."""
        total, present = np.zeros((cook.count, 1), np.int32), Counter(t.food for t in self._things(world))
        unfilled = self.dish.plated and not any(map(self._served, self._things(world)))
        for leg in self.legs(world):
            if leg.spot.seat is not None:
                total = total + self._steps(leg, cook, self.floor.second) - leg.then
            elif not self._there(leg):
                total = total + int(self.lying[leg.to][list(leg.spot.stations)].min())
        for food in self._to_make(self.dish.food, present):
            made = process(food)
            assert made is not None
            total = total + 1 + self._between(_LETTER[made.kind.name], self.parent[food])
        return np.minimum(total - int(unfilled), FAR)  # filling a dish is taking the meal out

    def _to_make(self, food: str, present: Counter[str]) -> list[str]:
        """Return the foods whose utensils are still to be started."""
        made = process(food)
        if made is None:
            return []
        if present[food]:
            present[food] -= 1
            return []
        return [food, *(f for part in made.inputs for f in self._to_make(part, present))]

    def _there(self, leg: Leg) -> bool:
        """Return whether the thing is in a utensil of the kind that it is to go to."""
        return bool(leg.spot.stations) and leg.spot.stations[0] in self.stations[leg.to]

    def work(self, world: KitchenWorld) -> int:
        """Return all carrying and processing that is left, in steps of one cook: a measure of progress, not a bound."""
        total, waiting = 0, set()
        for leg in self.legs(world):
            if leg.spot.seat is not None:
                cost = self.carrying.get((leg.spot.seat, leg.to))
                total += FAR if cost is None else int(cost.min(initial=FAR))
            elif not self._there(leg):
                total += int(self.lying[leg.to][list(leg.spot.stations)].min()) + leg.spot.left
            waiting.add(leg.then)
        return total + sum(waiting)
