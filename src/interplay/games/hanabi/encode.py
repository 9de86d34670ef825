"""Observations: the field's two standard vectors, and a record for agents that reason about cards.

The vectors are nearly all bits, so each is first assembled as bits of a few words and then expanded to numbers at once.
`_sections` lists their parts in order.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Int8, UInt8, UInt32

from interplay.games.hanabi.rules import union
from interplay.games.hanabi.state import (
    DISCARD,
    HIDDEN,
    HINT_COLOUR,
    HINT_RANK,
    NO_CARD,
    PLAY,
    HanabiRules,
    HanabiState,
    LastMove,
    card_bit,
)
from interplay.games.records import record

U32 = jnp.uint32


class Bits(NamedTuple):
    """Some bits of the vector: `bits[..., i]` are `width` of them, lowest first, one group after the other."""

    bits: UInt32[Array, "*batch group"]
    width: int


def vector_size(rules: HanabiRules) -> int:
    """Return the size of either vector: 658 for two players."""
    ids, colours, ranks = rules.identities, len(rules.colours), rules.ranks
    seats, slots = rules.players, rules.hand_size
    hands = (seats - 1) * slots * ids + seats
    board = rules.deck_size - seats * slots + ids + rules.hint_tokens + rules.lives
    last = seats + 4 + seats + colours + ranks + 2 * slots + ids + 2
    return hands + board + rules.deck_size + last + seats * slots * (ids + colours + ranks)


Observers = Int[Array, " observer"] | np.ndarray | None  # seats whose view is asked for; None: every seat's


def hle(rules: HanabiRules, state: HanabiState, observers: Observers = None) -> Float[Array, "observer size"]:
    """Return the canonical vector of the Hanabi Learning Environment, [observer, size]."""
    around = _around(rules, observers)
    return _spread(_public(rules, state, around) + _knowledge(rules, state, around)).astype(jnp.float32)


def belief(rules: HanabiRules, state: HanabiState, observers: Observers = None) -> Float[Array, "observer size"]:
    """Return `hle` with the odds of each card by hints and cards gone in place of what it may be (JaxMARL's)."""
    around = _around(rules, observers)
    public = _spread(_public(rules, state, around)).astype(jnp.float32)
    ids = np.arange(rules.identities)
    played = jnp.repeat(state.fireworks, rules.ranks) > ids % rules.ranks
    left = (rules.total_copies - state.discards - played).astype(jnp.float32)
    weight = ((state.possible[..., None] >> ids.astype(np.uint32)) & 1).astype(jnp.float32) * left
    total = jnp.sum(weight, axis=-1, keepdims=True)
    odds = jnp.where(total > 0, weight / jnp.where(total > 0, total, 1.0), 0.0)
    hints = _spread([Bits(_hint_bits(rules, state)[..., None], len(rules.colours) + rules.ranks)]).astype(jnp.float32)
    cards = jnp.concatenate([odds, hints], axis=-1)[around]
    return jnp.concatenate([public, cards.reshape(len(around), -1)], axis=-1)


def _around(rules: HanabiRules, observers: Observers) -> Any:
    """Return [observer, k] the seat that sits k after the observer."""
    seats = np.arange(rules.players)
    return ((seats if observers is None else observers)[:, None] + seats) % rules.players


def _public(rules: HanabiRules, state: HanabiState, around: Any) -> list[Bits]:
    """Return all sections before what is known of each card."""
    return _hands(rules, state, around) + _board(rules, state, len(around)) + _last_move(rules, state, around[:, 0])


def _hands(rules: HanabiRules, state: HanabiState, around: Any) -> list[Bits]:
    """Return the others' cards, and whose hand lacks a card."""
    others = card_bit(state.hands)[around[:, 1:]].reshape(len(around), -1)
    short = (state.hands[:, -1] == NO_CARD).astype(U32)[around]
    return [Bits(others, rules.identities), Bits(short, 1)]


def _board(rules: HanabiRules, state: HanabiState, observers: int) -> list[Bits]:
    """Return cards left in the deck, fireworks, hint tokens, lives and discards: the same for all."""
    deck = rules.deck_size - rules.players * rules.hand_size
    height = state.fireworks.astype(jnp.int32)
    fireworks = jnp.where(height > 0, U32(1) << (height - 1).astype(U32), U32(0))
    # Each identity's discards as a row of ones, all identities of a suit side by side in one word.
    copies = np.array(rules.copies)
    start = (np.cumsum(copies) - copies).astype(np.uint32)
    rows = ((U32(1) << state.discards.astype(U32)) - 1).reshape(-1, rules.ranks) << start
    fields = [
        *_ones(rules.deck_size - state.dealt, deck),
        Bits(fireworks, rules.ranks),
        *_ones(state.tokens, rules.hint_tokens),
        *_ones(state.lives, rules.lives),
        Bits(union(rows), int(copies.sum())),
    ]
    return [Bits(jnp.broadcast_to(f.bits, (observers, *f.bits.shape)), f.width) for f in fields]


def _last_move(rules: HanabiRules, state: HanabiState, observers: Any) -> list[Bits]:
    """Return who did what to whom with which outcome; all zeros before the first move."""
    moves, last, seats = rules.moves, state.last, rules.players
    kind = jnp.asarray(moves.kind)[last.action]
    hint = jnp.asarray(moves.hint)[last.action]
    is_hint = (kind == HINT_COLOUR) | (kind == HINT_RANK)
    uses = (kind == PLAY) | (kind == DISCARD)
    order = np.array([1, 0, 2, 3, 31], np.uint32)  # the vector names plays before discards; a no-op falls off the end

    actor_back = (state.time - 1 - observers) % seats
    receiver_back = (actor_back + jnp.asarray(moves.offset)[last.action]) % seats
    happened = state.time > 0

    def same_for_all(bits):
        return jnp.broadcast_to(jnp.where(happened, bits, U32(0)), (len(observers),))[:, None]

    def one_hot(index, present):
        return jnp.where(present, U32(1) << jnp.maximum(index, 0).astype(U32), U32(0))

    slot = jnp.asarray(moves.slot)[last.action]
    return [
        Bits(one_hot(actor_back, happened)[:, None], seats),
        Bits(same_for_all(one_hot(jnp.asarray(order)[kind], kind < 4)), 4),
        Bits(one_hot(receiver_back, happened & is_hint)[:, None], seats),
        Bits(same_for_all(one_hot(hint, kind == HINT_COLOUR)), len(rules.colours)),
        Bits(same_for_all(one_hot(hint - len(rules.colours), kind == HINT_RANK)), rules.ranks),
        Bits(same_for_all(_pack_bools(last.touched)), rules.hand_size),
        Bits(same_for_all(one_hot(slot, uses)), rules.hand_size),
        Bits(same_for_all(card_bit(last.card)), rules.identities),
        Bits(same_for_all(last.scored.astype(U32)), 1),
        Bits(same_for_all(last.token.astype(U32)), 1),
    ]


def _knowledge(rules: HanabiRules, state: HanabiState, around: Any) -> list[Bits]:
    """Return what each card may be by its hints, and the hints on it, observer's hand first."""
    possible = state.possible[around].reshape(len(around), -1)
    hints = _hint_bits(rules, state)[around].reshape(len(around), -1)
    width = len(rules.colours) + rules.ranks
    return [
        field
        for i in range(possible.shape[1])
        for field in (Bits(possible[:, i : i + 1], rules.identities), Bits(hints[:, i : i + 1], width))
    ]


def _hint_bits(rules: HanabiRules, state: HanabiState) -> UInt32[Array, "seat slot"]:
    return state.told_colours.astype(U32) | (state.told_ranks.astype(U32) << len(rules.colours))


def _ones(number: Int[Array, ""], width: int) -> list[Bits]:
    """Return `number` ones and then zeros."""
    fields = []
    for start in range(0, width, 31):
        part = min(31, width - start)
        full = jnp.clip(number - start, 0, part).astype(U32)
        fields.append(Bits(((U32(1) << full) - 1)[None], part))
    return fields


def _pack_bools(flags) -> UInt32[Array, ""]:
    return jnp.sum(jnp.where(flags, U32(1) << np.arange(flags.shape[-1], dtype=np.uint32), U32(0)), axis=-1, dtype=U32)


def _spread(fields: list[Bits]) -> UInt32[Array, "*batch size"]:
    """Return all fields one after the other, one number per bit."""
    words: list = []
    filled = 0
    for field in fields:
        for i in range(field.bits.shape[-1]):
            bits, shift = field.bits[..., i], filled % 32
            if shift == 0:
                words.append(bits)
            else:
                words[-1] = words[-1] | (bits << shift)
                if shift + field.width > 32:
                    words.append(bits >> (32 - shift))
            filled += field.width
    packed = jnp.stack(words, axis=-1)
    numbers = (packed[..., None] >> np.arange(32, dtype=np.uint32)) & 1
    return numbers.reshape(*packed.shape[:-1], -1)[..., :filled]


@record
class HanabiObservation:
    """What a seat may see, as cards. The observer's own cards are HIDDEN; the rest is public."""

    seat: Int[Array, ""]
    time: Int[Array, ""]
    hands: Int8[Array, "seat slot"]
    possible: UInt32[Array, "seat slot"]
    told_colours: UInt8[Array, "seat slot"]
    told_ranks: UInt8[Array, "seat slot"]
    fireworks: Int8[Array, " suit"]
    discards: Int8[Array, " identity"]
    tokens: Int[Array, ""]
    lives: Int[Array, ""]
    deck: Int[Array, ""]  # cards left to draw
    last: LastMove


def open_table(rules: HanabiRules, state: HanabiState, seat: Int[Array, ""]) -> HanabiObservation:
    """Return the record of a seat with all cards face up."""
    return HanabiObservation(
        seat=seat,
        time=state.time,
        hands=state.hands,
        possible=state.possible,
        told_colours=state.told_colours,
        told_ranks=state.told_ranks,
        fireworks=state.fireworks,
        discards=state.discards,
        tokens=state.tokens,
        lives=state.lives,
        deck=rules.deck_size - state.dealt,
        last=state.last,
    )


def seen(rules: HanabiRules, state: HanabiState) -> HanabiObservation:
    """Return every seat's record, [seat, ...]."""

    def view(seat):
        own = (jnp.arange(rules.players) == seat)[:, None]
        hands = jnp.where(own & (state.hands != NO_CARD), jnp.int8(HIDDEN), state.hands)
        return dataclasses.replace(open_table(rules, state, seat), hands=hands)

    return jax.vmap(view)(jnp.arange(rules.players, dtype=jnp.int32))
