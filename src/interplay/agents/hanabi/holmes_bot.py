"""HolmesBot: ValueBot that eliminates impossible identities, and gambles at the end of the game."""

from __future__ import annotations

from dataclasses import replace

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int, UInt32

from interplay.agents.hanabi import standard_deck as cards
from interplay.agents.hanabi.base_bot import RuleBot, best, hint_touches, others, shift
from interplay.agents.hanabi.simple_bots import next_discard, value_turn
from interplay.agents.hanabi.standard_deck import ALL, HINTS, TOTAL, UNKNOWN
from interplay.games.records import record


@record
class HolmesModel:
    """What is known of each card."""

    mask: UInt32[Array, "seat slot"]  # what the card can still be
    colour: Int[Array, "seat slot"]  # fixed colour
    value: Int[Array, "seat slot"]  # fixed value
    playable: Bool[Array, "seat slot"]
    valuable: Bool[Array, "seat slot"]
    worthless: Bool[Array, "seat slot"]


def identified(model: HolmesModel):
    """Return which cards have a known colour and value."""
    return (model.colour != UNKNOWN) & (model.value != UNKNOWN)


def valuable_set(board):
    """Return the set of unplayed identities with one copy left."""
    return cards.pack(~cards.played(board) & (cards.gone(board) == TOTAL - 1))


def fix(model: HolmesModel, where, colour=None, value=None) -> HolmesModel:
    """Set the colour or the value of some cards and rule out their other identities."""
    mask = model.mask
    if colour is not None:
        mask = jnp.where(where, mask & jnp.asarray(HINTS)[jnp.clip(colour, 0, 4)], mask)
        model = replace(model, colour=jnp.where(where, colour, model.colour))
    if value is not None:
        mask = jnp.where(where, mask & jnp.asarray(HINTS)[jnp.clip(value + 4, 5, 9)], mask)
        model = replace(model, value=jnp.where(where, value, model.value))
    return replace(model, mask=mask)


