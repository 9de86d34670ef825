"""The kitchen as text and as a picture."""

from __future__ import annotations

import io
import json
import xml.etree.ElementTree as ET

import jax.numpy as jnp
import numpy as np
from PIL import Image

from interplay.games.overcooked import draw, sprites
from interplay.games.overcooked.state import IDLE, OvercookedItem, OvercookedState, soup

ROWS = ("XXXPPXXX", "X      X", "D XXXX S", "X      X", "XXXOOXXX")
HEIGHT = len(ROWS)


def at(x: int, y: int) -> int:
    return x * HEIGHT + y


def kitchen(cells=((3, 1), (1, 3)), facing=(0, 2), held=(0, 0), items=(), timers=(), time=37) -> OvercookedState:
    on, timer = np.zeros(40, np.int32), np.full(40, IDLE, np.int32)
    for (x, y), item in items:
        on[at(x, y)] = item
    for (x, y), steps in timers:
        timer[at(x, y)] = steps
    return OvercookedState(
        time=jnp.int32(time),
        cell=jnp.array([at(*c) for c in cells]),
        facing=jnp.array(facing),
        held=jnp.array(held),
        items=jnp.array(on),
        timer=jnp.array(timer),
    )


BUSY = kitchen(
    held=(OvercookedItem.ONION, soup(2, 1)),
    items=[((3, 0), soup(3, 0)), ((4, 0), soup(1, 1)), ((2, 2), OvercookedItem.DISH)],
    timers=[((3, 0), 7)],
)


def test_the_map_reads_as_the_kitchen():
    assert draw.text(ROWS, BUSY) == (
        "time 37\n"
        "X    X    X    Pooo Pot  X    X    X\n"
        "X    .    .    1↑o  .    .    .    X\n"
        "D    .    Xd   X    X    X    .    S\n"
        "X    2→s  .    .    .    .    .    X\n"
        "X    X    X    O    O    X    X    X\n"
        "chef 1 at (3, 1) facing north holds an onion\n"
        "chef 2 at (1, 3) facing east holds a soup of 2 onions and 1 tomato\n"
        "counter at (2, 2): a dish\n"
        "pot at (3, 0): 3 onions, ready in 7\n"
        "pot at (4, 0): 1 onion and 1 tomato, not cooking"
    )


def test_text_tells_ready_soups_and_empty_pots():
    told = draw.text(ROWS, kitchen(items=[((3, 0), soup(3, 0))], timers=[((3, 0), 0)]))
    assert "pot at (3, 0): 3 onions, ready\n" in told
    assert told.endswith("pot at (4, 0): empty")


def groups(scene):
    return {(x // draw.CELL, y // draw.CELL): shapes for _, x, y, shapes in scene.shapes}


def test_only_chefs_items_and_pots_are_drawn_anew():
    scene = draw.scene(ROWS, BUSY)
    assert set(groups(scene)) == {(3, 1), (1, 3), (3, 0), (4, 0), (2, 2)}
    assert (scene.width, scene.height) == (8 * draw.CELL, 5 * draw.CELL)
    assert draw.scene(ROWS, kitchen(time=38)).backdrop is scene.backdrop


def test_a_frame_is_small_as_data():
    """Frames share their sprites, so a replay stores each placed sprite once; even unshared they are small."""
    assert len(json.dumps(draw.scene(ROWS, BUSY).shapes)) < 6000
    assert len(draw.scene(ROWS, BUSY).shapes) == 5


def test_what_differs_looks_different():
    """Facing, seat, load, recipe and progress can each be told from the picture alone."""
    chefs = [sprites.chef(s, f, h) for s in (0, 1) for f in range(4) for h in (0, 1, 2, 3, soup(3, 0), soup(0, 3))]
    pots = [sprites.pot_contents(soup(3, 0), t, 20) for t in range(-1, 21)]
    recipes = [sprites.pot_contents(soup(o, t), IDLE, 20) for o in range(4) for t in range(4) if 0 < o + t <= 3]
    for sprite_list in (chefs, pots, recipes):
        assert len(set(sprite_list)) == len(sprite_list)


def test_the_chef_of_a_seat_is_ringed_for_that_seat():
    alone, mine = groups(draw.scene(ROWS, BUSY)), groups(draw.scene(ROWS, BUSY, seat=1))
    assert alone[(1, 3)] != mine[(1, 3)]
    assert alone[(3, 1)] == mine[(3, 1)]


def test_svg_and_png_of_every_terrain():
    rows = ("XPOTDSX", "X     X", "XXXXXXX")
    state = OvercookedState(
        time=jnp.int32(0), cell=jnp.array([4, 7]), facing=jnp.array([1, 3]), held=jnp.array([0, 3]),
        items=jnp.zeros(21, int), timer=jnp.full(21, IDLE),
    )  # fmt: skip
    scene = draw.scene(rows, state)
    assert len(ET.fromstring(scene.svg())) == len(scene.backdrop) + 2
    image = Image.open(io.BytesIO(scene.png(1))).convert("RGB")
    assert image.size == (7 * draw.CELL, 3 * draw.CELL)
    cells = [image.crop((x * 48, 0, x * 48 + 48, 40)).tobytes() for x in range(6)]
    assert len(set(cells)) == 6


def test_a_done_soup_fills_the_bar_whatever_the_cooking_time():
    def bar(timer, cook):
        return max(s[3] for s in sprites.pot_contents(soup(3, 0), timer, cook) if s[0] == "rect" and s[5] == "#4cc38a")

    assert bar(20, 20) == 0
    assert bar(10, 20) == bar(5, 10)
    assert bar(30, 20) == 0  # longer than announced: still no bar outside its frame
    assert bar(1, 20) > bar(2, 20)
