"""Houses as text: one letter a cell, one row a line (or rows split by '/').

    # wall    . floor    + door    ! danger zone    D debris    F fire    K kit    E extinguisher
    V victim    ? a place where a victim may lie    n f p  where a nurse, a firefighter, a police officer starts

Rooms are what walls and doors enclose; debris between two walls stands in a doorway.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from interplay.errors import InterplayError
from interplay.games.rescue.state import DANGER, DOOR, EXTINGUISHER, FLOOR, KIT, MOVES, ROLES, WALL
from interplay.games.text_maps import position, split_rows

LETTERS = "#.+!DFKEV?nfp"
MIN_SEATS, MAX_SEATS = 2, 5
STARTS = {"n": 0, "f": 1, "p": 2}

HOUSES = {
    # A nurse and a firefighter; victims of unknown place in three rooms, one of which burns.
    "cottage": (
        "###########/#K..#....?#/#.n.+..F..#/#..f#?....#/##+###+####/#....#....#/#.E..+..?.#/#?...#...?#/###########"
    ),
    # Every victim is behind debris: the nurse can do nothing alone.
    "rubble": "#########/#n.D..?.#/#K.#...?#/#..####D#/#f.D....#/#E.#.?..#/#########",
    # A hallway with rooms on both sides, fires, debris, a danger zone, and a team of three roles.
    "hallway": (
        "#############/#?..#..F#?..#/#...#.?.#...#/#...#...#.F.#/##+###+###+##/#n.f...p....#/##+###D###+##/"
        "#K..#...#!!!#/#..E#.?.#!!!#/#...#..?#!!?#/#############"
    ),
}


@dataclass(frozen=True, eq=False)
class House:
    """A house as drawn. Arrays over cells are in cell order (x * height + y)."""

    width: int
    height: int
    terrain: np.ndarray  # [cell]
    debris: np.ndarray  # [cell] bool
    burning: np.ndarray  # [cell] bool
    victims: tuple[int, ...]  # cells where a victim lies
    places: tuple[int, ...]  # cells where one may lie
    tools: tuple[tuple[int, int], ...]  # (kind, cell)
    starts: tuple[tuple[int, int], ...]  # (role, cell) by seat, in reading order
    text: str

    @property
    def size(self) -> int:
        """The number of cells."""
        return self.width * self.height

    def xy(self, cell: int) -> tuple[int, int]:
        """Return a cell's (x, y)."""
        return divmod(cell, self.height)


def parse(text: str, name: str = "house") -> House:
    """Parse a house.

    Raises:
        InterplayError: The text is no house; the message says which row and column, counted from 1, and why.
    """
    rows = split_rows(text.strip("\n"), name, "house")
    width, height = len(rows[0]), len(rows)
    terrain = np.full(width * height, FLOOR, np.int32)
    cells: dict[str, list[int]] = {letter: [] for letter in LETTERS}
    in_order: list[tuple[str, int]] = []
    for y, row in enumerate(rows):
        for x, letter in enumerate(row.replace(" ", ".")):
            if letter not in LETTERS:
                raise InterplayError(
                    f"{name}: {position(x, y)}: unknown letter {letter!r}; use # wall, . floor, + door, ! danger, "
                    f"D debris, F fire, K kit, E extinguisher, V victim, ? possible victim, n f p starts"
                )
            if letter not in "#" and (x in (0, width - 1) or y in (0, height - 1)):
                raise InterplayError(f"{name}: {position(x, y)}: {letter!r} at the edge; a house is walled by #")
            cells[letter].append(x * height + y)
            in_order.append((letter, x * height + y))
    for letter, kind in (("#", WALL), ("+", DOOR), ("!", DANGER)):
        terrain[cells[letter]] = kind
    debris, burning = np.zeros(width * height, bool), np.zeros(width * height, bool)
    debris[cells["D"]], burning[cells["F"]] = True, True
    terrain[[c for c in cells["D"] if _between_walls(terrain, c, height)]] = DOOR
    house = House(
        width,
        height,
        terrain,
        debris,
        burning,
        tuple(cells["V"]),
        tuple(cells["?"]),
        tuple((KIT if letter == "K" else EXTINGUISHER, c) for letter, c in in_order if letter in "KE"),
        tuple((STARTS[letter], c) for letter, c in in_order if letter in STARTS),
        "/".join(rows),
    )
    _check(house, name)
    return house


def _between_walls(terrain: np.ndarray, cell: int, height: int) -> bool:
    wall = terrain == WALL
    return bool((wall[cell - 1] and wall[cell + 1]) or (wall[cell - height] and wall[cell + height]))


def _check(house: House, name: str) -> None:
    if not MIN_SEATS <= len(house.starts) <= MAX_SEATS:
        raise InterplayError(
            f"{name}: {len(house.starts)} agents start here; draw {MIN_SEATS} to {MAX_SEATS} of n, f and p"
        )
    if not house.victims and not house.places:
        raise InterplayError(f"{name}: there is no victim (V) and no place for one (?), so nobody can be rescued")
    roles = {role for role, _ in house.starts}
    if STARTS["n"] not in roles:
        raise InterplayError(f"{name}: no nurse (n) starts anywhere, and only nurses treat victims")
    fixed = {*house.victims, *house.places}
    passable = (house.terrain != WALL) & ~np.isin(np.arange(house.size), list(fixed))
    if STARTS["f"] not in roles:
        passable &= ~house.debris & ~house.burning
    nurses = [cell for role, cell in house.starts if role == STARTS["n"]]
    reached = flood(passable, nurses, house.height)
    for cell in sorted(fixed):
        if not any(reached[c] for c in neighbours(cell, house.height)):
            x, y = house.xy(cell)
            lacking = "" if STARTS["f"] in roles else " (debris and fires block, and there is no firefighter)"
            raise InterplayError(
                f"{name}: {position(x, y)}: no nurse can come beside the victim that lies or may lie here{lacking}; "
                f"whatever lies in a cell blocks the way"
            )


def neighbours(cell: int, height: int) -> list[int]:
    """Return the four cells beside an inner cell."""
    return [cell + dx * height + dy for dx, dy in MOVES]


def flood(passable: np.ndarray, sources: list[int], height: int) -> np.ndarray:
    """Return [cell] bool: where one can walk to from the sources."""
    seen, queue = np.zeros(len(passable), bool), deque(sources)
    seen[sources] = True
    while queue:
        for near in neighbours(queue.popleft(), height):
            if passable[near] and not seen[near]:
                seen[near] = True
                queue.append(near)
    return seen


def rooms(terrain: np.ndarray, height: int) -> np.ndarray:
    """Return [cell] the number of each cell's room; -1 in walls and doorways."""
    inside = (terrain == FLOOR) | (terrain == DANGER)
    room, number = np.full(len(terrain), -1, np.int32), 0
    for cell in range(len(terrain)):
        if inside[cell] and room[cell] < 0:
            room[flood(inside, [cell], height)] = number
            number += 1
    return room


def role_names(starts: tuple[tuple[int, int], ...]) -> tuple[str, ...]:
    """Return `nurse 1`, `firefighter 1`, `nurse 2`, ... by seat."""
    seen = [0] * len(ROLES)
    names = []
    for role, _ in starts:
        seen[role] += 1
        names.append(f"{ROLES[role]} {seen[role]}")
    return tuple(names)
