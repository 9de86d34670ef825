"""The three bots of Eger, Martens and Alfaro Cordoba's study with people (2017): outer, intentional and full.

They were written for two players and an engine that allows discarding with all tokens present. With more players they
look at every partner, next first; where a discard is illegal their next rule decides, in the end a random hint.
"""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int

from interplay.agents.hanabi import standard_deck as cards
from interplay.agents.hanabi.base_bot import best, hint_action, hint_touches, others, shift
from interplay.agents.hanabi.standard_deck import COLOUR, TOTAL, VALUE
from interplay.agents.hanabi.tie_breaking import Lottery, discards, first, only, plays, stack, tell
from interplay.games.hanabi.encode import HanabiObservation
from interplay.games.hanabi.state import HINT_COLOUR, HINT_RANK, HanabiRules
from interplay.games.records import record

COLOUR_ORDER = "GYWBR"  # in which hints are tried, before the ranks


def surely(sets, wanted: Bool[Array, " 25"]):
    """Return whether a card is wanted whatever its hints leave open; seen cards are not counted."""
    return (sets != 0) & ((sets & ~cards.pack(wanted)) == 0)


@record
class Notes:
    """Memory of `Outer`: the kinds of hint, colour or rank, that it has given about each card."""

    aimed: Bool[Array, "seat slot 2"]
    choice: Int[Array, ""]  # its last choice
    action: Int[Array, ""]  # the action of that choice


