"""Permutations of colours: the rules treat all colours alike, so a game with permuted colours is equivalent.

An order g says that what is seen as colour i is really colour g[i]. A vector is then gathered by g where it refers to
colours, and whoever hints the colour seen as i hints the real colour g[i] (not the place of i in g).
"""

from __future__ import annotations

from functools import lru_cache
from itertools import permutations
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, PRNGKeyArray

from interplay.errors import InterplayError
from interplay.games.api import Step
from interplay.games.hanabi.game import Hanabi
from interplay.games.hanabi.state import HINT_COLOUR, HanabiRules, HanabiState
from interplay.games.records import record

VECTORS = ("hle", "belief")


@lru_cache(maxsize=16)
def orders(rules: HanabiRules) -> np.ndarray:
    """Return all permutations, [order, colour]; the first is the identity."""
    return np.array(list(permutations(range(len(rules.colours)))), np.int32)


def suits_of(rules: HanabiRules, order: Any) -> np.ndarray:
    """Return the order of the suits: nameable colours as `order` says, wild ones unchanged."""
    named = [rules.suits.index(c) for c in rules.colours]
    order_of_suits = np.arange(len(rules.suits))
    order_of_suits[named] = np.array(named)[np.asarray(order)]
    return order_of_suits


@lru_cache(maxsize=16)
def vector_places(rules: HanabiRules) -> np.ndarray:
    """Return for each number of a seat's vector its index in the real vector, [order, place]."""
    return np.stack([_places(rules, order) for order in orders(rules)])


def _places(rules: HanabiRules, order: np.ndarray) -> np.ndarray:
    suits, colours, ids = suits_of(rules, order), np.asarray(order), np.arange(rules.identities)
    cards = (suits[:, None] * rules.ranks + np.arange(rules.ranks)).reshape(-1)
    piles = (suits[:, None] * sum(rules.copies) + np.arange(sum(rules.copies))).reshape(-1)
    seats, slots = rules.players, rules.hand_size
    same = np.arange
    parts = [cards] * ((seats - 1) * slots) + [same(seats + rules.deck_size - seats * slots), cards]
    parts += [same(rules.hint_tokens + rules.lives), piles, same(seats + 4 + seats), colours]
    parts += [same(rules.ranks + 2 * slots), cards, same(2)]
    parts += [cards, colours, same(rules.ranks)] * (seats * slots)
    assert len(cards) == len(ids)
    starts = np.cumsum([0, *(len(p) for p in parts[:-1])])
    return np.concatenate([start + part for start, part in zip(starts, parts, strict=True)]).astype(np.int32)


@lru_cache(maxsize=16)
def real_moves(rules: HanabiRules) -> np.ndarray:
    """Return the move that is made when one is chosen as it is seen, [order, action]; also whose legality it has."""
    moves = rules.moves
    is_colour = moves.kind == HINT_COLOUR
    actions = np.arange(len(moves.kind))
    return np.stack(
        [np.where(is_colour, actions - moves.hint + order[moves.hint * is_colour], actions) for order in orders(rules)]
    )


@record
class Recoloured:
    """A state, and in which order each seat sees the colours."""

    plain: HanabiState
    order: Int[Array, " seat"]  # number of the order


class OwnColours:
    """Hanabi in which every seat has its own random permutation of the colours in every game.

    The seats cannot agree on conventions that tell colours apart by name.
    """

    pure = True

    def __init__(self, game: Any, keep_first: bool = False):
        if not isinstance(game, Hanabi):
            raise InterplayError(f"{game.id} has no colours to exchange; other-play is written for Hanabi")
        self.base, self.keep_first = game, keep_first
        self.encodings = {k: v for k, v in game.encodings.items() if k in VECTORS}
        self._places, self._moves = jnp.asarray(vector_places(game.rules)), jnp.asarray(real_moves(game.rules))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.base, name)

    def init(self, key: PRNGKeyArray, deck: Any = None) -> Recoloured:
        """Shuffle, deal, and draw a permutation for each seat."""
        for_deck, for_order = jax.random.split(key)
        drawn = jax.random.randint(for_order, (self.base.num_seats,), 0, len(orders(self.base.rules)))
        order = drawn.at[0].set(0) if self.keep_first else drawn
        return Recoloured(plain=self.base.init(for_deck, deck), order=order)

    def step(
        self, state: Recoloured, actions: Int[Array, " seat"], key: PRNGKeyArray | None = None
    ) -> tuple[Recoloured, Step]:
        """Play one joint action, as each seat sees its colours."""
        real = jnp.take_along_axis(self._moves[state.order], jnp.asarray(actions)[:, None], axis=1)[:, 0]
        after, step = self.base.step(state.plain, real, key)
        return Recoloured(plain=after, order=state.order), step

    def observe(self, state: Recoloured, encoding: str) -> Array:
        """Return what every seat sees, in its own colours.

        Raises:
            InterplayError: The encoding is no vector.
        """
        if encoding not in VECTORS:
            raise InterplayError(f"colours can be exchanged in {' and '.join(VECTORS)}, not in {encoding!r}")
        return jnp.take_along_axis(self.base.observe(state.plain, encoding), self._places[state.order], axis=1)

    def legal(self, state: Recoloured) -> Bool[Array, "seat action"]:
        """Return the legal actions, in each seat's own colours."""
        return jnp.take_along_axis(self.base.legal(state.plain), self._moves[state.order], axis=1)

    def to_move(self, state: Recoloured) -> Bool[Array, " seat"]:
        """Return the seat to move."""
        return self.base.to_move(state.plain)
