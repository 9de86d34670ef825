"""A bot by the H-Group's first conventions: chop, focus, play clues and save clues, good touch, and the 5 stall.

The newest card is the leftmost. Each clued card carries what the conventions say that it is; all seats conclude
the same, so whoever gives a clue knows how it will be read, and gives none that would be read wrongly.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, UInt32

from interplay.agents.hanabi import cards
from interplay.agents.hanabi.cards import ALL, HINTS, TOTAL, VALUE
from interplay.agents.hanabi.frame import RuleBot, best, first_of, hint_action, hint_touches, others, shift
from interplay.games.hanabi.encode import Seen
from interplay.games.hanabi.rules import union
from interplay.games.records import record

FIVES, TWOS = HINTS[9], HINTS[6]


@record
class Read:
    """What the conventions say of the cards."""

    meant: UInt32[Array, "seat slot"]  # what each card is held to be
    early: Bool[Array, ""]  # nobody has discarded from the chop yet


class Sets(NamedTuple):
    """What the table says of identities, in the light of what is already promised."""

    playable: UInt32[Array, ""]
    dead: UInt32[Array, ""]
    critical: UInt32[Array, ""]
    promised: UInt32[Array, ""]  # known to be in some hand, and clued there
    next: UInt32[Array, ""]  # what a play clue can mean: next on its pile once the promised cards are played


def clued(board: Seen) -> Bool[Array, "seat slot"]:
    return (board.told_colours | board.told_ranks) != 0


def sets_of(board: Seen, meant: UInt32[Array, "seat slot"]) -> Sets:
    sure = clued(board) & (cards.size(meant) == 1)
    promised = union(jnp.where(sure, meant, np.uint32(0)).reshape(-1))
    open_ = ~cards.played(board) & ~cards.members(promised)
    first_open = open_.reshape(5, 5) & (jnp.cumsum(open_.reshape(5, 5), axis=1) == 1)
    dead = cards.dead(board)
    critical = ~dead & (cards.gone(board) == TOTAL - 1)
    return Sets(
        playable=cards.pack(cards.playable(board)),
        dead=cards.pack(dead),
        critical=cards.pack(critical),
        promised=promised,
        next=cards.pack(first_open.reshape(25) & ~dead),
    )


def chop(touched_before: Bool[Array, " slot"], held: Bool[Array, " slot"]) -> Bool[Array, " slot"]:
    """The oldest card without a clue: the next to be discarded."""
    free = held & ~touched_before
    return free & (jnp.cumsum(free) == 1)


def leftmost(flags: Bool[Array, " slot"]) -> Bool[Array, " slot"]:
    return flags & (jnp.cumsum(flags[::-1])[::-1] == 1)


class Clue(NamedTuple):
    """How a clue is read."""

    meant: UInt32[Array, " slot"]
    focus: Bool[Array, " slot"]
    new: Bool[Array, " slot"]
    on_chop: Bool[Array, ""]


def read_clue(meant, possible, was_clued, held, touched, named, value, sets: Sets) -> Clue:
    """What the receiver makes of a clue; `value` is 0 for a colour. Other cards are judged by good touch."""
    new = touched & ~was_clued & held
    on_chop = jnp.any(new & chop(was_clued, held))
    focus = jnp.where(on_chop, chop(was_clued, held), leftmost(jnp.where(new.any(), new, touched)))
    left = possible & jnp.where(touched, named, ~named)
    base = _unless_empty(meant & left, left)
    save = sets.critical & ~jnp.where(value == 0, FIVES, np.uint32(0))
    save = save | jnp.where(value == 5, FIVES, np.uint32(0)) | jnp.where(value == 2, TWOS & ~sets.dead, np.uint32(0))
    said = sets.next | jnp.where(on_chop, save, np.uint32(0))
    # A clue without a new card is a fill-in: it may also point at what is already promised.
    said = said | jnp.where(new.any(), np.uint32(0), sets.playable)
    useful = _unless_empty(base & ~sets.dead & ~sets.promised, base)
    read = jnp.where(focus, _unless_empty(base & said, base), jnp.where(new, useful, base))
    return Clue(meant=jnp.where(held, read, ALL), focus=focus, new=new, on_chop=on_chop)


def _unless_empty(sets, otherwise):
    return jnp.where(sets != 0, sets, otherwise)


def will_play(meant, has_clue, sets: Sets):
    """Cards that their owner takes for playable."""
    return has_clue & (meant != 0) & ((meant & ~sets.playable) == 0)


class HGroup(RuleBot):
    """Clues only what the receiver will read rightly, saves what the next seat would discard, discards its chop."""

    def blank(self):
        shape = (self.table.players, self.table.hand_size)
        return Read(meant=jnp.full(shape, ALL, jnp.uint32), early=jnp.bool_(True))

    def watch(self, model, before, move, after):
        sets, held = sets_of(before, model.meant), cards.present(before)
        r = move.receiver
        value = jnp.where(move.hints_value, move.value, 0)
        clue = read_clue(
            model.meant[r], before.possible[r], clued(before)[r], held[r], move.touched[r], move.named, value, sets
        )
        told = move.hints_colour | move.hints_value
        meant = jnp.where(told & (jnp.arange(held.shape[0]) == r)[:, None], clue.meant, model.meant)
        on_chop = jnp.any(move.gone & ~clued(before))
        return Read(meant=shift(meant, move.gone, ALL), early=model.early & ~(move.discards & on_chop))

    def ponder(self, model, board):
        """A clued card is neither dead nor promised elsewhere; a reading that is refuted is given up."""
        sets, has_clue = sets_of(board, model.meant), clued(board)
        meant = _unless_empty(model.meant & board.possible, board.possible)
        alone = cards.size(meant) == 1
        useful = _unless_empty(meant & ~sets.dead & ~jnp.where(alone, np.uint32(0), sets.promised), meant)
        return Read(meant=jnp.where(has_clue, useful, board.possible), early=model.early)

    def judge(self, model, board, sets: Sets):
        """How good each clue is as a play clue and as a save, [partner, hint]; below zero for what must not be said."""
        seats = others(board.seat, self.table.players)
        hands, held, has_clue = board.hands[seats], cards.present(board)[seats], clued(board)[seats]
        meant, possible = model.meant[seats], board.possible[seats]
        touched = hint_touches(hands)
        values = jnp.where(np.arange(10) < 5, 0, np.arange(10) - 4)

        def to_partner(meant, possible, has_clue, held, touched):
            def say(touched, named, value):
                return read_clue(meant, possible, has_clue, held, touched, named, value, sets)

            return jax.vmap(say)(touched, jnp.asarray(HINTS), values)

        clue = jax.vmap(to_partner)(meant, possible, has_clue, held, touched)
        bits = cards.card_bit(hands)[:, None]
        now_clued = has_clue[:, None] | clue.new
        really = (bits & sets.playable) != 0
        plays = will_play(clue.meant, now_clued, sets) & held[:, None]
        gained = jnp.sum(plays & really & ~will_play(meant, has_clue, sets)[:, None], axis=-1)
        wrong = jnp.any(plays & ~really, axis=-1) | jnp.any(clue.focus & ((bits & clue.meant) == 0), axis=-1)

        elsewhere = union(jnp.where(has_clue, cards.card_bit(hands), np.uint32(0)).reshape(-1)) | sets.promised
        twins = (hands[..., None] == hands[..., None, :]) & ~jnp.eye(self.table.hand_size, dtype=bool)
        twin = jnp.any(twins[:, None] & clue.new[..., None, :], axis=-1)
        bad = jnp.sum(clue.new & (((bits & (elsewhere | sets.dead)) != 0) | twin), axis=-1)
        good = jnp.sum(clue.new, axis=-1) - bad
        delayed = jnp.any(clue.focus & ((bits & sets.next & ~sets.playable) != 0), axis=-1) & clue.new.any(axis=-1)
        ok = touched.any(axis=-1) & ~wrong
        play = jnp.where(ok & ((gained > 0) | delayed), 10 * gained + 6 * delayed + good - 12 * bad, -99)
        saves = ok & clue.on_chop & jnp.any(clue.focus & ((bits & self.worth_saving(board, sets)) != 0), axis=-1)
        save = jnp.where(saves, 10 + 10 * gained + good - 5 * bad, -99)
        stall = jnp.where(ok & (bad == 0), gained + (values == 5) * jnp.any(clue.new, axis=-1), -99)
        return play, save, stall

    def worth_saving(self, board, sets: Sets) -> UInt32[Array, ""]:
        """Critical cards, and twos of which this seat sees no other copy."""
        seen = jnp.sum(cards.members(cards.card_bit(board.hands)), axis=(0, 1))
        lone_two = cards.pack((VALUE == 2) & (seen == 1)) & ~sets.dead & ~sets.promised
        return (sets.critical | lone_two) & ~sets.promised

    def own_cards(self, model, board, sets: Sets):
        """This seat's cards, less what its eyes rule out."""
        me = board.seat
        visible = jnp.sum(cards.members(cards.card_bit(board.hands)), axis=(0, 1))
        gone = cards.pack(cards.gone(board) + visible >= TOTAL)
        others_clued = union(jnp.where(clued(board), cards.card_bit(board.hands), np.uint32(0)).reshape(-1))
        mine, has_clue = model.meant[me], clued(board)[me]
        mine = _unless_empty(mine & ~gone, mine)
        return jnp.where(has_clue, _unless_empty(mine & ~others_clued, mine), mine)

    def choose(self, model, board, key):
        rules, me, slots = self.table, board.seat, self.table.hand_size
        sets, held = sets_of(board, model.meant), cards.present(board)[me]
        mine, has_clue = self.own_cards(model, board, sets), clued(board)[me]
        ready = held & (mine != 0) & ((mine & ~sets.playable) == 0)
        lowest = jnp.argmax((mine[:, None] & HINTS[5:]) != 0, axis=1)
        trash = held & ((mine & ~sets.dead) == 0)

        play, save, stall = self.judge(model, board, sets)
        speaks = board.tokens > 0
        next_seat = (me + 1) % rules.players
        next_held, next_clued = cards.present(board)[next_seat], clued(board)[next_seat]
        next_meant = model.meant[next_seat]
        busy = jnp.any(next_held & (will_play(next_meant, next_clued, sets) | ((next_meant & ~sets.dead) == 0)))
        on_chop = chop(next_clued, next_held)
        threat = jnp.any(on_chop & ((cards.card_bit(board.hands[next_seat]) & self.worth_saving(board, sets)) != 0))
        danger = speaks & threat & ~busy
        help_next = jnp.maximum(jnp.where(play[0] > 0, play[0] + 5, -99), save[0])

        def give(scores):
            at = jnp.argmax(scores.reshape(-1))
            return hint_action(rules, at // 10 + 1, at % 10)

        free = chop(has_clue, held)
        full = board.tokens == rules.hint_tokens
        idle = jnp.where(stall > -99, stall, -99)
        return first_of(
            (danger & (help_next.max() > 0), hint_action(rules, jnp.int32(1), jnp.argmax(help_next))),
            (ready.any(), slots + best(-lowest, ready)),
            (speaks & (play.max() > 0), give(play)),
            (speaks & (save.max() > 0) & (board.tokens >= 4), give(save)),
            (trash.any() & ~full, jnp.argmax(trash)),
            (speaks & model.early & (stall.max() > 0), give(stall)),
            (full, give(idle)),
            (free.any(), jnp.argmax(free)),
            (True, best(lowest, held)),
        )
