"""Sprites of a kitchen, drawn from shapes in a cell of CELL by CELL units. Each is a tuple of shapes."""

from __future__ import annotations

import math
from functools import lru_cache

from interplay.games.overcooked.state import OvercookedItem, is_soup, onions_in, tomatoes_in
from interplay.games.scene import SEAT_COLOURS, Shape

CELL = 48
Sprite = tuple[Shape, ...]

FLOOR, FLOOR_2, GROUT = "#f6eee0", "#efe4d1", "#e6d8c1"
WOOD, WOOD_TOP, WOOD_FRONT, WOOD_LINE = "#b98650", "#cf9f68", "#8f6337", "#c09059"
STEEL, STEEL_DARK, STEEL_LIGHT = "#6d7882", "#3b434b", "#c3ccd3"
ONION, ONION_DARK, ONION_TIP = "#f3cf73", "#c58f2c", "#7f9a3b"
TOMATO, TOMATO_DARK, LEAF = "#d8412f", "#9f2a1f", "#3f7d3a"
PLATE, PLATE_RIM = "#ffffff", "#b9c4cf"
SKIN, HAIR, INK, SHADOW = "#f2c9a0", "#6b4a33", "#23262b", "#00000030"
GOOD = "#1d7a5f"


@lru_cache(maxsize=64)
def tile(kind: str, odd: bool, front: bool) -> tuple[Sprite, ...]:
    """Return the look of a cell of this terrain with nothing on it; `front` when the floor begins below."""
    if kind == " ":
        return ((("rect", 1, 1, 46, 46, FLOOR_2 if odd else FLOOR, 3),),)
    top = 40 if front else 48
    body: Sprite = (("rect", 0, 0, 48, 48, WOOD_FRONT if front else WOOD, 0),)
    body += (("rect", 0, 0, 48, top, WOOD, 0), ("rect", 1, 1, 46, top - 2, WOOD_TOP, 4))
    return (body, _ON_COUNTER.get(kind, _GRAIN))


def _dome(share: float = 1.0) -> tuple[tuple[float, float], ...]:
    """Return the upper half of the bell's disc; the left `share` of it as a gleam."""
    arc = [math.pi * (1 - i / 12 * share) for i in range(13)]
    return (*((round(24 + 12 * math.cos(a), 1), round(28 - 12 * math.sin(a), 1)) for a in arc), (24, 28))


def _onion(x: float, y: float, r: float) -> Sprite:
    tip = ((x - r * 0.35, y - r * 0.75), (x, y - r * 1.45), (x + r * 0.35, y - r * 0.75))
    return (
        ("poly", _round(tip), ONION_TIP),
        ("ellipse", x, y, round(r * 1.05, 1), r, ONION_DARK),
        ("ellipse", x, y, round(r * 0.88, 1), round(r * 0.83, 1), ONION),
        ("ellipse", x, y, round(r * 0.42, 1), round(r * 0.83, 1), ONION_DARK),
        ("ellipse", x, y, round(r * 0.28, 1), round(r * 0.83, 1), ONION),
    )


def _tomato(x: float, y: float, r: float) -> Sprite:
    corners = [(math.pi * i / 5 - math.pi / 2, 0.75 if i % 2 == 0 else 0.28) for i in range(10)]
    star = [(x + r * k * math.cos(a), y - r * 0.62 + r * 0.7 * k * math.sin(a)) for a, k in corners]
    return (
        ("circle", x, y, r, TOMATO_DARK),
        ("circle", x, y, round(r * 0.86, 1), TOMATO),
        ("ellipse", round(x - r * 0.35, 1), round(y - r * 0.05, 1), round(r * 0.2, 1), round(r * 0.3, 1), "#ffffff70"),
        ("poly", _round(star), LEAF),
    )


def _round(points) -> tuple[tuple[float, float], ...]:
    return tuple((round(x, 1), round(y, 1)) for x, y in points)


def _dish(x: float, y: float, r: float) -> Sprite:
    return (
        ("ellipse", x, y + 1, r, round(r * 0.72, 1), "#00000038"),
        ("ellipse", x, y, r, round(r * 0.7, 1), PLATE_RIM),
        ("ellipse", x, y - 0.8, round(r * 0.92, 1), round(r * 0.62, 1), PLATE),
        ("ellipse", x, y - 0.3, round(r * 0.6, 1), round(r * 0.38, 1), "#e3e9ee"),
    )


