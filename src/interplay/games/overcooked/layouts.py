"""Kitchens as text: one letter a cell, one row a line (or rows split by '/'), digits where the chefs start."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from interplay.errors import InterplayError
from interplay.games.overcooked.state import MOVES, TERRAIN
from interplay.games.text_maps import LARGEST_MAP, position, split_rows
from interplay.untrusted_files import read_text

MAX_SEATS = 4

# The layouts of the papers: one recipe, three onions, worth 20, cooked 20 steps, cooking starts by itself.
ONE_RECIPE = {
    "forced_coordination": "XXXPX/O X1P/O2X X/D X X/XXXSX",
    "counter_circuit": "XXXPPXXX/X  2   X/D XXXX S/X  1   X/XXXOOXXX",
    "asymmetric_advantages": "XXXXXXXXX/O XSXOX S/X   P 1 X/X2  P   X/XXXDXDXXX",
    "coordination_ring": "XXXPX/X 1 P/D2X X/O   X/XOSXX",
    "cramped_room": "XXPXX/O  2O/X1  X/XDXSX",
    "bothway_coordination": "XXXXXXXX/X   O  P/P  X  2S/X1 X   X/XDXXXXXX",
    "blocked_corridor": "XXXXXOXDXXXXX/X  1  X  2  X/X  XXXXXXX  X/X           X/XSXXXXXXXXPPX",
    "asymmetric_coordination": "XXXXXXXXX/O XSXOX S/X   P 1 X/X2  X   X/D   P   X/XXXXXDXXX",
}

# Several recipes, an interact starts the cooking, and a soup that nobody ordered costs 10.
SEVERAL_RECIPES = {
    "forced_coordination_multi": "XXXPX/O X1P/O2X X/D T X/XXXSX",
    "coordination_ring_multi": "XXXPX/X 1 P/D2X X/O   X/XTSXX",
    "counter_circuit_multi": "XXXPPXXX/X  2   X/D XXXX S/X  1   X/XOOXXTTX",
}
SEVERAL_RECIPES_OPTIONS: Mapping[str, object] = {
    "orders": ["OOO", "OOT", "OTT", "OO", "OT"],
    "values": [20, 20, 20, 10, 10],
    "times": [20, 20, 20, 10, 10],
    "auto_cook": False,
    "unordered": -10,
}

# The names that ZSC-Eval and the human data use for the same kitchens.
ALIASES = {
    "random0": "forced_coordination",
    "random1": "coordination_ring",
    "random3": "counter_circuit",
    "unident_s": "asymmetric_advantages",
    "random0_medium": "bothway_coordination",
    "small_corridor": "blocked_corridor",
    "unident_s_hard": "asymmetric_coordination",
    "random0_m": "forced_coordination_multi",
    "random1_m": "coordination_ring_multi",
    "random3_m": "counter_circuit_multi",
    "counter_circuit_o_1order": "counter_circuit",
    "simple": "cramped_room",
}


@dataclass(frozen=True)
class OvercookedLayout:
    """A kitchen's terrain and where its chefs start, as (x, y)."""

    rows: tuple[str, ...]  # letters of TERRAIN only
    starts: tuple[tuple[int, int], ...]

    @property
    def width(self) -> int:
        """Cells from left to right."""
        return len(self.rows[0])

    @property
    def height(self) -> int:
        """Cells from top to bottom."""
        return len(self.rows)

    @property
    def size(self) -> int:
        """The number of cells."""
        return self.width * self.height

    def cell(self, x: int, y: int) -> int:
        """Return the number of the cell at (x, y)."""
        return x * self.height + y

    def xy(self, cell: int) -> tuple[int, int]:
        """Return a cell's (x, y)."""
        return divmod(cell, self.height)

    @cached_property
    def terrain(self) -> tuple[int, ...]:
        """The kind of each cell, in cell order."""
        return tuple(TERRAIN.index(self.rows[y][x]) for x in range(self.width) for y in range(self.height))

    def cells(self, kind: int) -> tuple[int, ...]:
        """Return the cells of a kind of terrain."""
        return tuple(c for c, k in enumerate(self.terrain) if k == kind)

    def neighbour(self, cell: int, direction: int) -> int | None:
        """Return the cell beside this one, or None beyond the walls."""
        (x, y), (dx, dy) = self.xy(cell), MOVES[direction]
        inside = 0 <= x + dx < self.width and 0 <= y + dy < self.height
        return self.cell(x + dx, y + dy) if inside else None

    @property
    def text(self) -> str:
        """The layout as it was written, rows split by '/'."""
        grid = [list(row) for row in self.rows]
        for seat, (x, y) in enumerate(self.starts):
            grid[y][x] = str(seat + 1)
        return "/".join("".join(row) for row in grid)


