"""InfoBot: hat guessing, so that every hint informs every other player at once."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

from interplay.agents.hanabi import standard_deck as cards
from interplay.agents.hanabi.base_bot import RuleBot, best, first_of, hint_action, hint_touches, others, shift
from interplay.agents.hanabi.hat_guessing import HatView, Tables, code, determined, questions, surely, weight
from interplay.agents.hanabi.standard_deck import HINTS, TOTAL, VALUE


def useless(table: Tables, view: HatView) -> Bool[Array, " slot"]:
    """Return cards that are surely dead, and all copies of a determined identity that the hand holds twice."""
    known = determined(table)
    twin = known[:, None] & known & jnp.all((table[:, None] > 0) == (table > 0), axis=-1)
    return surely(table, view.dead) | (jnp.sum(twin, axis=1) >= 2)


class BotInfo(RuleBot):
    """Keeps a public table of weights for every card of every hand."""

    def blank(self):
        """Return the model before the first move."""
        return jnp.tile(jnp.asarray(TOTAL), (self.table.players, self.table.hand_size, 1))

    def watch(self, model, before, move, after):
        """Return the model after a move."""
        view, occupied = HatView.from_board(before), cards.present(before)
        model = jnp.where(occupied[..., None], model, 0)

        around, codes = self._codes(model, occupied, view, move.actor)
        offset = (move.receiver - move.actor) % self.table.players
        its_code = jax.tree.map(lambda x: x[jnp.maximum(offset - 1, 0)], codes)
        hint = jnp.where(move.hints_colour, move.colour, move.value + 4)
        touched = move.touched[move.receiver]
        start = jnp.sum(jnp.where(jnp.arange(len(around)) < offset - 1, codes.classes, 0))

        list_ = useless(model[move.actor], view)
        gone = move.gone[move.actor]
        listed = jnp.any(list_ & gone)
        place = jnp.sum(list_ & (jnp.cumsum(gone) == 0))
        is_hint = move.hints_colour | move.hints_value
        n = jnp.where(is_hint, jnp.sum(codes.classes), jnp.maximum(jnp.sum(list_), 1))
        number = jnp.where(is_hint, start + its_code.class_of(touched, hint), place)
        speaks = is_hint | (move.discards & listed & (jnp.sum(list_) >= 2))
        learnt = self._learn(model, before, view, n, number, move.actor)
        model = jnp.where(speaks, learnt, model)

        named = cards.members(jnp.where(move.touched, move.named, ~move.named))
        model = jnp.where(move.received[..., None] & ~named, 0, model)
        fresh = TOTAL - cards.gone(before)
        moved = shift(model, move.gone, fresh)
        lower = (moved > 0) & (move.card == cards.IDS)
        return jnp.where(jnp.any(gone), moved - lower, model)

    def _codes(self, model, occupied, view, giver):
        around = others(giver, self.table.players)
        return around, jax.vmap(lambda t, h: code(t, h, view))(model[around], occupied[around])

    def _learn(self, model, before, view, n, number, giver):
        """Return the model after a number from the giver about all hands but its own."""
        seats, me = jnp.arange(self.table.players), before.seat
        asked = jax.vmap(lambda t: questions(n, t, view))(model)
        real = jax.vmap(lambda q, h: q.answers_of(h))(asked, before.hands)
        seen = (seats != giver) & (seats != me)
        numbers = jax.vmap(lambda q, h: q.number(h))(asked, before.hands)
        rest = (number - jnp.sum(jnp.where(seen, numbers, 0))) % n
        mine = jax.tree.map(lambda x: x[me], asked)
        valid = (me != giver) & (rest < jnp.prod(mine.radix))
        answers = jnp.where((seats == me)[:, None, None], mine.digits(rest), real)
        applied = jax.vmap(lambda q, t, a: q.apply(t, a))(asked, model, answers)
        return jnp.where((seen | ((seats == me) & valid))[:, None, None], applied, model)

    def _sum(self, model, board, view, n) -> Int[Array, ""]:
        """Return the number to send: the sum of all other hands' numbers."""
        asked = jax.vmap(lambda t: questions(n, t, view))(model)
        numbers = jax.vmap(lambda q, h: q.number(h))(asked, board.hands)
        return jnp.sum(jnp.where(jnp.arange(self.table.players) == board.seat, 0, numbers)) % n

    def hint(self, model, board, view, occupied) -> Int[Array, ""]:
        """Return the hint of the class that encodes the number, the most informative among several."""
        rules = self.table
        around, codes = self._codes(model, occupied, view, board.seat)
        ends = jnp.cumsum(codes.classes)
        number = self._sum(model, board, view, ends[-1])
        pick = jnp.argmax(number < ends)
        receiver, its_code = around[pick], jax.tree.map(lambda x: x[pick], codes)
        wanted = number - (ends[pick] - its_code.classes)

        hand, table = board.hands[receiver], model[receiver]
        asked = questions(jnp.int32(3 * (rules.players - 1)), table, view)
        known = asked.apply(table, asked.answers_of(hand))
        touched = hint_touches(hand)
        after = jnp.where(cards.members(jnp.where(touched, HINTS[:, None], ~HINTS[:, None])), known, 0)
        settled = determined(after) | (weight(after, view.dead) == weight(after))
        was = determined(known) | (weight(known, view.dead) == weight(known)) | ~occupied[receiver]
        left = jnp.prod(jnp.where(was, 1, jnp.maximum(weight(after), 1)), axis=-1).astype(jnp.float32)
        value = jnp.exp2(jnp.sum(~was & settled, axis=-1).astype(jnp.float32)) / left
        hints = jnp.arange(10)
        fits = (its_code.class_of(touched, hints) == wanted) & touched.any(axis=-1)
        card = jnp.maximum(hand, 0).astype(jnp.int32)
        candidates = jnp.stack([card // 5, 5 + card % 5], axis=1).reshape(-1)
        valid = jnp.repeat(occupied[receiver], 2)
        choice = best(jnp.where(fits, value, -1.0)[candidates], valid)
        return hint_action(rules, pick + 1, candidates[choice])

    def choose(self, model, board, key):
        """Choose an action by the rules, in order."""
        rules, me, slots = self.table, board.seat, self.table.hand_size
        view, occupied = HatView.from_board(board), cards.present(board)
        model = jnp.where(occupied[..., None], model, 0)
        partners = others(me, rules.players)
        hands = board.hands[partners]
        in_hand = cards.members(cards.card_bit(hands))
        public, here = model[me], occupied[me]
        private = jnp.maximum(public - jnp.sum(in_hand, axis=(0, 1)), 0) * here[:, None]
        total = jnp.maximum(weight(private), 1)
        holders = jnp.sum(jnp.any(in_hand, axis=1), axis=0)

        sure = surely(private, view.playable)
        urge = (10 - VALUE) / (1 + jnp.where(board.deck > 0, holders, 0))
        fits = weight(private, view.playable)
        early = jnp.sum(board.discards, dtype=jnp.int32) <= 25 - rules.players * slots
        fair = surely(private, view.playable | view.dead) & (4 * fits > 3 * weight(private))

        listed = useless(public, view)
        k = jnp.sum(listed)
        nth = self._sum(model, board, view, jnp.maximum(k, 1))
        by_number = jnp.argmax(listed & (jnp.cumsum(listed) == nth + 1))
        own = useless(private, view) & here
        u = ((k >= 2) | own.any(), jnp.where(k >= 2, by_number, jnp.argmax(own)))

        spare = view.dead | (TOTAL - board.discards != 1)
        regret = 20 * weight(private, holders > 0) + 10 * weight(private, spare) + jnp.sum(private * VALUE, axis=-1)
        hint = self.hint(model, board, view, occupied)
        helps = (board.tokens > 0) & jnp.any(cards.has(view.playable, hands))
        return first_of(
            (sure.any(), slots + best(jnp.sum(private * urge, axis=-1) / total, sure)),
            ((board.lives > 1) & early & fair.any(), slots + best(fits / total, fair)),
            (board.tokens == rules.hint_tokens, hint),
            (early & u[0], u[1]),
            (helps, hint),
            u,
            (True, best(regret / total, here)),
        )
