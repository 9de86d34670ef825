"""The rules of an interact, first as a function, then as a table that the compiled rules look up.

The outcome of an interact depends on four small things: the faced terrain, what lies there, how far a pot has cooked,
and what the chef holds. So the rules are written once as an ordinary function of these, and tabulated for every
combination.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

from interplay.games.overcooked.recipes import MAX_INGREDIENTS, SOUPS, Menu, Recipe
from interplay.games.overcooked.state import (
    COUNTER,
    DISHES,
    NUM_ITEMS,
    ONIONS,
    POT,
    SERVING,
    TERRAIN,
    TOMATOES,
    OvercookedItem,
    is_soup,
    soup,
)

IDLE_POT, COOKING, READY = range(3)  # phases of a pot; other places are always IDLE_POT

# The events of ZSC-Eval's two lists, under their names there.
EVENTS = (
    "put_onion_on_X",
    "put_tomato_on_X",
    "put_dish_on_X",
    "put_soup_on_X",
    "pickup_onion_from_X",
    "pickup_onion_from_O",
    "pickup_tomato_from_X",
    "pickup_tomato_from_T",
    "pickup_dish_from_X",
    "pickup_dish_from_D",
    "pickup_soup_from_X",
    "USEFUL_DISH_PICKUP",
    "SOUP_PICKUP",
    "PLACEMENT_IN_POT",
    "viable_placement",
    "optimal_placement",
    "catastrophic_placement",
    "useless_placement",
    "potting_onion",
    "potting_tomato",
    "cook",
    "delivery",
    "deliver_size_two_order",
    "deliver_size_three_order",
    "deliver_useless_order",
    "STAY",
    "MOVEMENT",
    "IDLE_MOVEMENT",
    "IDLE_INTERACT_X",
    "IDLE_INTERACT_EMPTY",
    "IDLE_INTERACT",
)
BIT = {name: 1 << i for i, name in enumerate(EVENTS)}


class InteractOutcome(NamedTuple):
    """What lies there and what is held afterwards, and the events."""

    item: int
    held: int
    starts_cooking: bool = False
    events: tuple[str, ...] = ()


def interact(menu: Menu, terrain: int, item: int, phase: int, in_hand: int) -> InteractOutcome:
    """Return the outcome of one interact."""
    if terrain == COUNTER and in_hand and not item:
        return InteractOutcome(in_hand, OvercookedItem.NOTHING, events=(f"put_{name(in_hand)}_on_X",))
    if terrain == COUNTER and item and not in_hand:
        return InteractOutcome(OvercookedItem.NOTHING, item, events=(f"pickup_{name(item)}_from_X",))
    if terrain == ONIONS and not in_hand:
        return InteractOutcome(item, OvercookedItem.ONION, events=("pickup_onion_from_O",))
    if terrain == TOMATOES and not in_hand:
        return InteractOutcome(item, OvercookedItem.TOMATO, events=("pickup_tomato_from_T",))
    if terrain == DISHES and not in_hand:
        return InteractOutcome(item, OvercookedItem.DISH, events=("pickup_dish_from_D",))
    if terrain == POT:
        return _interact_with_pot(menu, item, phase, in_hand)
    if terrain == SERVING and is_soup(in_hand):
        recipe = SOUPS.get(in_hand, (0, 0))
        by_size = {2: "deliver_size_two_order", 3: "deliver_size_three_order"}.get(sum(recipe), "delivery")
        event = by_size if menu.is_ordered(recipe) else "deliver_useless_order"
        return InteractOutcome(item, OvercookedItem.NOTHING, events=("delivery", event))
    return _idle(terrain, item, in_hand)


def _interact_with_pot(menu: Menu, item: int, phase: int, in_hand: int) -> InteractOutcome:
    contents = SOUPS.get(item, (0, 0))
    if (
        in_hand in (OvercookedItem.ONION, OvercookedItem.TOMATO)
        and phase == IDLE_POT
        and sum(contents) < MAX_INGREDIENTS
    ):
        more = (contents[0] + (in_hand == OvercookedItem.ONION), contents[1] + (in_hand == OvercookedItem.TOMATO))
        starts = menu.auto_cook and sum(more) == MAX_INGREDIENTS
        events = ("PLACEMENT_IN_POT", f"potting_{name(in_hand)}", *_judge(menu, contents, more))
        return InteractOutcome(soup(*more), OvercookedItem.NOTHING, starts, (*events, "cook") if starts else events)
    if in_hand == OvercookedItem.DISH and phase == READY:
        return InteractOutcome(OvercookedItem.NOTHING, item, events=("SOUP_PICKUP",))
    if not in_hand and phase == IDLE_POT and sum(contents) > 0 and not menu.auto_cook:
        return InteractOutcome(item, in_hand, starts_cooking=True, events=("cook",))
    return _idle(POT, item, in_hand)


def _judge(menu: Menu, before: Recipe, after: Recipe) -> list[str]:
    """Return how a placement changes v, the value that the soup can still reach."""
    v, w = menu.best_value(before), menu.best_value(after)
    holds = {
        "viable_placement": w > 0,
        "optimal_placement": w == v,
        "catastrophic_placement": v > 0 and w == 0,
        "useless_placement": v == 0,
    }
    return [event for event, true in holds.items() if true]


def _idle(terrain: int, item: int, in_hand: int) -> InteractOutcome:
    where = "IDLE_INTERACT_X" if terrain == COUNTER else "IDLE_INTERACT_EMPTY"
    return InteractOutcome(item, in_hand, events=(where, "IDLE_INTERACT"))


def name(item: int) -> str:
    """Return an item's name in events."""
    return OvercookedItem(item).name.lower() if item < OvercookedItem.SOUP else "soup"


class InteractTable(NamedTuple):
    """`interact` for every combination.

    Bits of `packed`: 0-4 item, 5-9 held, 10 starts cooking, 11 delivers, 12 places in a pot, 13 takes a soup from a
    pot, 14 takes a dish from the dispenser, 15 changes anything.
    """

    packed: np.ndarray  # [terrain * item * phase * held] int32
    events: np.ndarray  # [terrain * item * phase * held] int32, one bit an event


STARTS, DELIVERS, PLACES, PLATES, TAKES_DISH, EFFECTIVE = (1 << b for b in range(10, 16))
NUM_PHASES = 3


@functools.lru_cache(maxsize=64)  # most kitchens share a menu, and a table takes longer than all else in a kitchen
def tabulate(menu: Menu) -> InteractTable:
    """Tabulate all interacts under a menu, at ((terrain * items + item) * phases + phase) * items + held."""
    shape = (len(TERRAIN), NUM_ITEMS, NUM_PHASES, NUM_ITEMS)
    packed, events = np.zeros(shape, np.int32), np.zeros(shape, np.int32)
    for place in np.ndindex(*shape):
        terrain, item, phase, in_hand = place
        out = interact(menu, terrain, item, phase, in_hand)
        flags = {
            STARTS: out.starts_cooking,
            DELIVERS: "delivery" in out.events,
            PLACES: "PLACEMENT_IN_POT" in out.events,
            PLATES: "SOUP_PICKUP" in out.events,
            TAKES_DISH: "pickup_dish_from_D" in out.events,
            EFFECTIVE: (out.item, out.held) != (item, in_hand) or out.starts_cooking,
        }
        packed[place] = out.item | out.held << 5 | sum(flag for flag, true in flags.items() if true)
        events[place] = sum({BIT[event] for event in out.events})
    for table in (packed, events):
        table.setflags(write=False)
    return InteractTable(packed.reshape(-1), events.reshape(-1))
