"""What may be said of a position of Hanabi, as its mover sees it: primitive concepts, and formulas made of them.

`names(rules)` lists the primitives in order; `primitives(rules, state)` says which hold. "mine" is the seat to move,
"theirs" the seat that moves next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, UInt8

from interplay.games.hanabi import card_sets
from interplay.games.hanabi.state import DISCARD, HINT_COLOUR, HINT_RANK, NO_CARD, PLAY, HanabiRules, HanabiState
from interplay.metrics.hanabi.moves import in_blocks

AND, OR, ATOM = range(3)


def names(rules: HanabiRules) -> list[str]:
    """The primitive concepts of a rule set."""
    slots = range(rules.hand_size)
    return [
        "no hint token is left",
        "at least half of the hint tokens are there",
        "all hint tokens are there",
        "one life is left",
        "all lives are left",
        "the deck is empty",
        "at most ten cards are in the deck",
        *(f"at least {n} points" for n in _score_marks(rules)),
        *(f"the {s} firework has begun" for s in rules.suits),
        "the last move was a colour hint",
        "the last move was a rank hint",
        "the last move was a play that fitted",
        "the last move was a misplay",
        "the last move was a discard",
        *(f"the last move was a hint that named my card {i}" for i in slots),
        *(f"a hint has named my card {i}" for i in slots),
        *(f"my card {i} is known to be playable" for i in slots),
        *(f"my card {i} is known to be useless" for i in slots),
        *(f"a hint has named their card {i}" for i in slots),
        *(f"their card {i} is playable" for i in slots),
        *(f"their card {i} is critical" for i in slots),
        *(f"they hold a {r + 1}" for r in range(rules.ranks)),
        *(f"they hold a card of {s}" for s in rules.suits),
    ]


def _score_marks(rules: HanabiRules) -> list[int]:
    """A fifth, two fifths, ... of the best score."""
    return [rules.max_score * k // 5 for k in range(1, 5)]


def primitives(rules: HanabiRules, state: HanabiState) -> Bool[Array, " concept"]:
    """Which of the primitive concepts hold for the seat to move."""
    me = state.time % rules.players
    them = (state.time + 1) % rules.players
    points = jnp.sum(state.fireworks, dtype=jnp.int32)
    deck = rules.deck_size - state.dealt
    board = [
        state.tokens == 0,
        2 * state.tokens >= rules.hint_tokens,
        state.tokens == rules.hint_tokens,
        state.lives == 1,
        state.lives == rules.lives,
        deck == 0,
        deck <= 10,
        *(points >= n for n in _score_marks(rules)),
    ]
    own = _own_cards(rules, state, me)
    theirs = _their_cards(rules, state, them)
    return jnp.concatenate([jnp.stack(board), state.fireworks > 0, *_last_move(rules, state, me), *own, *theirs])


def _last_move(rules: HanabiRules, state: HanabiState, me: Array) -> list[Array]:
    last = state.last
    kind = jnp.asarray(rules.moves.kind)[last.action]
    receiver = (state.time - 1 + jnp.asarray(rules.moves.offset)[last.action]) % rules.players
    what = [kind == HINT_COLOUR, kind == HINT_RANK, (kind == PLAY) & last.scored, (kind == PLAY) & ~last.scored]
    return [jnp.stack([*what, kind == DISCARD]), last.touched & (receiver == me)]


def _own_cards(rules: HanabiRules, state: HanabiState, me: Array) -> list[Array]:
    can_be = card_sets.seen(rules, state, me)
    fits, useless = (card_sets.pack(rules, f(rules, state)) for f in (card_sets.playable, card_sets.dead))
    return [_named(state)[me], card_sets.within(can_be, fits), card_sets.within(can_be, useless)]


def _their_cards(rules: HanabiRules, state: HanabiState, them: Array) -> list[Array]:
    hand = state.hands[them]
    fits, last = (card_sets.pack(rules, f(rules, state)) for f in (card_sets.playable, card_sets.critical))
    present = hand != NO_CARD
    ranks = jnp.any(present[:, None] & (hand[:, None] % rules.ranks == np.arange(rules.ranks)), axis=0)
    suits = jnp.any(present[:, None] & (hand[:, None] // rules.ranks == np.arange(len(rules.suits))), axis=0)
    return [_named(state)[them], card_sets.has(fits, hand), card_sets.has(last, hand), ranks, suits]


def _named(state: HanabiState) -> Bool[Array, "seat slot"]:
    return (state.told_colours | state.told_ranks) != 0


@lru_cache(maxsize=16)
def _packed(rules: HanabiRules) -> Callable[[HanabiState], UInt8[Array, "move byte"]]:
    return jax.jit(jax.vmap(lambda state: jnp.packbits(primitives(rules, state))))


def packed(rules: HanabiRules, states: HanabiState) -> UInt8[np.ndarray, "move byte"]:
    """The primitives of many positions, eight to a byte: a game's worth is a few hundred bytes."""
    return in_blocks(_packed(rules), states)


@dataclass(frozen=True)
class Formula:
    """A primitive or its negation, or two formulas joined."""

    operator: int
    atom: int = 0
    negated: bool = False
    left: Formula | None = None
    right: Formula | None = None

    def __call__(self, holds: np.ndarray, full: np.ndarray) -> np.ndarray:
        """Where it is true: `holds` [concept, word] has a bit for each position, `full` [word] all bits in use."""
        if self.left is None or self.right is None:
            return full & ~holds[self.atom] if self.negated else holds[self.atom]
        left, right = self.left(holds, full), self.right(holds, full)
        return left & right if self.operator == AND else left | right

    @property
    def depth(self) -> int:
        """The number of levels; 1 for a primitive."""
        return 1 if self.left is None or self.right is None else 1 + max(self.left.depth, self.right.depth)

    def text(self, primitive_names: list[str]) -> str:
        """Return the formula in words, given the names of the primitives."""
        if self.left is None or self.right is None:
            return f"not {primitive_names[self.atom]}" if self.negated else primitive_names[self.atom]
        word = "and" if self.operator == AND else "or"
        return f"({self.left.text(primitive_names)} {word} {self.right.text(primitive_names)})"


@lru_cache(maxsize=16)
def formulas(atoms: int, count: int, seed: int, deepest: int = 3) -> tuple[Formula, ...]:
    """Random formulas, each of a depth drawn evenly from 1 to `deepest`, all different."""
    rng = np.random.default_rng(seed)
    drawn: dict[Formula, None] = {}
    while len(drawn) < count:
        drawn[_draw(rng, atoms, int(rng.integers(1, deepest + 1)))] = None
    return tuple(drawn)


def _draw(rng: np.random.Generator, atoms: int, depth: int) -> Formula:
    """One branch is as deep as asked for, the other of any depth up to that; half of all primitives are negated."""
    if depth == 1:
        return Formula(ATOM, int(rng.integers(atoms)), bool(rng.integers(2)))
    left = _draw(rng, atoms, depth - 1)
    right = _draw(rng, atoms, int(rng.integers(1, depth)))
    return Formula(int(rng.integers(2)), left=left, right=right)
