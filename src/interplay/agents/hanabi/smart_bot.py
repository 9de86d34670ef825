"""SmartBot: tracks what its partners know, counts cards, and draws conclusions from hints not given."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Int8, UInt32

from interplay.agents.hanabi import standard_deck as cards
from interplay.agents.hanabi.base_bot import (
    RuleBot,
    best,
    first_of,
    hint_action,
    hint_touches,
    others,
    reclaim_action,
    shift,
    value_hint,
)
from interplay.agents.hanabi.standard_deck import ALL, HINTS, TOTAL, UNKNOWN
from interplay.games.hanabi.encode import HanabiObservation
from interplay.games.records import record

NO, MAYBE, YES = 0, 1, 2


class SmartSets(NamedTuple):
    """The public state of identities."""

    playable: UInt32[Array, ""]
    valuable: UInt32[Array, ""]
    worthless: UInt32[Array, ""]

    @classmethod
    def from_board(cls, board: HanabiObservation) -> SmartSets:
        """Read the sets from an observation."""
        worthless = cards.dead(board) | cards.lost(board)
        valuable = (cards.gone(board) == TOTAL - 1) & ~worthless
        return cls(cards.pack(cards.playable(board)), cards.pack(valuable), cards.pack(worthless))


@record
class SmartModel:
    """What is publicly known of each card: its possible identities, and three verdicts on them.

    A verdict of YES or NO stays, even if a partner with other conventions makes the identities contradict it; MAYBE is
    judged again whenever the identities change.
    """

    mask: UInt32[Array, "*card"]
    playable: Int8[Array, "*card"]
    valuable: Int8[Array, "*card"]
    worthless: Int8[Array, "*card"]


def judge(verdict, mask, wanted):
    """Return the verdict on a card's identities: all, none or some of them are wanted."""
    every, none = (mask & ~wanted) == 0, (mask & wanted) == 0
    fresh = jnp.where(mask == 0, MAYBE, jnp.where(every, YES, jnp.where(none, NO, MAYBE)))
    return jnp.where(verdict == MAYBE, fresh, verdict).astype(jnp.int8)


def judged(model: SmartModel, mask, sets: SmartSets) -> SmartModel:
    """Return the model with other masks and the verdicts that follow."""
    return SmartModel(
        mask=mask,
        playable=judge(model.playable, mask, sets.playable),
        valuable=judge(model.valuable, mask, sets.valuable),
        worthless=judge(model.worthless, mask, sets.worthless),
    )


def share(verdict, mask, wanted) -> Float[Array, "*card"]:
    """Return the share of the identities that are wanted, each counted once."""
    part = cards.size(mask & wanted) / jnp.maximum(cards.size(mask), 1)
    maybe = jnp.where(mask == 0, 0.5, part)
    return jnp.where(verdict == YES, 1.0, jnp.where(verdict == NO, 0.0, maybe))


def next_discard(model: SmartModel, occupied, sets: SmartSets) -> Int[Array, " seat"]:
    """Return the slot that each seat would discard; UNKNOWN if it has something better to do."""
    busy = jnp.any(occupied & ((model.playable == YES) | (model.worthless == YES)), axis=-1)
    free = occupied & (model.valuable != YES)
    odds = jnp.where(free, share(model.worthless, model.mask, sets.worthless), -1.0)
    return jnp.where(busy | ~free.any(axis=-1), UNKNOWN, jnp.argmax(odds, axis=-1))


def newest(occupied):
    """Return each hand's newest card."""
    return occupied & (jnp.cumsum(occupied, axis=-1) == jnp.sum(occupied, axis=-1, keepdims=True))