class Outer(Lottery):
    """Hints at playable cards first, then at any card, and never repeats a hint about a card."""

    def blank(self):
        """Return the model before the first move."""
        shape = (self.table.players, self.table.hand_size, 2)
        return Notes(aimed=jnp.zeros(shape, bool), choice=jnp.int32(0), action=jnp.int32(-1))

    def watch(self, model, before, move, after):
        """Return the model after a move."""
        rules = self.table
        own = (move.actor == before.seat) & (after.last.action == model.action)
        aim = model.choice - 2 * rules.hand_size
        partner, slot, kind = aim // (2 * rules.hand_size), aim // 2 % rules.hand_size, aim % 2
        seat = (before.seat + 1 + partner) % rules.players
        at = (jnp.arange(rules.players) == seat)[:, None, None] & (jnp.arange(rules.hand_size) == slot)[:, None]
        aimed = model.aimed | (own & (aim >= 0) & at & (jnp.arange(2) == kind))
        return Notes(aimed=shift(aimed, move.gone, False), choice=model.choice, action=model.action)

    def actions(self, model, board):
        """Return discards, plays, and then for each card of each partner its colour and its rank hint."""
        rules = self.table
        hands = jnp.maximum(board.hands[others(board.seat, rules.players)], 0).astype(jnp.int32)
        offset = jnp.arange(1, rules.players)[:, None, None]
        aims = hint_action(rules, offset, jnp.stack([hands // 5, 5 + hands % 5], axis=-1))
        return jnp.concatenate([jnp.arange(2 * rules.hand_size), aims.reshape(-1)]).astype(jnp.int32)

    def note(self, model, choice):
        """Remember the choice."""
        return Notes(aimed=model.aimed, choice=choice.astype(jnp.int32), action=model.action)

    def act(self, memory, obs, legal, key):
        """Choose an action and update the memory."""
        memory, action, info = super().act(memory, obs, legal, key)
        model = Notes(aimed=memory.model.aimed, choice=memory.model.choice, action=action)
        return type(memory)(model=model, before=memory.before), action, info

    def offers(self, model, board):
        """Return the odds of each rule: sure plays, sure discards, useful hints, anything new."""
        rules, me, slots = self.table, board.seat, self.table.hand_size
        mine, here = board.possible[me], cards.present(board)[me]
        seats = others(me, rules.players)
        hands, occupied = board.hands[seats], cards.present(board)[seats]
        size = 2 * slots + 2 * hands.size
        new = occupied[..., None] & ~model.aimed[seats]
        ways = jnp.sum(new, axis=-1)
        speaks = board.tokens > 0

        sure = first(here & surely(mine, cards.playable(board)))
        useless = here & surely(mine, cards.played(board))
        fits = (cards.has(cards.playable(board), hands) & (ways > 0)).reshape(-1)
        target = best(jnp.where(fits, hands.reshape(-1) % 5, -1), fits)
        useful = only(target, fits.any() & speaks, fits.shape[0])[:, None] * new.reshape(-1, 2)

        each = 1 / jnp.maximum(jnp.sum(occupied), 1)
        anything = jnp.where(speaks, new * (each / jnp.maximum(ways, 1))[..., None], 0.0).reshape(-1)
        spent = jnp.where(speaks, jnp.sum(occupied & (ways == 0)) * each, 1.0)
        random_discard = here * (spent / jnp.maximum(jnp.sum(here), 1))
        none = jnp.zeros(2 * hands.size)

        def choices(discard, play, aims):
            return jnp.concatenate([jnp.asarray(discard, jnp.float32), jnp.asarray(play, jnp.float32), aims])[:size]

        no = jnp.zeros(slots)
        return stack(
            [
                choices(no, sure, none),
                choices(useless, no, none),
                choices(no, no, useful.reshape(-1)),
                choices(random_discard, no, anything),
            ]
        )


PLAY, DISCARD, MAY_DISCARD, KEEP = range(4)


class Intentional(Lottery):
    """Hints so that the partner, acting on what it may conclude, does what it should.

    With `reads` it interprets its partners' hints in the same way (the bot called full).
    """

    reads: Bool[Array, ""] = eqx.field(default=False, converter=jnp.asarray, kw_only=True)

    def offers(self, model, board):
        """Return the odds of each rule: react to a hint, play, discard, hint, discard the least useful."""
        rules, me = self.table, board.seat
        mine, here = board.possible[me], cards.present(board)[me]
        last = board.last
        kind = jnp.asarray(rules.moves.kind)[last.action]
        offset = jnp.asarray(rules.moves.offset)[last.action]
        was_hinted = ((kind == HINT_COLOUR) | (kind == HINT_RANK)) & ((board.time - 1 + offset) % rules.players == me)
        asked_play, asked_discard = reaction(mine, board)
        read = here & last.touched & was_hinted & self.reads
        to_play = first(read & asked_play)
        to_discard = first(read & asked_discard) & ~to_play.any()

        sure = here & surely(mine, cards.playable(board))
        lowest, highest = first(sure), first(sure[::-1])[::-1]
        useless = here & surely(mine, cards.played(board)) & (board.tokens < rules.hint_tokens)
        worst = best(discard_value(mine, board), here)
        return stack(
            [
                plays(rules, to_play) + discards(rules, to_discard),
                plays(rules, jnp.where(self.reads, lowest, highest)),
                discards(rules, useless),
                best_hint(rules, board),
                discards(rules, (jnp.arange(rules.hand_size) == worst) & here),
            ]
        )


def reaction(sets, board: HanabiObservation):
    """Predict what a hinted partner does: play a card that may be playable, else discard one that may be played."""
    may_play = (sets & cards.pack(cards.playable(board))) != 0
    return may_play, ~may_play & ((sets & cards.pack(cards.played(board))) != 0)


def wish(hands, board: HanabiObservation):
    """Return what this seat would like its partners to do with their cards."""
    spare = (cards.VALUE < 5) & (board.discards == 0)
    wishes = jnp.where(
        cards.playable(board), PLAY, jnp.where(cards.played(board), DISCARD, jnp.where(spare, MAY_DISCARD, KEEP))
    )
    return wishes[jnp.maximum(hands, 0)]


def best_hint(rules: HanabiRules, board: HanabiObservation):
    """Return the hint with the best predicted reactions, among those without a wrong one."""
    seats = others(board.seat, rules.players)
    hands, possible = board.hands[seats], board.possible[seats][:, None]
    touched = hint_touches(hands)
    after = possible & cards.HINTS[:, None]
    tells = jnp.any(touched & (after != possible), axis=-1)
    would_play, would_discard = reaction(after, board)
    would_play, would_discard = touched & would_play, touched & would_discard
    wanted = wish(hands, board)[:, None]
    wrong = (would_play & (wanted != PLAY)) | (would_discard & (wanted != DISCARD) & (wanted != MAY_DISCARD))
    value = 3 * would_play + jnp.where(wanted == DISCARD, 2, 1) * would_discard
    score = jnp.where(tells & ~wrong.any(axis=-1), jnp.sum(value, axis=-1), 0)
    order = np.array([*sorted(range(5), key=lambda i: COLOUR_ORDER.find(rules.suits[i])), 5, 6, 7, 8, 9])
    ordered = score[:, order].reshape(-1)
    at = jnp.argmax(ordered)
    return tell(rules, at // 10 + 1, jnp.asarray(order)[at % 10], (ordered[at] > 0) & (board.tokens > 0))


def discard_value(sets, board: HanabiObservation):
    """Return how little a card would be missed, averaged over what it can be."""
    height = board.fireworks.astype(jnp.int32)[COLOUR]
    left = jnp.maximum(TOTAL - board.discards - cards.played(board), 0)
    weight = jnp.where(cards.members(sets), left, 0).astype(jnp.float32)
    odds = weight / jnp.maximum(jnp.sum(weight, axis=-1, keepdims=True), 1)
    distance = jnp.maximum(VALUE - height, 1)
    worth = jnp.where(weight > 1, odds * (6 - VALUE) / distance**2, 6 - VALUE) + 0.5 * (VALUE == 5)
    # Rounded, so that equal values are equal on every device, and the lowest slot is taken.
    return jnp.round(jnp.sum(odds * jnp.where(cards.played(board), 0.5, -worth), axis=-1), 4)
