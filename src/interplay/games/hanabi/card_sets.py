"""Sets of cards for metrics and rewards of Hanabi, for any rule set. A set is the bits of one uint32."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, UInt32

from interplay.games.hanabi.state import NO_CARD, HanabiRules, HanabiState

Flags = Bool[Array, "*shape identity"]
Sets = UInt32[Array, "*shape"]


def pack(rules: HanabiRules, flags: Flags) -> Sets:
    """Return the set of the flagged identities."""
    bits = (1 << np.arange(rules.identities)).astype(np.uint32)
    return jnp.sum(jnp.where(flags, bits, np.uint32(0)), axis=-1, dtype=jnp.uint32)


def has(sets: Sets, cards: Int[Array, "*shape"]) -> Bool[Array, "*shape"]:
    """Return whether each card is in the set; an empty slot never is."""
    return (cards >= 0) & (((sets >> jnp.maximum(cards, 0).astype(jnp.uint32)) & 1) != 0)


def within(sets: Sets, other: Sets) -> Bool[Array, "*shape"]:
    """Return whether a set has members and all of them are in the other."""
    return (sets != 0) & ((sets & ~other) == 0)


def rank_of(rules: HanabiRules) -> np.ndarray:
    """Return the rank of each identity, from 0."""
    return np.arange(rules.identities) % rules.ranks


def heights(rules: HanabiRules, state: HanabiState) -> Int[Array, " identity"]:
    """Return the height of each identity's firework."""
    return jnp.repeat(state.fireworks.astype(jnp.int32), rules.ranks, total_repeat_length=rules.identities)


def playable(rules: HanabiRules, state: HanabiState) -> Bool[Array, " identity"]:
    """Return which identities are next on their firework."""
    return heights(rules, state) == rank_of(rules)


def gone(rules: HanabiRules, state: HanabiState) -> Int[Array, " identity"]:
    """Return the copies of each identity that lie open: played, misplayed or discarded."""
    return state.discards.astype(jnp.int32) + (heights(rules, state) > rank_of(rules))


def dead(rules: HanabiRules, state: HanabiState) -> Bool[Array, " identity"]:
    """Return which identities can never be played: already played, or a rank up to their own has lost all copies."""
    played = heights(rules, state) > rank_of(rules)
    lost = (state.discards >= rules.total_copies) & ~played
    return played | (jnp.cumsum(lost.reshape(-1, rules.ranks), axis=1).reshape(-1) > 0)


def critical(rules: HanabiRules, state: HanabiState) -> Bool[Array, " identity"]:
    """Return which identities are still needed with all copies but one discarded."""
    return ~dead(rules, state) & (state.discards == rules.total_copies - 1)


def in_hands(rules: HanabiRules, hands: Int[Array, "seat slot"]) -> Int[Array, "seat identity"]:
    """Return the copies of each identity in each hand."""
    return jnp.sum(hands[..., None] == jnp.arange(rules.identities), axis=1, dtype=jnp.int32)


def public(rules: HanabiRules, state: HanabiState) -> UInt32[Array, "seat slot"]:
    """Return what each card can be by all hints on it and the open cards, which everybody at the table knows."""
    left = pack(rules, gone(rules, state) < rules.total_copies)
    return jnp.where(state.hands != NO_CARD, state.possible & left, jnp.uint32(0))


def seen(rules: HanabiRules, state: HanabiState, seat: Int[Array, ""]) -> UInt32[Array, " slot"]:
    """Return what each card of a seat can be for its holder, who also sees the other hands."""
    in_hand = in_hands(rules, state.hands)
    visible = jnp.sum(in_hand, axis=0) - in_hand[seat]
    left = pack(rules, gone(rules, state) + visible < rules.total_copies)
    return jnp.where(state.hands[seat] != NO_CARD, state.possible[seat] & left, jnp.uint32(0))


def single(sets: Sets, groups: np.ndarray) -> Bool[Array, "*shape"]:
    """Return whether all members of a set are in one of the groups (the suits, the ranks)."""
    met = (sets[..., None] & groups) != 0
    return jnp.sum(met, axis=-1) == 1


def suit_sets(rules: HanabiRules) -> np.ndarray:
    """Return the identities of each suit, as sets [suit]."""
    ids = np.arange(rules.identities)
    return np.array([np.sum(2 ** ids[ids // rules.ranks == s]) for s in range(len(rules.suits))], np.uint32)


def rank_sets(rules: HanabiRules) -> np.ndarray:
    """Return the identities of each rank, as sets [rank]."""
    ids = np.arange(rules.identities)
    return np.array([np.sum(2 ** ids[ids % rules.ranks == r]) for r in range(rules.ranks)], np.uint32)
