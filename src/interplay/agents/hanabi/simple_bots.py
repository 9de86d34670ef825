"""BlindBot, SimpleBot and ValueBot: a hint means "play these", and later also "keep this"."""

from __future__ import annotations

from typing import ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

from interplay.agents.hanabi import standard_deck as cards
from interplay.agents.hanabi.base_bot import (
    RuleBot,
    best,
    commit,
    first_of,
    hint_action,
    hint_touches,
    others,
    reclaim_action,
    shift,
    value_hint,
)
from interplay.agents.hanabi.standard_deck import UNKNOWN
from interplay.games.records import record


class Blind(RuleBot):
    """Plays a card at random every turn."""

    encoding: ClassVar[str] = "nothing"  # that `act` reads

    def init(self, key, seat):
        """Return the memory at the start of an episode."""
        return ()

    def act(self, memory, obs, legal, key):
        """Choose an action and update the memory."""
        slots = self.table.hand_size
        plays = (jnp.arange(legal.shape[0]) // slots == 1) & legal
        action = jax.random.categorical(key, jnp.where(plays, 0.0, -jnp.inf))
        _, info = commit(self.table, action, legal)
        return memory, commit(self.table, action, legal)[0], info


@record
class SimpleModel:
    """What SimpleBot believes of each card."""

    colour: Int[Array, "seat slot"]
    value: Int[Array, "seat slot"]
    playable: Bool[Array, "seat slot"]


class Simple(RuleBot):
    """Believes that hinted cards are playable, and hints only cards that are."""

    def blank(self):
        """Return the model before the first move."""
        shape = (self.table.players, self.table.hand_size)
        unknown = jnp.full(shape, UNKNOWN, jnp.int32)
        return SimpleModel(colour=unknown, value=unknown, playable=jnp.zeros(shape, bool))

    def watch(self, model, before, move, after):
        """Return the model after a move."""
        by_colour = move.touched & move.hints_colour
        by_value = move.touched & move.hints_value & ~move.reclaim
        next_value = jnp.minimum(before.fireworks.astype(jnp.int32)[jnp.clip(move.colour, 0, 4)] + 1, 5)
        colour = jnp.where(by_colour, move.colour, model.colour)
        value = jnp.where(by_colour, next_value, jnp.where(by_value, move.value, model.value))
        playable = model.playable | by_colour | by_value
        playable &= ~(move.plays & could_be(colour, value, move.card) & (value != 5))
        return SimpleModel(
            colour=shift(colour, move.gone, UNKNOWN),
            value=shift(value, move.gone, UNKNOWN),
            playable=shift(playable, move.gone, False),
        )

    def choose(self, model, board, key):
        """Choose an action by the rules, in order."""
        rules, me = self.table, board.seat
        occupied = cards.present(board)[me]
        flagged = model.playable[me] & occupied

        seats = others(me, rules.players)
        hands = board.hands[seats]
        touched = hint_touches(hands)
        fits = cards.has(cards.playable(board), hands)[:, None]
        news = jnp.sum(touched & fits & ~model.playable[seats][:, None], axis=-1)
        score = jnp.where(jnp.any(touched & ~fits, axis=-1), 0, news).reshape(-1)
        pick = jnp.argmax(score)
        return first_of(
            (flagged.any(), rules.hand_size + best(-model.value[me], flagged)),
            ((board.tokens > 0) & (score[pick] > 0), hint_action(rules, pick // 10 + 1, pick % 10)),
            (board.tokens == rules.hint_tokens, reclaim_action(rules, board)),
            (True, 0),
        )


def could_be(colour, value, card):
    """Return which records allow for this card."""
    card = jnp.maximum(card, 0).astype(jnp.int32)
    return ((colour == UNKNOWN) | (colour == card // 5)) & ((value == UNKNOWN) | (value == card % 5 + 1))


@record
class ValueModel:
    """What ValueBot believes of each card."""

    colour: Int[Array, "seat slot"]
    value: Int[Array, "seat slot"]
    playable: Bool[Array, "seat slot"]
    valuable: Bool[Array, "seat slot"]
    worthless: Bool[Array, "seat slot"]


def next_discard(model, occupied) -> Int[Array, " seat"]:
    """Return the slot that each seat will discard if it gets no hint; UNKNOWN if it will not discard."""
    busy = jnp.any((model.playable | model.worthless) & occupied, axis=-1)
    free = ~model.valuable & occupied
    return jnp.where(busy | ~free.any(axis=-1), UNKNOWN, jnp.argmax(free, axis=-1))


def could_be_valuable(board):
    """Return which values some last copy has, [value 1 to 5]."""
    return cards.last_copy(board).reshape(5, 5).any(axis=0)


class Value(RuleBot):
    """SimpleBot that also warns before last copies are discarded."""

    def blank(self):
        """Return the model before the first move."""
        shape = (self.table.players, self.table.hand_size)
        unknown, no = jnp.full(shape, UNKNOWN, jnp.int32), jnp.zeros(shape, bool)
        return ValueModel(colour=unknown, value=unknown, playable=no, valuable=no, worthless=no)

    def watch(self, model, before, move, after):
        """Return the model after a move."""
        model = self._hear_colour(model, before, move)
        model = self._hear_value(model, before, move)
        was_last = cards.has(cards.last_copy(before), move.card)
        clears = move.scored & ~was_last & could_be(model.colour, model.value, move.card) & (model.value != 5)
        value_gone = move.scored & (jnp.min(after.fireworks) + 1 > move.card % 5 + 1)
        out = value_gone & (model.value == move.card % 5 + 1)
        return ValueModel(
            colour=shift(model.colour, move.gone, UNKNOWN),
            value=shift(model.value, move.gone, UNKNOWN),
            playable=shift(model.playable & ~clears, move.gone, False),
            valuable=shift(model.valuable, move.gone, False),
            worthless=shift(model.worthless | out, move.gone, False),
        )

    def _hear_colour(self, model, before, move):
        touched = move.touched & move.hints_colour
        height = before.fireworks.astype(jnp.int32)[jnp.clip(move.colour, 0, 4)]
        value = jnp.where(touched & (model.value == UNKNOWN), jnp.minimum(height + 1, 5), model.value)
        last = cards.last_copy(before)[jnp.clip(move.colour * 5 + value - 1, 0, 24)]
        over = value <= height
        return ValueModel(
            colour=jnp.where(touched, move.colour, model.colour),
            value=value,
            playable=model.playable | (touched & (value == height + 1)),
            valuable=model.valuable | (touched & ~over & last),
            worthless=model.worthless | (touched & over),
        )

    def _hear_value(self, model, before, move):
        touched = move.touched & move.hints_value & ~move.reclaim
        slot = next_discard(model, cards.present(before))[move.receiver]
        warned = touched & (jnp.arange(touched.shape[1]) == slot)
        warned &= could_be_valuable(before)[jnp.clip(move.value - 1, 0, 4)]
        warning = warned.any()
        lowest = jnp.min(before.fireworks) + 1
        return ValueModel(
            colour=model.colour,
            value=jnp.where(touched, move.value, model.value),
            playable=model.playable | (warned & (move.value == lowest)) | (touched & ~warning),
            valuable=model.valuable | warned,
            worthless=model.worthless,
        )

    def hint_scores(self, model, board):
        """Return how good each hint is, [partner, hint]; 0 for hints that must not be given."""
        seats = others(board.seat, self.table.players)
        hands = board.hands[seats]
        touched = hint_touches(hands)
        fits = cards.has(cards.playable(board), hands)[:, None]
        news = jnp.sum(touched & fits & ~model.playable[seats][:, None], axis=-1)
        vague = (model.value[seats] == UNKNOWN)[:, None]
        wrong = touched & ~fits & jnp.where(jnp.arange(10)[:, None] < 5, vague, True)
        slot = next_discard(model, cards.present(board))[seats]
        discard = jnp.take_along_axis(hands, jnp.maximum(slot, 0)[:, None], axis=1)[:, 0].astype(jnp.int32)
        as_warning = (slot >= 0) & could_be_valuable(board)[discard % 5]
        skipped = as_warning[:, None] & (jnp.arange(10) == 5 + discard[:, None] % 5)
        return jnp.where(wrong.any(axis=-1) | skipped, 0, news)

    def choose(self, model, board, key):
        """Choose an action by the rules, in order."""
        rules, me = self.table, board.seat
        occupied = cards.present(board)[me]
        flagged = model.playable[me] & occupied
        score = self.hint_scores(model, board)
        return value_turn(
            rules, board, model, occupied, flagged, score, cards.last_copy(board), model.value[me], (False, 0)
        )


def value_turn(rules, board, model, occupied, flagged, score, precious, value, gamble):
    """Return the action by the rules that ValueBot and HolmesBot share."""
    me, slots = board.seat, rules.hand_size
    next_seat = (me + 1) % rules.players
    slot = next_discard(model, cards.present(board))[next_seat]
    threatened = board.hands[next_seat, jnp.maximum(slot, 0)]
    danger = (board.tokens > 0) & (slot >= 0) & cards.has(precious, threatened)
    pick, pick_next = jnp.argmax(score.reshape(-1)), jnp.argmax(score[0])
    worthless, free = model.worthless[me] & occupied, ~model.valuable[me] & occupied
    return first_of(
        (danger & (score[0, pick_next] > 0), hint_action(rules, jnp.int32(1), pick_next)),
        (danger, value_hint(rules, jnp.int32(1), threatened)),
        (flagged.any(), slots + best(-value, flagged)),
        ((board.tokens > 0) & (score.max() > 0), hint_action(rules, pick // 10 + 1, pick % 10)),
        gamble,
        (board.tokens == rules.hint_tokens, reclaim_action(rules, board)),
        (worthless.any(), jnp.argmax(worthless)),
        (free.any(), jnp.argmax(free)),
        (True, best(value, occupied)),
    )
