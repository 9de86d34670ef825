"""Counterbalanced designs: every design has a list of sequences that are assigned evenly."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from interplay.study.protocol.model import Protocol, Repeat, StudyDesign

Cell = Mapping[str, str]


class Place(NamedTuple):
    """One use of a design: its key, with the turns of the repeats around it, and the design's name."""

    key: str
    design: str


def williams(size: int) -> list[list[int]]:
    """Return the rows of a Williams design: balanced for position and for first-order carry-over.

    There are `size` rows if that is even, twice as many if it is odd.
    """
    first = [0]
    low, high = 1, size - 1
    while low <= high:
        first.append(low)
        low += 1
        if low <= high:
            first.append(high)
            high -= 1
    rows = [[(cell + shift) % size for cell in first] for shift in range(size)]
    return rows if size % 2 == 0 else rows + [row[::-1] for row in rows]


def count(design: StudyDesign) -> int | None:
    """Return how many sequences a design has; None if each participant's is drawn, or if there is only one."""
    size = len(design.cells)
    if design.draw is not None:
        return math.perm(size, design.draw)
    if design.order == "latin" and size > 1:
        return size if size % 2 == 0 else 2 * size
    return None


def sequence(design: StudyDesign, number: int | None, chance: random.Random) -> list[Cell]:
    """Return the cells of a design in the order of a sequence.

    Args:
        design: The design.
        number: The number of the sequence; None if it is drawn.
        chance: Draws the order of a shuffled design.
    """
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
    """Return the arrangement with this number among those of `draw` out of `size`."""
    left, chosen = list(range(size)), []
    for place in range(draw):
        number, at = divmod(number, size - place)
        chosen.append(left.pop(at))
    return chosen


def places(protocol: Protocol) -> list[Place]:
    """Return all uses of designs, in the order of the flow; within a repeat a design has a sequence for every turn."""
    uses: list[Place] = []
    _walk(protocol, protocol.flow, "", uses)
    return uses


def turns(protocol: Protocol, repeat: Repeat) -> int:
    """Return how often the pages of a repeat are shown."""
    if repeat.over is None:
        return repeat.times or 0
    design = protocol.designs[repeat.over]
    return design.draw if design.draw is not None else len(design.cells)


def _walk(protocol: Protocol, items: Sequence[object], outer: str, uses: list[Place]) -> None:
    for item in items:
        if isinstance(item, Repeat):
            if item.over is not None:
                uses.append(Place(f"{outer}{item.id}", item.over))
            for turn in range(turns(protocol, item)):
                _walk(protocol, item.pages, f"{outer}{item.id}.{turn + 1}.", uses)


def least_used(used: Mapping[int, int], size: int, chance: random.Random) -> int:
    """Draw one of the sequences that were assigned least often.

    Args:
        used: How often each sequence was assigned; those left out never were.
        size: How many sequences there are.
        chance: Draws among them.
    """
    # A design may have far more sequences than are ever used: draw until an unused one comes.
    if size > 10 * (len(used) + 10):
        while (drawn := chance.randrange(size)) in used:
            pass
        return drawn
    least = min(used.get(number, 0) for number in range(size))
    return chance.choice([number for number in range(size) if used.get(number, 0) == least])
