"""Kitchens that are drawn at random: walls from a few templates, dispensers, pots and hatches anywhere on them.

After the kitchens of cross-environment cooperation (Jha et al. 2025, CEC), which draw walls from templates, place
things at random and rotate the whole. Every kitchen that is given out can be cooked in: `solvable` follows what chefs
can carry, also over counters between rooms that no chef can leave.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from interplay.errors import InterplayError
from interplay.games.overcooked.layouts import OvercookedLayout, beside, parse
from interplay.games.overcooked.state import TERRAIN

SMALLEST, LARGEST = 4, 12  # cells on a side
TRIES = 1000
TEMPLATES = ("open", "island", "split", "corridor", "pillars")


def generate(seed: int, width: int = 7, height: int = 6, *, template: str | None = None) -> OvercookedLayout:
    """Draw a kitchen for two chefs that can be cooked in.

    Args:
        seed: The same seed gives the same kitchen.
        width: Cells in a row.
        height: Rows.
        template: How the walls stand inside: open, island, split (two rooms), corridor or pillars; drawn by default.

    Raises:
        InterplayError: The size or the template is not one of these.
    """
    for name, size in (("width", width), ("height", height)):
        if not SMALLEST <= size <= LARGEST:
            raise InterplayError(f"{name}: {size}; generated kitchens have {SMALLEST} to {LARGEST} cells on a side")
    if template is not None and template not in TEMPLATES:
        raise InterplayError(f"template: {template!r}; one of {', '.join(TEMPLATES)}")
    rng = np.random.default_rng([seed, width, height])
    for _ in range(TRIES):
        chosen = template or str(rng.choice(TEMPLATES))
        layout = _draw(rng, width, height, chosen)
        if layout is not None and solvable(layout):
            return layout
    raise InterplayError(f"no kitchen of {width} x {height} that can be cooked in was found; make it larger")


def _draw(rng: np.random.Generator, width: int, height: int, template: str) -> OvercookedLayout | None:
    turned = template in ("split", "corridor") and bool(rng.integers(2))
    inner = _walls(rng, *((height, width) if turned else (width, height)), template)
    walls = inner.T if turned else inner
    grid = np.where(walls, "X", " ")
    floor = np.argwhere(~walls)
    near = [c for c in np.argwhere(walls) if _touches_floor(walls, *c)]
    wanted = ["P", "O", "D", "S", *[str(rng.choice(["P", "O", "D", "S"])) for _ in range(int(rng.integers(1, 4)))]]
    if len(near) < len(wanted) or len(floor) < 2:
        return None
    for letter, place in zip(wanted, rng.permutation(len(near)), strict=False):
        grid[tuple(near[place])] = letter
    rooms = _rooms(walls)
    starts = [floor[i] for i in rng.permutation(len(floor))]
    first = starts[0]
    others = [s for s in starts[1:] if len(rooms) == 1 or _room(rooms, s) != _room(rooms, first)] or starts[1:]
    grid[tuple(first)], grid[tuple(others[0])] = "1", "2"
    try:
        return parse("/".join("".join(grid[:, y]) for y in range(height)), "generated")
    except InterplayError:
        return None


def _walls(rng: np.random.Generator, width: int, height: int, template: str) -> np.ndarray:
    """Which cells [x, y] are counters: the edge, and what the template puts inside."""
    walls = np.ones((width, height), bool)
    walls[1:-1, 1:-1] = False
    if template == "island" and width > 4 and height > 4:
        walls[2:-2, 2:-2] = True
    elif template == "split":
        walls[int(rng.integers(2, max(3, width - 2))), :] = True
    elif template == "corridor":
        column = int(rng.integers(2, max(3, width - 2)))
        walls[column, :] = True
        walls[column, int(rng.integers(1, height - 1))] = False
    elif template == "pillars":
        inside = np.argwhere(~walls)
        for x, y in inside[rng.permutation(len(inside))[: max(1, len(inside) // 6)]]:
            walls[x, y] = True
    return walls


def _touches_floor(walls: np.ndarray, x: int, y: int) -> bool:
    beside = [(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)]
    return any(0 <= a < walls.shape[0] and 0 <= b < walls.shape[1] and not walls[a, b] for a, b in beside)


def _rooms(walls: np.ndarray) -> list[set[tuple[int, int]]]:
    """Floors that are connected."""
    left = {(int(x), int(y)) for x, y in np.argwhere(~walls)}
    rooms = []
    while left:
        room, queue = set(), [left.pop()]
        while queue:
            x, y = queue.pop()
            room.add((x, y))
            near = {(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)} & left
            left -= near
            queue += near
        rooms.append(room)
    return rooms


def _room(rooms: Sequence[set[tuple[int, int]]], cell: np.ndarray) -> int:
    return next(n for n, room in enumerate(rooms) if (int(cell[0]), int(cell[1])) in room)


def solvable(layout: OvercookedLayout) -> bool:
    """Return whether a soup can be served: some chefs can bring an ingredient and a dish to one pot, and the soup out.

    Chefs never leave their rooms; things pass from room to room over counters that both reach. That two chefs block
    each other's way in one room is not looked at: one of them can always step aside or do the work alone.
    """
    rooms = _reach(layout)

    def cells(letter: str) -> set[int]:
        return set(layout.cells(TERRAIN.index(letter)))

    def spread(rooms_with: set[int]) -> set[int]:
        """Rooms that a thing can come to over counters."""
        counters = cells("X")
        while True:
            more = {b for a, b in product(rooms_with, range(len(rooms))) if rooms[a] & rooms[b] & counters}
            if more <= rooms_with:
                return rooms_with
            rooms_with = rooms_with | more

    def touching(places: set[int]) -> set[int]:
        return {n for n, room in enumerate(rooms) if room & places}

    ingredients = spread(touching(cells("O") | cells("T")))
    dishes = spread(touching(cells("D")))
    pots = {pot for n in ingredients for pot in rooms[n] & cells("P")}
    soups = spread({n for n in dishes if rooms[n] & pots})
    return bool(soups & touching(cells("S")))


def _reach(layout: OvercookedLayout) -> list[set[int]]:
    """For each chef what it can come to face or stand in; chefs of one room once."""
    rooms: list[set[int]] = []
    for x, y in layout.starts:
        room = beside(layout, [layout.cell(x, y)])
        if room not in rooms:
            rooms.append(room)
    return rooms
