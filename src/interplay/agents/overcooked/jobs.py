"""Choice of the next job: every cell is priced by the walk to it, the walk that is left after it, and the role.

Costs are in steps. A pot's price says how much an ingredient, or a dish, is wanted there; walks that begin or end at a
counter take the side from which they are shortest.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from interplay.agents.overcooked.kitchen_constants import FAR, Tables
from interplay.agents.overcooked.roles import NEVER, ChefJob, ChefRole
from interplay.games.overcooked.state import (
    COUNTER,
    DISHES,
    FLOOR,
    ONIONS,
    POT,
    SERVING,
    TOMATOES,
    OvercookedItem,
    OvercookedState,
    is_soup,
)

IDLE_AFTER = 12  # steps without any change after which a chef is not counted on
GONE_AFTER = 30  # the same for what it holds: longer than the wait for a soup
BORED_AFTER = 8  # steps of waiting after which a chef does what it had left to others
DISHES_FIRST = 6.0  # how much a dish that is in time is preferred to an ingredient
LATER = 12.0  # price of fetching an ingredient before a pot has room for it
WAIT = 10.0  # price of a pot that is not free yet
AGAIN = 25.0  # price of putting back on a counter what was taken from one
RIVAL = 5.0  # price of what somebody else is closer to
IN_THE_WAY = 30.0  # price of a way through somebody who does not move any more
KEEP = 1.5  # what a chef saves by keeping to its goal, so that it does not dither


class Goal(NamedTuple):
    """The cell to interact with; `ready` if the interact would work now rather than after a wait."""

    cell: Int[Array, ""]
    exists: Bool[Array, ""]
    ready: Bool[Array, ""]


class ChefView(NamedTuple):
    """The state from one chef's point of view; costs over cells, for onions and tomatoes where there are two."""

    mine: Float[Array, " cell"]  # the walk to each cell
    theirs: Float[Array, " cell"]  # the same for the nearest other chef who can be counted on
    free: Float[Array, " cell"]  # the same for the nearest of those with empty hands, closer than me
    rest: Float[Array, "kind cell"]  # from a floor cell to the pot where an ingredient is wanted
    across: Float[Array, "kind cell"]  # the same for one that lies on a counter
    via: Float[Array, "kind cell"]  # the same when it is handed over on the way
    plate: Float[Array, " cell"]
    plate_across: Float[Array, " cell"]
    plate_via: Float[Array, " cell"]
    room: Int[Array, " kind"]  # how many of each the filling pots may take
    missing: Int[Array, ""]
    soon: Int[Array, ""]  # how many the cooking pots will take
    carried: Int[Array, " kind"]  # ingredients in the hands of others
    lying: Int[Array, " kind"]  # ingredients on counters
    soups: Int[Array, ""]  # in pots, cooking, ready, or short of one ingredient that is on its way
    next_soup: Float[Array, ""]  # steps until there is a soup for one more dish
    first_soup: Float[Array, ""]  # steps until the first one
    dishes_carried: Int[Array, ""]
    dishes_lying: Int[Array, ""]
    unlit: Bool[Array, ""]  # a pot that I can reach waits to be started
    left_to_me: Bool[Array, ""]  # nobody else has free hands to plate a soup, or nobody does it


def beside(tables: Tables, cost: Float[Array, "... cell"]) -> Float[Array, "... cell"]:
    """Return the least cost among the floor cells beside each cell.

    The kitchen's edge is no floor, so rolling is safe.
    """
    cost = jnp.where(tables.terrain == FLOOR, cost, NEVER)
    near = [jnp.roll(cost, shift, axis=-1) for shift in (1, -1, tables.height, -tables.height)]
    return jnp.minimum(jnp.minimum(near[0], near[1]), jnp.minimum(near[2], near[3]))


