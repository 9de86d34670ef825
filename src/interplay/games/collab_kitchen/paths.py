"""Shortest walks to stand before a station, around the other cooks or ignoring them."""

from __future__ import annotations

import functools
from collections import deque

from interplay.games.collab_kitchen.layouts import Cell, KitchenLayout, beside
from interplay.games.collab_kitchen.state import MOVES, RIGHT, STAY, UP, Cook, KitchenState

FAR = 10_000


def _ahead(layout: KitchenLayout, cook: Cook, action: int, blocked: frozenset[Cell]) -> Cook:
    dx, dy = MOVES[action - UP]
    cell = (cook.x + dx, cook.y + dy)
    if layout.is_floor(cell) and cell not in blocked:
        return Cook(*cell, action - UP)
    return Cook(cook.x, cook.y, action - UP)


def _faces(cook: Cook, target: Cell) -> bool:
    dx, dy = MOVES[cook.facing]
    return (cook.x + dx, cook.y + dy) == target


@functools.lru_cache(maxsize=65536)
def way(
    layout: KitchenLayout, cook: Cook, target: Cell, blocked: frozenset[Cell] = frozenset()
) -> tuple[int, ...] | None:
    """Return the fewest moves after which the cook faces the target; None if there is no way."""
    if _faces(cook, target):
        return ()
    seen: dict[Cook, tuple[Cook, int] | None] = {cook: None}
    queue = deque([cook])
    while queue:
        here = queue.popleft()
        for action in range(UP, RIGHT + 1):
            there = _ahead(layout, here, action, blocked)
            if there in seen:
                continue
            seen[there] = (here, action)
            if _faces(there, target):
                return _walked(seen, there)
            queue.append(there)
    return None


def _walked(seen: dict[Cook, tuple[Cook, int] | None], end: Cook) -> tuple[int, ...]:
    actions, step = [], seen[end]
    while step is not None:
        actions.append(step[1])
        step = seen[step[0]]
    return tuple(actions[::-1])


def others(state: KitchenState, seat: int) -> frozenset[Cell]:
    """Return the cells where the other cooks stand."""
    return frozenset((c.x, c.y) for s, c in enumerate(state.cooks) if s != seat)


def distance(layout: KitchenLayout, state: KitchenState, seat: int, target: Cell) -> int:
    """Return the moves to face a target around the others as they stand.

    Ways that somebody blocks count as longer than all others.
    """
    path = way(layout, state.cooks[seat], target, others(state, seat))
    if path is not None:
        return len(path)
    path = way(layout, state.cooks[seat], target)
    return FAR if path is None else FAR // 2 + len(path)


def towards(layout: KitchenLayout, state: KitchenState, seat: int, target: Cell) -> int | None:
    """Return the next move on the way to face a target; None once it is faced. Whoever is blocked keeps pushing.

    Two who block each other would do so for ever, so the one of the higher seat gives way every third step.
    """
    cook, blocked = state.cooks[seat], others(state, seat)
    path = way(layout, cook, target, blocked)
    if path is None:
        path = way(layout, cook, target)
        if path is None:
            return STAY
    if not path:
        return None
    there = _ahead(layout, cook, path[0], frozenset())
    cell = (there.x, there.y)
    moves = cell != (cook.x, cook.y)
    if moves and state.time % 3 == 2:
        rivals = state.cooks[:seat]
        if any((c.x, c.y) == cell for c in rivals):
            return _aside(layout, cook, blocked)
        if any(_faces(c, cell) for c in rivals):
            return STAY
    return path[0]


def make_way(layout: KitchenLayout, state: KitchenState, seat: int) -> int:
    """Return the action of a cook who only waits: stay, or step aside from another who faces it."""
    cook = state.cooks[seat]
    pushed = any(s != seat and _faces(c, (cook.x, cook.y)) for s, c in enumerate(state.cooks))
    return _aside(layout, cook, others(state, seat)) if pushed else STAY


def _aside(layout: KitchenLayout, cook: Cook, blocked: frozenset[Cell]) -> int:
    for action, cell in enumerate(beside((cook.x, cook.y)), UP):
        if layout.is_floor(cell) and cell not in blocked:
            return action
    return STAY