_GRAIN: Sprite = (("line", 8, 13, 30, 13, WOOD_LINE, 1.5), ("line", 18, 24, 40, 24, WOOD_LINE, 1.5))
_CRATE: Sprite = (("rect", 5, 4, 38, 35, "#6f4a26", 5), ("rect", 8, 7, 32, 29, "#4f3318", 3))
_ON_COUNTER: dict[str, Sprite] = {  # what stands on the wood, by the letter of the terrain
    "O": (*_CRATE, *_onion(17, 17, 8), *_onion(31, 17, 8), *_onion(24, 27, 8.5)),
    "T": (*_CRATE, *_tomato(17, 17, 8), *_tomato(31, 17, 8), *_tomato(24, 27, 8.5)),
    "D": (
        ("rect", 5, 4, 38, 35, "#7f8fa0", 5),
        ("rect", 7, 6, 34, 31, "#93a3b3", 4),
        *(shape for y in (25, 21, 17) for shape in _dish(24, y, 14)),
    ),
    "S": (  # a steel counter with a bell: soups leave the kitchen here
        ("rect", 3, 3, 42, 37, STEEL_DARK, 5),
        ("rect", 5, 5, 38, 33, "#54606b", 4),
        ("ellipse", 24, 30, 14, 4, "#2f363d"),
        ("poly", _dome(), "#f0c245"),
        ("poly", _dome(0.45), "#f8dc86"),
        ("rect", 11, 27, 26, 4, "#c99a1e", 2),
        ("circle", 24, 14, 3, "#c99a1e"),
    ),
    "P": (
        ("rect", 3, 2, 42, 38, STEEL_DARK, 5),
        ("circle", 24, 20, 17.5, "#20262b"),
        ("rect", 2, 17, 6, 6, "#171b1f", 3),
        ("rect", 40, 17, 6, 6, "#171b1f", 3),
        ("circle", 24, 20, 16, STEEL),
        ("circle", 24, 20, 13.5, "#2b3238"),
    ),
}


def soup_colour(item: int) -> str:
    """Return a soup's colour: onion soup is golden, tomato soup red, a mixed one in between."""
    onions, tomatoes = onions_in(item), tomatoes_in(item)
    return "#e3b04b" if not tomatoes else "#d4492f" if not onions else "#e0803a"


def _plated(x: float, y: float, r: float, item: int) -> Sprite:
    """Draw a bowl of soup, with one pip for each ingredient: the recipe can be read without its colour."""
    bowl: Sprite = (
        ("ellipse", x, y + 2, r, round(r * 0.78, 1), "#00000038"),
        ("ellipse", x, y, r, round(r * 0.76, 1), PLATE_RIM),
        ("ellipse", x, y - 0.5, round(r * 0.93, 1), round(r * 0.68, 1), PLATE),
        ("ellipse", x, y - 0.5, round(r * 0.76, 1), round(r * 0.53, 1), soup_colour(item)),
    )
    return bowl + _pips(x, y - 0.5, r * 0.36, r * 0.2, item)


def _pips(x: float, y: float, spread: float, r: float, item: int) -> Sprite:
    kinds = [ONION] * onions_in(item) + [TOMATO] * tomatoes_in(item)
    three = [(-1, 0.35), (1, 0.35), (0, -0.75), (0, 1.4), (-1.4, -0.8), (1.4, -0.8)]  # and room for odd recipes
    places = {1: [(0, 0)], 2: [(-1, 0), (1, 0)]}.get(len(kinds), three)
    dots: Sprite = ()
    for colour, (dx, dy) in zip(kinds, places, strict=False):
        edge = ONION_DARK if colour == ONION else "#7d1f16"
        cx, cy = round(x + dx * spread, 1), round(y + dy * spread, 1)
        dots += (("circle", cx, cy, round(r, 1), edge), ("circle", cx, cy, round(r * 0.72, 1), colour))
    return dots


@lru_cache(maxsize=64)
def item(kind: int, x: float = 24, y: float = 22, r: float = 11) -> Sprite:
    """Draw an item lying on a counter, or elsewhere around a point."""
    if is_soup(kind):
        return _plated(x, y, round(r * 1.25, 1), kind)
    match OvercookedItem(kind):
        case OvercookedItem.ONION:
            return (("ellipse", x, y + r * 0.8, r, round(r * 0.4, 1), SHADOW), *_onion(x, y, r))
        case OvercookedItem.TOMATO:
            return (("ellipse", x, y + r * 0.8, r, round(r * 0.4, 1), SHADOW), *_tomato(x, y, r))
        case OvercookedItem.DISH:
            return _dish(x, y, round(r * 1.25, 1))
    return ()


