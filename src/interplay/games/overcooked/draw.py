"""An Overcooked kitchen as text and as shapes: pure functions of the layout's rows and a state.

Chefs are called by their seat's name: chef 1 sits in seat 0. The number is on the hat.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from interplay.games.overcooked import sprites
from interplay.games.overcooked.state import OvercookedItem, OvercookedState, is_soup, onions_in, tomatoes_in
from interplay.games.scene import Scene, Shape

CELL = sprites.CELL
FACING_NAMES = ("north", "south", "east", "west")
ARROWS = "↑↓→←"
_LETTERS = {OvercookedItem.NOTHING: "", OvercookedItem.ONION: "o", OvercookedItem.TOMATO: "t", OvercookedItem.DISH: "d"}
_NAMES = {
    OvercookedItem.NOTHING: "nothing",
    OvercookedItem.ONION: "an onion",
    OvercookedItem.TOMATO: "a tomato",
    OvercookedItem.DISH: "a dish",
}


def text(rows: Sequence[str], state: OvercookedState) -> str:
    """Return a map with one line per row of the kitchen, then what is held, cooked and lying about.

    In the map `1↑o` is chef 1 facing north with an onion; `Poo` a pot with two onions; `Xd` a dish on a counter.
    Letters: o onion, t tomato, d dish, s soup.
    """
    height = len(rows)
    cells, facing, hands, items, timer = _plain(state)
    chefs = {cell: f"{seat + 1}{ARROWS[facing[seat]]}{_letter(hands[seat])}" for seat, cell in enumerate(cells)}
    lines = [f"time {int(state.time)}"]
    for y, row in enumerate(rows):
        line = (chefs.get(x * height + y) or _cell(tile, items[x * height + y]) for x, tile in enumerate(row))
        lines.append("".join(f"{word:<5}" for word in line).rstrip())
    for seat, cell in enumerate(cells):
        where, look = divmod(cell, height), FACING_NAMES[facing[seat]]
        lines.append(f"chef {seat + 1} at {where} facing {look} holds {name(hands[seat])}")
    for cell, item in enumerate(items):
        x, y = divmod(cell, height)
        if rows[y][x] == "P":
            lines.append(f"pot at {(x, y)}: {_pot_words(item, timer[cell])}")
        elif item:
            lines.append(f"counter at {(x, y)}: {name(item)}")
    return "\n".join(lines)


def scene(rows: Sequence[str], state: OvercookedState, seat: int | None = None, cook_time: int = 20) -> Scene:
    """Return the kitchen as shapes. Everybody sees all of it; `seat` only rings that seat's chef.

    `cook_time` is how long a soup cooks, the length of the progress bar.
    """
    rows, height = tuple(rows), len(rows)
    cells, facing, hands, items, timer = _plain(state)
    shapes: list[Shape] = []
    for cell, item in enumerate(items):
        if item:
            x, y = divmod(cell, height)
            in_pot = rows[y][x] == "P"
            sprite = sprites.pot_contents(item, timer[cell], cook_time) if in_pot else sprites.item(item)
            shapes.append(("group", x * CELL, y * CELL, sprite))
    # Chefs further down stand in front of those above.
    for chef in sorted(range(len(cells)), key=lambda c: cells[c] % height):
        x, y = divmod(cells[chef], height)
        sprite = sprites.chef(chef, facing[chef], hands[chef], chef == seat)
        shapes.append(("group", x * CELL, y * CELL, sprite))
    return Scene(len(rows[0]) * CELL, height * CELL, _backdrop(rows), tuple(shapes))


def name(item: int) -> str:
    """Return an item in words."""
    if not is_soup(item):
        return _NAMES[OvercookedItem(item)]
    return f"a soup of {_ingredients(item)}"


@lru_cache(maxsize=64)
def _backdrop(rows: tuple[str, ...]) -> tuple[Shape, ...]:
    shapes: list[Shape] = [("rect", 0, 0, len(rows[0]) * CELL, len(rows) * CELL, sprites.FLOOR, 0)]
    for y, row in enumerate(rows):
        for x, tile in enumerate(row):
            below = rows[y + 1][x] if y + 1 < len(rows) else "X"
            shapes += [
                ("group", x * CELL, y * CELL, sprite) for sprite in sprites.tile(tile, (x + y) % 2 == 1, below == " ")
            ]
    return tuple(shapes)


def _plain(state: OvercookedState) -> list[list[int]]:
    return [np.asarray(a).tolist() for a in (state.cell, state.facing, state.held, state.items, state.timer)]


def _letter(item: int) -> str:
    return "s" if is_soup(item) else _LETTERS[OvercookedItem(item)]


def _cell(tile: str, item: int) -> str:
    if tile == " ":
        return "."
    if tile == "P" and item:
        return "P" + "o" * onions_in(item) + "t" * tomatoes_in(item)
    return tile + _letter(item)


def _ingredients(item: int) -> str:
    counts = ((onions_in(item), "onion", "onions"), (tomatoes_in(item), "tomato", "tomatoes"))
    return " and ".join(f"{n} {singular if n == 1 else plural}" for n, singular, plural in counts if n) or "nothing"


def _pot_words(item: int, timer: int) -> str:
    if not item:
        return "empty"
    stage = "not cooking" if timer < 0 else "ready" if timer == 0 else f"ready in {timer}"
    return f"{_ingredients(item)}, {stage}"