def choose(role: ChefRole, tables: Tables, state: OvercookedState, seat, still, kept, from_counter) -> Goal:
    """Return the cheapest job.

    Args:
        role: The chef's prices.
        tables: Constants of the kitchen.
        state: The current state.
        seat: The chef's seat.
        still: Steps since each chef last moved or changed what it holds.
        kept: The cell of the last goal.
        from_counter: Whether what is held was taken from a counter.
    """
    view = look(tables, state, seat, still)
    trips = _trips(role, tables, view)
    held_item = state.held[seat]
    empty, kind = held_item == OvercookedItem.NOTHING, jnp.clip(held_item - OvercookedItem.ONION, 0, 1)
    ingredient = (held_item == OvercookedItem.ONION) | (held_item == OvercookedItem.TOMATO)
    cost = jnp.where(
        empty,
        _empty_handed(role, tables, state, view, trips),
        jnp.where(
            ingredient,
            _with_ingredient(role, tables, state, view, trips.taker, kind, from_counter),
            jnp.where(
                held_item == OvercookedItem.DISH,
                _with_dish(role, tables, state, view, trips.taker, from_counter),
                _with_soup(role, tables, state, view, trips.taker, held_item, from_counter),
            ),
        ),
    )
    cost = jnp.where(jnp.arange(cost.shape[0]) == kept, cost - KEEP, cost)
    cell = jnp.argmin(cost)
    filling = (state.timer[cell] < 0) & (tables.room[state.items[cell], kind] > 0)
    ready = (tables.terrain[cell] != POT) | empty | (ingredient & filling) | (~ingredient & (state.timer[cell] == 0))
    return Goal(cell, cost[cell] < FAR, ready)


