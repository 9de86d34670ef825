"""Macro actions of Overcooked: tasks of a chef, and the steps that carry them out."""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

import numpy as np

from interplay.games.overcooked.draw import name as item_name
from interplay.games.overcooked.game import Overcooked
from interplay.games.overcooked.interact import COOKING, IDLE_POT, READY
from interplay.games.overcooked.state import (
    COUNTER,
    DISHES,
    FLOOR,
    INTERACT,
    ONIONS,
    POT,
    SERVING,
    STAY,
    TOMATOES,
    OvercookedItem,
    is_soup,
    onions_in,
    tomatoes_in,
)


class MacroTask(NamedTuple):
    """A task in words, and the cells at any of which it can be done. No cells: stand still."""

    text: str
    cells: tuple[int, ...] = ()
    steps: int = 0  # how long to stand still


class MacroKitchen(NamedTuple):
    """The state of the game in plain numbers."""

    cell: tuple[int, ...]
    facing: tuple[int, ...]
    held: tuple[int, ...]
    items: np.ndarray
    timer: np.ndarray


def look(state: Any) -> MacroKitchen:
    """Read the state of the game into plain numbers."""

    def whole(values: Any) -> tuple[int, ...]:
        return tuple(int(v) for v in np.asarray(values))

    return MacroKitchen(
        whole(state.cell), whole(state.facing), whole(state.held), np.asarray(state.items), np.asarray(state.timer)
    )


def tasks(game: Overcooked, now: MacroKitchen, seat: int) -> list[MacroTask]:
    """Return the tasks that this chef can reach and that would have an effect."""
    held_item = now.held[seat]
    reach = reachable(game, now, seat)
    possible = (
        _empty_handed(game, now, reach)
        if held_item == OvercookedItem.NOTHING
        else _with_hands_full(game, now, reach, held_item)
    )
    return [*possible, MacroTask("wait for 1 step", steps=1), MacroTask("wait for 5 steps", steps=5)]


def _empty_handed(game: Overcooked, now: MacroKitchen, reach: set[int]) -> list[MacroTask]:
    terrain = game.kitchen.terrain
    possible = []
    for kind, words in ((ONIONS, "get an onion"), (TOMATOES, "get a tomato"), (DISHES, "get a dish")):
        cells = tuple(c for c in reach if terrain[c] == kind)
        if cells:
            possible.append(MacroTask(f"{words} from the dispenser", cells))
    for cell in sorted(reach):
        if terrain[cell] == COUNTER and now.items[cell]:
            possible.append(
                MacroTask(f"pick up {item_name(int(now.items[cell]))} from the counter at {xy(game, cell)}", (cell,))
            )
        waits = terrain[cell] == POT and is_soup(now.items[cell]) and phase(now, cell) == IDLE_POT
        if waits and not game.menu.auto_cook:
            possible.append(MacroTask(f"start cooking in the pot at {xy(game, cell)}", (cell,)))
    return possible


def _with_hands_full(game: Overcooked, now: MacroKitchen, reach: set[int], held_item: int) -> list[MacroTask]:
    terrain = game.kitchen.terrain
    possible = []
    for cell in sorted(c for c in reach if terrain[c] == POT):
        where, inside = f"the pot at {xy(game, cell)}", int(now.items[cell])
        room = not inside or (onions_in(inside) + tomatoes_in(inside) < 3)
        if held_item in (OvercookedItem.ONION, OvercookedItem.TOMATO) and phase(now, cell) == IDLE_POT and room:
            possible.append(
                MacroTask(f"put the {'onion' if held_item == OvercookedItem.ONION else 'tomato'} into {where}", (cell,))
            )
        if held_item == OvercookedItem.DISH and inside and phase(now, cell) in (READY, COOKING):
            ready = "" if phase(now, cell) == READY else f", which is ready in {int(now.timer[cell])} steps"
            possible.append(MacroTask(f"fill the dish with the soup of {where}{ready}", (cell,)))
    serving = tuple(c for c in reach if terrain[c] == SERVING)
    if is_soup(held_item) and serving:
        possible.append(MacroTask("deliver the soup", serving))
    for cell in sorted(c for c in reach if terrain[c] == COUNTER and not now.items[c]):
        possible.append(MacroTask(f"put it down on the counter at {xy(game, cell)}", (cell,)))
    return possible


def phase(now: MacroKitchen, cell: int) -> int:
    """Return whether a pot is idle, cooking or ready."""
    timer = int(now.timer[cell])
    return IDLE_POT if timer < 0 else READY if timer == 0 else COOKING


def xy(game: Overcooked, cell: int) -> str:
    """Return a cell's coordinates as text."""
    x, y = divmod(cell, game.layout.height)
    return f"({x}, {y})"


def reachable(game: Overcooked, now: MacroKitchen, seat: int) -> set[int]:
    """Return the cells beside which this chef can come to stand, ignoring others."""
    front, terrain = game.kitchen.front.reshape(-1, 4), game.kitchen.terrain
    steps = _distances(front, terrain, {now.cell[seat]}, set())
    return {int(c) for floor in steps for c in front[floor] if terrain[c] != FLOOR}


def next_action(game: Overcooked, now: MacroKitchen, seat: int, task: MacroTask) -> int:
    """Return the next step of a task: turn, walk around the others, or interact."""
    if not task.cells:
        return STAY
    front, terrain = game.kitchen.front.reshape(-1, 4), game.kitchen.terrain
    here, goals = now.cell[seat], set(task.cells)
    if int(front[here, now.facing[seat]]) in goals:
        return INTERACT
    for direction in range(4):
        if int(front[here, direction]) in goals:
            return direction
    others = {c for s, c in enumerate(now.cell) if s != seat}
    beside = {int(f) for g in goals for f in np.flatnonzero((front == g).any(axis=1)) if terrain[f] == FLOOR}
    for blocked in (others, set()):
        steps = _distances(front, terrain, beside - blocked, blocked)
        ways = [(steps[int(front[here, d])], d) for d in range(4) if int(front[here, d]) in steps]
        if ways:
            return min(ways)[1]
    return STAY


def _distances(front: np.ndarray, terrain: np.ndarray, starts: set[int], blocked: set[int]) -> dict[int, int]:
    """Return steps from each floor cell to the nearest start, around blocked cells."""
    steps = dict.fromkeys(starts, 0)
    queue = deque(starts)
    while queue:
        cell = queue.popleft()
        for near in front[cell]:
            if terrain[near] == FLOOR and int(near) not in steps and int(near) not in blocked:
                steps[int(near)] = steps[cell] + 1
                queue.append(int(near))
    return steps
