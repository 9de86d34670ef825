"""The hat code of InfoBot: questions about a hand that everybody can list, and hints that carry a number.

Every hint, and some discards, transmit a number modulo N: the sum of one number per other player, each
computable by everybody except its owner, who gets it by subtraction. A hand's table holds a weight per card and
identity, 0 for impossible.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int

from interplay.agents.hanabi import cards
from interplay.games.hanabi.encode import HanabiView

Tables = Int[Array, "*seat slot 25"]


class HatView(NamedTuple):
    """The public facts that questions are about."""

    playable: Bool[Array, " 25"]
    dead: Bool[Array, " 25"]

    @classmethod
    def of(cls, board: HanabiView) -> HatView:
        return cls(cards.playable(board), cards.dead(board) | cards.lost(board))


def weight(table: Tables, wanted: Any = True) -> Int[Array, "*slot"]:
    return jnp.sum(jnp.where(wanted, table, 0), axis=-1)


def determined(table: Tables) -> Bool[Array, "*slot"]:
    return jnp.sum(table > 0, axis=-1) == 1


def surely(table: Tables, wanted) -> Bool[Array, "*slot"]:
    """Whether all that the card can be is wanted; not for a card that can be nothing."""
    return (weight(table) > 0) & (weight(table, wanted) == weight(table))


class Questions(NamedTuple):
    """Two questions for each card of a hand, most of them not asked: those have one answer."""

    radix: Int[Array, "2 slot"]  # number of answers
    place: Int[Array, "2 slot"]  # what an answer counts in the hand's number
    answer: Int[Array, "2 slot 25"]  # each identity's answer

    def number(self, hand: Int[Array, " slot"]) -> Int[Array, ""]:
        """The number that these cards stand for."""
        return jnp.sum(self.answers_of(hand) * self.place)

    def answers_of(self, hand) -> Int[Array, "2 slot"]:
        real = jnp.maximum(hand, 0).astype(jnp.int32)[None, :, None]
        return jnp.take_along_axis(self.answer, jnp.broadcast_to(real, (2, real.shape[1], 1)), axis=2)[..., 0]

    def digits(self, number) -> Int[Array, "2 slot"]:
        """The answers that give a number."""
        return (number // self.place) % self.radix

    def apply(self, table: Tables, answers: Int[Array, "2 slot"]) -> Tables:
        """What the cards can be, given the answers."""
        return jnp.where(jnp.all(self.answer == answers[..., None], axis=0), table, 0)


def questions(n: Int[Array, ""], table: Tables, view: HatView) -> Questions:
    """What is asked about a hand when n numbers can be told apart.

    First, unless some card is surely playable, whether the likelier cards are; then, as far as n goes,
    which part of its identities a card belongs to, all dead ones being one part.
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
    """How hints to one player fall into classes; some codes ask whether a hint touches the pivot card."""

    classes: Int[Array, ""]
    pivot: Int[Array, ""]
    touching: Int[Array, " 10"]  # the class of each hint that touches the pivot
    passing: Int[Array, " 10"]  # and of each that does not

    def of(self, touched: Bool[Array, "*hint slot"], hint) -> Int[Array, "*hint"]:
        at_pivot = jnp.take(touched, self.pivot, axis=-1)
        return jnp.where(at_pivot, self.touching[hint], self.passing[hint])


def code(table: Tables, held: Bool[Array, " slot"], view: HatView) -> Code:
    """The code for a hand: by the packing if that has more than four classes, else by the pivot."""
    packed, classes = _packing(table, held)
    pivot, four, touching, passing = _pivot(table, held, view)
    use = classes > 4
    return Code(
        classes=jnp.where(use, classes, jnp.where(four, 4, 3)),
        pivot=pivot,
        touching=jnp.where(use, packed, touching),
        passing=jnp.where(use, packed, passing),
    )


def _attributes(table: Tables) -> tuple[Int[Array, "slot 5"], Int[Array, "slot 5"]]:
    """How many possible identities each card has of every colour and of every value."""
    possible = (table > 0).reshape(*table.shape[:-1], 5, 5)
    return possible.sum(axis=-1), possible.sum(axis=-2)


def _largest_set(counts: Int[Array, "slot 5"], held) -> Bool[Array, " slot"]:
    """A largest set of cards in which no attribute can occur twice; the first of equals, counting sets as bits."""
    slots = counts.shape[0]
    number = np.arange(2**slots)
    inside = (number[:, None] >> np.arange(slots)) & 1
    size = inside.sum(axis=1)
    fits = jnp.all(inside @ counts <= 1, axis=1) & jnp.all(held | (inside == 0), axis=1) & (number >= 3)
    return jnp.asarray(inside == 1)[jnp.argmax(jnp.where(fits | (number == 1), size, 0))]


def _packing(table: Tables, held) -> tuple[Int[Array, " 10"], Int[Array, ""]]:
    by_colour, by_value = _attributes(table)
    colour_set, value_set = _largest_set(by_colour, held), _largest_set(by_value, held)
    colours_so_far, values_so_far = jnp.cumsum(colour_set), jnp.cumsum(value_set)
    colour_class = colours_so_far - 1 + values_so_far - value_set
    value_class = colours_so_far + values_so_far - 1
    classes = colours_so_far[-1] + values_so_far[-1]
    claims = jnp.concatenate([colour_set[:, None] & (by_colour > 0), value_set[:, None] & (by_value > 0)], axis=1)
    of_card = jnp.concatenate([jnp.tile(colour_class[:, None], 5), jnp.tile(value_class[:, None], 5)], axis=1)
    # Of several cards the last to claim an attribute would win; in a set of two or more there is only one.
    claimed = jnp.any(claims, axis=0)
    given = jnp.max(jnp.where(claims, of_card, -1), axis=0)
    return jnp.where(claimed, given, (jnp.cumsum(~claimed) - 1) % classes), classes


def _pivot(table: Tables, held, view: HatView):
    by_colour, by_value = _attributes(table)
    spread = jnp.sum(by_colour > 0, axis=-1) + jnp.sum(by_value > 0, axis=-1)
    settled = determined(table) | (weight(table, view.dead) == weight(table))
    pivot = jnp.argmax(jnp.where(held, jnp.where(settled, 0, spread), -1))
    shared = jnp.any(jnp.all((by_colour > 0) | ~held[:, None], axis=0))
    shared |= jnp.any(jnp.all((by_value > 0) | ~held[:, None], axis=0))
    is_colour = (np.arange(10) < 5).astype(np.int32)
    return pivot, ~shared, jnp.asarray(is_colour), jnp.where(shared, 2, 2 + is_colour)