def look(tables: Tables, state: OvercookedState, seat, still) -> ChefView:
    """Compute one chef's view of the state."""
    ways = tables.walk[state.cell].astype(jnp.float32)
    seats = jnp.arange(tables.seats)
    others, hands = seats != seat, state.held
    active, keeps = others & (still < IDLE_AFTER), others & (still < GONE_AFTER)
    idlers = others[:, None] & (still >= IDLE_AFTER)[:, None] & (state.cell[:, None] == jnp.arange(ways.shape[1]))
    mine = _around(tables, ways[seat], state.cell[seat], jnp.any(idlers, axis=0))
    theirs = jnp.min(jnp.where(active[:, None], ways, NEVER), axis=0)
    closer = (active & (hands == OvercookedItem.NOTHING))[:, None] & (ways + 0.1 * seats[:, None] < mine + 0.1 * seat)
    item, timer = state.items[tables.pots].astype(jnp.int32), state.timer[tables.pots].astype(jnp.int32)
    idle, wait = timer < 0, jnp.maximum(timer, 0).astype(jnp.float32)
    room, missing = tables.room[item], tables.missing[item]
    shut = jnp.clip(mine - ways[seat], 0.0, 2 * IN_THE_WAY)[tables.pots]
    size = jnp.where(is_soup(item), (item - OvercookedItem.SOUP) // 4 + (item - OvercookedItem.SOUP) % 4, 0)
    into = shut + jnp.where((idle[:, None] & (room > 0)).T, -2.0 * size, WAIT + jnp.where(idle, 2 * WAIT, wait))
    late = shut + jnp.where(idle, 20.0 + 5 * missing, 0.0) + jnp.where(tables.value[item] < 0, WAIT, 0.0)

    at_pots = jnp.min(tables.to_pot[state.cell], axis=1) < FAR

    def to_pots(table, price):
        return jnp.min(table + price[..., None, :], axis=-1)

    def to_soups(table):
        return jnp.min(jnp.maximum(table, wait) + late, axis=-1)

    counter = tables.terrain == COUNTER
    kinds = jnp.array([OvercookedItem.ONION, OvercookedItem.TOMATO])[:, None]
    unlit = tables.starts[item] & idle
    carried = jnp.sum(keeps & (hands == kinds), axis=1, dtype=jnp.int32)
    soup = ~idle | (~unlit & (missing <= 1) & (item > 0) & (jnp.sum(carried) > 0))
    dishes_carried = jnp.sum(keeps & (hands == OvercookedItem.DISH), dtype=jnp.int32)
    dishes_lying = jnp.sum(counter & (state.items == OvercookedItem.DISH), dtype=jnp.int32)
    times = jnp.where(soup, jnp.where(idle, 20.0, wait), 40.0)
    return ChefView(
        mine=mine,
        theirs=theirs,
        free=jnp.min(jnp.where(closer, ways, NEVER), axis=0),
        rest=to_pots(tables.to_pot, into),
        across=to_pots(tables.across_pot, into),
        via=to_pots(tables.via_pot, into),
        plate=to_soups(tables.to_pot),
        plate_across=to_soups(tables.across_pot),
        plate_via=to_soups(tables.via_pot),
        room=jnp.sum(jnp.where(idle[:, None], room, 0), axis=0, dtype=jnp.int32),
        missing=jnp.sum(jnp.where(idle, missing, 0), dtype=jnp.int32),
        soon=jnp.sum(jnp.where(idle, 0, tables.missing[0]), dtype=jnp.int32),
        carried=carried,
        lying=jnp.sum(counter & (state.items == kinds), axis=1, dtype=jnp.int32),
        soups=jnp.sum(soup, dtype=jnp.int32),
        next_soup=jnp.where(dishes_carried + dishes_lying > 0, jnp.max(jnp.where(soup, times, 0)), jnp.min(times)),
        first_soup=jnp.min(times),
        dishes_carried=dishes_carried,
        dishes_lying=dishes_lying,
        unlit=jnp.any(unlit & (mine[tables.pots] < FAR)),
        left_to_me=~jnp.any(active & (hands == OvercookedItem.NOTHING) & at_pots) | (still[seat] > BORED_AFTER),
    )


def _around(tables: Tables, ways, me, idlers: Bool[Array, " cell"]) -> Float[Array, " cell"]:
    """Return the walk from here to each cell, and beside it, around chefs who do not seem to move any more."""
    floor = tables.terrain == FLOOR
    crowd = jnp.where(idlers, IN_THE_WAY, 0.0)

    def relax(_, steps):
        return jnp.where(floor, jnp.minimum(steps, beside(tables, steps) + 1 + crowd), NEVER)

    start = jnp.where(jnp.arange(floor.shape[0]) == me, 0.0, NEVER)
    steps = jax.lax.fori_loop(0, tables.longest, relax, start)
    return jnp.where(jnp.any(idlers), jnp.where(floor, steps, beside(tables, steps)), ways)


class Trips(NamedTuple):
    """Costs of going to a cell, taking what is there, and bringing it where it belongs."""

    use: Float[Array, "kind cell"]  # an ingredient, into a pot
    out: Float[Array, "kind cell"]  # the same, or into somebody else's reach
    plate: Float[Array, " cell"]  # a dish, to a soup
    dish: Float[Array, " cell"]  # the same, or into somebody else's reach
    serve: Float[Array, " cell"]  # a soup, to the hatch
    soup: Float[Array, " cell"]  # a soup, into the reach of somebody who can serve it
    their_use: Float[Array, "kind cell"]  # the same three for the nearest other chef
    their_plate: Float[Array, " cell"]
    their_serve: Float[Array, " cell"]
    taker: Float[Array, " cell"]  # the way of the nearest other chef to here


def _trips(role: ChefRole, tables: Tables, view: ChefView) -> Trips:
    price = role.price
    use, plate = view.rest + price[ChefJob.POT], view.plate + price[ChefJob.PLATE]
    out = jnp.minimum(use, view.via + price[ChefJob.PASS_INGREDIENT])
    dish = jnp.minimum(plate, view.plate_via + price[ChefJob.PASS_DISH])
    after = jnp.stack([*use, *out, plate, dish, tables.to_serve, tables.via_serve])
    their = jnp.stack([*view.rest, view.plate, tables.to_serve, jnp.zeros_like(view.mine)])
    # One call for all of them: rolling is what takes long to compile.
    costs = beside(tables, jnp.concatenate([view.mine + after, view.theirs + their]))
    plate, dish, serve, soup = costs[4:8]
    return Trips(costs[0:2], costs[2:4], plate, dish, serve, soup, costs[8:10], costs[10], costs[11], costs[12])


def _empty_handed(
    role: ChefRole, tables: Tables, state: OvercookedState, view: ChefView, trips: Trips
) -> Float[Array, " cell"]:
    terrain, items, price = tables.terrain, state.items.astype(jnp.int32), role.price
    counter = terrain == COUNTER
    unlit = (terrain == POT) & (state.timer < 0) & tables.starts[items]
    cost = _offer(unlit, view.mine - 30 + price[ChefJob.COOK], None)
    fetch, pick = _ingredient_costs(role, view, trips)
    for kind, (dispenser, item) in enumerate(((ONIONS, OvercookedItem.ONION), (TOMATOES, OvercookedItem.TOMATO))):
        cost = _offer(terrain == dispenser, fetch[kind], cost)
        cost = _offer(counter & (items == item), pick[kind], cost)
    fetch, pick = _dish_costs(role, tables, view, trips)
    cost = _offer(terrain == DISHES, fetch, cost)
    cost = _offer(counter & (items == OvercookedItem.DISH), pick, cost)
    soup = counter & is_soup(items) & (tables.value[items] >= 0)
    taken = jnp.where(tables.across_serve < FAR, trips.serve, trips.soup)
    return _offer(soup, taken - 15 + _left_to(trips.their_serve, trips.serve) + price[ChefJob.PICK_SOUP], cost)


def _ingredient_costs(role: ChefRole, view: ChefView, trips: Trips):
    """Return the costs [kind, cell] of fetching an ingredient from its dispenser, and of picking it from a counter."""
    supply = view.carried + view.lying
    now = (supply < view.room) & (jnp.sum(supply) < view.missing)
    later = jnp.sum(supply) < view.missing + view.soon
    need = jnp.where(now, 0.0, jnp.where(later, jnp.minimum(LATER, role.beyond[0]), role.beyond[0]))
    fetch = trips.out + need[:, None] + role.price[ChefJob.FETCH_INGREDIENT]
    relay = jnp.where(view.across < FAR, NEVER, trips.out)
    wanted = jnp.where((view.carried < view.room) & (jnp.sum(view.carried) < view.missing), 0.0, LATER)
    pick = jnp.minimum(trips.use + _left_to(trips.their_use, trips.use), relay)
    return fetch, pick + wanted[:, None] + role.price[ChefJob.PICK_INGREDIENT]


def _dish_costs(role: ChefRole, tables: Tables, view: ChefView, trips: Trips):
    """Return the costs [cell] of fetching a dish from its dispenser, and of picking it from a counter."""
    early = jnp.maximum(view.next_soup - trips.dish, 0.0) - DISHES_FIRST
    rival = jnp.where(view.free < FAR, RIVAL, 0.0)
    enough = jnp.where(view.dishes_lying > tables.pots.shape[0], NEVER, role.beyond[1])
    need = jnp.where(view.dishes_carried + view.dishes_lying < view.soups, 0.0, enough)
    fetch = trips.dish + early + rival + need + role.price[ChefJob.FETCH_DISH]
    relay = jnp.where(view.plate_across < FAR, NEVER, trips.dish)
    need = jnp.where(view.dishes_carried < view.soups, 0.0, role.beyond[1])
    pick = jnp.minimum(trips.plate + _left_to(trips.their_plate, trips.plate), relay)
    return fetch, pick + early + need + role.price[ChefJob.PICK_DISH]


def _with_ingredient(
    role: ChefRole, tables: Tables, state: OvercookedState, view: ChefView, taker, kind, from_counter
) -> Float[Array, " cell"]:
    price = role.price
    size = jnp.where(
        is_soup(state.items), (state.items - OvercookedItem.SOUP) // 4 + (state.items - OvercookedItem.SOUP) % 4, 0
    )
    idle, takes = state.timer < 0, tables.room[state.items, kind] > 0
    wait = jnp.where(idle & takes, -2.0 * size, WAIT + jnp.where(idle, 2 * WAIT, jnp.maximum(state.timer, 0)))
    cost = _offer(tables.terrain == POT, view.mine + wait + price[ChefJob.POT], None)
    full = role.spares * (jnp.sum(_open(tables, state) & tables.middle) <= 1) * (jnp.sum(tables.middle) > 1)
    cost = _hand_over(
        role, tables, state, view, taker, view.across[kind], price[ChefJob.PASS_INGREDIENT] + full, from_counter, cost
    )
    useless = (price[ChefJob.POT] >= FAR) & (price[ChefJob.PASS_INGREDIENT] >= FAR)
    plates = jnp.minimum(price[ChefJob.FETCH_DISH], price[ChefJob.PICK_DISH]) + price[ChefJob.PLATE] < FAR
    usable = jnp.any((tables.terrain == POT) & idle & takes & (view.mine < FAR))
    urgent = (view.soups > 0) & (view.first_soup < 6) & (view.dishes_carried == 0)
    urgent = ((urgent & plates) | (view.unlit & (price[ChefJob.COOK] < FAR))) & ~usable & view.left_to_me
    return _set_down(role, tables, state, view, jnp.where(useless | urgent, -20.0, NEVER), cost)


def _with_dish(
    role: ChefRole, tables: Tables, state: OvercookedState, view: ChefView, taker, from_counter
) -> Float[Array, " cell"]:
    price, items = role.price, state.items.astype(jnp.int32)
    wait = jnp.maximum(state.timer, 0).astype(jnp.float32)
    late = jnp.where(state.timer < 0, 20.0 + 5 * tables.missing[items], 0.0) + jnp.where(
        tables.value[items] < 0, WAIT, 0.0
    )
    cost = _offer(tables.terrain == POT, jnp.maximum(view.mine, wait) + late + price[ChefJob.PLATE], None)
    cost = _hand_over(role, tables, state, view, taker, view.plate_across, price[ChefJob.PASS_DISH], from_counter, cost)
    useless = (price[ChefJob.PLATE] >= FAR) & (price[ChefJob.PASS_DISH] >= FAR)
    cooks = (price[ChefJob.POT] < FAR) & (view.soups <= view.dishes_carried) & (view.missing > 0)
    urgent = view.unlit & (price[ChefJob.COOK] < FAR) & (view.first_soup > 0) & view.left_to_me
    put = jnp.where(useless | urgent, -20.0, jnp.where(cooks, 5.0, NEVER))
    return _set_down(role, tables, state, view, put, cost)


def _with_soup(
    role: ChefRole, tables: Tables, state: OvercookedState, view: ChefView, taker, soup, from_counter
) -> Float[Array, " cell"]:
    price = role.price
    bad = tables.value[soup] < 0
    cost = _offer((tables.terrain == SERVING) & ~bad, view.mine + price[ChefJob.SERVE], None)
    cost = _hand_over(
        role,
        tables,
        state,
        view,
        taker,
        tables.across_serve,
        price[ChefJob.PASS_SOUP] + jnp.where(bad, NEVER, 0.0),
        from_counter,
        cost,
    )
    useless = bad | ((price[ChefJob.SERVE] >= FAR) & (price[ChefJob.PASS_SOUP] >= FAR))
    return _set_down(role, tables, state, view, jnp.where(useless, -20.0, NEVER), cost)


def _open(tables: Tables, state: OvercookedState) -> Bool[Array, " cell"]:
    return (tables.terrain == COUNTER) & (state.items == OvercookedItem.NOTHING)


def _hand_over(
    role: ChefRole, tables: Tables, state: OvercookedState, view: ChefView, taker, left, price, from_counter, cost
):
    """Price a hand-over; what came from a counter costs more, so that it does not go round in circles."""
    off = jnp.where(tables.middle, 0.0, role.off_middle) + jnp.where(taker < FAR, 0.0, 40.0)
    walks = view.mine + 1 + role.foresight * left + off + jnp.where(from_counter, AGAIN, 0.0)
    return _offer(_open(tables, state), walks + price, cost)


def _set_down(role: ChefRole, tables: Tables, state: OvercookedState, view: ChefView, price, cost):
    where = view.mine + jnp.where(tables.middle, 3.0, 0.0)
    return _offer(_open(tables, state), where + price + role.price[ChefJob.SET_DOWN], cost)


def _left_to(theirs, mine):
    """Return the price of taking what somebody else is better placed to take."""
    return jnp.where(theirs < FAR, jnp.clip(2 * (mine - theirs), 0.0, LATER), 0.0)


def _offer(where, price, cost):
    offered = jnp.where(where, price, NEVER)
    return offered if cost is None else jnp.minimum(cost, offered)
