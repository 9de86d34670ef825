"""The state of an Overcooked kitchen, and the meaning of its small integers.

Cells are numbered x * height + y, so a [cell] array reshaped to (width, height) is the map in the order of the field's
standard observation. Whatever lies in a cell, in a pot or in a hand is one small integer, an item.
"""

from __future__ import annotations

from enum import IntEnum

from jaxtyping import Array, Int

from interplay.games.records import record

ACTIONS = ("north", "south", "east", "west", "stay", "interact")
MOVES = ((0, -1), (0, 1), (1, 0), (-1, 0), (0, 0), (0, 0))  # (dx, dy) of each action
STAY, INTERACT = 4, 5

TERRAIN = " XPOTDS"  # floor, counter, pot, onions, tomatoes, dishes, serving
FLOOR, COUNTER, POT, ONIONS, TOMATOES, DISHES, SERVING = range(7)

IDLE = -1  # the timer of a pot that is not cooking; a soup is ready at 0


class OvercookedItem(IntEnum):
    """What a cell or a hand holds. From SOUP on it is a soup: SOUP + 4 * onions + tomatoes."""

    NOTHING = 0
    ONION = 1
    TOMATO = 2
    DISH = 3
    SOUP = 4


NUM_ITEMS = 20  # four single items and 4 x 4 contents of a soup


def soup(onions: int, tomatoes: int) -> int:
    """Return the item that is a soup (plated, or in a pot at whatever stage) with these ingredients."""
    return OvercookedItem.SOUP + 4 * onions + tomatoes


def is_soup(item):
    """Return whether an item is a soup."""
    return item >= OvercookedItem.SOUP


def onions_in(item):
    """Return the onions in a soup; meaningless for other items."""
    return (item - OvercookedItem.SOUP) // 4


def tomatoes_in(item):
    """Return the tomatoes in a soup; meaningless for other items."""
    return (item - OvercookedItem.SOUP) % 4


@record
class OvercookedState:
    """The state of a kitchen; the terrain belongs to the game, not to its state."""

    time: Int[Array, ""]
    cell: Int[Array, " seat"]  # where each chef stands
    facing: Int[Array, " seat"]  # 0 north, 1 south, 2 east, 3 west
    held: Int[Array, " seat"]  # the item in hand
    items: Int[Array, " cell"]  # the item on each counter and in each pot
    timer: Int[Array, " cell"]  # pots: IDLE, or the steps until the soup is ready; IDLE everywhere else
