"""Sets of cards that metrics and rewards of Hanabi speak of, for any rule set. A set is the bits of one uint32."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, UInt32

from interplay.games.hanabi.state import NO_CARD, HanabiRules, HanabiState

Flags = Bool[Array, "*shape identity"]
Sets = UInt32[Array, "*shape"]


def pack(rules: HanabiRules, flags: Flags) -> Sets:
    """The set of the identities that are flagged."""
    bits = (1 << np.arange(rules.identities)).astype(np.uint32)
    return jnp.sum(jnp.where(flags, bits, np.uint32(0)), axis=-1, dtype=jnp.uint32)


def has(sets: Sets, cards: Int[Array, "*shape"]) -> Bool[Array, "*shape"]:
    """Whether each card is in the set; an empty slot never is."""
    return (cards >= 0) & (((sets >> jnp.maximum(cards, 0).astype(jnp.uint32)) & 1) != 0)


def within(sets: Sets, other: Sets) -> Bool[Array, "*shape"]:
    """Whether a set has members and all of them are in the other."""
    return (sets != 0) & ((sets & ~other) == 0)


def rank_of(rules: HanabiRules) -> np.ndarray:
    """Of each identity, from 0."""
    return np.arange(rules.identities) % rules.ranks


def suit_of(rules: HanabiRules) -> np.ndarray:
    return np.arange(rules.identities) // rules.ranks


def heights(rules: HanabiRules, state: HanabiState) -> Int[Array, " identity"]:
    """The height of each identity's firework."""
    return jnp.repeat(state.fireworks.astype(jnp.int32), rules.ranks, total_repeat_length=rules.identities)


def playable(rules: HanabiRules, state: HanabiState) -> Bool[Array, " identity"]:
    """Next on its firework."""
    return heights(rules, state) == rank_of(rules)


def gone(rules: HanabiRules, state: HanabiState) -> Int[Array, " identity"]:
    """Copies that lie open: played, misplayed or discarded."""
    return state.discards.astype(jnp.int32) + (heights(rules, state) > rank_of(rules))


def dead(rules: HanabiRules, state: HanabiState) -> Bool[Array, " identity"]:
    """Played already, or it or a lower rank that is still missing has lost all copies: it will never be played."""
    played = heights(rules, state) > rank_of(rules)
    lost = (state.discards >= rules.total_copies) & ~played
    return played | (jnp.cumsum(lost.reshape(-1, rules.ranks), axis=1).reshape(-1) > 0)


def critical(rules: HanabiRules, state: HanabiState) -> Bool[Array, " identity"]:
    """Still needed, and all copies but one are discarded."""
    return ~dead(rules, state) & (state.discards == rules.total_copies - 1)


def in_hands(rules: HanabiRules, hands: Int[Array, "seat slot"]) -> Int[Array, "seat identity"]:
    """Copies of each identity in each hand."""
    return jnp.sum(hands[..., None] == jnp.arange(rules.identities), axis=1, dtype=jnp.int32)


def public(rules: HanabiRules, state: HanabiState) -> UInt32[Array, "seat slot"]:
    """What each card can be by all hints on it and the open cards, which everybody at the table knows."""
    left = pack(rules, gone(rules, state) < rules.total_copies)
    return jnp.where(state.hands != NO_CARD, state.possible & left, jnp.uint32(0))


def seen(rules: HanabiRules, state: HanabiState, seat: Int[Array, ""]) -> UInt32[Array, " slot"]:
    """What each card of a seat can be for its holder, who also sees the other hands."""
    held = in_hands(rules, state.hands)
    visible = jnp.sum(held, axis=0) - held[seat]
    left = pack(rules, gone(rules, state) + visible < rules.total_copies)
    return jnp.where(state.hands[seat] != NO_CARD, state.possible[seat] & left, jnp.uint32(0))


def single(sets: Sets, groups: np.ndarray) -> Bool[Array, "*shape"]:
    """Whether all members of a set are in one of the groups (the suits, the ranks)."""
    met = (sets[..., None] & groups) != 0
    return jnp.sum(met, axis=-1) == 1


def suit_sets(rules: HanabiRules) -> np.ndarray:
    """[suit] the identities of each suit, as sets."""
    ids = np.arange(rules.identities)
    return np.array([np.sum(2 ** ids[ids // rules.ranks == s]) for s in range(len(rules.suits))], np.uint32)


def rank_sets(rules: HanabiRules) -> np.ndarray:
    ids = np.arange(rules.identities)
    return np.array([np.sum(2 ** ids[ids % rules.ranks == r]) for r in range(rules.ranks)], np.uint32)
