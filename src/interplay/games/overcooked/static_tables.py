"""Constant arrays of a kitchen's map and menu, for the compiled rules."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from interplay.games.overcooked.interact import InteractTable, tabulate
from interplay.games.overcooked.layouts import OvercookedLayout
from interplay.games.overcooked.recipes import SOUPS, Menu
from interplay.games.overcooked.state import ACTIONS, FLOOR, NUM_ITEMS, POT

UNREACHABLE = 1000  # a distance longer than any walk


@dataclass(frozen=True, eq=False)
class StaticTables:
    """What `rules` and the encodings look up. Arrays over cells are in cell order (x * height + y)."""

    layout: OvercookedLayout
    menu: Menu
    horizon: int
    terrain: np.ndarray  # [cell] the kind of each cell
    front: np.ndarray  # [cell * 4] the cell faced from a cell in a direction
    walk: np.ndarray  # [cell * 6] where an action leads if nobody is in the way
    table: InteractTable
    value: np.ndarray  # [item] what a soup pays
    time: np.ndarray  # [item] how long a soup cooks
    pots: np.ndarray  # [pot] their cells

    @classmethod
    def from_layout(cls, layout: OvercookedLayout, menu: Menu, horizon: int) -> StaticTables:
        """Compute the tables of a layout and a menu."""
        terrain = np.array(layout.terrain, np.int32)
        value, time = np.zeros(NUM_ITEMS, np.float32), np.zeros(NUM_ITEMS, np.int8)
        for item, recipe in SOUPS.items():
            value[item], time[item] = menu.value(recipe), menu.time(recipe)
        front, walk = _ways(layout)
        pots = np.array(layout.cells(POT), np.int32)
        return cls(layout, menu, horizon, terrain, front, walk, tabulate(menu), value, time, pots)


def _ways(layout: OvercookedLayout) -> tuple[np.ndarray, np.ndarray]:
    front = np.zeros((layout.size, 4), np.int32)
    walk = np.tile(np.arange(layout.size, dtype=np.int32)[:, None], (1, len(ACTIONS)))
    for cell in range(layout.size):
        for direction in range(4):
            near = layout.neighbour(cell, direction)
            front[cell, direction] = cell if near is None else near
            if near is not None and layout.terrain[near] == FLOOR:
                walk[cell, direction] = near
    return front.reshape(-1), walk.reshape(-1)


def walking_distances(layout: OvercookedLayout) -> np.ndarray:
    """Return [cell, cell] steps from standing in a floor cell to standing in, or beside, another cell.

    To a floor cell it is the length of the walk; to anything else, that of the walk to the nearest cell beside it.
    """
    terrain = np.array(layout.terrain)
    distance = np.full((layout.size, layout.size), UNREACHABLE, np.int32)
    floor = [c for c in range(layout.size) if terrain[c] == FLOOR]
    for source in floor:
        distance[source, source] = 0
        queue = [source]
        for cell in queue:
            for direction in range(4):
                near = layout.neighbour(cell, direction)
                if near is not None and terrain[near] == FLOOR and distance[source, near] == UNREACHABLE:
                    distance[source, near] = distance[source, cell] + 1
                    queue.append(near)
    for target in range(layout.size):
        if terrain[target] != FLOOR:
            near = [layout.neighbour(target, d) for d in range(4)]
            beside = [n for n in near if n is not None and terrain[n] == FLOOR]
            if beside:
                distance[floor, target] = distance[np.ix_(floor, beside)].min(axis=1)
    return distance
