"""The kitchen as text, which language models read, and as shapes. All is visible to all but the recipe."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from interplay.games.collab_kitchen.dishes import KINDS, recipe_lines
from interplay.games.collab_kitchen.layouts import FLOOR, PLACES, WALL, Station
from interplay.games.collab_kitchen.state import MOVES, WAYS, KitchenItem, KitchenState, Utensil
from interplay.games.scene import SEAT_COLOURS, Scene, Shape

if TYPE_CHECKING:
    from interplay.games.collab_kitchen.game import Kitchen

CELL = 40


def text(game: Kitchen, state: KitchenState, seat: int | None = None) -> str:
    """Return what a seat reads.

    The map, all cooks and things, what the seat can reach and do, and the recipe if it knows it.
    """
    now = state_lines(game, state, seat)
    rows = 1 + game.layout.height  # the legend belongs below the map
    return "\n".join([*now[:rows], _legend(game), *now[rows:], *_about(game, seat)])


def state_lines(game: Kitchen, state: KitchenState, seat: int | None = None) -> list[str]:
    """Return the part of a seat's text that changes in an episode: step, map, cooks, utensils, counters."""
    lines = [f"Step {state.time} of {game.horizon}.", *_map(game, state)]
    for s, cook in enumerate(state.cooks):
        you = " (you)" if s == seat else ""
        item = state.world.hands[s]
        lines.append(
            f"{game.seat_names[s]}{you} at ({cook.x},{cook.y}) facing {WAYS[cook.facing]}, "
            f"holds {item.text if item else 'nothing'}"
        )
    for station, utensil in zip(game.layout.utensils, state.world.utensils):
        lines.append(f"{station.name}: {_utensil(station, utensil)}")
    laid = [f"({s.cell[0]},{s.cell[1]}) {i.text}" for s, i in zip(game.layout.counters, state.world.counters) if i]
    lines.append(f"counters: {'; '.join(laid) if laid else 'all empty'}")
    return lines


def constant_lines(game: Kitchen, seat: int | None = None) -> list[str]:
    """Return the part that is the same throughout an episode: the map's legend, reach, verbs, the recipe."""
    return [_legend(game), *_about(game, seat)]


def _about(game: Kitchen, seat: int | None) -> list[str]:
    order = [
        f"Order: {game.dish.name}. Recipe:",
        *(f"  {n}. {line}" for n, line in enumerate(recipe_lines(game.dish), 1)),
    ]
    if seat is None:
        return order
    reach = dict.fromkeys(s.name for s in game.layout.stations if game.layout.reaches(seat, s))
    shared = [f"({s.cell[0]},{s.cell[1]})" for s in game.layout.counters if game.layout.shared(s)]
    lines = [
        f"You can reach: {', '.join(reach)}",
        f"Counters that others reach too: {', '.join(shared) or 'none'}",
        f"You can: {', '.join(game.roles[seat].verbs)}",
    ]
    if game.roles[seat].knows_recipe:
        return [*lines, *order]
    return [*lines, f"Order: you do not know it. The recipe is known to the {knowing(game)}."]


def knowing(game: Kitchen) -> str:
    """Return the names of the seats that know the recipe."""
    return " and the ".join(name for name, role in zip(game.seat_names, game.roles) if role.knows_recipe)


def _map(game: Kitchen, state: KitchenState) -> list[str]:
    cooks = {(c.x, c.y): str(s + 1) for s, c in enumerate(state.cooks)}
    rows = []
    for y, row in enumerate(game.layout.rows):
        rows.append("  " + "".join(cooks.get((x, y), "." if cell == FLOOR else cell) for x, cell in enumerate(row)))
    return rows


def _legend(game: Kitchen) -> str:
    here = {s.letter: PLACES[s.letter] for s in game.layout.stations}
    cooks = (f"{s + 1} {name}" for s, name in enumerate(game.seat_names))
    signs = (f"{letter} {name}" for letter, name in here.items())
    return f"({', '.join((*cooks, *signs))}; places are (x,y), counted from 0 at the top left)"


def _utensil(station: Station, utensil: Utensil) -> str:
    kind = KINDS[station.letter]
    if not utensil.contents:
        return "empty"
    inside = ", ".join(i.food for i in utensil.contents)
    if utensil.left is None:
        return f"holds {inside}; not started ({kind.verb} starts it)"
    return f"done: {inside}" if utensil.done else f"works on {inside}, {utensil.left} steps left"


_STATION_COLOURS = {
    "X": "#c9a877",
    WALL: "#5b5750",
    "I": "#9cc48a",
    "D": "#d9dde3",
    "C": "#b98a5a",
    "B": "#b9a8d9",
    "P": "#8f99a8",
    "O": "#a8766b",
    "S": "#7fb0c9",
}
_SIGNS = {"I": "food", "D": "dishes", "C": "board", "B": "blender", "P": "pot", "O": "oven", "S": "serve"}


class Labels(NamedTuple):
    """The words in the picture: signs of stations, foods, progress of a utensil, the order."""

    sign: Callable[[str], str]
    food: Callable[[str], str]
    left: Callable[[int], str]  # steps that a utensil still works; 0: it is done
    order: str


