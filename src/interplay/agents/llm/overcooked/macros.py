"""Macro actions of Overcooked: what a chef can set out to do, and the steps that lead there."""

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
    """Something to set out for: in words, and the cells at any of which it can be done. No cells: stand still."""

    text: str
    cells: tuple[int, ...] = ()
    steps: int = 0  # how long to stand still


class MacroKitchen(NamedTuple):
    """A moment in plain numbers."""

    cell: tuple[int, ...]
    facing: tuple[int, ...]
    held: tuple[int, ...]
    items: np.ndarray
    timer: np.ndarray


def look(state: Any) -> MacroKitchen:
    def whole(values: Any) -> tuple[int, ...]:
        return tuple(int(v) for v in np.asarray(values))

    return MacroKitchen(
        whole(state.cell), whole(state.facing), whole(state.held), np.asarray(state.items), np.asarray(state.timer)
    )


def tasks(game: Overcooked, now: MacroKitchen, seat: int) -> list[MacroTask]:
    """What this chef can set out to do now, in reach and with an effect."""
    held = now.held[seat]
    reach = reachable(game, now, seat)
    found = (
        _empty_handed(game, now, reach) if held == OvercookedItem.NOTHING else _with_hands_full(game, now, reach, held)
    )
    return [*found, MacroTask("wait for 1 step", steps=1), MacroTask("wait for 5 steps", steps=5)]


def _empty_handed(game: Overcooked, now: MacroKitchen, reach: set[int]) -> list[MacroTask]:
    terrain = game.kitchen.terrain
    found = []
    for kind, words in ((ONIONS, "get an onion"), (TOMATOES, "get a tomato"), (DISHES, "get a dish")):
        cells = tuple(c for c in reach if terrain[c] == kind)
        if cells:
            found.append(MacroTask(f"{words} from the dispenser", cells))
    for cell in sorted(reach):
        if terrain[cell] == COUNTER and now.items[cell]:
            found.append(
                MacroTask(f"pick up {item_name(int(now.items[cell]))} from the counter at {xy(game, cell)}", (cell,))
            )
        waits = terrain[cell] == POT and is_soup(now.items[cell]) and phase(now, cell) == IDLE_POT
        if waits and not game.menu.auto_cook:
            found.append(MacroTask(f"start cooking in the pot at {xy(game, cell)}", (cell,)))
    return found


def _with_hands_full(game: Overcooked, now: MacroKitchen, reach: set[int], held: int) -> list[MacroTask]:
    terrain = game.kitchen.terrain
    found = []
    for cell in sorted(c for c in reach if terrain[c] == POT):
        where, inside = f"the pot at {xy(game, cell)}", int(now.items[cell])
        room = not inside or (onions_in(inside) + tomatoes_in(inside) < 3)
        if held in (OvercookedItem.ONION, OvercookedItem.TOMATO) and phase(now, cell) == IDLE_POT and room:
            found.append(
                MacroTask(f"put the {'onion' if held == OvercookedItem.ONION else 'tomato'} into {where}", (cell,))
            )
        if held == OvercookedItem.DISH and inside and phase(now, cell) in (READY, COOKING):
            ready = "" if phase(now, cell) == READY else f", which is ready in {int(now.timer[cell])} steps"
            found.append(MacroTask(f"fill the dish with the soup of {where}{ready}", (cell,)))
    serving = tuple(c for c in reach if terrain[c] == SERVING)
    if is_soup(held) and serving:
        found.append(MacroTask("deliver the soup", serving))
    for cell in sorted(c for c in reach if terrain[c] == COUNTER and not now.items[c]):
        found.append(MacroTask(f"put it down on the counter at {xy(game, cell)}", (cell,)))
    return found


def phase(now: MacroKitchen, cell: int) -> int:
    timer = int(now.timer[cell])
    return IDLE_POT if timer < 0 else READY if timer == 0 else COOKING


def xy(game: Overcooked, cell: int) -> str:
    x, y = divmod(cell, game.layout.height)
    return f"({x}, {y})"


def reachable(game: Overcooked, now: MacroKitchen, seat: int) -> set[int]:
    """The cells beside which this chef can come to stand, others out of the way."""
    front, terrain = game.kitchen.front.reshape(-1, 4), game.kitchen.terrain
    steps = _distances(front, terrain, {now.cell[seat]}, set())
    return {int(c) for floor in steps for c in front[floor] if terrain[c] != FLOOR}


def next_action(game: Overcooked, now: MacroKitchen, seat: int, task: MacroTask) -> int:
    """The next step of a task: turn, walk around the others, or interact."""
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
    """Steps from each floor cell to the nearest start, around blocked cells."""
    steps = dict.fromkeys(starts, 0)
    queue = deque(starts)
    while queue:
        cell = queue.popleft()
        for near in front[cell]:
            if terrain[near] == FLOOR and int(near) not in steps and int(near) not in blocked:
                steps[int(near)] = steps[cell] + 1
                queue.append(int(near))
    return steps
