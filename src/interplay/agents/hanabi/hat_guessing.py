"""The hat-guessing code of InfoBot: questions about a hand that everybody can list, and hints that carry a number.

Every hint, and some discards, transmit a number modulo N: the sum of one number per other player, each computable by
everybody except its owner, who gets it by subtraction. A hand's table holds a weight per card and identity, 0 for
impossible.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int

from interplay.agents.hanabi import standard_deck as cards
from interplay.games.hanabi.encode import HanabiObservation

Tables = Int[Array, "*seat slot 25"]


class HatView(NamedTuple):
    """The public facts that the questions are about."""

    playable: Bool[Array, " 25"]
    dead: Bool[Array, " 25"]

    @classmethod
    def from_board(cls, board: HanabiObservation) -> HatView:
        """Read the facts from an observation."""
        return cls(cards.playable(board), cards.dead(board) | cards.lost(board))


def weight(table: Tables, wanted: Any = True) -> Int[Array, "*slot"]:
    """Return the total weight of the wanted identities of each card."""
    return jnp.sum(jnp.where(wanted, table, 0), axis=-1)


def determined(table: Tables) -> Bool[Array, "*slot"]:
    """Return whether each card has a single possible identity."""
    return jnp.sum(table > 0, axis=-1) == 1


def surely(table: Tables, wanted) -> Bool[Array, "*slot"]:
    """Return whether all that a card can be is wanted; false for a card that can be nothing."""
    return (weight(table) > 0) & (weight(table, wanted) == weight(table))


class Questions(NamedTuple):
    """Two questions for each card of a hand; a question with a single answer is not asked."""

    radix: Int[Array, "2 slot"]  # number of answers
    place: Int[Array, "2 slot"]  # what an answer counts in the hand's number
    answer: Int[Array, "2 slot 25"]  # each identity's answer

    def number(self, hand: Int[Array, " slot"]) -> Int[Array, ""]:
        """Return the number that encodes this hand's answers."""
        return jnp.sum(self.answers_of(hand) * self.place)

    def answers_of(self, hand) -> Int[Array, "2 slot"]:
        """Return the answers that this hand gives."""
        real = jnp.maximum(hand, 0).astype(jnp.int32)[None, :, None]
        return jnp.take_along_axis(self.answer, jnp.broadcast_to(real, (2, real.shape[1], 1)), axis=2)[..., 0]

    def digits(self, number) -> Int[Array, "2 slot"]:
        """Return the answers that a number encodes."""
        return (number // self.place) % self.radix

    def apply(self, table: Tables, answers: Int[Array, "2 slot"]) -> Tables:
        """Return the table restricted to what agrees with the answers."""
        return jnp.where(jnp.all(self.answer == answers[..., None], axis=0), table, 0)


def questions(n: Int[Array, ""], table: Tables, view: HatView) -> Questions:
    """Return what is asked about a hand when n numbers can be distinguished.

    First, unless some card is surely playable, whether the likelier cards are; then, as far as n allows, which part of
    its identities a card belongs to, all dead ones being one part.
    """
    slots = table.shape[0]
    total, fits, lost = weight(table), weight(table, view.playable), weight(table, view.dead)
    unsettled = ~determined(table) & (lost < total)
    likely = unsettled & (5 * fits >= total) & ~jnp.any(surely(table, view.playable))
    odds = fits / jnp.maximum(total, 1)
    slot = jnp.arange(slots)
    before = (odds[None] > odds[:, None]) | ((odds[None] == odds[:, None]) & (slot[None] < slot[:, None]))
    turn = jnp.sum(before, axis=1)  # when each card is asked about
    order = jnp.sum(jnp.where(turn == slot[:, None], slot, 0), axis=1)

    live = (table > 0) & ~view.dead
    num_live, has_dead = jnp.sum(live, axis=-1), (lost > 0).astype(jnp.int32)

    def parts(rest, i):
        return jnp.minimum(num_live[i], jnp.maximum(rest - has_dead[i], 1)) + has_dead[i]

    def ask(rest, question):
        second, i = question
        asked = jnp.where(second, unsettled[i], likely[i]) & (rest > 1)
        radix = jnp.where(asked, jnp.where(second, parts(rest, i), 2), 1)
        return rest // radix, (rest, radix)

    both = (jnp.repeat(jnp.array([False, True]), slots), jnp.tile(order, 2))
    _, (rest, radix) = jax.lax.scan(ask, jnp.int32(n), both)
    place = jnp.flip(jnp.cumprod(jnp.flip(radix))) // radix
    rest, radix, place = (x.reshape(2, slots)[:, turn] for x in (rest, radix, place))

    groups = jnp.maximum(rest[1] - has_dead, 1)
    part = (jnp.cumsum(live, axis=-1) - 1) % groups[:, None]
    part = jnp.where(view.dead, jnp.minimum(num_live, groups)[:, None], part)
    answer = jnp.stack([jnp.broadcast_to(view.playable, table.shape).astype(jnp.int32), part])
    return Questions(radix, place, jnp.where(radix[..., None] > 1, answer, 0))


class Code(NamedTuple):
    """The classes of the hints to one player; some codes depend on whether a hint touches the pivot card."""

    classes: Int[Array, ""]
    pivot: Int[Array, ""]
    touching: Int[Array, " 10"]  # the class of each hint that touches the pivot
    passing: Int[Array, " 10"]  # and of each that does not

    def class_of(self, touched: Bool[Array, "*hint slot"], hint) -> Int[Array, "*hint"]:
        """Return the class of a hint."""
        at_pivot = jnp.take(touched, self.pivot, axis=-1)
        return jnp.where(at_pivot, self.touching[hint], self.passing[hint])


def code(table: Tables, occupied: Bool[Array, " slot"], view: HatView) -> Code:
    """Return the code for a hand: the packing if it has more than four classes, else the pivot code."""
    packed, classes = _packing(table, occupied)
    pivot, four, touching, passing = _pivot(table, occupied, view)
    use = classes > 4
    return Code(
        classes=jnp.where(use, classes, jnp.where(four, 4, 3)),
        pivot=pivot,
        touching=jnp.where(use, packed, touching),
        passing=jnp.where(use, packed, passing),
    )


def _attributes(table: Tables) -> tuple[Int[Array, "slot 5"], Int[Array, "slot 5"]]:
    """Count each card's possible identities of every colour and of every value."""
    possible = (table > 0).reshape(*table.shape[:-1], 5, 5)
    return possible.sum(axis=-1), possible.sum(axis=-2)


def _largest_set(counts: Int[Array, "slot 5"], occupied) -> Bool[Array, " slot"]:
    """A largest set of cards in which no attribute can occur twice; the first of equals, counting sets as bits."""
    slots = counts.shape[0]
    number = np.arange(2**slots)
    inside = (number[:, None] >> np.arange(slots)) & 1
    size = inside.sum(axis=1)
    fits = jnp.all(inside @ counts <= 1, axis=1) & jnp.all(occupied | (inside == 0), axis=1) & (number >= 3)
    return jnp.asarray(inside == 1)[jnp.argmax(jnp.where(fits | (number == 1), size, 0))]


def _packing(table: Tables, occupied) -> tuple[Int[Array, " 10"], Int[Array, ""]]:
    by_colour, by_value = _attributes(table)
    colour_set, value_set = _largest_set(by_colour, occupied), _largest_set(by_value, occupied)
    colours_so_far, values_so_far = jnp.cumsum(colour_set), jnp.cumsum(value_set)
    colour_class = colours_so_far - 1 + values_so_far - value_set
    value_class = colours_so_far + values_so_far - 1
    classes = colours_so_far[-1] + values_so_far[-1]
    claims = jnp.concatenate([colour_set[:, None] & (by_colour > 0), value_set[:, None] & (by_value > 0)], axis=1)
    of_card = jnp.concatenate([jnp.tile(colour_class[:, None], 5), jnp.tile(value_class[:, None], 5)], axis=1)
    # Of several cards the last to claim an attribute would win; in a set of two or more there is only one.
    claimed = jnp.any(claims, axis=0)
    packed = jnp.max(jnp.where(claims, of_card, -1), axis=0)
    return jnp.where(claimed, packed, (jnp.cumsum(~claimed) - 1) % classes), classes


def _pivot(table: Tables, occupied, view: HatView):
    by_colour, by_value = _attributes(table)
    spread = jnp.sum(by_colour > 0, axis=-1) + jnp.sum(by_value > 0, axis=-1)
    settled = determined(table) | (weight(table, view.dead) == weight(table))
    pivot = jnp.argmax(jnp.where(occupied, jnp.where(settled, 0, spread), -1))
    shared = jnp.any(jnp.all((by_colour > 0) | ~occupied[:, None], axis=0))
    shared |= jnp.any(jnp.all((by_value > 0) | ~occupied[:, None], axis=0))
    is_colour = (np.arange(10) < 5).astype(np.int32)
    return pivot, ~shared, jnp.asarray(is_colour), jnp.where(shared, 2, 2 + is_colour)
