"""Sets of cards and public facts of a table, for bots that reason about the standard deck.

An identity is colour * 5 + value index; a set of identities is the bits of one uint32 (see the game's `state`).
Values are named 1 to 5 as people name them; UNKNOWN is -1.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax.lax import clz, population_count
from jaxtyping import Array, Bool, Int, UInt32

from interplay.games.hanabi.encode import HanabiObservation
from interplay.games.hanabi.state import NO_CARD, HanabiRules
from interplay.games.hanabi.state import card_bit as card_bit

UNKNOWN = -1
IDS = np.arange(25)
COLOUR, VALUE = IDS // 5, IDS % 5 + 1
TOTAL = np.tile([3, 2, 2, 2, 1], 5).astype(np.int32)
ALL = np.uint32((1 << 25) - 1)
BIT = (1 << IDS).astype(np.uint32)
# The ten hints in the order in which bots try them: colours 0 to 4, then values 1 to 5.
HINTS = HanabiRules(players=2, hand_size=5).hint_sets


def pack(flags: Bool[Array, "*shape 25"]) -> UInt32[Array, "*shape"]:
    """Return the set of the flagged identities."""
    return jnp.sum(jnp.where(flags, BIT, np.uint32(0)), axis=-1, dtype=jnp.uint32)


def members(sets: UInt32[Array, "*shape"]) -> Bool[Array, "*shape 25"]:
    """Return flags of the identities in each set."""
    return (sets[..., None] & BIT) != 0


def size(sets: UInt32[Array, "*shape"]) -> Int[Array, "*shape"]:
    """Return the number of identities in each set."""
    return population_count(sets).astype(jnp.int32)


def identity(sets: UInt32[Array, "*shape"]) -> Int[Array, "*shape"]:
    """Return the identity of a set with one member; UNKNOWN for any other set."""
    return jnp.where(size(sets) == 1, 31 - clz(sets).astype(jnp.int32), UNKNOWN)


def only_colour(sets: UInt32[Array, "*shape"]) -> Int[Array, "*shape"]:
    """Return the only colour left in a set, or UNKNOWN."""
    return _only((sets[..., None] & HINTS[:5]) != 0)


def only_value(sets: UInt32[Array, "*shape"]) -> Int[Array, "*shape"]:
    """Return the only value left in a set, 1 to 5, or UNKNOWN."""
    index = _only((sets[..., None] & HINTS[5:]) != 0)
    return jnp.where(index >= 0, index + 1, UNKNOWN)


def _only(has):
    return jnp.where(jnp.sum(has, axis=-1) == 1, jnp.argmax(has, axis=-1), UNKNOWN).astype(jnp.int32)


def heights(board: HanabiObservation) -> Int[Array, " 25"]:
    """Return the height of each identity's firework."""
    return board.fireworks.astype(jnp.int32)[COLOUR]


def played(board: HanabiObservation) -> Bool[Array, " 25"]:
    """Return which identities have been played."""
    return heights(board) >= VALUE


def playable(board: HanabiObservation) -> Bool[Array, " 25"]:
    """Return which identities are next on their pile."""
    return heights(board) == VALUE - 1


def gone(board: HanabiObservation) -> Int[Array, " 25"]:
    """Return how many copies of each identity were played, discarded or misplayed."""
    return board.discards.astype(jnp.int32) + played(board)


def lost(board: HanabiObservation) -> Bool[Array, " 25"]:
    """Return which identities have all copies discarded."""
    return board.discards.astype(jnp.int32) == TOTAL


def dead(board: HanabiObservation) -> Bool[Array, " 25"]:
    """Return which identities can never be played: already played, or a value up to their own is lost."""
    blocked = jnp.cumsum((lost(board) & ~played(board)).reshape(5, 5), axis=1).reshape(25) > 0
    return played(board) | blocked


def last_copy(board: HanabiObservation) -> Bool[Array, " 25"]:
    """Return which unplayed identities have one copy left."""
    return ~played(board) & (board.discards.astype(jnp.int32) == TOTAL - 1)


def present(board: HanabiObservation) -> Bool[Array, "seat slot"]:
    """Return which slots hold a card, the observer's own included."""
    return board.hands != NO_CARD


def has(flags: Bool[Array, " 25"], cards: Int[Array, "*shape"]) -> Bool[Array, "*shape"]:
    """Return whether each visible card is a flagged identity; false for hidden cards and empty slots."""
    return (card_bit(cards) & pack(flags)) != 0
