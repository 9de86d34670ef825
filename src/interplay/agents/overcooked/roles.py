"""Roles of the scripted chefs: prices of the jobs that a kitchen offers.

A chef does the cheapest job, counted in steps of walking plus the price. A job priced `NEVER` is not done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from interplay.errors import UnknownName

NEVER = 1000.0


class ChefJob(IntEnum):
    """Every useful interact, by what the chef holds and what it faces."""

    COOK = 0  # start a pot, where cooking does not start by itself
    FETCH_INGREDIENT = 1  # from its dispenser
    PICK_INGREDIENT = 2  # from a counter
    FETCH_DISH = 3
    PICK_DISH = 4
    PICK_SOUP = 5
    POT = 6  # put an ingredient into a pot
    PASS_INGREDIENT = 7  # put it on a counter from which somebody else can use it
    PLATE = 8
    PASS_DISH = 9
    SERVE = 10
    PASS_SOUP = 11
    SET_DOWN = 12  # free the hands of what this chef has no use for


class ChefRole(eqx.Module):
    """Prices and habits of a chef, all of them arrays, so that all roles share one compiled policy."""

    price: Float[Array, " job"]  # steps of walking that a job has to save before it is preferred to a free one
    beyond: Float[Array, " kind"]  # price of fetching more ingredients, more dishes, than the pots can take
    off_middle: Float[Array, ""]  # price of handing over anywhere but on a counter in the middle
    foresight: Float[Array, ""]  # how much a hand-over counts the walk that it leaves to the partner
    spares: Float[Array, ""]  # price of blocking the last free counter between the chefs with an ingredient
    pause: Float[Array, ""]  # share of steps in which the chef dawdles
    yields: Float[Array, ""]  # 1: makes way for others; 0: does not


def role(
    *jobs: ChefJob,
    prices: Mapping[ChefJob, float] | None = None,
    beyond: tuple[float, float] = (NEVER, NEVER),
    off_middle: float = 0,
    foresight: float = 1,
    spares: float = 0,
    pause: float = 0,
    yields: bool = True,
) -> ChefRole:
    """Make a role that does these jobs, free of charge unless priced."""
    price = np.full(len(ChefJob), NEVER, np.float32)
    for job in jobs:
        price[job] = (prices or {}).get(job, 0.0)
    scalars = (off_middle, foresight, spares, pause, yields)
    return ChefRole(jnp.asarray(price), jnp.asarray(beyond, jnp.float32), *(jnp.float32(s) for s in scalars))


def roles() -> dict[str, ChefRole]:
    """Return every scripted role by name."""
    j = ChefJob
    plating = (j.COOK, j.PICK_DISH, j.PLATE, j.SERVE, j.PICK_SOUP, j.SET_DOWN)
    passing = {j.PASS_INGREDIENT: 3.0, j.PASS_DISH: 3.0, j.PASS_SOUP: 3.0}
    return {
        "greedy": role(*j, prices=passing, spares=30),
        "trial_partner": role(j.FETCH_INGREDIENT, j.PICK_INGREDIENT, j.POT, j.FETCH_DISH, *plating, pause=0.4),
        "onion_passer": role(j.FETCH_INGREDIENT, j.PASS_INGREDIENT, j.SET_DOWN, off_middle=NEVER),
        "onion_receiver": role(j.PICK_INGREDIENT, j.POT, j.FETCH_DISH, *plating),
        "onion_only": role(j.FETCH_INGREDIENT, j.PICK_INGREDIENT, j.POT, j.SET_DOWN),
        "onion_to_middle": role(
            j.FETCH_INGREDIENT, j.PASS_INGREDIENT, j.SET_DOWN, beyond=(0, NEVER), off_middle=NEVER, foresight=0
        ),
        "dish_only": role(j.FETCH_DISH, *plating, beyond=(NEVER, 0)),
        "dish_passer": role(j.FETCH_DISH, j.PASS_DISH, j.SET_DOWN, beyond=(NEVER, 0), off_middle=NEVER),
        "place_and_deliver": role(j.PICK_INGREDIENT, j.POT, *plating),
        "idle": role(yields=False),
    }


def habits() -> dict[str, Callable[[ChefRole], ChefRole]]:
    """Return the habits that can precede any role's name, as in `slow-greedy`: functions from role to role."""
    passes = jnp.array([ChefJob.PASS_INGREDIENT, ChefJob.PASS_DISH, ChefJob.PASS_SOUP])
    carries = jnp.array([ChefJob.POT, ChefJob.PLATE, ChefJob.SERVE])

    def priced(jobs: Array, price: float) -> Callable[[ChefRole], ChefRole]:
        def change(role: ChefRole) -> ChefRole:
            able = role.price[jobs] < NEVER
            return eqx.tree_at(lambda r: r.price, role, role.price.at[jobs].set(jnp.where(able, price, NEVER)))

        return change

    def with_manner(name: str, value: Any) -> Callable[[ChefRole], ChefRole]:
        return lambda role: eqx.tree_at(lambda r: getattr(r, name), role, jnp.asarray(value, jnp.float32))

    return {
        "slow": with_manner("pause", 0.4),  # dawdles in four steps of ten
        "stubborn": with_manner("yields", 0.0),  # makes way for nobody
        "hoarding": with_manner("beyond", (0.0, 0.0)),  # fetches more ingredients and dishes than pots can take
        "passing": priced(carries, 8.0),  # would rather hand over than walk on
        "carrying": priced(passes, NEVER),  # hands nothing over
    }


def role_of(name: str) -> ChefRole:
    """Return the role of a name, with any habits before it: `greedy`, `slow-greedy`, `slow-stubborn-greedy`.

    Raises:
        UnknownName: The role or a habit is not known.
    """
    *words, base = name.split("-")
    known, changes = roles(), habits()
    if base not in known:
        raise UnknownName("agent", f"overcooked/{name}", [f"overcooked/{role}" for role in known])
    chosen = known[base]
    for word in reversed(words):
        if word not in changes:
            raise UnknownName("habit of a chef", word, list(changes))
        chosen = changes[word](chosen)
    return chosen
