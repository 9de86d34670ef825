"""The standard planes four cells at a time, for GPUs.

A plane is made of bytes, and a GPU spends as long on a byte as on a word. So the codes of four neighbouring cells are
packed into one 32-bit word, and every comparison serves four cells at once. Bytes here stay below 128, which is what
makes `_equal` work. The numbers equal those of `encodings.planes_first`, which a test checks.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, UInt8, UInt32

from interplay.games.overcooked.state import POT, OvercookedItem, OvercookedState
from interplay.games.overcooked.static_tables import StaticTables

Words = UInt32[Array, "..."]
ONES, LOW_BITS = 0x01010101, 0x7F7F7F7F


def planes(
    kitchen: StaticTables, state: OvercookedState, map_kinds: Sequence[int], urgent: int
) -> UInt8[Array, "seat plane cell"]:
    """Return all planes of every seat."""
    seats, size = state.cell.shape[0], state.items.shape[0]
    chef, thing = _codes(state)
    facing = [[_equal(chef, 1 + 4 * seat + way) for way in range(4)] for seat in range(seats)]
    here = [ways[0] | ways[1] | ways[2] | ways[3] for ways in facing]
    ground = [_constant(kitchen.terrain == kind) for kind in map_kinds]
    late = jnp.where(kitchen.horizon - state.time < urgent, jnp.uint32(ONES), jnp.uint32(0))
    shared = [*ground, *_things(kitchen, state, thing), jnp.broadcast_to(late, thing.shape)]
    views = []
    for seat in range(seats):
        order = [seat, *(s for s in range(seats) if s != seat)]
        own = [*(here[s] for s in order), *(way for s in order for way in facing[s])]
        views.append(jnp.stack([*own, *shared]))
    cells = jax.lax.bitcast_convert_type(jnp.stack(views), jnp.uint8)
    return cells.reshape(*cells.shape[:2], -1)[..., :size]


def _codes(state: OvercookedState) -> tuple[Words, Words]:
    """Return who stands in each cell (1 + 4 * seat + facing, or 0) and what lies or is carried there."""
    cells = jnp.arange(state.items.shape[0], dtype=jnp.int16)
    chef, thing = jnp.zeros(state.items.shape, jnp.int8), state.items
    for seat in range(state.cell.shape[0]):
        here = state.cell[seat].astype(jnp.int16) == cells
        chef = jnp.where(here, (1 + 4 * seat + state.facing[seat]).astype(jnp.int8), chef)
        thing = jnp.where(here, state.held[seat].astype(jnp.int8), thing)  # chefs stand where nothing lies
    return _pack(chef), _pack(thing)


def _things(kitchen: StaticTables, state: OvercookedState, thing: Words) -> list[Words]:
    """Return soups, steps left to cook, dishes, onions and tomatoes."""
    ones, pot = jnp.uint32(ONES), _constant(kitchen.terrain == POT)
    timer = _pack(state.timer + 1)  # 0 idle, 1 ready, more is cooking
    idle, ready = _equal(timer, 0), _equal(timer, 1)
    soup = ~_equal(thing & jnp.uint32(0xFCFCFCFC), 0) & ones  # an item of 4 or more
    contents = thing - soup * jnp.uint32(OvercookedItem.SOUP)
    onions, tomatoes = (contents >> 2) & jnp.uint32(0x03030303), contents & jnp.uint32(0x03030303)
    filling = soup & pot & idle
    cooked_or_cooking = soup & ~filling
    return [
        onions & _mask(filling),
        tomatoes & _mask(filling),
        onions & _mask(cooked_or_cooking),
        tomatoes & _mask(cooked_or_cooking),
        timer - (~idle & ones),
        soup & (~pot | ready) & ones,
        _equal(thing, OvercookedItem.DISH),
        _equal(thing, OvercookedItem.ONION),
        _equal(thing, OvercookedItem.TOMATO),
    ]


def _pack(codes: Array) -> Words:
    """Return [cell] bytes as [cell / 4] words, the last filled up with zeros."""
    full = jnp.pad(codes.astype(jnp.uint8), (0, -codes.shape[0] % 4))
    return jax.lax.bitcast_convert_type(full.reshape(-1, 4), jnp.uint32)


def _constant(mask: np.ndarray) -> Words:
    full = np.pad(mask.astype(np.uint8), (0, -len(mask) % 4))
    return jnp.asarray(full.view(np.uint32))


def _equal(words: Words, code: int) -> Words:
    """Return 1 in every byte that equals the code.

    Adding 127 to a difference below 128 leaves its top bit 0 only at 0.
    """
    difference = words ^ jnp.uint32(code * ONES)
    return (~(difference + jnp.uint32(LOW_BITS)) >> 7) & jnp.uint32(ONES)


def _mask(bits: Words) -> Words:
    """Return 255 in every byte that holds a 1."""
    return bits * jnp.uint32(255)
