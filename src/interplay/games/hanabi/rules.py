"""The rules of Hanabi, as pure functions of a rule set and a state."""

from __future__ import annotations

from dataclasses import replace

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Int8, PRNGKeyArray, UInt32

from interplay.games.hanabi.state import (
    DISCARD,
    HINT_COLOUR,
    HINT_RANK,
    NO_CARD,
    PLAY,
    HanabiRules,
    HanabiState,
    LastMove,
    card_bit,
)


def shuffle(rules: HanabiRules, key: PRNGKeyArray) -> Int8[Array, " deck"]:
    """Return a deck in random order: each card goes to the rank of its random number.

    Counting smaller numbers is far quicker than sorting fifty of them, on CPU and GPU alike.
    """
    place = jnp.arange(rules.deck_size, dtype=jnp.int32)
    number = jax.random.bits(key, (rules.deck_size,), jnp.uint32).astype(jnp.int32)
    number = (number & ~jnp.int32(127)) | place  # so no two are equal
    smaller = jnp.sum((number[:, None] > number).astype(jnp.int32), axis=0)
    return jnp.asarray(rules.sorted_deck)[smaller]


def deal(rules: HanabiRules, deck: Int8[Array, " deck"]) -> HanabiState:
    """Return the first state: seat 0 takes its whole hand from the top of the deck, then seat 1, and so on."""
    seats, slots = rules.players, rules.hand_size
    anything = (1 << rules.identities) - 1
    return HanabiState(
        deck=deck,
        dealt=jnp.int32(seats * slots),
        hands=deck[: seats * slots].reshape(seats, slots),
        possible=jnp.full((seats, slots), anything, jnp.uint32),
        told_colours=jnp.zeros((seats, slots), jnp.uint8),
        told_ranks=jnp.zeros((seats, slots), jnp.uint8),
        fireworks=jnp.zeros(len(rules.suits), jnp.int8),
        discards=jnp.zeros(rules.identities, jnp.int8),
        tokens=jnp.int32(rules.hint_tokens),
        lives=jnp.int32(rules.lives),
        time=jnp.int32(0),
        turns_left=jnp.int32(seats),
        last=LastMove(
            action=jnp.int32(rules.moves.noop),
            card=jnp.int8(NO_CARD),
            touched=jnp.zeros(slots, bool),
            scored=jnp.bool_(False),
            token=jnp.bool_(False),
        ),
    )


def to_move(rules: HanabiRules, state: HanabiState) -> Bool[Array, " seat"]:
    """Return the seat to move; seats move in turn."""
    return jnp.arange(rules.players) == state.time % rules.players


def legal(rules: HanabiRules, state: HanabiState) -> Bool[Array, "seat action"]:
    """Return what each seat may do: off turn nothing but the no-op.

    One may play any card of one's hand, discard one unless all hint tokens are there, and, for a token, tell another
    player all cards of one colour or one rank, of which there must be at least one. Some programs that recorded games
    were laxer on both counts; `discard_when_full` and `empty_hints` follow them.
    """
    seats = rules.players
    turn = to_move(rules, state)
    has_card = jnp.any(turn[:, None] & (state.hands != NO_CARD), axis=0)
    may_discard = has_card & (rules.discard_when_full | (state.tokens < rules.hint_tokens))

    receivers = (state.time + jnp.arange(1, seats)) % seats
    in_hand = union(card_bit(state.hands[receivers]))
    touches = ((in_hand[:, None] & rules.hint_sets) != 0) | rules.empty_hints
    may_hint = touches & (state.tokens > 0)
    colours = len(rules.colours)

    on_turn = jnp.concatenate([may_discard, has_card, may_hint[:, :colours].ravel(), may_hint[:, colours:].ravel()])
    return jnp.concatenate([turn[:, None] & on_turn, ~turn[:, None]], axis=1)


def step(rules: HanabiRules, state: HanabiState, actions: Int[Array, " seat"]) -> HanabiState:
    """Play one turn: the seat to move plays, discards or hints; the others wait."""
    turn = to_move(rules, state)
    action = jnp.sum(jnp.where(turn, actions, 0)).astype(jnp.int32)
    kind = jnp.asarray(rules.moves.kind)[action]
    hinted = give_hint(rules, state, action)
    used = use_card(rules, state, action, kind == PLAY)
    is_hint = (kind == HINT_COLOUR) | (kind == HINT_RANK)
    after = jax.tree.map(lambda a, b: a if a is b else jnp.where(is_hint, a, b), hinted, used)
    deck_was_empty = state.dealt == rules.deck_size
    return replace(after, time=state.time + 1, turns_left=state.turns_left - deck_was_empty)


