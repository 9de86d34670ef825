"""How a chef walks: shortest ways around the others, and rules for who gives way.

If two chefs want one cell, or each other's cells, nobody moves. So of two who meet one has the right of way, by what
both can see: who stands in a dead end goes first, then who carries more, then the lower seat. The other gives way. A
chef who is stuck in spite of its right gives way for a while, at random, so that no deadlock lasts.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from interplay.agents.overcooked.jobs import Goal, beside
from interplay.agents.overcooked.kitchen_constants import FAR, Tables
from interplay.agents.overcooked.roles import NEVER, ChefRole
from interplay.games.overcooked.state import FLOOR, INTERACT, STAY, OvercookedState, is_soup

NUM_ACTIONS = 6
STUBBORN = 3  # steps that a chef with the right of way insists on it
LINGER = 1.0  # steps from a pot at which to wait, so that others can get at it


class Meeting(NamedTuple):
    """The others, as far as they matter for the next step."""

    occupied: Bool[Array, " cell"]
    crowd: Float[Array, " cell"]  # extra cost of a way through a cell where somebody stands
    faced: Bool[Array, " cell"]  # cells that somebody seems about to enter
    pushed: Bool[Array, ""]  # somebody beside me faces me
    gives_way: Bool[Array, ""]  # to somebody near
    nearest: Int[Array, ""]  # the seat of the nearest other chef
    alone: Bool[Array, ""]  # nobody is near
    apart: Bool[Array, ""]  # nobody could ever come here


def meet(tables: Tables, state: OvercookedState, seat, still, stuck, patience) -> Meeting:
    """Return where the others are, and who goes first."""
    seats, cells = jnp.arange(tables.seats), jnp.arange(tables.terrain.shape[0])
    others = seats != seat
    me = state.cell[seat]
    front = tables.front[state.cell, state.facing]
    apart = jnp.where(others, tables.walk[me, state.cell].astype(jnp.float32), NEVER)
    nearest = jnp.argmin(apart)
    hand = jnp.where(is_soup(state.held), 3, jnp.array([0, 2, 2, 1])[jnp.minimum(state.held, 3)])
    cornered = jnp.where(others, ~tables.roomy[state.cell, me], False)
    mine = 8 * ~tables.roomy[me, state.cell] + 2 * hand[seat] + (seat < seats)
    yours = 8 * cornered + 2 * hand + (seats < seat)
    here = others[:, None] & (state.cell[:, None] == cells)
    weight = jnp.minimum(3.0 + still, 14.0)
    return Meeting(
        occupied=jnp.any(here, axis=0),
        crowd=jnp.max(jnp.where(here, weight[:, None], 0.0), axis=0),
        faced=jnp.any((others & ((still < 2) | (stuck > 0)))[:, None] & (front[:, None] == cells), axis=0),
        pushed=jnp.any(others & (front == me)),
        gives_way=jnp.any((apart <= 2) & (yours > mine)) | (patience > 0),
        nearest=nearest,
        alone=apart[nearest] > 3,
        apart=apart[nearest] >= FAR,
    )


def field(tables: Tables, goal, leaves, crowd: Float[Array, " cell"]) -> Float[Array, " cell"]:
    """Return the steps from each floor cell to a cell beside the goal, with a price on cells where others stand.

    For a chef that leaves, the goal is the end of its dead end.
    """
    floor = tables.terrain == FLOOR
    target = jnp.where(jnp.arange(floor.shape[0]) == goal, 0.0, NEVER)
    start = jnp.where(floor & jnp.where(leaves, ~tables.lane, _around(tables, target) == 0), 0.0, NEVER)

    def relax(_, steps):
        onwards = beside(tables, steps + crowd + 1)
        return jnp.where(floor, jnp.minimum(steps, onwards), NEVER)

    return jax.lax.fori_loop(0, tables.longest, relax, start)


def _around(tables: Tables, cost):
    near = [jnp.roll(cost, shift) for shift in (1, -1, tables.height, -tables.height)]
    return jnp.minimum(jnp.minimum(near[0], near[1]), jnp.minimum(near[2], near[3]))


def odds(
    role: ChefRole,
    tables: Tables,
    state: OvercookedState,
    seat,
    goal: Goal,
    still,
    stuck,
    patience,
    luck: Float[Array, " draw"],
) -> Float[Array, " action"]:
    """Return the probability of each action; more than one where several are equally good."""
    met = meet(tables, state, seat, still, stuck, patience)
    me = state.cell[seat]
    polite = role.yields > 0
    leaves = polite & tables.lane[me] & ~goal.exists & ~met.apart  # nothing to do here, and in the way
    steps = field(tables, goal.cell, leaves, met.crowd)
    near = tables.front[me]  # [4]
    floor = tables.terrain[near] == FLOOR
    free = floor & ~met.occupied[near]
    forward = _best(jnp.where(floor, steps[near] + met.crowd[near], NEVER))
    away = tables.walk[state.cell[met.nearest], near].astype(jnp.float32)
    clear = free & ~met.faced[near]
    aside = _best(jnp.where(clear, -4 * away + 0.5 * jnp.minimum(steps[near], FAR), NEVER))
    there = steps[me] == 0
    blocked = jnp.any(forward & met.occupied[near])
    contested = jnp.any(forward & met.faced[near] & ~met.occupied[near])
    lingers = goal.exists & ~goal.ready & (steps[me] <= LINGER + 0.5)
    rests = (~goal.exists & ~leaves) | lingers
    steps_off = lingers & there & ~met.alone
    off = _best(jnp.where(clear & (steps[near] == LINGER), 0.0, NEVER))
    makes_way = polite & jnp.any(clear) & ((rests & met.pushed) | (met.gives_way & blocked & met.pushed & ~there))
    waits = polite & met.gives_way & contested & ~there & (luck[0] < 0.8)
    pushes = (tables.seats <= 2) | ~blocked | (luck[1] < 0.5)
    at_work = jnp.where(near == goal.cell, 1.0, 0.0)
    works = jnp.where(near[state.facing[seat]] == goal.cell, _certain(INTERACT), _moves(at_work))
    walks = jnp.where(waits | ~pushes, _certain(STAY), _moves(forward))
    rest = jnp.where(steps_off & jnp.any(off), _moves(off), _certain(STAY))
    chosen = jnp.where(rests, rest, jnp.where(there, works, walks))
    return jnp.where(makes_way, _moves(aside), chosen)


def _best(cost: Float[Array, " way"]) -> Bool[Array, " way"]:
    least = jnp.min(cost)
    return (cost <= least + 0.01) & (least < NEVER)


def _moves(wanted) -> Float[Array, " action"]:
    share = wanted / jnp.maximum(jnp.sum(wanted), 1)
    return jnp.concatenate([share, jnp.where(jnp.any(wanted > 0), 0.0, 1.0)[None], jnp.zeros(1)])


def _certain(action: int) -> Float[Array, " action"]:
    return jnp.where(jnp.arange(NUM_ACTIONS) == action, 1.0, 0.0)