class Smart(RuleBot):
    """Plays what its own eyes prove playable, and infers the newest touched card to be playable."""

    def blank(self):
        """Return the model before the first move."""
        shape = (self.table.players, self.table.hand_size)
        maybe = jnp.full(shape, MAYBE, jnp.int8)
        return SmartModel(mask=jnp.full(shape, ALL, jnp.uint32), playable=maybe, valuable=maybe, worthless=maybe)

    def ponder(self, model, board):
        """Rule out identities of which all copies are gone or publicly located."""
        occupied, gone = cards.present(board), cards.gone(board)

        def count(mask):
            known = occupied & (cards.size(mask) == 1)
            located = jnp.sum(jnp.where(known[..., None], cards.members(mask), False), axis=(0, 1))
            return jnp.where(occupied & ~known, mask & ~cards.pack(gone + located >= TOTAL), mask)

        def changed(pair):
            return jnp.any(pair[0] != pair[1])

        mask = jax.lax.while_loop(changed, lambda p: (p[1], count(p[1])), (model.mask, count(model.mask)))[1]
        return judged(model, mask, SmartSets.from_board(board))

    def watch(self, model, before, move, after):
        """Return the model after a move."""
        occupied, sets = cards.present(before), SmartSets.from_board(before)
        seats = self.table.players
        uses = move.plays | move.discards
        model = self._no_warning(model, before, occupied, sets, move.actor, uses)
        model = self._finesse(model, before, occupied, sets, move)
        model = self._hear(model, occupied, sets, move)
        unwarned = ~uses & (move.receiver != (move.actor + 1) % seats)
        model = self._no_warning(model, before, occupied, sets, move.actor, unwarned)
        missed = uses & ~move.scored
        return SmartModel(
            mask=shift(model.mask, move.gone, ALL),
            playable=shift(jnp.where(move.scored, MAYBE, model.playable).astype(jnp.int8), move.gone, MAYBE),
            valuable=shift(jnp.where(missed, MAYBE, model.valuable).astype(jnp.int8), move.gone, MAYBE),
            worthless=shift(
                jnp.where(uses & (model.worthless != YES), MAYBE, model.worthless).astype(jnp.int8), move.gone, MAYBE
            ),
        )

    def _no_warning(self, model, before, occupied, sets, giver, applies):
        """Conclude that the next seat's next discard is not valuable if nobody warned of it."""
        after_giver = (giver + 1) % self.table.players
        slot = next_discard(model, occupied, sets)[after_giver]
        safe = (jnp.arange(occupied.shape[0]) == after_giver)[:, None] & (jnp.arange(occupied.shape[1]) == slot)
        safe &= applies & (before.deck > 0) & (before.tokens > 0)
        model = replace(model, valuable=jnp.where(safe, NO, model.valuable).astype(jnp.int8))
        return judged(model, jnp.where(safe, model.mask & ~sets.valuable, model.mask), sets)

    def _finesse(self, model, before, occupied, sets, move):
        """Conclude from the discard of a known playable card that somebody's newest card equals it."""
        record_gone = jnp.any(move.gone & (cards.size(model.mask) == 1) & (model.playable == YES))
        applies = move.discards & record_gone
        card = cards.card_bit(move.card)
        seat = jnp.arange(occupied.shape[0])
        last = newest(occupied)
        shows = jnp.any(last & (cards.card_bit(before.hands) == card), axis=1)
        shows &= (seat != move.actor) & (seat != before.seat)
        owner = jnp.where(shows.any(), jnp.argmax(shows), before.seat)
        target = applies & last & (seat == owner)[:, None]
        return judged(model, jnp.where(target, model.mask & card, model.mask), sets)

    def _hear(self, model, occupied, sets, move):
        slot = next_discard(model, occupied, sets)[move.receiver]
        to_next = move.receiver == (move.actor + 1) % self.table.players
        warned = move.touched & (jnp.arange(occupied.shape[1]) == slot) & (model.valuable == MAYBE)
        warned &= move.hints_value & ~move.reclaim & to_next & ((model.mask & move.named & sets.valuable) != 0)
        model = replace(model, valuable=jnp.where(warned, YES, model.valuable).astype(jnp.int8))
        model = judged(model, jnp.where(warned, model.mask & sets.valuable, model.mask), sets)

        maybe = move.received & (model.playable == MAYBE)
        said = jnp.where(move.touched, move.named, ~move.named)
        model = judged(model, jnp.where(move.received, model.mask & said, model.mask), sets)
        identified = jnp.any(maybe & (model.playable == YES))
        candidates = maybe & move.touched & (model.playable == MAYBE)
        inferred = newest(candidates) & ~identified & ~warned.any() & ~move.reclaim
        model = replace(model, playable=jnp.where(inferred, YES, model.playable).astype(jnp.int8))
        return judged(model, jnp.where(inferred, model.mask & sets.playable, model.mask), sets)

    def hint_scores(self, model, board, sets):
        """Return how much each hint tells, [partner, hint]; 0 for hints that must not be given."""
        occupied = cards.present(board)
        seats = others(board.seat, self.table.players)
        hands = board.hands[seats]
        touched = hint_touches(hands) & occupied[seats][:, None]
        was = jax.tree.map(lambda x: x[seats][:, None], model)
        here = occupied[seats][:, None]
        mask = was.mask & jnp.where(touched, HINTS[:, None], ~HINTS[:, None])
        playable = judge(jnp.broadcast_to(was.playable, mask.shape), mask, sets.playable)
        maybe = here & (was.playable == MAYBE)
        reveals = jnp.any(maybe & (playable == YES), axis=-1)
        focus = newest(touched & maybe & (playable == MAYBE))
        really = cards.has(cards.playable(board), hands)[:, None]
        acceptable = reveals | jnp.any(focus & really, axis=-1)
        drop = jnp.sum(jnp.where(here, _weight(was.mask) - _weight(mask), 0), axis=-1)

        slot = next_discard(model, occupied, sets)[seats[0]]
        threatened = hands[0, jnp.maximum(slot, 0)].astype(jnp.int32)
        its_mask = model.mask[seats[0], jnp.maximum(slot, 0)]
        as_warning = (slot >= 0) & ((its_mask & jnp.asarray(HINTS)[5 + threatened % 5] & sets.valuable) != 0)
        skipped = (jnp.arange(len(seats)) == 0)[:, None] & as_warning & (jnp.arange(10) == 5 + threatened % 5)
        return jnp.where(acceptable & touched.any(axis=-1) & ~skipped, drop, 0)

    def own_eyes(self, model, board, sets):
        """Return what this seat can conclude about its own cards from the hands that it sees."""
        me = board.seat
        mine = jax.tree.map(lambda x: x[me], model)
        known = cards.present(board)[me] & (cards.size(mine.mask) == 1)
        visible = jnp.sum(cards.members(cards.card_bit(board.hands)), axis=(0, 1))
        located = visible + jnp.sum(jnp.where(known[:, None], cards.members(mine.mask), False), axis=0)
        exhausted = cards.pack(cards.gone(board) + located >= TOTAL)
        return judged(mine, jnp.where(known, mine.mask, mine.mask & ~exhausted), sets)

    def choose(self, model, board, key):
        """Choose an action by the rules, in order."""
        rules, me, slots = self.table, board.seat, self.table.hand_size
        sets, occupied = SmartSets.from_board(board), cards.present(board)
        mine, eye = jax.tree.map(lambda x: x[me], model), self.own_eyes(model, board, sets)
        here = occupied[me]
        score = self.hint_scores(model, board, sets)
        pick, pick_next = jnp.argmax(score.reshape(-1)), jnp.argmax(score[0])
        discard = next_discard(model, occupied, sets)

        next_seat = (me + 1) % rules.players
        threatened = board.hands[next_seat, jnp.maximum(discard[next_seat], 0)]
        danger = (board.tokens > 0) & (discard[next_seat] >= 0) & ((cards.card_bit(threatened) & sets.valuable) != 0)

        partners = others(me, rules.players)
        newest_bits = jnp.sum(jnp.where(newest(occupied), cards.card_bit(board.hands), 0), axis=1, dtype=jnp.uint32)[
            partners
        ]
        gift = here & (cards.size(mine.mask) == 1) & (mine.valuable == NO) & (mine.playable == YES)
        gift &= (jnp.sum(mine.mask[:, None] == newest_bits, axis=1) == 1) & (board.tokens < rules.hint_tokens)

        sure = here & (mine.playable != NO) & (eye.playable == YES)
        urge = 6 - cards.only_value(eye.mask) + 100 * (mine.playable != YES)
        play = (sure.any(), slots + best(urge, sure))
        odds = share(eye.playable, eye.mask, sets.playable)
        hope = here & (eye.playable == MAYBE)
        late = board.deck <= jnp.where(board.lives == 3, 3, 1)
        gamble = (late & hope.any(), slots + best(odds, hope, newest=True))

        waste = here & ((mine.worthless == YES) | ((mine.worthless == MAYBE) & (eye.worthless == YES)))
        private = 2 - share(mine.worthless, mine.mask, sets.worthless)
        end = board.deck == 0
        return first_of(
            (end & play[0], play[1]),
            (end & gamble[0], gamble[1]),
            (danger & (score[0, pick_next] > 0), hint_action(rules, jnp.int32(1), pick_next)),
            (danger, value_hint(rules, jnp.int32(1), threatened)),
            (gift.any(), jnp.argmax(gift)),
            play,
            ((board.tokens > 0) & (score.max() > 0), hint_action(rules, pick // 10 + 1, pick % 10)),
            gamble,
            (board.tokens == rules.hint_tokens, reclaim_action(rules, board)),
            (waste.any(), best(private, waste)),
            (discard[me] >= 0, discard[me]),
            (True, best(cards.only_value(mine.mask), here)),
        )


def _weight(mask):
    """Return the number of identities; a contradiction counts as all of them."""
    return jnp.where(mask == 0, 10, cards.size(mask))
