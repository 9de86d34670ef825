"""The rules of Overcooked, as pure functions.

One step: the interacts first, seat by seat, from where the chefs stand and face; then all walk at once; then the pots
cook. `interact.py` says which interact does what.
"""

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from interplay.games.api import Step
from interplay.games.overcooked.interact import (
    BIT,
    DELIVERS,
    EFFECTIVE,
    EVENTS,
    NUM_PHASES,
    PLACES,
    PLATES,
    STARTS,
    TAKES_DISH,
)
from interplay.games.overcooked.state import (
    IDLE,
    INTERACT,
    NUM_ITEMS,
    STAY,
    OvercookedItem,
    OvercookedState,
    onions_in,
    tomatoes_in,
)
from interplay.games.overcooked.static_tables import StaticTables
from interplay.games.records import record

PLACEMENT_SHAPING, SOUP_SHAPING, DISH_SHAPING = 3.0, 5.0, 3.0


@record
class Interacts:
    """What the interacts of one step did, seat by seat."""

    items: Int[Array, " cell"]
    timer: Int[Array, " cell"]
    held: Int[Array, " seat"]
    packed: Int[Array, " seat"]  # outcome flags, see `interact.InteractTable`; 0 for whoever did not interact
    event_bits: Int[Array, " seat"]
    delivered: Int[Array, " seat"]  # the soup handed in, or nothing
    useful_dish: Bool[Array, " seat"]


def step(kitchen: StaticTables, state: OvercookedState, actions: Int[Array, " seat"]) -> tuple[OvercookedState, Step]:
    """Play one joint action."""
    did = resolve_interacts(kitchen, state, actions)
    cell, facing = resolve_movement(kitchen, state, actions)
    time = state.time + 1
    after = OvercookedState(
        time=time,
        cell=cell,
        facing=facing,
        held=did.held,
        items=did.items,
        timer=jnp.where(did.timer > 0, did.timer - 1, did.timer),
    )
    return after, Step(
        reward=jnp.asarray(kitchen.value)[did.delivered],
        shaped=_shaped(did),
        terminated=jnp.zeros((), bool),
        truncated=time >= kitchen.horizon,
        events=_events(did, state, after, actions),
    )


def resolve_movement(
    kitchen: StaticTables, state: OvercookedState, actions: Int[Array, " seat"]
) -> tuple[Int[Array, " seat"], Int[Array, " seat"]]:
    """Return where the chefs stand and face afterwards.

    A chef always turns, even when blocked. If any two would meet in a cell or swap cells, nobody moves.
    """
    facing = jnp.where(actions < STAY, actions, state.facing)
    target = jnp.asarray(kitchen.walk)[state.cell * 6 + actions]
    clash = jnp.zeros((), bool)
    for seat in range(target.shape[0]):
        for other in range(seat):
            meet = target[seat] == target[other]
            swap = (target[seat] == state.cell[other]) & (target[other] == state.cell[seat])
            clash = clash | meet | swap
    return jnp.where(clash, state.cell, target), facing


def faced_cells(kitchen: StaticTables, state: OvercookedState) -> Int[Array, " seat"]:
    """Return the cell that each chef faces."""
    return jnp.asarray(kitchen.front)[state.cell * 4 + state.facing]


def look_up(kitchen: StaticTables, front, item, timer, in_hand) -> Int[Array, ...]:
    """Return the index of an interact in the table of outcomes."""
    phase = jnp.where(timer < 0, 0, jnp.where(timer > 0, 1, 2))
    terrain = jnp.asarray(kitchen.terrain)[front]
    return ((terrain * NUM_ITEMS + item.astype(jnp.int32)) * NUM_PHASES + phase) * NUM_ITEMS + in_hand


