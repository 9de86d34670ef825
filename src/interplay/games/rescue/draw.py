"""A house as text and as shapes; with a seat, only the victims that this seat knows of."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.games.rescue.encodings import KNOWN, SEEN, TREATED, UNSEEN, knowledge
from interplay.games.rescue.layouts import role_names
from interplay.games.rescue.rules import RescueRules
from interplay.games.rescue.state import DANGER, DOOR, KIT, NOBODY, ROLES, TOOLS, USES, WALL, WORK, RescueState
from interplay.games.scene import Scene, Shape

CELL = 32
ARROWS = "↑↓←→"
WAYS = ("up", "down", "left", "right")
_TERRAIN = {WALL: "#", DOOR: "+", DANGER: "!"}
_VICTIM = {SEEN: "?", KNOWN: "V", TREATED: "v"}
_COLOURS = {"nurse": "#2f7fd1", "firefighter": "#d1492f", "police": "#3b3f8f"}


def text(rules: RescueRules, state: RescueState, seat: int | None = None) -> str:
    """Return a map, one line per row, then all agents and victims in words.

    `0↑k` is seat 0 facing up with a kit; D debris, F fire, K kit, E extinguisher; V a victim the team knows of, ? one
    that it does not, v a treated one.
    """
    names = role_names(tuple((role, 0) for role in rules.roles))
    victims = _victims(rules, state, seat)
    lines = [f"time {int(state.time)} of {rules.horizon}"]
    grid = _grid(rules, state, victims)
    lines += [
        "".join(f"{grid[x * rules.height + y]:<4}" for x in range(rules.width)).rstrip() for y in range(rules.height)
    ]
    guards = np.asarray(state.guarding).tolist()
    for s, name in enumerate(names):
        where, way = divmod(int(state.cell[s]), rules.height), WAYS[int(state.facing[s])]
        guard = "".join(f", guarded by {names[g]}" for g, whom in enumerate(guards) if whom == s)
        lines.append(f"{s} {name} at {where} facing {way} holds {_tool(rules, state, int(state.held[s]))}{guard}")
    for v, (cell, status) in enumerate(victims):
        if status != UNSEEN:
            status_text = {SEEN: "not yet reported", KNOWN: "known", TREATED: "treated"}[status]
            share = round(100 * int(state.work[v]) / WORK)
            lines.append(f"victim at {divmod(cell, rules.height)}: {status_text}, treatment {share} %")
    return "\n".join(lines)


def _tool(rules: RescueRules, state: RescueState, tool: int) -> str:
    if tool == NOBODY:
        return "nothing"
    kind = rules.tool_kinds[tool]
    return f"a kit ({USES[int(state.tool_use[tool])]})" if kind == KIT else f"an {TOOLS[kind]}"


def _victims(rules: RescueRules, state: RescueState, seat: int | None) -> list[tuple[int, int]]:
    """Return (cell, what is known of it) of each victim."""
    cells = np.asarray(state.victim_cell).tolist()
    if seat is not None:
        known = np.asarray(knowledge(rules, state).victims[seat])
        return [(cell, int(known[cell])) for cell in cells]
    treated, reported = np.asarray(state.treated_by) >= 0, np.asarray(state.known)
    return [(c, TREATED if t else KNOWN if k else SEEN) for c, t, k in zip(cells, treated, reported)]


def _grid(rules: RescueRules, state: RescueState, victims: list[tuple[int, int]]) -> list[str]:
    grid = [_TERRAIN.get(int(kind), ".") for kind in np.asarray(state.terrain)]
    for cell in np.flatnonzero(np.asarray(state.debris)):
        grid[cell] = "D"
    for cell in np.flatnonzero(np.asarray(state.burning)):
        grid[cell] = "F"
    for tool, cell in enumerate(np.asarray(state.tool_cell).tolist()):
        if cell >= 0:
            grid[cell] = "KE"[rules.tool_kinds[tool]]
    for cell, status in victims:
        if status != UNSEEN:
            grid[cell] = _VICTIM[status]
    for seat, cell in enumerate(np.asarray(state.cell).tolist()):
        tool_in_hand = int(state.held[seat])
        grid[cell] = (
            f"{seat}{ARROWS[int(state.facing[seat])]}{'' if tool_in_hand < 0 else 'ke'[rules.tool_kinds[tool_in_hand]]}"
        )
    return grid


def scene(rules: RescueRules, state: RescueState, seat: int | None = None) -> Scene:
    """Return the house as shapes; with a seat, what that seat does not see is shaded."""
    height, terrain = rules.height, np.asarray(state.terrain)
    backdrop: list[Shape] = [("rect", 0, 0, rules.width * CELL, height * CELL, "#efe9dd", 0)]
    colours = {WALL: "#5b5750", DOOR: "#d8c9a8", DANGER: "#f3c6c0"}
    for cell, kind in enumerate(terrain.tolist()):
        if kind in colours:
            x, y = divmod(cell, height)
            backdrop.append(("rect", x * CELL, y * CELL, CELL, CELL, colours[kind], 0))
    shapes: list[Shape] = []
    for cell in np.flatnonzero(np.asarray(state.debris)):
        shapes += _debris(*_corner(cell, height))
    for cell in np.flatnonzero(np.asarray(state.burning)):
        shapes += _fire(*_corner(cell, height))
    for tool, cell in enumerate(np.asarray(state.tool_cell).tolist()):
        if cell >= 0:
            shapes += _tool_shapes(rules.tool_kinds[tool], *_corner(cell, height), 1.0)
    for v, (cell, status) in enumerate(_victims(rules, state, seat)):
        if status != UNSEEN:
            shapes += _victim(status, int(state.work[v]) / WORK, *_corner(cell, height))
    guarded = {g for g in np.asarray(state.guarding).tolist() if g >= 0}
    for s, cell in enumerate(np.asarray(state.cell).tolist()):
        shapes += _agent(rules, state, s, s in guarded, s == seat, *_corner(cell, height))
    if seat is not None:
        sees = np.asarray(knowledge(rules, state).sight[seat])
        dark = np.flatnonzero(~sees & (terrain != WALL))
        shapes += [("rect", *_corner(cell, height), CELL, CELL, "#00000022", 0) for cell in dark]
    return Scene(rules.width * CELL, height * CELL, tuple(backdrop), tuple(shapes))


def _corner(cell: Any, height: int) -> tuple[float, float]:
    x, y = divmod(int(cell), height)
    return x * CELL, y * CELL


def _debris(x: float, y: float) -> list[Shape]:
    stones = ((4, 18, 12), (14, 12, 12), (17, 21, 9))
    return [("rect", x + dx, y + dy, side, side * 0.75, "#8a7d6b", 2) for dx, dy, side in stones]


def _fire(x: float, y: float) -> list[Shape]:
    outer = ((x + 16, y + 3), (x + 27, y + 20), (x + 22, y + 29), (x + 10, y + 29), (x + 5, y + 20))
    inner = ((x + 16, y + 13), (x + 22, y + 23), (x + 19, y + 28), (x + 13, y + 28), (x + 10, y + 23))
    return [("poly", outer, "#e8622c"), ("poly", inner, "#f7c948")]


def _tool_shapes(kind: int, x: float, y: float, size: float) -> list[Shape]:
    if kind == KIT:
        return [
            ("rect", x + 6 * size, y + 9 * size, 20 * size, 15 * size, "#ffffff", 3),
            ("rect", x + 14 * size, y + 11 * size, 4 * size, 11 * size, "#cc2b2b", 0),
            ("rect", x + 10.5 * size, y + 14.5 * size, 11 * size, 4 * size, "#cc2b2b", 0),
        ]
    return [
        ("rect", x + 11 * size, y + 9 * size, 10 * size, 19 * size, "#c22", 4),
        ("line", x + 16 * size, y + 8 * size, x + 24 * size, y + 5 * size, "#333333", 2 * size),
    ]


def _victim(status: int, done: float, x: float, y: float) -> list[Shape]:
    body = {SEEN: "#b9b4ab", KNOWN: "#e3a13a", TREATED: "#4aa564"}[status]
    shapes: list[Shape] = [
        ("circle", x + 9, y + 16, 5, "#e8c39e"),
        ("rect", x + 13, y + 11, 15, 10, body, 4),
    ]
    if 0 < done < 1:
        shapes += [("rect", x + 3, y + 26, 26, 3, "#ffffff", 1), ("rect", x + 3, y + 26, 26 * done, 3, "#4aa564", 1)]
    return shapes


def _agent(
    rules: RescueRules, state: RescueState, seat: int, guarded: bool, own: bool, x: float, y: float
) -> list[Shape]:
    dx, dy = ((0, -1), (0, 1), (-1, 0), (1, 0))[int(state.facing[seat])]
    shapes: list[Shape] = []
    if guarded:
        shapes.append(("circle", x + 16, y + 16, 15, "#3b3f8f55"))
    if own:
        shapes.append(("circle", x + 16, y + 16, 14, "#ffffff"))
    shapes += [
        ("circle", x + 16, y + 16, 12, _COLOURS[ROLES[rules.roles[seat]]]),
        ("circle", x + 16 + 9 * dx, y + 16 + 9 * dy, 3, "#ffffff"),
        ("text", x + 16, y + 16, str(seat), 11, "#ffffff", "middle"),
    ]
    tool = int(state.held[seat])
    if tool >= 0:
        shapes += _tool_shapes(rules.tool_kinds[tool], x + 17, y + 17, 0.45)
    return shapes
