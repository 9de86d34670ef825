"""The symbolic domain of the kitchen: its facts, and the operators that a played episode instantiates.

A food keeps its name through everything that is done to it; cooked with others it becomes part of a new food. So
cutting, cooking, baking and stirring add facts about foods, and counters and utensils are where they change hands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from interplay.games.collab_kitchen import rules
from interplay.games.collab_kitchen.dishes import KINDS
from interplay.games.collab_kitchen.game import Kitchen
from interplay.games.collab_kitchen.layouts import Station
from interplay.games.collab_kitchen.rules import CompletedAction
from interplay.games.collab_kitchen.state import KitchenItem, KitchenState, Utensil
from interplay.symbolic.declare import NATURE, DomainError, Recorder, SymbolicTrace, SymbolicWorld, declare_beside

DOMAIN = declare_beside(__file__, "kitchen")

_EVENTS = {"slices": "slices", "boiled": "boils", "baked": "bakes", "mashed": "mashes"}
_STATES = {"slices": "sliced", "boiled": "boiled", "baked": "baked", "mashed": "mashed"}
_TYPES = {"X": "counter", "I": "dispenser", "D": "dispenser", "S": "hatch"} | dict.fromkeys(KINDS, "utensil")


class KitchenReader:
    """Reads episodes of one game."""

    domain = DOMAIN

    def __init__(self, game: Any):
        if not isinstance(game, Kitchen):
            raise DomainError(f"the domain 'kitchen' cannot read {getattr(game, 'id', game)!r}: it is another game")
        self.game = game
        self.agents = tuple(f"{name.replace(' ', '_')}_{seat + 1}" for seat, name in enumerate(game.seat_names))
        self.world = SymbolicWorld(DOMAIN, dict.fromkeys(self.agents, "cook"))
        for station in game.layout.stations:
            self.world.add(_name(station), _TYPES[station.letter])

    def read(self, states: Sequence[KitchenState], actions: Any) -> SymbolicTrace:
        """Return the symbolic trace of `states` [step + 1] and `actions` [step, seat]."""
        joint_actions = np.asarray(actions)
        if joint_actions.ndim != 2 or joint_actions.shape[1] != len(self.agents):
            raise DomainError(
                f"actions of shape {joint_actions.shape} are not of {self.game.id}: it has {len(self.agents)} seats"
            )
        state: KitchenState = states[0]
        recorder = Recorder(self.world, self.agents, self._start(state))
        for t, joint in enumerate(joint_actions):
            after, completed = rules.advance(self.game.rules, state, tuple(int(a) for a in joint))
            world = state.world
            for act in completed:
                self._do(recorder, t, act, world)
            self._finish(recorder, t, state, after)
            state = after
        return recorder.finish(
            len(joint_actions), self.game.horizon, game_id=self.game.id, reach=self._reach(), partners=self._partners()
        )

    def _start(self, state: KitchenState) -> frozenset[int]:
        """Return the facts of the start state, in which nothing has been taken yet."""
        if state.world.taken:
            raise DomainError(f"{self.game.id}: an episode is read from its start, where nothing has been taken yet")
        facts = [self.world.fact("free", agent) for agent in self.agents]
        return frozenset(facts + [self.world.fact("empty", _name(s)) for s in self.game.layout.counters])

    def _thing(self, item: KitchenItem) -> str:
        return self._called(item.lineage, "food" if item.food else "plate")

    def _called(self, lineage: str, kind: str) -> str:
        return self.world.add(lineage.replace("#", "_").replace("+", "_and_"), kind)

    def _do(self, recorder: Recorder, t: int, act: CompletedAction, world: Any) -> None:
        agent, station, letter = self.agents[act.seat], _name(act.station), act.station.letter
        thing = self._called(act.lineage, "plate" if act.object == "dish" else "food")

        def do(operator: str, *objects: str, preconditions: Sequence[int] = ()) -> None:
            recorder.do(t, act.seat, operator, agent, *objects, preconditions=preconditions)

        if act.verb == "pickup":
            if letter in "ID":
                do("get", thing, station)
            elif letter == "X":
                do("take", thing, station)
            else:
                done = world.utensils[act.station.index].done
                do("take_out" if done else "take_back", thing, station)
        elif act.verb == "place_obj_on_counter":
            do("put", thing, station)
        elif act.verb == "put_obj_in_utensil":
            do("put_in", thing, station, preconditions=self._known(recorder, thing))
        elif act.verb == "fill_dish_with_food":
            dish = world.hands[act.seat]
            do("fill", thing, self._thing(dish), station)
        elif act.verb == "deliver":
            preconditions = self._known(recorder, thing)
            do("deliver" if act.right else "discard", thing, station, preconditions=preconditions)
        else:
            self._set_going(recorder, t, act, world.utensils[act.station.index])

    def _set_going(self, recorder: Recorder, t: int, act: CompletedAction, utensil: Utensil) -> None:
        agent, station = self.agents[act.seat], _name(act.station)
        inputs = [self._thing(item) for item in utensil.contents]
        verb = {"cook": "cook_one", "bake": "bake_one"}.get(act.verb, act.verb)
        if len(inputs) == 1:
            recorder.do(t, act.seat, verb, agent, inputs[0], station)
            return
        mix = self._called(rules.mixed(utensil.contents).lineage, "food")
        facts = [self.world.fact("inside", food, station) for food in inputs]
        known = [fact for food in inputs for fact in self._known(recorder, food)]
        recorder.do(t, act.seat, f"{act.verb}_together", agent, mix, station, preconditions=[*facts, *known])
        for food in inputs:
            recorder.do(t, NATURE, "merges", food, station)

    def _known(self, recorder: Recorder, thing: str) -> list[int]:
        """Return what was done to a food before, on which whatever is done with it now depends."""
        if self.world.types[thing] != "food":
            return []
        facts = [self.world.fact(state, thing) for state in (*_STATES.values(), "joined")]
        return [fact for fact in facts if fact in recorder.now]

    def _finish(self, recorder: Recorder, t: int, before: KitchenState, after: KitchenState) -> None:
        """Record the utensils that are done with this step."""
        for station, old, new in zip(self.game.layout.utensils, before.world.utensils, after.world.utensils):
            if new.done and not old.done:
                food = self._thing(new.contents[0])
                recorder.do(t, NATURE, _EVENTS[KINDS[station.letter].makes], food, _name(station))

    def _reach(self) -> dict[str, frozenset[int]]:
        """Return which seats can use what is at a station."""
        seats, layout = range(len(self.agents)), self.game.layout
        return {_name(s): frozenset(k for k in seats if layout.reaches(k, s)) for s in layout.stations}

    def _partners(self) -> dict[str, dict[int, frozenset[int]]]:
        """Return who can hand what to whom: seats that reach a counter, or a utensil, in common."""
        layout, seats = self.game.layout, range(len(self.agents))

        def sharing(stations: Sequence[Station]) -> dict[int, frozenset[int]]:
            return {
                s: frozenset(
                    o for o in seats if o != s and any(layout.reaches(s, k) and layout.reaches(o, k) for k in stations)
                )
                for s in seats
            }

        return {
            "counters": sharing(layout.counters),
            "utensils": sharing(layout.utensils),
            "work": sharing((*layout.counters, *layout.utensils)),
        }


def _name(station: Station) -> str:
    x, y = station.cell
    return f"counter_{x}_{y}" if station.letter == "X" else f"{station.name}_{x}_{y}"