def _labels(game: Kitchen, seat: int | None) -> Labels:
    knows = seat is None or game.roles[seat].knows_recipe
    order = f"order: {game.dish.name.replace('_', ' ') if knows else f'known to the {knowing(game)}'}"
    return Labels(str, short, lambda left: f"{left} left" if left else "done", order)


def scene(game: Kitchen, state: KitchenState, seat: int | None = None, labels: Labels | None = None) -> Scene:
    """Return the kitchen as shapes; the order is written below for those who know it."""
    layout, labels = game.layout, labels or _labels(game, seat)
    width, height = layout.width * CELL, layout.height * CELL
    backdrop: list[Shape] = [
        ("rect", 0, 0, width, height + 18, "#f4efe6", 0),
        ("text", width / 2, height + 9, labels.order, 9, "#333333", "middle"),
    ]
    for y, row in enumerate(layout.rows):
        for x, letter in enumerate(row):
            if letter != FLOOR:
                backdrop.append(
                    ("rect", x * CELL + 0.5, y * CELL + 0.5, CELL - 1, CELL - 1, _STATION_COLOURS[letter], 3)
                )
            if letter in _SIGNS:
                sign = labels.sign(_SIGNS[letter])
                backdrop.append(("text", x * CELL + CELL / 2, y * CELL + 7, sign, 8, "#2b2b2b", "middle"))
    shapes: list[Shape] = []
    for station, item in zip(layout.counters, state.world.counters):
        if item is not None:
            x, y = station.cell[0] * CELL + CELL / 2, station.cell[1] * CELL + CELL / 2
            shapes.append(_item(item, x, y, labels))
    for station, utensil in zip(layout.utensils, state.world.utensils):
        shapes += _filled(station, utensil, labels)
    for s, cook in enumerate(state.cooks):
        shapes += _cook(state, s, cook.x * CELL + CELL / 2, cook.y * CELL + CELL / 2, s == seat, labels)
    return Scene(width, height + 18, tuple(backdrop), tuple(shapes))


def _colour(food: str) -> str:
    """Return an ingredient's colour, the same in every derivation."""
    root = food.split("(")[-1].split("+")[0].split(")")[0].partition("~")[0]
    mix = zlib.crc32(root.encode())
    return f"#{90 + mix % 140:02x}{80 + (mix >> 8) % 150:02x}{60 + (mix >> 16) % 110:02x}"


def short(food: str) -> str:
    """Return a food in a few letters: what was done last, and to what."""
    root = food.split("(")[-1].split("+")[0].split(")")[0]
    mark = "+" if "+" in food else ""
    done = {"boiled": "b.", "baked": "o.", "mashed": "m."}.get(food.partition("(")[0], "") if "(" in food else ""
    name, _, sliced = root.partition("~")
    return f"{done}{name[:6]}{'~' if sliced else ''}{mark}"


def _item(item: KitchenItem, x: float, y: float, labels: Labels, size: float = 1.0) -> Shape:
    shapes: list[Shape] = []
    if item.on_dish:
        shapes += [("circle", 0, 0, 13 * size, "#ffffff"), ("circle", 0, 0, 10 * size, "#e6ebf0")]
    if item.food:
        if "~" in item.food and "(" not in item.food:
            shapes += [
                ("rect", -7 * size + 5 * k * size, -6 * size, 4 * size, 12 * size, _colour(item.food), 1)
                for k in range(3)
            ]
        else:
            shapes.append(("circle", 0, 0, 8 * size, _colour(item.food)))
        shapes.append(("text", 0, 12 * size, labels.food(item.food), 7.5 * size, "#1c1c1c", "middle"))
    return ("group", x, y, tuple(shapes))


def _filled(station: Station, utensil: Utensil, labels: Labels) -> list[Shape]:
    x, y = station.cell[0] * CELL + CELL / 2, station.cell[1] * CELL + CELL / 2 + 2
    count = len(utensil.contents)
    shapes = [
        _item(item, x + (k - (count - 1) / 2) * 11, y, labels, 0.8 if count == 1 else 0.6)
        for k, item in enumerate(utensil.contents)
    ]
    if utensil.left is not None:
        colour = "#2e7d32" if utensil.done else "#b3541e"
        shapes.append(("text", x, y + 16, labels.left(utensil.left), 7.5, colour, "middle"))
    return shapes


def _cook(state: KitchenState, seat: int, x: float, y: float, own: bool, labels: Labels) -> list[Shape]:
    dx, dy = MOVES[state.cooks[seat].facing]
    shapes: list[Shape] = [("circle", x, y, 17, "#ffffff")] if own else []
    shapes += [
        ("circle", x, y, 14, SEAT_COLOURS[seat % len(SEAT_COLOURS)]),
        ("circle", x + 11 * dx, y + 11 * dy, 3.5, "#ffffff"),
        ("text", x, y - 2, str(seat + 1), 11, "#ffffff", "middle"),
    ]
    item = state.world.hands[seat]
    if item is not None:
        shapes.append(_item(item, x + 7, y + 9, labels, 0.65))
    return shapes
