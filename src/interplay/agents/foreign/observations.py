"""What networks of other frameworks see, made from an encoding of ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array

COOK_TIME = 20  # steps, in every kitchen of the papers
# Planes of the standard encoding for two chefs.
POT, COUNTER, TOMATO_DISPENSER = 10, 11, 13
ONIONS_IN_POT, ONIONS_IN_SOUP, STEPS_LEFT, DONE, DISHES, ONIONS, TOMATOES = 16, 18, 20, 21, 22, 23, 24


def two_seat_planes_of_2019(planes: Array) -> Array:
    """The 20 planes of overcooked_ai in 2019, which ZSC-Eval's one-recipe kitchens show.

    Chefs, then pots, counters, onions, dishes, serving; onions in pots (cooking or not), how long they have cooked,
    soups off the fire, dishes, onions. There are no tomatoes and no urgency.
    """
    x = planes.astype(jnp.float32)
    pot = x[..., POT]
    cooking = (x[..., ONIONS_IN_SOUP] > 0) & (pot > 0)
    things = [
        x[..., ONIONS_IN_POT] + x[..., ONIONS_IN_SOUP] * pot,
        jnp.where(cooking, COOK_TIME - x[..., STEPS_LEFT], 0.0),
        (x[..., ONIONS_IN_SOUP] > 0) * (1.0 - pot),
        x[..., DISHES],
        x[..., ONIONS],
    ]
    chefs_and_map = [x[..., :TOMATO_DISPENSER], x[..., TOMATO_DISPENSER + 1 : ONIONS_IN_POT]]
    return jnp.concatenate([*chefs_and_map, jnp.stack(things, axis=-1)], axis=-1)


def planes_without_done(planes: Array) -> Array:
    """The 25 planes of ZSC-Eval's kitchens of several recipes: the standard ones without that of done soups."""
    return jnp.concatenate([planes[..., :DONE], planes[..., DONE + 1 :]], axis=-1)


def jaxmarl_planes(planes: Array) -> Array:
    """The planes of JaxMARL's Overcooked: [height, width, plane], and no counter where something lies on it."""
    item = jnp.any(planes[..., [ONIONS_IN_SOUP, DISHES, ONIONS, TOMATOES]] > 0, axis=-1)
    counter = planes[..., COUNTER] * ~(item & (planes[..., COUNTER] > 0))
    return jnp.swapaxes(planes.at[..., COUNTER].set(counter.astype(planes.dtype)), 0, 1)


def same(obs: Array) -> Array:
    """The encoding as it is."""
    return obs


def flat(obs: Array) -> Array:
    """The encoding as one vector."""
    return obs.reshape(-1)


VIEWS: dict[str, Callable[[Array], Array]] = {
    "same": same,
    "flat": flat,
    "planes20": two_seat_planes_of_2019,
    "planes25": planes_without_done,
    "jaxmarl": jaxmarl_planes,
    "jaxmarl_flat": lambda obs: jaxmarl_planes(obs).reshape(-1),
}


class Input(NamedTuple):
    """What a network may read: an encoding of the game, and what is made of it."""

    encoding: str
    view: str = "same"


OVERCOOKED_BY_PLANES = {20: Input("planes", "planes20"), 25: Input("planes", "planes25"), 26: Input("planes")}
# Of JaxMARL's own environments (`obs`), of our Overcooked, of our Hanabi; the first that fits is taken.
JAXMARL_PICTURES = (Input("obs"), Input("planes", "jaxmarl"))
JAXMARL_VECTORS = (Input("obs"), Input("obs", "flat"), Input("planes", "jaxmarl_flat"), Input("belief"))
