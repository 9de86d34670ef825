"""The symbolic domain of Overcooked: its facts, and the operators that a played episode instantiates.

States hold no identities, so the reader gives each onion, tomato and dish one when it is fetched, each soup one when
its first ingredient goes into the pot, and carries them from hand to counter, into the pot and onto the plate.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

from interplay.games.overcooked import layouts
from interplay.games.overcooked.interact import EFFECTIVE, NUM_PHASES, PLACES, PLATES, STARTS
from interplay.games.overcooked.recipes import SOUPS
from interplay.games.overcooked.state import (
    COUNTER,
    IDLE,
    INTERACT,
    NUM_ITEMS,
    POT,
    SERVING,
    OvercookedItem,
    OvercookedState,
    is_soup,
    onions_in,
    tomatoes_in,
)
from interplay.games.overcooked.static_tables import StaticTables
from interplay.symbolic.declare import (
    NATURE,
    DomainError,
    Grounded,
    Recorder,
    SymbolicTrace,
    SymbolicWorld,
    declare_beside,
)

DOMAIN = declare_beside(__file__, "overcooked")

_KINDS = ("floor", "counter", "pot", "onions", "tomatoes", "dishes", "serving")  # by terrain
_NAMES = {OvercookedItem.ONION: "onion", OvercookedItem.TOMATO: "tomato", OvercookedItem.DISH: "dish"}


@dataclass
class _Things:
    """Which object is where: the identities that states do not hold."""

    hand: list[str]
    place: dict[int, str]  # counter or pot -> what is on or in it
    contents: dict[str, list[str]] = field(default_factory=dict)  # soup -> its ingredients
    made: Counter[str] = field(default_factory=Counter)

    def new(self, world: SymbolicWorld, kind: str) -> str:
        self.made[kind] += 1
        return world.add(f"{kind}_{self.made[kind]}", kind)


class OvercookedReader:
    """Reads episodes of one kitchen. Keep it: facts and operators are made once and looked up afterwards."""

    domain = DOMAIN

    def __init__(self, game: Any):
        if not isinstance(getattr(game, "kitchen", None), StaticTables):
            raise DomainError(f"the domain 'overcooked' cannot read {getattr(game, 'id', game)!r}: it is another game")
        self.game, self.kitchen = game, game.kitchen
        self.chefs = tuple(f"chef_{seat}" for seat in range(game.num_seats))
        self.world = SymbolicWorld(DOMAIN, dict.fromkeys(self.chefs, "chef"))
        self.cells = [self._name(cell) for cell in range(game.layout.size)]
        self._steps: dict[tuple[int, int, int], Grounded] = {}
        self._reached: dict[tuple[int, ...], Any] = {}

    def _name(self, cell: int) -> str:
        """Return a cell's name: `counter_3_2` lies in column 3, row 2, counted from 0."""
        x, y = self.game.layout.xy(cell)
        kind = _KINDS[self.kitchen.terrain[cell]]
        return self.world.add(f"{kind}_{x}_{y}", kind)

    def read(self, states: Any, actions: Any) -> SymbolicTrace:
        """Return the symbolic trace of `states` with a leading [step + 1] axis and `actions` [step, seat]."""
        s = jax.tree.map(np.asarray, states)
        actions = np.asarray(actions)
        if actions.ndim != 2 or actions.shape[1] != len(self.chefs) or s.items.shape[1:] != (len(self.cells),):
            raise DomainError(
                f"actions {actions.shape} and cells {s.items.shape[1:]} are not of {self.game.id}, which has "
                f"{len(self.chefs)} seats and {len(self.cells)} cells: the trace is of another game"
            )
        things, start = self._start(s)
        recorder = Recorder(self.world, self.chefs, start)
        try:
            self._record(recorder, things, s, actions)
        except KeyError as error:  # something is used where nothing was put
            where = self.cells[error.args[0]] if isinstance(error.args[0], int) else error.args[0]
            raise DomainError(f"something is used at {where} that no action put there; {self._strange}") from None
        self._compare(things, s)
        reach, partners = self._reach(tuple(s.cell[0].tolist()))
        length = len(actions)
        more = {"game_id": self.game.id, "reach": reach, "partners": partners}
        return recorder.finish(length, self.game.horizon, **more)

    def _start(self, s: OvercookedState) -> tuple[_Things, list[int]]:
        fact, kitchen = self.world.fact, self.kitchen
        things = _Things([""] * len(self.chefs), {})
        facts = []
        for seat, chef in enumerate(self.chefs):
            cell, facing, item = (int(a[0][seat]) for a in (s.cell, s.facing, s.held))
            facts += [
                fact("at", chef, self.cells[cell]),
                fact("facing", chef, self.cells[kitchen.front[cell * 4 + facing]]),
            ]
            things.hand[seat] = self._initial_object(things, item)
            facts.append(fact("holding", chef, things.hand[seat]) if things.hand[seat] else fact("free", chef))
        for cell in np.flatnonzero((kitchen.terrain == COUNTER) | (kitchen.terrain == POT)).tolist():
            thing, pot = self._initial_object(things, int(s.items[0][cell])), kitchen.terrain[cell] == POT
            if not thing:
                facts.append(fact("empty" if pot else "clear", self.cells[cell]))
                continue
            things.place[cell] = thing
            facts.append(fact("in_pot" if pot else "on", thing, self.cells[cell]))
            timer = int(s.timer[0][cell])
            if pot:
                facts += [fact("in", i, thing, self.cells[cell]) for i in things.contents[thing]]
            if pot and timer != IDLE:
                facts.append(fact("ready" if timer == 0 else "cooking", thing, self.cells[cell]))
        return things, facts

    def _initial_object(self, things: _Things, item: int) -> str:
        """Return the object of an item that is there from the start."""
        if item == OvercookedItem.NOTHING:
            return ""
        if not is_soup(item):
            return things.new(self.world, _NAMES[OvercookedItem(item)])
        soup = things.new(self.world, "soup")
        kinds = ["onion"] * onions_in(item) + ["tomato"] * tomatoes_in(item)
        things.contents[soup] = [things.new(self.world, kind) for kind in kinds]
        return soup

    def _record(self, recorder: Recorder, things: _Things, s: OvercookedState, actions: np.ndarray) -> None:
        """Record all operators in the game's order: interacts seat by seat, then walking, then the pots."""
        kitchen, pots = self.kitchen, self.kitchen.pots
        here = s.cell.astype(np.int64) * 4 + s.facing
        front = kitchen.front[here[:-1]]  # [step, seat]
        walks = here[1:] != here[:-1]
        acts = actions == INTERACT
        done = (s.timer[1:, pots] == 0) & (s.timer[:-1, pots] != 0)
        busy = np.flatnonzero(acts.any(axis=1) | walks.any(axis=1) | done.any(axis=1))
        rows = zip(busy.tolist(), acts[busy].tolist(), walks[busy].tolist(), done[busy].tolist(), here[busy].tolist())
        after = here[1:]
        for t, acting, walking, cooked, where in rows:
            if True in acting:
                self._interacts(recorder, things, s, t, acting, front[t].tolist())
            if True in walking:
                to = after[t].tolist()
                for seat, walked in enumerate(walking):
                    if walked:
                        key = (seat, where[seat], to[seat])
                        recorder.take(t, seat, self._steps.get(key) or self._step(key))
            if True in cooked:
                for pot, ready in zip(pots.tolist(), cooked):
                    if ready:
                        recorder.do(t, NATURE, "done", things.place[pot], self.cells[pot])

    def _step(self, key: tuple[int, int, int]) -> Grounded:
        seat, old, new = key
        chef, cells, front = self.chefs[seat], self.cells, self.kitchen.front
        if old // 4 == new // 4:
            step = self.world.ground("turn", chef, cells[front[old]], cells[front[new]])
        else:
            step = self.world.ground(
                "walk", chef, cells[old // 4], cells[new // 4], cells[front[old]], cells[front[new]]
            )
        self._steps[key] = step
        return step

    def _interacts(
        self, recorder: Recorder, things: _Things, s: OvercookedState, t: int, acting: list, front: list
    ) -> None:
        """Record the interacts of one time step; a later chef finds what an earlier one left."""
        kitchen, table, left = self.kitchen, self.kitchen.table.packed, {}
        for seat, acts in enumerate(acting):
            if not acts:
                continue
            cell, in_hand = front[seat], int(s.held[t, seat])
            item, timer = left.get(cell) or (int(s.items[t, cell]), int(s.timer[t, cell]))
            phase = 0 if timer < 0 else 1 if timer > 0 else 2
            index = ((int(kitchen.terrain[cell]) * NUM_ITEMS + item) * NUM_PHASES + phase) * NUM_ITEMS + in_hand
            out = int(table[index])
            if not out & EFFECTIVE:
                continue
            self._operator(recorder, things, t, seat, cell, item, in_hand, out)
            new = out & 31
            started = int(kitchen.time[new]) if out & STARTS else IDLE if out & PLATES else timer
            left[cell] = (new, started)

    def _operator(
        self, recorder: Recorder, things: _Things, t: int, seat: int, cell: int, item: int, in_hand: int, out: int
    ):
        chef, place, hand, world = self.chefs[seat], self.cells[cell], things.hand, self.world
        terrain, mine = self.kitchen.terrain[cell], hand[seat]
        if terrain == COUNTER and mine:
            recorder.do(t, seat, "put_down", chef, mine, place)
            things.place[cell], hand[seat] = mine, ""
        elif terrain == COUNTER:
            hand[seat] = things.place.pop(cell)
            recorder.do(t, seat, "pick_up", chef, hand[seat], place)
        elif terrain == SERVING:
            ordered = self.kitchen.menu.is_ordered(SOUPS[in_hand])
            recorder.do(t, seat, "serve" if ordered else "waste", chef, mine, place)
            hand[seat] = ""
        elif terrain != POT:
            hand[seat] = things.new(world, _NAMES[OvercookedItem((out >> 5) & 31)])
            recorder.do(t, seat, "fetch", chef, hand[seat], place)
        elif out & PLACES:
            first = cell not in things.place
            soup = things.place.setdefault(cell, things.new(world, "soup") if first else "")
            verb = "start_soup" if first else "add_last" if out & STARTS else "add"
            recorder.do(t, seat, verb, chef, mine, soup, place)
            things.contents.setdefault(soup, []).append(mine)
            hand[seat] = ""
        elif out & PLATES:
            soup = things.place.pop(cell)
            preconditions = [world.fact("in", i, soup, place) for i in things.contents[soup]]
            recorder.do(t, seat, "plate", chef, mine, soup, place, preconditions=preconditions)
            hand[seat] = soup
        else:
            recorder.do(t, seat, "cook", chef, things.place[cell], place)

    def _compare(self, things: _Things, s: OvercookedState) -> None:
        """Check that what was carried through the episode is what lies and is held at its end."""
        for seat, thing in enumerate(things.hand):
            if bool(thing) != bool(s.held[-1][seat]):
                raise DomainError(
                    f"{self.chefs[seat]} ends with {thing or 'nothing'} by the actions, but not by the states; "
                    f"{self._strange}"
                )
        for cell in np.flatnonzero(s.items[-1] > 0).tolist():
            if cell not in things.place:
                raise DomainError(f"something lies at {self.cells[cell]} that no action put there; {self._strange}")

    @property
    def _strange(self) -> str:
        return f"the actions are not those that led to these states of {self.game.id}"

    def _reach(self, starts: tuple[int, ...]) -> Any:
        """Return who can come to face which counter and pot, and through which channel who can give to whom."""
        if starts not in self._reached:
            able = [layouts.beside(self.game.layout, [cell]) for cell in starts]
            reach, partners = {}, {}
            for channel, kind in (("counters", COUNTER), ("pots", POT)):
                cells = np.flatnonzero(self.kitchen.terrain == kind).tolist()
                seats = {c: frozenset(s for s, cells in enumerate(able) if c in cells) for c in cells}
                reach |= {self.cells[c]: who for c, who in seats.items()}
                partners[channel] = {
                    s: frozenset().union(*(who for who in seats.values() if s in who)) - {s} for s in range(len(starts))
                }
            self._reached[starts] = (reach, partners)
        return self._reached[starts]
