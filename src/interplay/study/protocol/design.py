"""Orders and choices, counterbalanced: every design has a list of sequences that are handed out evenly."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from interplay.study.protocol.model import Protocol, Repeat, StudyDesign

Cell = Mapping[str, str]


class Place(NamedTuple):
    """One use of a design: its name, and which turn of the repeats around it."""

    key: str
    design: str


def williams(size: int) -> list[list[int]]:
    """Orders in which every cell stands in every place equally often and follows every other equally often:
    `size` rows where that is even, twice as many where it is odd."""
    first = [0]
    low, high = 1, size - 1
    while low <= high:
        first.append(low)
        low += 1
        if low <= high:
            first.append(high)
            high -= 1
    rows = [[(one + shift) % size for one in first] for shift in range(size)]
    return rows if size % 2 == 0 else rows + [row[::-1] for row in rows]


def count(design: StudyDesign) -> int | None:
    """How many sequences there are to hand out; None where each person's is drawn or there is but one."""
    size = len(design.cells)
    if design.draw is not None:
        return math.perm(size, design.draw)
    if design.order == "latin" and size > 1:
        return size if size % 2 == 0 else 2 * size
    return None


def sequence(design: StudyDesign, number: int | None, chance: random.Random) -> list[Cell]:
    """The cells in the order of a sequence."""
    cells: list[Cell] = list(design.cells)
    if design.draw is not None:
        assert number is not None
        return [cells[at] for at in _arrangement(len(cells), design.draw, number)]
    if design.order == "latin" and number is not None:
        return [cells[at] for at in williams(len(cells))[number]]
    if design.order == "shuffle":
        chance.shuffle(cells)
    return cells


def _arrangement(size: int, draw: int, number: int) -> list[int]:
    """The arrangement with this number among those of `draw` out of `size`."""
    left, found = list(range(size)), []
    for place in range(draw):
        number, at = divmod(number, size - place)
        found.append(left.pop(at))
    return found


def places(protocol: Protocol) -> list[Place]:
    """All uses of designs, in the order of the flow. Within a repeat, a design has a sequence for every turn."""
    found: list[Place] = []
    _walk(protocol, protocol.flow, "", found)
    return found


def turns(protocol: Protocol, repeat: Repeat) -> int:
    if repeat.over is None:
        return repeat.times or 0
    design = protocol.designs[repeat.over]
    return design.draw if design.draw is not None else len(design.cells)


def _walk(protocol: Protocol, items: Sequence[object], outer: str, found: list[Place]) -> None:
    for item in items:
        if isinstance(item, Repeat):
            if item.over is not None:
                found.append(Place(f"{outer}{item.id}", item.over))
            for turn in range(turns(protocol, item)):
                _walk(protocol, item.pages, f"{outer}{item.id}.{turn + 1}.", found)


def least_used(used: Mapping[int, int], size: int, chance: random.Random) -> int:
    """A sequence that was handed out least often; which of them, chance decides."""
    # A design may have more sequences than anyone will use: looking at all of them is not needed to find a free one.
    if size > 10 * (len(used) + 10):
        while (found := chance.randrange(size)) in used:
            pass
        return found
    least = min(used.get(number, 0) for number in range(size))
    return chance.choice([number for number in range(size) if used.get(number, 0) == least])
