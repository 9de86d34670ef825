"""Kitchens as text: one letter a cell, rows split by '/' or new lines, digits where the cooks start.

X counter   # wall   I ingredients   D dishes   C chopping board   B blender   P pot   O oven   S serving hatch
"""

from __future__ import annotations

import functools
from collections import deque
from typing import NamedTuple

from interplay.errors import InterplayError
from interplay.games.collab_kitchen.dishes import KINDS
from interplay.games.collab_kitchen.state import MOVES
from interplay.games.text_maps import check_size

ORIGINAL = "XXXPX/I X1X/C2X X/D X O/XBXSX"
NRC = "XXXXPXX/I  X 1X/C 2X  X/D  X  O/X     X/XXBXSXX"
RC = "XXXXPXX/I  X 1X/C 2X  X/D  X  O/X  X  X/XXBXSXX"  # the twin: the one gap between the rooms is closed
OPEN = "XXXPX/I  1X/C2  X/D   O/XBXSX"  # one room: the published kitchen without required cooperation
LAYOUTS = {"original": ORIGINAL, "nrc": NRC, "rc": RC, "open": OPEN}

FLOOR, WALL = " ", "#"
PLACES = {"X": "counter", "I": "ingredient_dispenser", "D": "dish_dispenser", "S": "serving_hatch"} | {
    letter: kind.name for letter, kind in KINDS.items()
}
MAX_SEATS = 6

Cell = tuple[int, int]


class Station(NamedTuple):
    """A station: its letter, its cell, its name, and its number among counters or utensils."""

    letter: str
    cell: Cell
    name: str
    index: int


class KitchenLayout(NamedTuple):
    """A kitchen's map."""

    text: str
    rows: tuple[str, ...]  # without the digits
    starts: tuple[Cell, ...]  # by seat
    stations: tuple[Station, ...]  # in reading order

    @property
    def width(self) -> int:
        """Cells from left to right."""
        return len(self.rows[0])

    @property
    def height(self) -> int:
        """Cells from top to bottom."""
        return len(self.rows)

    def at(self, cell: Cell) -> str:
        """Return the letter of a cell."""
        return self.rows[cell[1]][cell[0]]

    def is_floor(self, cell: Cell) -> bool:
        """Return whether a cook can stand in a cell."""
        return self.at(cell) == FLOOR

    def by_cell(self) -> dict[Cell, Station]:
        """Return the stations by their cell."""
        return _by_cell(self)

    @property
    def counters(self) -> tuple[Station, ...]:
        """The counters, in reading order."""
        return _of(self, "X")

    @property
    def utensils(self) -> tuple[Station, ...]:
        """The utensils, in reading order."""
        return _of(self, "".join(KINDS))

    def reachable(self, seat: int) -> frozenset[Cell]:
        """Return the floor that a cook can come to, if others make way."""
        return _floor_from(self, self.starts[seat])

    def reaches(self, seat: int, station: Station) -> bool:
        """Return whether a cook can come to stand before a station."""
        return any(cell in self.reachable(seat) for cell in beside(station.cell))

    def shared(self, counter: Station) -> bool:
        """Return whether two cooks or more can use a counter."""
        return sum(self.reaches(seat, counter) for seat in range(len(self.starts))) > 1


@functools.lru_cache(maxsize=256)
def _by_cell(layout: KitchenLayout) -> dict[Cell, Station]:
    return {s.cell: s for s in layout.stations}


@functools.lru_cache(maxsize=256)
def _of(layout: KitchenLayout, letters: str) -> tuple[Station, ...]:
    return tuple(s for s in layout.stations if s.letter in letters)


@functools.lru_cache(maxsize=1024)
def _floor_from(layout: KitchenLayout, start: Cell) -> frozenset[Cell]:
    seen, queue = {start}, deque([start])
    while queue:
        for cell in beside(queue.popleft()):
            if cell not in seen and layout.is_floor(cell):
                seen.add(cell)
                queue.append(cell)
    return frozenset(seen)