def use_card(rules: HanabiRules, state: HanabiState, action: Int[Array, ""], plays: Bool[Array, ""]) -> HanabiState:
    """Play or discard a card, then draw.

    A card that continues its suit's firework stays there, and the last of a suit gives a hint token back.
    Any other card goes to the discards: a played one costs a life, a discarded one gives a hint token back.
    """
    turn = to_move(rules, state)
    chosen = turn[:, None] & (jnp.arange(rules.hand_size) == jnp.asarray(rules.moves.slot)[action])
    card = jnp.sum(jnp.where(chosen, state.hands, 0), dtype=jnp.int8)
    suit, rank = card // rules.ranks, card % rules.ranks
    is_suit = jnp.arange(len(rules.suits)) == suit
    fits = plays & jnp.any(is_suit & (state.fireworks == rank))
    completes = fits & (rank == rules.ranks - 1)
    gains = (~plays | completes) & (state.tokens < rules.hint_tokens)
    after = draw(rules, state, chosen)
    return replace(
        after,
        fireworks=state.fireworks + (is_suit & fits),
        discards=state.discards + ((jnp.arange(rules.identities) == card) & ~fits),
        tokens=state.tokens + gains,
        lives=state.lives - (plays & ~fits),
        last=LastMove(
            action=action,
            card=card,
            touched=jnp.zeros(rules.hand_size, bool),
            scored=fits,
            token=plays & gains,
        ),
    )


def draw(rules: HanabiRules, state: HanabiState, gone: Bool[Array, "seat slot"]) -> HanabiState:
    """Move younger cards up to fill the gap, and draw the top card of the deck while there is one."""
    turn = jnp.any(gone, axis=1, keepdims=True)
    from_next = turn & (jnp.cumsum(gone, axis=1) > 0)
    is_newest = turn & (jnp.arange(rules.hand_size) == rules.hand_size - 1)
    left = state.dealt < rules.deck_size
    top = jnp.where(left, state.deck[jnp.minimum(state.dealt, rules.deck_size - 1)], jnp.int8(NO_CARD))
    anything = jnp.where(left, jnp.uint32((1 << rules.identities) - 1), jnp.uint32(0))

    def shift(cards, newest):
        moved = jnp.where(from_next, jnp.roll(cards, -1, axis=1), cards)
        return jnp.where(is_newest, newest.astype(cards.dtype), moved)

    return replace(
        state,
        dealt=state.dealt + left,
        hands=shift(state.hands, top),
        possible=shift(state.possible, anything),
        told_colours=shift(state.told_colours, jnp.uint8(0)),
        told_ranks=shift(state.told_ranks, jnp.uint8(0)),
    )


def give_hint(rules: HanabiRules, state: HanabiState, action: Int[Array, ""]) -> HanabiState:
    """Name all cards of one colour or rank in another hand; the cards not named get negative information."""
    moves = rules.moves
    receiver = (state.time + jnp.asarray(moves.offset)[action]) % rules.players
    receives = (jnp.arange(rules.players) == receiver)[:, None]
    named = jnp.asarray(moves.touches)[action]
    touched = (card_bit(state.hands) & named) != 0
    learnt = state.possible & jnp.where(touched, named, ~named)

    hint, colours = jnp.asarray(moves.hint)[action], len(rules.colours)
    by_colour = hint < colours
    bit = (1 << jnp.where(by_colour, hint, hint - colours)).astype(jnp.uint8)
    tells = receives & touched
    return replace(
        state,
        possible=jnp.where(receives, learnt, state.possible),
        told_colours=state.told_colours | jnp.where(tells & by_colour, bit, jnp.uint8(0)),
        told_ranks=state.told_ranks | jnp.where(tells & ~by_colour, bit, jnp.uint8(0)),
        tokens=state.tokens - 1,
        last=LastMove(
            action=action,
            card=jnp.int8(NO_CARD),
            touched=jnp.any(tells, axis=0),
            scored=jnp.bool_(False),
            token=jnp.bool_(False),
        ),
    )


def is_over(rules: HanabiRules, state: HanabiState) -> Bool[Array, ""]:
    """Return whether no life is left, all fireworks are complete, or every seat had a turn after the last draw."""
    return (state.lives <= 0) | (points(state) == rules.max_score) | (state.turns_left <= 0)


def points(state: HanabiState) -> Int[Array, ""]:
    """Return the number of cards played."""
    return jnp.sum(state.fireworks, dtype=jnp.int32)


def score(rules: HanabiRules, state: HanabiState) -> Int[Array, ""]:
    """Return the points, which a team without lives loses (or, by the rule set, keeps)."""
    return jnp.where((state.lives <= 0) & (rules.bomb == "zero"), 0, points(state))


def reward(rules: HanabiRules, before: HanabiState, after: HanabiState) -> Float[Array, " seat"]:
    """Return the change of the score, credited to the seat that moved."""
    gain = score(rules, after) - score(rules, before)
    return jnp.where(to_move(rules, before), gain, 0).astype(jnp.float32)


EVENTS = ("played", "misplayed", "discarded", "hinted_colour", "hinted_rank", "completed")


def events(rules: HanabiRules, before: HanabiState, after: HanabiState) -> Int[Array, "seat event"]:
    """Return the events of a move, for the seat that made it."""
    last = after.last
    kind = jnp.asarray(rules.moves.kind)[last.action]
    plays = kind == PLAY
    completed = last.scored & (last.card % rules.ranks == rules.ranks - 1)
    happened = jnp.stack(
        [last.scored, plays & ~last.scored, kind == DISCARD, kind == HINT_COLOUR, kind == HINT_RANK, completed]
    )
    return (to_move(rules, before)[:, None] & happened).astype(jnp.int32)


def union(sets: UInt32[Array, "*batch n"]) -> UInt32[Array, "*batch"]:
    """Return the identities in any of the sets along the last axis."""
    return jax.lax.reduce(sets, jnp.uint32(0), jax.lax.bitwise_or, (sets.ndim - 1,))