def resolve_interacts(kitchen: StaticTables, state: OvercookedState, actions: Int[Array, " seat"]) -> Interacts:
    """Resolve all interacts in the order of the seats: a later chef finds what an earlier one left."""
    front = faced_cells(kitchen, state)
    item, timer = list(state.items[front].astype(jnp.int32)), list(state.timer[front].astype(jnp.int32))
    hands, seats = list(state.held), range(front.shape[0])
    pots_in_use = _pots_in_use(kitchen, state)
    dishes_out = jnp.sum(state.items == OvercookedItem.DISH, dtype=jnp.int32)
    items_after, timer_after = state.items, state.timer
    packed, bits, delivered, useful = [], [], [], []
    for seat in seats:
        index = look_up(kitchen, front[seat], item[seat], timer[seat], hands[seat])
        acts = actions[seat] == INTERACT
        out = jnp.where(acts, jnp.asarray(kitchen.table.packed)[index], 0)
        dishes_held = sum((h == OvercookedItem.DISH).astype(jnp.int32) for h in hands)
        useful.append((out & TAKES_DISH > 0) & (dishes_out == 0) & (dishes_held < pots_in_use))
        bits.append(jnp.where(acts, jnp.asarray(kitchen.table.events)[index], 0))
        packed.append(out)
        delivered.append(jnp.where(out & DELIVERS > 0, hands[seat], OvercookedItem.NOTHING))
        new_item = jnp.where(acts, out & 31, item[seat])
        started = jnp.asarray(kitchen.time).astype(jnp.int32)[new_item]
        new_timer = jnp.where(out & STARTS > 0, started, jnp.where(out & PLATES > 0, IDLE, timer[seat]))
        dishes_out += (new_item == OvercookedItem.DISH).astype(jnp.int32) - (item[seat] == OvercookedItem.DISH).astype(
            jnp.int32
        )
        hands[seat] = jnp.where(acts, (out >> 5) & 31, hands[seat])
        for later in seats[seat + 1 :]:
            same = front[later] == front[seat]
            item[later] = jnp.where(same, new_item, item[later])
            timer[later] = jnp.where(same, new_timer, timer[later])
        here = jnp.arange(state.items.shape[0]) == front[seat]
        items_after = jnp.where(here, new_item.astype(items_after.dtype), items_after)
        timer_after = jnp.where(here, new_timer.astype(timer_after.dtype), timer_after)
    return Interacts(
        items=items_after,
        timer=timer_after,
        held=jnp.stack(hands),
        packed=jnp.stack(packed),
        event_bits=jnp.stack(bits),
        delivered=jnp.stack(delivered),
        useful_dish=jnp.stack(useful),
    )


def _pots_in_use(kitchen: StaticTables, state: OvercookedState) -> Int[Array, ""]:
    """Return the pots that are ready, cooking or partly full, before anyone interacts."""
    item, timer = state.items[kitchen.pots].astype(jnp.int32), state.timer[kitchen.pots]
    size = onions_in(item) + tomatoes_in(item)
    return jnp.sum((timer >= 0) | ((item > OvercookedItem.SOUP) & (size < 3)), dtype=jnp.int32)


def _shaped(did: Interacts) -> Float[Array, " seat"]:
    return (
        PLACEMENT_SHAPING * (did.packed & PLACES > 0)
        + SOUP_SHAPING * (did.packed & PLATES > 0)
        + DISH_SHAPING * did.useful_dish
    ).astype(jnp.float32)


def _events(
    did: Interacts, before: OvercookedState, after: OvercookedState, actions: Int[Array, " seat"]
) -> Int[Array, "seat event"]:
    moved, turned = after.cell != before.cell, after.facing != before.facing
    bits = (
        did.event_bits
        | jnp.where(did.useful_dish, BIT["USEFUL_DISH_PICKUP"], 0)
        | jnp.where(actions == STAY, BIT["STAY"], 0)
        | jnp.where(moved, BIT["MOVEMENT"], 0)
        | jnp.where((actions < STAY) & ~moved & ~turned, BIT["IDLE_MOVEMENT"], 0)
    )
    return (bits[:, None] >> jnp.arange(len(EVENTS))) & 1


def effective_interacts(kitchen: StaticTables, state: OvercookedState) -> Bool[Array, " seat"]:
    """Return whether an interact would change anything, for each chef alone."""
    front = faced_cells(kitchen, state)
    index = look_up(kitchen, front, state.items[front], state.timer[front], state.held)
    return jnp.asarray(kitchen.table.packed)[index] & EFFECTIVE > 0
