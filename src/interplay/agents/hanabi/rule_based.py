"""The rule agents of the Hanabi competition: each is a list of rules, and the first that yields a move acts.

All rules are computed, and an agent is an array of their numbers: one compiled program serves every such agent.
"""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from interplay.agents.hanabi import standard_deck as cards
from interplay.agents.hanabi.base_bot import hint_touches, others
from interplay.agents.hanabi.standard_deck import TOTAL, UNKNOWN
from interplay.agents.hanabi.tie_breaking import Lottery, discards, first, plays, stack, tell
from interplay.errors import UnknownName
from interplay.games.hanabi.encode import HanabiObservation
from interplay.games.hanabi.state import HanabiRules

COLOUR_ORDER = "RBGYW"  # in which hints are compared, after the ranks


class RuleTable:
    """What the rules read: own cards by what they can be, the partners' by what they are."""

    def __init__(self, rules: HanabiRules, board: HanabiObservation):
        self.rules, self.board = rules, board
        me = board.seat
        self.seats = others(me, rules.players)
        self.hands = board.hands[self.seats]
        self.occupied = cards.present(board)[self.seats]
        self.mine, self.here = board.possible[me], cards.present(board)[me]
        visible = jnp.sum(cards.members(cards.card_bit(self.hands)), axis=(0, 1))
        unseen = jnp.maximum(TOTAL - cards.gone(board) - visible, 0)
        self.odds = jnp.where(cards.members(self.mine) & self.here[:, None], unseen, 0)
        self.playable, self.useless = cards.playable(board), cards.dead(board)
        self.heights = board.fireworks.astype(jnp.int32)

        possible = board.possible[self.seats]
        self.needs_colour = self.occupied & (cards.only_colour(possible) == UNKNOWN)
        self.needs_rank = self.occupied & (cards.only_value(possible) == UNKNOWN)
        self.colour = jnp.maximum(self.hands, 0).astype(jnp.int32) // 5
        self.rank = jnp.maximum(self.hands, 0).astype(jnp.int32) % 5

    def share(self, wanted):
        """Return the share of wanted cards among those that each own card can be."""
        total = jnp.sum(self.odds, axis=-1)
        return jnp.where(total > 0, jnp.sum(jnp.where(wanted, self.odds, 0), axis=-1) / jnp.maximum(total, 1), -1.0)

    def likeliest(self, wanted, threshold: float):
        """Return the own card with the largest share of wanted cards, if above the threshold; the last of equals."""
        share = self.share(wanted)
        last = share.shape[0] - 1 - jnp.argmax(share[::-1])
        return (jnp.arange(share.shape[0]) == last) & (share >= threshold) & self.here

    def name(self, flags, hint):
        """Return the hint chosen for the first flagged card; flags and hints are [partner, slot]."""
        flags, hint = flags.reshape(-1), jnp.broadcast_to(hint, flags.shape).reshape(-1)
        at = jnp.argmax(flags)
        return tell(self.rules, at // self.rules.hand_size + 1, hint[at], flags.any())

    def by_seat(self, flags):
        """Return partners in order of their seat numbers: their index among `others`, and the flags in that order."""
        order = jnp.sum(self.seats[None] < self.seats[:, None], axis=1)
        partner = jnp.sum(jnp.where(order == jnp.arange(len(order))[:, None], jnp.arange(len(order)), 0), axis=1)
        return partner, flags[partner]


def play_if_certain(t: RuleTable):
    """Play the first card whose known identity is playable."""
    card = cards.identity(t.mine)
    return plays(t.rules, first(t.here & (card != UNKNOWN) & t.playable[jnp.maximum(card, 0)]))


def play_safe(t: RuleTable):
    """Play the first card that is playable whatever it is."""
    return plays(t.rules, first(t.here & (t.share(t.playable) == 1)))


def play_probably_safe(t: RuleTable):
    """Play the likeliest card if it is playable with probability 0.6, while more than one life is left."""
    return plays(t.rules, t.likeliest(t.playable, 0.6) & (t.board.lives > 1))


def hail_mary(t: RuleTable):
    """Play the likeliest card when the deck is empty and more than one life is left."""
    return plays(t.rules, t.likeliest(t.playable, 0.0) & (t.board.lives > 1) & (t.board.deck == 0))


def discard_surely_useless(t: RuleTable):
    """Discard a card that is useless with probability 0.99."""
    return discards(t.rules, t.likeliest(t.useless, 0.99))


def discard_likely_useless(t: RuleTable):
    """Discard the card that is most likely useless."""
    return discards(t.rules, t.likeliest(t.useless, 0.0))


def osawa_discard(t: RuleTable):
    """Discard a card that is useless by its known attributes, or else by colour and reachable ranks."""
    colour, value, card = cards.only_colour(t.mine), cards.only_value(t.mine), cards.identity(t.mine)
    complete = (colour != UNKNOWN) & (t.heights[jnp.maximum(colour, 0)] == 5)
    low = (value != UNKNOWN) & (value <= jnp.min(t.heights))
    proven = complete | low | ((card != UNKNOWN) & t.useless[jnp.maximum(card, 0)])
    reachable = jnp.sum(~t.useless.reshape(5, 5), axis=1) + t.heights
    lowest = jnp.argmax((t.mine[:, None] & cards.HINTS[5:]) != 0, axis=1) + 1
    beyond = (colour != UNKNOWN) & (lowest > reachable[jnp.maximum(colour, 0)])
    proven, beyond = proven & t.here, beyond & t.here
    return discards(t.rules, jnp.where(proven.any(), first(proven), first(beyond)))


def discard_oldest(t: RuleTable):
    """Discard the oldest card."""
    return discards(t.rules, first(t.here))


def discard_randomly(t: RuleTable):
    """Discard a random card."""
    return discards(t.rules, t.here)


def _fits(t: RuleTable):
    return cards.has(t.playable, t.hands)


def tell_useful(t: RuleTable):
    """Hint at a partner's playable card, its rank first."""
    needs = _fits(t) & (t.needs_rank | t.needs_colour)
    return t.name(needs, jnp.where(t.needs_rank, 5 + t.rank, t.colour))


def tell_next_useful(t: RuleTable):
    """Hint at the next partner's playable card, its rank first."""
    needs = _fits(t) & (t.needs_rank | t.needs_colour) & (jnp.arange(len(t.seats)) == 0)[:, None]
    return t.name(needs, jnp.where(t.needs_rank, 5 + t.rank, t.colour))


def tell_playable(t: RuleTable):
    """Hint at the next partner's first playable card, rank or colour at random."""
    next_fits = _fits(t) & (jnp.arange(len(t.seats)) == 0)[:, None]
    return t.name(next_fits, 5 + t.rank) + t.name(next_fits, t.colour)


def tell_unknown(t: RuleTable):
    """Hint at an unknown attribute of the next partner's cards, colour first."""
    needs = (t.needs_colour | t.needs_rank) & (jnp.arange(len(t.seats)) == 0)[:, None]
    return t.name(needs, jnp.where(t.needs_colour, t.colour, 5 + t.rank))


def tell_randomly(t: RuleTable):
    """Give the next partner a random hint about a random card."""
    hints = jnp.concatenate([t.colour[0], 5 + t.rank[0]])
    occupied = jnp.tile(t.occupied[0], 2).astype(jnp.float32)
    weight = jnp.sum((hints[:, None] == jnp.arange(10)) * occupied[:, None], axis=0)
    slots, partners = t.rules.hand_size, t.rules.players - 1
    odds = jnp.zeros(t.rules.moves.noop + 1).at[2 * slots : 2 * slots + 5].set(weight[:5])
    start = 2 * slots + 5 * partners
    return odds.at[start : start + 5].set(weight[5:])


def tell_dispensable(t: RuleTable):
    """With fewer than four tokens, hint that a partner's card is useless."""
    height = t.heights[t.colour]
    complete = t.needs_colour & (height == 5)
    low = t.needs_rank & (t.rank + 1 <= jnp.min(t.heights))
    last_missing = (t.needs_colour != t.needs_rank) & (t.rank + 1 <= height)
    hint = jnp.where(complete, t.colour, jnp.where(low | t.needs_rank, 5 + t.rank, t.colour))
    partner, flags = t.by_seat((complete | low | last_missing) & t.occupied & (t.board.tokens < 4))
    flat = flags.reshape(-1)
    at = jnp.argmax(flat)
    seat = partner[at // t.rules.hand_size]
    return tell(t.rules, seat + 1, hint[seat, at % t.rules.hand_size], flat.any())


def tell_useless(t: RuleTable):
    """Hint at a useless card that is not fully known."""
    dead = cards.has(t.useless, t.hands)
    at = jnp.argmax(dead.reshape(-1))
    open_ = (t.needs_rank | t.needs_colour).reshape(-1)[at]
    return t.name(dead, jnp.where(t.needs_rank, 5 + t.rank, t.colour)) * open_


def _tell_most(t: RuleTable, counts):
    """Give the hint that touches most of the counted cards, [partner, hint, slot]."""
    order = np.array(
        [5, 6, 7, 8, 9, *(t.rules.suits.index(c) if c in t.rules.suits else i for i, c in enumerate(COLOUR_ORDER))]
    )
    number = jnp.sum(hint_touches(t.hands) & counts, axis=-1)[:, order]
    partner, number = t.by_seat(number)
    at = jnp.argmax(number.reshape(-1))
    return tell(t.rules, partner[at // 10] + 1, jnp.asarray(order)[at % 10], number.max() > 0)


def tell_most(t: RuleTable):
    """Give the hint that touches most cards."""
    return _tell_most(t, True)


def tell_most_new(t: RuleTable):
    """Give the hint that tells most cards something new."""
    lacks = jnp.where((np.arange(10) < 5)[:, None], t.needs_colour[:, None], t.needs_rank[:, None])
    return _tell_most(t, lacks)


RULES = (
    play_if_certain,
    play_safe,
    play_probably_safe,
    hail_mary,
    discard_surely_useless,
    discard_likely_useless,
    osawa_discard,
    discard_oldest,
    discard_randomly,
    tell_useful,
    tell_next_useful,
    tell_playable,
    tell_unknown,
    tell_randomly,
    tell_dispensable,
    tell_useless,
    tell_most,
    tell_most_new,
)
LONGEST = 10

LISTS = {
    "internal": (play_safe, osawa_discard, tell_playable, tell_randomly, discard_randomly),
    "fireworks-outer": (play_safe, osawa_discard, tell_next_useful, tell_unknown, discard_randomly),
    "iggi": (play_if_certain, play_safe, tell_useful, osawa_discard, discard_oldest, tell_randomly),
    "piers": (
        hail_mary,
        play_safe,
        play_probably_safe,
        tell_useful,
        tell_dispensable,
        osawa_discard,
        discard_oldest,
        tell_randomly,
        discard_randomly,
    ),
    "vandenbergh": (
        play_probably_safe,
        play_safe,
        discard_surely_useless,
        tell_useful,
        tell_useless,
        tell_most,
        discard_likely_useless,
    ),
    "vandenbergh-paper": (
        play_probably_safe,
        play_safe,
        discard_surely_useless,
        tell_useful,
        tell_most_new,
        discard_likely_useless,
    ),
}


class RuleList(Lottery):
    """An agent that is a list of rules."""

    order: Int[Array, " rule"] = eqx.field(default=(), converter=jnp.asarray, kw_only=True)

    @classmethod
    def from_name(cls, name: str) -> RuleList:
        """Make the agent of a named list of rules.

        Raises:
            UnknownName: `LISTS` has no such list.
        """
        if name not in LISTS:
            raise UnknownName("list of rules", name, list(LISTS))
        numbers = [RULES.index(rule) for rule in LISTS[name]]
        return cls(order=numbers + [len(RULES)] * (LONGEST - len(numbers)))

    def offers(self, model, board):
        """Return what each rule would do, in order."""
        table = RuleTable(self.table, board)
        offers = stack([rule(table) for rule in RULES] + [jnp.zeros(self.table.moves.noop + 1)])
        return offers[self.order]
