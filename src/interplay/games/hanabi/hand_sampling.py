"""Hands that a seat could hold by what it knows, and the state in which it does.

A seat knows the other hands, the open cards and its hints. By these alone, every way to deal it cards from those it
does not see is equally likely, as if moves were made at random. (Nearly: that a hint was possible at all tells a little
more.)
"""

from __future__ import annotations

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Int8, PRNGKeyArray

from interplay.games.hanabi import card_sets
from interplay.games.hanabi.state import NO_CARD, HanabiRules, HanabiState


def unseen(rules: HanabiRules, state: HanabiState, seat: Int[Array, ""]) -> Int[Array, " identity"]:
    """Return the copies of each identity that a seat sees nowhere: they are in its hand or in the deck."""
    in_hand = card_sets.in_hands(rules, state.hands)
    return jnp.asarray(rules.total_copies) - card_sets.gone(rules, state) - (jnp.sum(in_hand, axis=0) - in_hand[seat])


def draw_hand(
    rules: HanabiRules, state: HanabiState, seat: Int[Array, ""], key: PRNGKeyArray, candidates: int = 8
) -> tuple[Int8[Array, " slot"], Bool[Array, ""]]:
    """Draw a hand that fits the hints.

    Cards are drawn one after the other by the copies that are left, so a hand whose later cards had few choices comes
    up too often. Of several such hands one is kept by the product of the choices that each had, which corrects this
    (exactly, with many candidates).

    Returns:
        The hand, and whether one was found.
    """
    hands, weights = jax.vmap(lambda k: _one_by_one(rules, state, seat, k))(jax.random.split(key, candidates))
    chosen = jax.random.categorical(jax.random.fold_in(key, candidates), weights)
    return hands[chosen], jnp.any(jnp.isfinite(weights))


def _one_by_one(
    rules: HanabiRules, state: HanabiState, seat: Int[Array, ""], key: PRNGKeyArray
) -> tuple[Int8[Array, " slot"], Float[Array, ""]]:
    """Return a hand, and the logarithm of the number of choices; minus infinity if there was none."""
    left, choices, hand = unseen(rules, state, seat).astype(jnp.float32), jnp.float32(0.0), []
    chance = jax.random.uniform(key, (rules.hand_size,))  # noise for every identity would cost 25 times that
    ids = np.arange(rules.identities, dtype=np.uint32)
    for slot in range(rules.hand_size):
        there = state.hands[seat, slot] != NO_CARD
        may = ((state.possible[seat, slot] >> ids) & 1).astype(jnp.float32) * left
        card = _drawn(may, chance[slot])
        choices = choices + jnp.where(there, jnp.log(jnp.sum(may)), 0.0)
        left = left - jnp.where(there, jax.nn.one_hot(card, rules.identities), 0.0)
        hand.append(jnp.where(there, card, NO_CARD).astype(jnp.int8))
    return jnp.stack(hand), choices


def _drawn(counts: Float[Array, " identity"], chance: Float[Array, ""]) -> Int[Array, ""]:
    """Return an identity, each by its count; one that has some, unless none has."""
    below = jnp.cumsum(counts)
    place = jnp.minimum(jnp.floor(chance * below[-1]), below[-1] - 1)
    return jnp.sum(below <= place)


def replace_hand(
    rules: HanabiRules, state: HanabiState, seat: Int[Array, ""], hand: Int8[Array, " slot"]
) -> HanabiState:
    """Return the state with this hand in its place.

    The deck stays as it is and may hold cards twice: `draw_next` before every move, or `set_hand`, which deals anew.
    """
    return replace(state, hands=jnp.where((jnp.arange(rules.players) == seat)[:, None], hand, state.hands))


def draw_next(rules: HanabiRules, state: HanabiState, key: PRNGKeyArray) -> HanabiState:
    """Return the state with a next card of the deck that is drawn among all cards in no hand and not gone."""
    in_hand = jnp.sum(card_sets.in_hands(rules, state.hands), axis=0)
    rest = jnp.maximum(jnp.asarray(rules.total_copies) - card_sets.gone(rules, state) - in_hand, 0).astype(jnp.float32)
    card = _drawn(rest, jax.random.uniform(key)).astype(state.deck.dtype)
    return replace(state, deck=jnp.where(jnp.arange(rules.deck_size) == state.dealt, card, state.deck))


def set_hand(
    rules: HanabiRules, state: HanabiState, seat: Int[Array, ""], hand: Int8[Array, " slot"], key: PRNGKeyArray
) -> HanabiState:
    """Return the state with this hand in its place, and the rest of what the seat does not see as a shuffled deck."""
    dealt_out = jnp.sum(hand[:, None] == jnp.arange(rules.identities), axis=0, dtype=jnp.int32)
    rest = unseen(rules, state, seat) - dealt_out
    place = jnp.arange(rules.deck_size, dtype=jnp.int32)
    in_order = jnp.searchsorted(jnp.cumsum(rest), place, side="right").astype(jnp.int8)
    many = rules.deck_size - state.dealt
    number = jax.random.bits(key, (rules.deck_size,), jnp.uint32).astype(jnp.int32)
    number = ((number & ~jnp.int32(127)) | place) & jnp.int32(0x7FFFFFFF)  # no two are equal, none is negative
    number = jnp.where(place < many, number, -1 - place)  # what is no card of the deck comes before all others
    after = jnp.sum((number[:, None] < number).astype(jnp.int32), axis=0)  # so cards fill the last places
    deck = jnp.zeros_like(state.deck).at[after].set(in_order)
    is_seat = (jnp.arange(rules.players) == seat)[:, None]
    return replace(
        state, deck=jnp.where(place < state.dealt, state.deck, deck), hands=jnp.where(is_seat, hand, state.hands)
    )
