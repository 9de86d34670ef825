"""Poses of cooks as tables: joint moves of one or two cooks, and all distances.

A pose is a cell and a facing. Cooks who do not act stand where they are, in the way.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int

from interplay.games.collab_kitchen.layouts import Cell, KitchenLayout, beside
from interplay.games.collab_kitchen.state import MOVES, Cook

FAR = 10_000  # steps: no way
_STEPS = (None, *MOVES)  # stay, then the four moves


class Poses(NamedTuple):
    """The poses of one cook."""

    seat: int
    cooks: tuple[Cook, ...]
    index: dict[Cook, int]
    faces: Int[np.ndarray, " pose"]  # the station in front, or -1
    steps: Int[np.ndarray, "pose station"]  # moves to face a station with nobody in the way

    @property
    def count(self) -> int:
        """The number of poses."""
        return len(self.cooks)


def poses(layout: KitchenLayout, seat: int, start: Cook, blocked: frozenset[Cell]) -> Poses:
    """Return all poses that a cook can come to."""
    cells = _reached(layout, (start.x, start.y), blocked)
    cooks = tuple(Cook(*cell, way) for cell in cells for way in range(4))
    index = {cook: k for k, cook in enumerate(cooks)}
    stations = {s.cell: k for k, s in enumerate(layout.stations)}
    ahead = [(c.x + MOVES[c.facing][0], c.y + MOVES[c.facing][1]) for c in cooks]
    faces = np.array([stations.get(cell, -1) for cell in ahead], np.int32)
    steps = np.full((len(cooks), len(layout.stations)), FAR, np.int32)
    for station in range(len(layout.stations)):
        steps[:, station] = _moves_to(layout, cooks, index, faces == station, set(cells))
    return Poses(seat, cooks, index, faces, steps)


def _reached(layout: KitchenLayout, start: Cell, blocked: frozenset[Cell]) -> list[Cell]:
    seen, queue = {start}, [start]
    for here in queue:
        for cell in beside(here):
            if cell not in seen and cell not in blocked and layout.is_floor(cell):
                seen.add(cell)
                queue.append(cell)
    return sorted(seen)


def _moves_to(layout: KitchenLayout, cooks, index, goal: Bool[np.ndarray, " pose"], cells: set[Cell]) -> np.ndarray:
    """Return the moves from every pose to the nearest goal pose, breadth first from the goals backwards."""
    before: dict[int, list[int]] = {}
    for k, cook in enumerate(cooks):
        for way, (dx, dy) in enumerate(MOVES):
            cell = (cook.x + dx, cook.y + dy)
            there = Cook(*(cell if cell in cells else (cook.x, cook.y)), way)
            before.setdefault(index[there], []).append(k)
    steps = np.where(goal, 0, FAR).astype(np.int32)
    queue = [int(k) for k in np.flatnonzero(goal)]
    for here in queue:
        for k in before.get(here, ()):
            if steps[k] == FAR:
                steps[k] = steps[here] + 1
                queue.append(k)
    return steps


class Floor(NamedTuple):
    """One or two acting cooks; a joint pose is first * second.count + second."""

    first: Poses
    second: Poses  # of a cook alone: whoever stands by, or nobody, with a single pose
    after: Int[np.ndarray, "joint move"]  # the joint pose after each joint move
    alone: bool

    @property
    def moves(self) -> int:
        """Moves of the second cook: joint move = first's * this + second's."""
        return 1 if self.alone else len(_STEPS)


def floor_of(layout: KitchenLayout, cooks: tuple[Cook, ...], active: tuple[int, ...]) -> Floor:
    """Compute the tables for the active seats (one or two), the others standing where they are."""
    still = frozenset((c.x, c.y) for s, c in enumerate(cooks) if s not in active)
    first = poses(layout, active[0], cooks[active[0]], still)
    if len(active) == 1:
        nobody = Cook(-1, -1, 0)
        second = Poses(-1, (nobody,), {nobody: 0}, np.array([-1], np.int32), np.full_like(first.steps[:1], FAR))
    else:
        second = poses(layout, active[1], cooks[active[1]], still)
    return Floor(first, second, _joint_moves(first, second, len(active) == 1), len(active) == 1)


def _joint_moves(first: Poses, second: Poses, alone: bool) -> np.ndarray:
    """Compute `rules.walk` for all joint poses at once."""
    (here_a, want_a, way_a), (here_b, want_b, way_b) = _wishes(first), _wishes(second)
    if alone:
        want_b, way_b = want_b[:, :1], way_b[:, :1]
    shape = (first.count, second.count, want_a.shape[1], want_b.shape[1])
    wa, wb = (np.broadcast_to(w, shape).copy() for w in (want_a[:, None, :, None], want_b[None, :, None, :]))
    ha, hb = here_a[:, None, None, None], here_b[None, :, None, None]
    for _ in range(3):  # who is held up may hold up the other in turn
        clash = (wa == wb) | ((wa == hb) & (wb == ha))
        stuck_a, stuck_b = clash & (wa != ha), clash & (wb != hb)
        wa, wb = np.where(stuck_a, ha, wa), np.where(stuck_b, hb, wb)
    next_a = _look_up(first)[wa, np.broadcast_to(way_a[:, None, :, None], shape)]
    next_b = _look_up(second)[wb, np.broadcast_to(way_b[None, :, None, :], shape)]
    return (next_a * second.count + next_b).reshape(first.count * second.count, -1).astype(np.int32)


def _code(x: int, y: int) -> int:
    return (y + 1) * 64 + x + 1


def _wishes(of: Poses) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the cell of each pose, the cell that each move aims at, and the facing after it."""
    cells = {(c.x, c.y) for c in of.cooks}
    here = np.array([_code(c.x, c.y) for c in of.cooks])
    want, way = np.zeros((of.count, len(_STEPS)), int), np.zeros((of.count, len(_STEPS)), int)
    for (k, cook), (m, step) in product(enumerate(of.cooks), enumerate(_STEPS)):
        cell = (cook.x, cook.y) if step is None else (cook.x + step[0], cook.y + step[1])
        want[k, m] = _code(*cell) if cell in cells else here[k]
        way[k, m] = cook.facing if step is None else m - 1
    return here, want, way


def _look_up(of: Poses) -> np.ndarray:
    table = np.zeros((64 * 64, 4), np.int32)
    for cook, k in of.index.items():
        table[_code(cook.x, cook.y), cook.facing] = k
    return table