@lru_cache(maxsize=1024)
def pot_contents(contents: int, timer: int, cook_time: int) -> Sprite:
    """Draw what is in a pot: its ingredients, then a bar and the steps left, then steam and a tick."""
    inside: Sprite = (("circle", 24, 20, 13.5, soup_colour(contents)), *_pips(24, 19, 5.4, 3.7, contents))
    if timer < 0:
        return inside
    if timer == 0:
        return (
            *inside,
            *(("ellipse", x, y, 3, 4.5, "#ffffffb0") for x, y in ((16, 6), (24, 2), (32, 6))),
            ("circle", 38, 33, 8.5, "#ffffff"),
            ("circle", 38, 33, 7.2, GOOD),
            ("line", 34.5, 33.2, 37.2, 36, "#ffffff", 2.2),
            ("line", 37.2, 36, 41.6, 30.4, "#ffffff", 2.2),
        )
    done = max(0.0, min(1.0, 1 - timer / max(1, cook_time)))
    return (
        *inside,
        ("rect", 4, 31, 40, 13, INK, 5),
        ("rect", 6, 33, round(25 * done, 1), 9, "#4cc38a", 3),
        ("text", 42, 37.7, str(timer), 10, "#ffffff", "end"),
    )


_REACH = ((40, 10), (24, 37), (43, 25), (5, 25))  # where hands hold something, by facing
_APRON: tuple[Sprite, ...] = (
    (),
    (("rect", 18, 29, 12, 12, "#ffffffd8", 3),),
    (("rect", 26, 29, 8, 12, "#ffffffd8", 3),),
    (("rect", 14, 29, 8, 12, "#ffffffd8", 3),),
)
_EYES = ((), ((20, 22), (28, 22)), ((27, 21), (32, 21)), ((16, 21), (21, 21)))


@lru_cache(maxsize=1024)
def chef(seat: int, facing: int, in_hand: int, mine: bool = False) -> Sprite:
    """Draw a chef in the seat's colour, looking where it faces, with what it holds in front."""
    colour = SEAT_COLOURS[seat % len(SEAT_COLOURS)]
    x, y = _REACH[facing]
    hands: Sprite = item(in_hand, x, y, 8.5) if in_hand else ()
    ring: Sprite = (("ellipse", 24, 41, 20, 7, "#ffffffd0"), ("ellipse", 24, 41, 17, 5.4, colour)) if mine else ()
    body: Sprite = (
        *ring,
        ("ellipse", 24, 42, 14, 4.5, SHADOW),
        ("rect", 11, 25, 26, 18, INK, 9),
        ("rect", 12.5, 26, 23, 15.5, colour, 8),
        *_APRON[facing],
        *_arms(facing, bool(in_hand), colour),
        ("circle", 24, 19, 10.5, INK),
        ("circle", 24, 19, 9.2, HAIR if facing == 0 else SKIN),
        *(("circle", ex, ey, 1.6, INK) for ex, ey in _EYES[facing]),
        *_hat(seat, colour),
    )
    return (*body, *hands)


def _arms(facing: int, reaching: bool, colour: str) -> Sprite:
    """Draw hands stretched out when they hold something, else at rest; to the front they show the facing."""
    resting = (((14, 27), (34, 27)), ((14, 37), (34, 37)), ((33, 33), (36, 35)), ((15, 33), (12, 35)))
    stretched = (((14, 27), (38, 18)), ((16, 38), (32, 38)), ((36, 33), (39, 35)), ((12, 33), (9, 35)))
    shoulders = (((14, 30), (34, 30)), ((14, 31), (34, 31)), ((28, 32), (30, 34)), ((20, 32), (18, 34)))[facing]
    arms: Sprite = ()
    for (sx, sy), (hx, hy) in zip(shoulders, (stretched if reaching else resting)[facing], strict=True):
        arms += (("line", sx, sy, hx, hy, INK, 6), ("line", sx, sy, hx, hy, colour, 4), ("circle", hx, hy, 3, SKIN))
    return arms


def _hat(seat: int, colour: str) -> Sprite:
    puffs = ((16.5, 6.5, 6), (31.5, 6.5, 6), (24, 4, 7))
    return (
        *(("circle", x, y, r + 1.2, INK) for x, y, r in puffs),
        ("rect", 14, 6, 20, 11, INK, 3),
        *(("circle", x, y, r, "#ffffff") for x, y, r in puffs),
        ("rect", 15.2, 6, 17.6, 9.8, "#ffffff", 2),
        ("text", 24, 7.6, str(seat + 1), 11, colour, "middle"),
    )
