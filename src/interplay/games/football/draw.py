"""The pitch as text and as shapes; every seat sees all of it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from interplay.games.football.pitch import (
    DIRECTION_NAMES,
    GOAL_Y,
    NOBODY,
    OURS,
    SEAT_NAMES,
    SIDE_Y,
    THEIRS,
    Pitch,
)
from interplay.games.scene import SEAT_COLOURS, Scene, Shape

LEFT_EDGE = 0.4  # what lies farther from the goal is drawn at the edge
UNIT = 700.0  # units of a drawing in a length of the pitch
MARGIN = 24.0
OPPONENT, GRASS, LINE = "#c0392b", "#4f9d5d", "#e8f3ea"


def text(pitch: Pitch, horizon: int, seat: int | None = None) -> str:
    """Return who is where, who has the ball, and what each seat keeps pressed."""
    lines = [f"time {int(pitch.time)} of {horizon}, score {int(pitch.score[0])} : {int(pitch.score[1])}"]
    lines.append("x grows towards the attacked goal at (1.00, 0.00), y towards the bottom; the goal is 0.09 wide")
    x, y, height = (float(v) for v in pitch.ball)
    lines.append(f"ball at ({x:.2f}, {y:.2f}), height {height:.1f}: {_owner(pitch)}")
    for s, name in enumerate(SEAT_NAMES):
        own = " (you)" if s == seat else ""
        lines.append(f"{s} {name}{own} at {_place(pitch.left[s + 1])}, presses {_pressed(pitch.sticky[s])}")
    lines += [f"their keeper at {_place(pitch.right[0])}", f"their defender at {_place(pitch.right[1])}"]
    return "\n".join(lines)


def _owner(pitch: Pitch) -> str:
    team, player = int(pitch.owner_team), int(pitch.owner_player)
    if team == NOBODY:
        return "nobody has it"
    if team == THEIRS:
        return f"their {'keeper' if player == 0 else 'defender'} has it"
    return "our keeper has it" if player == 0 else f"{SEAT_NAMES[player - 1]} has it"


def _place(place: Any) -> str:
    return f"({float(place[0]):.2f}, {float(place[1]):.2f})"


def _pressed(sticky: Any) -> str:
    names = (*DIRECTION_NAMES, "sprint", "dribble")
    return " and ".join(n for n, on in zip(names, np.asarray(sticky), strict=True) if on) or "nothing"


def scene(pitch: Pitch, horizon: int, seat: int | None = None) -> Scene:
    """Return the attacked half with goal, boxes, players and ball; a seat's own player has a white ring."""
    width, height = 2 * MARGIN + (1 - LEFT_EDGE) * UNIT + 24, 2 * MARGIN + 2 * SIDE_Y * UNIT
    shapes: list[Shape] = []
    for number, place in enumerate(np.asarray(pitch.right, float)):
        shapes += _player(place, np.asarray(pitch.right_direction, float)[number], OPPONENT, "KD"[number])
    for s in range(len(SEAT_NAMES)):
        place, way = (np.asarray(x, float)[s + 1] for x in (pitch.left, pitch.left_direction))
        if s == seat:
            shapes.append(("circle", *_at(place), 13.5, "#ffffff"))
        if int(pitch.owner_team) == OURS and int(pitch.owner_player) == s + 1:
            shapes.append(("circle", *_at(place), 15.0, "#ffe066aa"))
        shapes += _player(place, way, SEAT_COLOURS[s], str(s))
    shapes += _ball(np.asarray(pitch.ball, float))
    status = f"step {int(pitch.time)} of {horizon}   {int(pitch.score[0])} : {int(pitch.score[1])}"
    shapes.append(("text", MARGIN, MARGIN / 2, status, 12, "#ffffff", "start"))
    return Scene(width, height, tuple(_backdrop(width, height)), tuple(shapes))


def _at(place: np.ndarray) -> tuple[float, float]:
    x = max(float(place[0]), LEFT_EDGE)
    return round(MARGIN + (x - LEFT_EDGE) * UNIT, 1), round(MARGIN + (float(place[1]) + SIDE_Y) * UNIT, 1)


def _player(place: np.ndarray, way: np.ndarray, colour: str, label: str) -> list[Shape]:
    x, y = _at(place)
    shapes: list[Shape] = [("circle", x, y, 11.0, colour), ("text", x, y, label, 11, "#ffffff", "middle")]
    speed = math.hypot(*way)
    if speed > 1e-4:
        dx, dy = way / speed
        shapes.insert(0, ("line", x, y, round(x + 18 * dx, 1), round(y + 18 * dy, 1), colour, 4))
    return shapes


def _ball(ball: np.ndarray) -> list[Shape]:
    x, y = _at(ball[:2])
    lift = min(float(ball[2]), 3.0)
    return [
        ("circle", x + 3 * lift, y + 3 * lift, 4.5, "#00000055"),  # its shadow lies farther off the higher it is
        ("circle", x, y, 5.0 + lift, "#ffffff"),
        ("circle", x, y, 2.0, "#333333"),
    ]


def _backdrop(width: float, height: float) -> list[Shape]:
    shapes: list[Shape] = [("rect", 0, 0, width, height, GRASS, 0)]
    stripe = (1 - LEFT_EDGE) * UNIT / 6
    shapes += [("rect", MARGIN + i * stripe, 0, stripe, height, "#489356", 0) for i in (1, 3, 5)]
    (left, top), (right, bottom) = _at(np.array([LEFT_EDGE, -SIDE_Y])), _at(np.array([1.0, SIDE_Y]))
    corners = [((left, top), (right, top)), ((right, top), (right, bottom)), ((right, bottom), (left, bottom))]
    for depth, half in ((0.31, 0.27), (0.105, 0.12)):  # penalty area and goal area
        (x, y0), (_, y1) = _at(np.array([1 - depth, -half])), _at(np.array([1 - depth, half]))
        corners += [((right, y0), (x, y0)), ((x, y0), (x, y1)), ((x, y1), (right, y1))]
    shapes += [("line", *a, *b, LINE, 2) for a, b in corners]
    spot, (_, post) = _at(np.array([0.79, 0.0])), _at(np.array([1.0, -GOAL_Y]))
    shapes += [("circle", *spot, 3, LINE), ("rect", right, post, 16, 2 * GOAL_Y * UNIT, "#f4f6f8", 2)]
    return shapes