def beside(cell: Cell) -> list[Cell]:
    """Return the four neighbours of a cell, some of them perhaps outside of the kitchen."""
    return [(cell[0] + dx, cell[1] + dy) for dx, dy in MOVES]


@functools.lru_cache(maxsize=256)
def parse(text: str) -> KitchenLayout:
    """Parse a kitchen.

    Raises:
        InterplayError: The text is no kitchen; the message names row and column.
    """
    check_size(text, "layout")
    rows = text.strip("\n").replace("\n", "/").split("/")
    if len(rows) < 3 or min(map(len, rows)) < 3:
        raise InterplayError(f"layout: {len(rows)} rows, the shortest of {min(map(len, rows))}; 3 by 3 is the least")
    for y, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise InterplayError(f"layout, row {y + 1}: {len(row)} cells, but row 1 has {len(rows[0])}")
    starts = _starts(rows)
    plain = tuple("".join(FLOOR if c.isdigit() else c for c in row) for row in rows)
    _closed(plain)
    layout = KitchenLayout("/".join(rows), plain, starts, _stations(plain))
    _complete(layout)
    return layout


def _starts(rows: list[str]) -> tuple[Cell, ...]:
    known, starts = {*PLACES, FLOOR, WALL}, {}
    for y, row in enumerate(rows):
        for x, letter in enumerate(row):
            if letter.isdigit():
                if letter in starts:
                    raise InterplayError(f"layout, row {y + 1}, column {x + 1}: cook {letter} starts in two places")
                starts[letter] = (x, y)
            elif letter not in known:
                raise InterplayError(
                    f"layout, row {y + 1}, column {x + 1}: {letter!r} means nothing; letters are "
                    f"{' '.join(PLACES)}, # for a wall, a space for floor, digits for cooks"
                )
    if not starts:
        raise InterplayError("layout: no cook; write 1, 2, ... where cooks start")
    if sorted(starts) != [str(n + 1) for n in range(len(starts))] or len(starts) > MAX_SEATS:
        raise InterplayError(
            f"layout: cooks {', '.join(sorted(starts))}; number them from 1 on without a gap, up to {MAX_SEATS}"
        )
    return tuple(starts[digit] for digit in sorted(starts))


def _closed(rows: tuple[str, ...]) -> None:
    for y, row in enumerate(rows):
        for x, letter in enumerate(row):
            edge = y in (0, len(rows) - 1) or x in (0, len(row) - 1)
            if edge and letter == FLOOR:
                raise InterplayError(f"layout, row {y + 1}, column {x + 1}: floor at the edge; close it with X or #")


def _stations(rows: tuple[str, ...]) -> tuple[Station, ...]:
    cells = [(letter, (x, y)) for y, row in enumerate(rows) for x, letter in enumerate(row) if letter in PLACES]
    total = {letter: sum(other == letter for other, _ in cells) for letter in PLACES}
    count: dict[str, int] = {}
    stations = []
    for letter, cell in cells:
        group = "utensil" if letter in KINDS else letter
        index = count[group] = count.get(group, -1) + 1
        number = sum(s.letter == letter for s in stations) + 1
        many = letter in KINDS and total[letter] > 1
        stations.append(Station(letter, cell, f"{PLACES[letter]}{number if many else ''}", index))
    return tuple(stations)


def _complete(layout: KitchenLayout) -> None:
    """Check that there are dispensers and a hatch; what a dish needs is checked by the game."""
    seats = range(len(layout.starts))
    for letter in "IS":
        here = [s for s in layout.stations if s.letter == letter]
        if not here:
            raise InterplayError(f"layout: no {PLACES[letter]} ({letter})")
        if not any(layout.reaches(seat, s) for seat in seats for s in here):
            raise InterplayError(f"layout: no cook can reach the {PLACES[letter]} ({letter})")