class Holmes(RuleBot):
    """Keeps each card's remaining identities, and draws conclusions until nothing changes."""

    def blank(self):
        """Return the model before the first move."""
        shape = (self.table.players, self.table.hand_size)
        unknown, no = jnp.full(shape, UNKNOWN, jnp.int32), jnp.zeros(shape, bool)
        mask = jnp.full(shape, ALL, jnp.uint32)
        return HolmesModel(mask=mask, colour=unknown, value=unknown, playable=no, valuable=no, worthless=no)

    def ponder(self, model, board):
        """Return the model with what follows from it before a move."""
        occupied = cards.present(board)
        fits, keep, over = cards.pack(cards.playable(board)), valuable_set(board), cards.pack(cards.played(board))
        gone = cards.gone(board)

        def conclude(model):
            sure_colour, sure_value = cards.only_colour(model.mask), cards.only_value(model.mask)
            model = fix(model, occupied & (sure_colour != UNKNOWN), colour=sure_colour)
            model = fix(model, occupied & (sure_value != UNKNOWN), value=sure_value)
            known = identified(model) & occupied
            card = jnp.where(known, model.colour * 5 + model.value - 1, UNKNOWN)
            located = jnp.sum(card.reshape(-1, 1) == cards.IDS, axis=0)
            left = ~cards.pack(gone + located >= TOTAL)
            for flag, allowed in ((model.playable, fits), (model.valuable, keep), (model.worthless, over)):
                left = left & jnp.where(flag, allowed, ALL)
            mask = jnp.where(known | ~occupied, model.mask, model.mask & left)
            none = mask == 0
            plain = ~model.playable & ~model.valuable
            contradiction = none & ~model.worthless & ~plain
            return replace(
                model,
                mask=mask,
                worthless=model.worthless | (occupied & plain & (mask & ~over == 0)),
                valuable=model.valuable | (occupied & jnp.where(none, contradiction, mask & ~keep == 0)),
                playable=model.playable | (occupied & jnp.where(none, contradiction, mask & ~fits == 0)),
            )

        def changed(pair):
            old, new = pair
            return jnp.any(jnp.stack([jnp.any(a != b) for a, b in zip(jax.tree.leaves(old), jax.tree.leaves(new))]))

        return jax.lax.while_loop(changed, lambda pair: (pair[1], conclude(pair[1])), (model, conclude(model)))[1]

    def watch(self, model, before, move, after):
        """Return the model after a move."""
        occupied = cards.present(before)
        heard = self._hear_value(self._hear_colour(model, before, move), model, before, move, occupied)
        card = cards.card_bit(move.card)
        was_last = (card & cards.pack(cards.last_copy(before))) != 0
        clears = move.scored & ~was_last & ~heard.valuable & ((heard.mask & card) != 0)
        return HolmesModel(
            mask=shift(heard.mask, move.gone, ALL),
            colour=shift(heard.colour, move.gone, UNKNOWN),
            value=shift(heard.value, move.gone, UNKNOWN),
            playable=shift(heard.playable & ~clears, move.gone, False),
            valuable=shift(heard.valuable, move.gone, False),
            worthless=shift(heard.worthless, move.gone, False),
        )

    def _hear_colour(self, model, before, move):
        touched = move.touched & move.hints_colour
        model = fix(model, touched, colour=move.colour)
        next_value = jnp.minimum(before.fireworks.astype(jnp.int32)[jnp.clip(move.colour, 0, 4)] + 1, 5)
        model = fix(model, touched & (model.value == UNKNOWN) & ~model.worthless, value=next_value)
        untouched = move.received & ~touched & move.hints_colour
        return replace(model, mask=jnp.where(untouched, model.mask & ~move.named, model.mask))

    def _hear_value(self, model, old, before, move, occupied):
        tells = move.hints_value & ~move.reclaim
        touched = move.touched & tells
        slot = next_discard(old, occupied)[move.receiver]
        warned = touched & (jnp.arange(touched.shape[1]) == slot)
        warned &= (old.mask & move.named & valuable_set(before)) != 0
        lowest = jnp.min(before.fireworks) + 1
        model = fix(model, touched, value=move.value)
        inferred = touched & (model.colour == UNKNOWN) & ~warned.any() & ~model.worthless
        untouched = move.received & ~touched & tells
        return replace(
            model,
            mask=jnp.where(untouched, model.mask & ~move.named, model.mask),
            playable=model.playable | (warned & (move.value == lowest)) | inferred,
            valuable=model.valuable | warned,
        )

    def hint_scores(self, model, board):
        """Return how good each hint is, [partner, hint]; 0 for hints that must not be given."""
        seats = others(board.seat, self.table.players)
        hands = board.hands[seats]
        touched = hint_touches(hands)
        fits = cards.has(cards.playable(board), hands)[:, None]
        news = jnp.sum(touched & fits & ~model.playable[seats][:, None], axis=-1)
        by_colour = jnp.arange(10)[:, None] < 5
        vague = jnp.where(
            by_colour, (model.value == UNKNOWN)[seats][:, None], (model.colour == UNKNOWN)[seats][:, None]
        )
        wrong = touched & ~fits & vague & ~model.worthless[seats][:, None]
        slot = next_discard(model, cards.present(board))[seats]
        at = jnp.maximum(slot, 0)[:, None]
        discard = jnp.take_along_axis(hands, at, axis=1)[:, 0].astype(jnp.int32)
        mask = jnp.take_along_axis(model.mask[seats], at, axis=1)[:, 0]
        same_value = jnp.asarray(HINTS)[5 + discard % 5]
        as_warning = (slot >= 0) & ((mask & same_value & valuable_set(board)) != 0)
        skipped = as_warning[:, None] & (jnp.arange(10) == 5 + discard[:, None] % 5)
        return jnp.where(wrong.any(axis=-1) | skipped, 0, news)

    def choose(self, model, board, key):
        """Choose an action by the rules, in order."""
        me, slots = board.seat, self.table.hand_size
        occupied = cards.present(board)[me]
        flagged = model.playable[me] & occupied
        hope = occupied & ~model.worthless[me] & ~identified(model)[me]
        gamble = ((board.deck <= 1) & hope.any(), slots + best(jnp.zeros(slots), hope, newest=True))
        precious = ~cards.played(board) & (cards.gone(board) == TOTAL - 1)
        score = self.hint_scores(model, board)
        return value_turn(self.table, board, model, occupied, flagged, score, precious, model.value[me], gamble)
