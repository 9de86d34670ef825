"""A bot that plays the H-Group's first conventions.

These are chop, focus, play and save clues, good touch, prompt, finesse and 5 stall. The newest card is the leftmost.
Each clued card carries what the conventions say that it is. All seats conclude the same, so the giver of a clue knows
how it will be read, and gives none that would be misread.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, UInt32

from interplay.agents.hanabi import standard_deck as cards
from interplay.agents.hanabi.base_bot import RuleBot, hint_action, hint_touches, others, shift
from interplay.agents.hanabi.standard_deck import ALL, HINTS, TOTAL, VALUE
from interplay.games.hanabi.encode import HanabiObservation
from interplay.games.hanabi.rules import union
from interplay.games.records import record

FIVES, TWOS = HINTS[9], HINTS[6]


@record
class Read:
    """What the conventions say about the cards."""

    meant: UInt32[Array, "seat slot"]  # what each card is taken to be
    finessed: Bool[Array, "seat slot"]  # to be played blind
    focus: Bool[Array, "seat slot"]  # the new card that the last clue was about, until its owner has moved
    early: Bool[Array, ""]  # nobody has discarded from the chop yet


class Sets(NamedTuple):
    """The public state of identities, given what clues have promised."""

    playable: UInt32[Array, ""]
    dead: UInt32[Array, ""]
    critical: UInt32[Array, ""]
    promised: UInt32[Array, ""]  # known to be in some hand, and clued there
    next: UInt32[Array, ""]  # what a play clue can mean: next on its pile once the promised cards are played


def clued(board: HanabiObservation) -> Bool[Array, "seat slot"]:
    """Return which cards have been touched by a clue."""
    return (board.told_colours | board.told_ranks) != 0


def sets_of(board: HanabiObservation, meant: UInt32[Array, "seat slot"]) -> Sets:
    """Compute the sets from the table and the conventional reading of the cards."""
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


def chop(touched_before: Bool[Array, " slot"], occupied: Bool[Array, " slot"]) -> Bool[Array, " slot"]:
    """Return the oldest card without a clue: the next to be discarded."""
    free = occupied & ~touched_before
    return free & (jnp.cumsum(free) == 1)


def leftmost(flags: Bool[Array, " slot"]) -> Bool[Array, " slot"]:
    """Return only the newest of the flagged cards."""
    return flags & (jnp.cumsum(flags[::-1])[::-1] == 1)


class Clue(NamedTuple):
    """How a clue is read."""

    meant: UInt32[Array, " slot"]
    focus: Bool[Array, " slot"]
    new: Bool[Array, " slot"]
    on_chop: Bool[Array, ""]


def read_clue(meant, possible, was_clued, occupied, touched, named, value, sets: Sets) -> Clue:
    """Return how the receiver reads a clue; `value` is 0 for a colour. Other cards are judged by good touch."""
    new = touched & ~was_clued & occupied
    on_chop = jnp.any(new & chop(was_clued, occupied))
    focus = jnp.where(on_chop, chop(was_clued, occupied), leftmost(jnp.where(new.any(), new, touched)))
    left = possible & jnp.where(touched, named, ~named)
    base = _unless_empty(meant & left, left)
    said = sets.next | jnp.where(on_chop, saves(value, sets), np.uint32(0))
    # A clue without a new card is a fill-in: it may also point at what is already promised.
    said = said | jnp.where(new.any(), np.uint32(0), sets.playable)
    useful = _unless_empty(base & ~sets.dead & ~sets.promised, base)
    read = jnp.where(focus, _unless_empty(base & said, base), jnp.where(new, useful, base))
    return Clue(meant=jnp.where(occupied, read, ALL), focus=focus, new=new, on_chop=on_chop)


def saves(value, sets: Sets) -> UInt32[Array, ""]:
    """Return what a clue on the chop may save: fives and twos by their rank, last copies by either."""
    by_rank = jnp.where(value == 5, FIVES, np.uint32(0)) | jnp.where(value == 2, TWOS & ~sets.dead, np.uint32(0))
    return (sets.critical & ~jnp.where(value == 0, FIVES, np.uint32(0))) | by_rank


def _unless_empty(sets, otherwise):
    return jnp.where(sets != 0, sets, otherwise)


class Finesse(NamedTuple):
    """A clue to a card that lacks one card before it, which a seat between giver and receiver holds."""

    called: Bool[Array, ""]
    missing: UInt32[Array, ""]  # the card before the clued one


def calls_finesse(card, clue: Clue, value, sets: Sets, visible: UInt32[Array, ""]) -> Finesse:
    """Return whether a clue whose focus is `card` must be a finesse; `visible` are the clued cards in sight."""
    missing = jnp.where(card % 5 > 0, cards.card_bit(card - 1), np.uint32(0)) & sets.next & sets.playable & ~visible
    saved = clue.on_chop & ((cards.card_bit(card) & saves(value, sets)) != 0)
    return Finesse(called=jnp.any(clue.focus & clue.new) & (missing != 0) & ~saved, missing=missing)


def will_play(meant, has_clue, sets: Sets):
    """Return the cards that their owner takes for playable."""
    return has_clue & (meant != 0) & ((meant & ~sets.playable) == 0)


def targets(meant, has_clue, occupied, missing):
    """Return where each seat looks for a missing card, [seat, slot]: its newest unclued card, and a clued one."""
    blind = jax.vmap(leftmost)(occupied & ~has_clue)
    prompted = jax.vmap(leftmost)(occupied & has_clue & ((meant & missing) != 0))
    return blind, prompted


class Offers(NamedTuple):
    """What each rule of a bot would do."""

    applies: Bool[Array, " rule"]  # whether a rule has something to do; the first such one decides
    scores: Float[Array, "rule action"]  # how good it finds each action; minus infinity: not what it would do


class HGroup(RuleBot):
    """Gives only clues that the receiver reads rightly, saves what the next seat would discard, discards its chop."""

    def blank(self):
        """Return the model before the first move."""
        shape = (self.table.players, self.table.hand_size)
        no = jnp.zeros(shape, bool)
        return Read(meant=jnp.full(shape, ALL, jnp.uint32), finessed=no, focus=no, early=jnp.bool_(True))

    def watch(self, model, before, move, after):
        """Return the model after a move."""
        sets, occupied = sets_of(before, model.meant), cards.present(before)
        r = move.receiver
        value = jnp.where(move.hints_value, move.value, 0)
        clue = read_clue(
            model.meant[r], before.possible[r], clued(before)[r], occupied[r], move.touched[r], move.named, value, sets
        )
        is_clue = move.hints_colour | move.hints_value
        to_receiver = is_clue & (jnp.arange(occupied.shape[0]) == r)[:, None]
        meant = jnp.where(to_receiver, clue.meant, model.meant)
        focus = jnp.where(is_clue, to_receiver & clue.focus & clue.new, model.focus)
        meant, finessed = self._call(model, meant, before, move, clue, value, sets, is_clue)

        # A blind play tells the owner of the clued card what it was about.
        blind = move.scored & jnp.any(move.gone & ~clued(before)) & (move.card % 5 < 4)
        follows = before.possible & cards.card_bit(move.card + 1)
        meant = jnp.where(blind & focus & (follows != 0), follows, meant)
        focus &= (jnp.arange(occupied.shape[0]) != move.actor)[:, None]
        on_chop = jnp.any(move.gone & ~clued(before))
        return Read(
            meant=shift(meant, move.gone, ALL),
            finessed=shift(finessed, move.gone, False),
            focus=shift(focus, move.gone, False),
            early=model.early & ~(move.discards & on_chop),
        )

    def _call(self, model, meant, before, move, clue, value, sets, is_clue):
        """Find who is asked to play the card that a clue lacks: a seat in between that shows it, else this one."""
        seats, occupied, me = self.table.players, cards.present(before), before.seat
        seat = jnp.arange(seats)
        card = jnp.sum(jnp.where(clue.focus, before.hands[move.receiver], 0)).astype(jnp.int32)
        has_clue = clued(before)
        visible = union(jnp.where(has_clue, cards.card_bit(before.hands), np.uint32(0)).reshape(-1))
        finesse = calls_finesse(card, clue, value, sets, visible)
        on_the_way = (seat - move.actor) % seats < (move.receiver - move.actor) % seats
        on_the_way &= (seat != move.actor) & is_clue & finesse.called & (move.receiver != me)
        blind, prompted = targets(meant, has_clue, occupied, finesse.missing)
        target = jnp.where(prompted.any(axis=1, keepdims=True), prompted, blind)
        shows = jnp.any(target & (cards.card_bit(before.hands) == finesse.missing), axis=1) & on_the_way
        mine = on_the_way & (seat == me) & ~shows.any()
        called = target & (mine | (shows & (jnp.cumsum(shows) == 1)))[:, None]
        called &= (before.possible & finesse.missing) != 0
        return jnp.where(called, finesse.missing, meant), model.finessed | called

    def ponder(self, model, board):
        """Rule out dead and promised cards for clued ones, and drop readings that were refuted."""
        sets = sets_of(board, model.meant)
        meant = _unless_empty(model.meant & board.possible, board.possible)
        finessed = model.finessed & ((meant & ~sets.dead) != 0)
        alone = cards.size(meant) == 1
        useful = _unless_empty(meant & ~sets.dead & ~jnp.where(alone, np.uint32(0), sets.promised), meant)
        read = jnp.where(clued(board) | finessed, useful, board.possible)
        return Read(meant=read, finessed=finessed, focus=model.focus, early=model.early)

    def judge(self, model, board, sets: Sets):
        """Score each clue [partner, hint] as a play clue, a save clue and a stall; negative means bad."""
        seats = others(board.seat, self.table.players)
        hands, occupied, has_clue = board.hands[seats], cards.present(board)[seats], clued(board)[seats]
        meant, possible = model.meant[seats], board.possible[seats]
        touched = hint_touches(hands)
        values = jnp.where(np.arange(10) < 5, 0, np.arange(10) - 4)

        def to_partner(meant, possible, has_clue, occupied, touched):
            def say(touched, named, value):
                return read_clue(meant, possible, has_clue, occupied, touched, named, value, sets)

            return jax.vmap(say)(touched, jnp.asarray(HINTS), values)

        clue = jax.vmap(to_partner)(meant, possible, has_clue, occupied, touched)
        bits = cards.card_bit(hands)[:, None]
        now_clued = has_clue[:, None] | clue.new
        really = (bits & sets.playable) != 0
        plays = will_play(clue.meant, now_clued, sets) & occupied[:, None]
        gained = jnp.sum(plays & really & ~will_play(meant, has_clue, sets)[:, None], axis=-1)
        wrong = jnp.any(plays & ~really, axis=-1) | jnp.any(clue.focus & ((bits & clue.meant) == 0), axis=-1)
        wrong_beside = jnp.any(plays & ~really & ~clue.focus, axis=-1)

        visible = union(jnp.where(has_clue, cards.card_bit(hands), np.uint32(0)).reshape(-1))
        called, answered = self.finesses(clue, hands, occupied, has_clue, meant, values, sets, visible)
        wrong = jnp.where(called, wrong_beside | ~answered, wrong)
        elsewhere = visible | sets.promised
        twins = (hands[..., None] == hands[..., None, :]) & ~jnp.eye(self.table.hand_size, dtype=bool)
        twin = jnp.any(twins[:, None] & clue.new[..., None, :], axis=-1)
        bad = jnp.sum(clue.new & (((bits & (elsewhere | sets.dead)) != 0) | twin), axis=-1)
        good = jnp.sum(clue.new, axis=-1) - bad
        delayed = jnp.any(clue.focus & ((bits & sets.next & ~sets.playable) != 0), axis=-1) & clue.new.any(axis=-1)
        ok = touched.any(axis=-1) & ~wrong
        gained = jnp.where(called, jnp.maximum(gained, 1) + 1, gained)
        play = jnp.where(ok & ((gained > 0) | delayed), 10 * gained + 6 * delayed + good - 12 * bad, -99)
        saves = ok & clue.on_chop & jnp.any(clue.focus & ((bits & self.worth_saving(board, sets)) != 0), axis=-1)
        save = jnp.where(saves, 10 + 10 * gained + good - 5 * bad, -99)
        fives = (values == 5) * jnp.any(clue.new, axis=-1)
        harm = jnp.where(ok, -10 - bad, jnp.where(touched.any(axis=-1), -60, -999))
        stall = jnp.where(ok & (bad == 0), gained + fives, harm)
        return play, save, stall

    def finesses(self, clue: Clue, hands, occupied, has_clue, meant, values, sets: Sets, visible):
        """Return for each clue [partner, hint] whether it calls for a blind play and whether the right card answers."""
        partners = jnp.arange(hands.shape[0])

        def evaluate(partner, hint):
            this = jax.tree.map(lambda x: x[partner, hint], clue)
            card = jnp.sum(jnp.where(this.focus, hands[partner], 0)).astype(jnp.int32)
            finesse = calls_finesse(card, this, values[hint], sets, visible)
            blind, prompted = targets(meant, has_clue, occupied, finesse.missing)
            target = jnp.where(prompted.any(axis=1, keepdims=True), prompted, blind)
            shows = jnp.any(target & (cards.card_bit(hands) == finesse.missing), axis=1) & (partners < partner)
            return finesse.called & (partner > 0), shows.any()

        return jax.vmap(lambda p: jax.vmap(lambda h: evaluate(p, h))(jnp.arange(10)))(partners)

    def worth_saving(self, board, sets: Sets) -> UInt32[Array, ""]:
        """Return critical cards, and twos of which this seat sees no other copy."""
        seen = jnp.sum(cards.members(cards.card_bit(board.hands)), axis=(0, 1))
        lone_two = cards.pack((VALUE == 2) & (seen == 1)) & ~sets.dead & ~sets.promised
        return (sets.critical | lone_two) & ~sets.promised

    def own_cards(self, model, board, sets: Sets):
        """Return what this seat's cards can be, less what it sees elsewhere."""
        me = board.seat
        visible = jnp.sum(cards.members(cards.card_bit(board.hands)), axis=(0, 1))
        gone = cards.pack(cards.gone(board) + visible >= TOTAL)
        others_clued = union(jnp.where(clued(board), cards.card_bit(board.hands), np.uint32(0)).reshape(-1))
        mine, has_clue = model.meant[me], clued(board)[me]
        mine = _unless_empty(mine & ~gone, mine)
        return jnp.where(has_clue, _unless_empty(mine & ~others_clued, mine), mine)

    def choose(self, model, board, key):
        """Choose an action by the rules, in order."""
        offers = self.offers(model, board)
        return jnp.argmax(offers.scores[jnp.argmax(offers.applies)])

    def offers(self, model, board) -> Offers:
        """Return what each rule would do, in order of priority."""
        me = board.seat
        sets, occupied = sets_of(board, model.meant), cards.present(board)[me]
        mine, has_clue = self.own_cards(model, board, sets), clued(board)[me]
        ready = occupied & (mine != 0) & ((mine & ~sets.playable) == 0)
        lowest = jnp.argmax((mine[:, None] & HINTS[5:]) != 0, axis=1)
        trash = occupied & ((mine & ~sets.dead) == 0)

        play, save, stall = self.judge(model, board, sets)
        speaks = board.tokens > 0
        next_seat = (me + 1) % self.table.players
        next_occupied, next_clued = cards.present(board)[next_seat], clued(board)[next_seat]
        next_meant = model.meant[next_seat]
        busy = jnp.any(next_occupied & (will_play(next_meant, next_clued, sets) | ((next_meant & ~sets.dead) == 0)))
        on_chop = chop(next_clued, next_occupied)
        threat = jnp.any(on_chop & ((cards.card_bit(board.hands[next_seat]) & self.worth_saving(board, sets)) != 0))
        danger = speaks & threat & ~busy
        help_next = jnp.maximum(jnp.where(play[0] > 0, play[0] + 5, -99), save[0])

        free = chop(has_clue, occupied)
        full = board.tokens == self.table.hint_tokens
        blind = ready & model.finessed[me]
        flat = jnp.zeros(self.table.hand_size)
        offers = [
            (blind.any(), self.plays(flat, blind)),
            (danger & (help_next.max() > 0), self.hints(help_next[None], help_next[None] > 0)),
            (ready.any(), self.plays(-lowest, ready)),
            (speaks & (play.max() > 0), self.hints(play, play > 0)),
            (speaks & (save.max() > 0) & (board.tokens >= 4), self.hints(save, save > 0)),
            (trash.any() & ~full, self.discards(flat, trash)),
            (speaks & model.early & (stall.max() > 0), self.hints(stall, stall > 0)),
            (full, self.hints(stall, stall > -999)),
            (free.any(), self.discards(flat, free)),
            (jnp.bool_(True), self.discards(lowest, occupied)),
        ]
        applies, scores = zip(*offers, strict=True)
        return Offers(jnp.stack(applies), jnp.stack(scores))

    def plays(self, scores, slots) -> Float[Array, " action"]:
        """Offer to play one of these slots."""
        return self._offer(self.table.hand_size + np.arange(self.table.hand_size), scores, slots)

    def discards(self, scores, slots) -> Float[Array, " action"]:
        """Offer to discard one of these slots."""
        return self._offer(np.arange(self.table.hand_size), scores, slots)

    def hints(self, scores, allowed) -> Float[Array, " action"]:
        """Offer one of the hints [partner, hint]."""
        partner, hint = np.divmod(np.arange(scores.size), 10)
        actions = jax.vmap(lambda p, h: hint_action(self.table, p, h))(partner + 1, hint)
        return self._offer(actions, scores.reshape(-1), allowed.reshape(-1))

    def _offer(self, actions, scores, there) -> Float[Array, " action"]:
        """Return scores by action, minus infinity where nothing is offered; earlier actions win ties."""
        first = scores - 1e-3 * np.arange(len(actions))
        none = jnp.full(self.table.moves.noop + 1, -jnp.inf)
        return none.at[actions].set(jnp.where(there, first, -jnp.inf))