def parse(text: str, name: str = "layout") -> OvercookedLayout:
    """Parse a kitchen.

    Raises:
        InterplayError: The text is no kitchen; the message says which row and column, counted from 1, and why.
    """
    rows = split_rows(text, name, "layout")
    grid = [list(row) for row in rows]
    starts: dict[int, tuple[int, int]] = {}
    for y, row in enumerate(rows):
        for x, letter in enumerate(row):
            if letter.isdigit() and "1" <= letter <= str(MAX_SEATS):
                if int(letter) in starts:
                    first = position(*starts[int(letter)])
                    raise InterplayError(
                        f"{name}: {position(x, y)}: chef {letter} starts here and at {first}; once only"
                    )
                starts[int(letter)] = (x, y)
                grid[y][x] = " "
            elif letter not in TERRAIN:
                raise InterplayError(
                    f"{name}: {position(x, y)}: unknown letter {letter!r}; use X counter, P pot, O onions, T tomatoes, "
                    f"D dishes, S serving, a space for floor, and 1 to {MAX_SEATS} where chefs start"
                )
    layout = OvercookedLayout(tuple("".join(row) for row in grid), _ordered(starts, name))
    _check_walls(layout, name)
    _check_reach(layout, name)
    return layout


def read(path: str | Path) -> OvercookedLayout:
    """Read a kitchen from a text file."""
    return parse(read_text(path, limit=2 * LARGEST_MAP).strip("\n"), str(path))


def seat_starts(layout: OvercookedLayout, seats: int) -> tuple[tuple[int, int], ...]:
    """Return start places for any number of chefs: the drawn ones, then free floor cells in reading order."""
    taken = list(layout.starts[:seats])
    free = [(x, y) for y in range(layout.height) for x in range(layout.width) if layout.rows[y][x] == " "]
    for place in free:
        if len(taken) == seats:
            break
        if place not in taken and place not in layout.starts:
            taken.append(place)
    if len(taken) < seats:
        raise InterplayError(f"this kitchen has floor for {len(taken)} chefs, not for {seats}")
    return tuple(taken)


def _ordered(starts: Mapping[int, tuple[int, int]], name: str) -> tuple[tuple[int, int], ...]:
    if not starts:
        raise InterplayError(f"{name}: no chef starts anywhere; write 1 (and 2, 3, 4) on floor cells")
    for number in range(1, max(starts) + 1):
        if number not in starts:
            raise InterplayError(f"{name}: chef {max(starts)} has a start but chef {number} has none")
    return tuple(starts[n] for n in sorted(starts))


def _check_walls(layout: OvercookedLayout, name: str) -> None:
    for y, row in enumerate(layout.rows):
        for x, letter in enumerate(row):
            edge = x in (0, layout.width - 1) or y in (0, layout.height - 1)
            if edge and letter == " ":
                raise InterplayError(
                    f"{name}: {position(x, y)}: floor at the edge; kitchens are walled by counters (X)"
                )


def _check_reach(layout: OvercookedLayout, name: str) -> None:
    reached = beside(layout, [layout.cell(x, y) for x, y in layout.starts])
    needed = {"P": "pot", "S": "serving hatch", "D": "dish dispenser"}
    for letter, what in needed.items():
        _check_one(layout, name, letter, what, reached)
    if not any(layout.cells(TERRAIN.index(letter)) for letter in "OT"):
        raise InterplayError(f"{name}: there is no onion (O) or tomato (T) dispenser, so no soup can be made")
    letter = "O" if layout.cells(TERRAIN.index("O")) else "T"
    _check_one(layout, name, letter, "ingredient dispenser", reached)


def _check_one(layout: OvercookedLayout, name: str, letter: str, what: str, reached: set[int]) -> None:
    cells = layout.cells(TERRAIN.index(letter))
    if not cells:
        raise InterplayError(f"{name}: there is no {what} ({letter}), so no soup can be served")
    if not reached & set(cells):
        where = ", ".join(position(*layout.xy(c)) for c in cells)
        raise InterplayError(f"{name}: {where}: no chef can reach this {what} ({letter}); no {what} is reachable")


def beside(layout: OvercookedLayout, sources: Sequence[int]) -> set[int]:
    """Return every cell that someone who starts in one of these cells can come to face or stand in."""
    terrain, seen, queue = layout.terrain, set(sources), deque(sources)
    while queue:
        cell = queue.popleft()
        for direction in range(4):
            near = layout.neighbour(cell, direction)
            if near is not None and near not in seen:
                seen.add(near)
                if TERRAIN[terrain[near]] == " ":
                    queue.append(near)
    return seen
