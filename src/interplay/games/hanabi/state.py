"""The rule set of Hanabi, which is data, and the state, which is small integers.

A card's identity is one number, suit * ranks + (rank - 1), and a set of identities is the bits of one uint32. So a hint
is a set, what a card can still be is a set, and learning is one `and`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, Int8, UInt8, UInt32

from interplay.errors import InterplayError
from interplay.games.records import record

NO_CARD = -1  # an empty slot of a hand
HIDDEN = -2  # a card that the observer may not see

DISCARD, PLAY, HINT_COLOUR, HINT_RANK, NOOP = range(5)
KIND_NAMES = ("discard", "play", "hint_colour", "hint_rank", "noop")


@dataclass(frozen=True)
class HanabiRules:
    """A rule set. Hands are ordered: slot 0 holds the oldest card."""

    players: int
    hand_size: int
    suits: str = "RYGWB"  # one letter each
    wild: str = ""  # suits that every colour hint touches and none names (rainbow)
    copies: tuple[int, ...] = (3, 2, 2, 2, 1)  # cards of rank 1, 2, ... in each suit
    hint_tokens: int = 8
    lives: int = 3
    bomb: str = "zero"  # the score once the lives are lost: "zero", or "keep" the points so far
    discard_when_full: bool = False  # whether one may discard while all hint tokens are there
    empty_hints: bool = False  # whether a hint may name no card at all

    def __post_init__(self):
        problems = [
            (2 <= self.players <= 5, f"Hanabi is for 2 to 5 players, not {self.players}"),
            (self.bomb in ("zero", "keep"), f"bomb={self.bomb!r}: write 'zero' (HLE) or 'keep' (points kept)"),
            (len(set(self.suits)) == len(self.suits) >= 1, f"suits={self.suits!r}: one distinct letter for each suit"),
            (set(self.wild) < set(self.suits), f"wild={self.wild!r}: some, not all, of the suits {self.suits!r}"),
            (all(c > 0 for c in self.copies), f"copies={self.copies}: at least one card of each rank"),
            (
                self.identities <= 32,
                f"{self.suits!r} with {self.ranks} ranks are {self.identities} identities; at most 32 are supported",
            ),
            (
                self.deck_size > self.players * self.hand_size > 0,
                f"a deck of {self.deck_size} cards is too small for {self.players} hands of {self.hand_size}",
            ),
            (self.deck_size <= 128, f"a deck of {self.deck_size} cards; at most 128 are supported"),
            (1 <= self.hint_tokens <= 100, f"hint_tokens={self.hint_tokens}: 1 to 100"),
            (1 <= self.lives <= 100, f"lives={self.lives}: 1 to 100"),
        ]
        for fine, problem in problems:
            if not fine:
                raise InterplayError(problem)

    @property
    def ranks(self) -> int:
        """The number of ranks."""
        return len(self.copies)

    @property
    def colours(self) -> str:
        """The colours that a hint can name."""
        return "".join(s for s in self.suits if s not in self.wild)

    @property
    def identities(self) -> int:
        """The number of different cards."""
        return len(self.suits) * self.ranks

    @property
    def deck_size(self) -> int:
        """The number of cards."""
        return len(self.suits) * sum(self.copies)

    @property
    def max_score(self) -> int:
        """The score of complete fireworks."""
        return self.identities

    @property
    def horizon(self) -> int:
        """Moves of the longest game.

        Every card but the last is discarded, and every token so gained is spent at once.
        """
        draws = self.deck_size - self.players * self.hand_size
        return 2 * draws + self.hint_tokens - 1 + self.players

    @cached_property
    def total_copies(self) -> np.ndarray:
        """Copies of each identity in the deck, [identity]."""
        return np.tile(np.array(self.copies, np.int8), len(self.suits))

    @cached_property
    def sorted_deck(self) -> np.ndarray:
        """The deck in order of identities, [deck] int8."""
        return np.repeat(np.arange(self.identities, dtype=np.int8), self.total_copies)

    @cached_property
    def hint_sets(self) -> np.ndarray:
        """The identities that each hint touches, colours first and then ranks: [hint] uint32."""
        ids = np.arange(self.identities)
        suit = np.array(list(self.suits))[ids // self.ranks]
        wild = np.isin(suit, list(self.wild))
        by_colour = [np.sum(2 ** ids[(suit == c) | wild]) for c in self.colours]
        by_rank = [np.sum(2 ** ids[ids % self.ranks == r]) for r in range(self.ranks)]
        return np.array(by_colour + by_rank, np.uint32)

    @cached_property
    def moves(self) -> MoveTable:
        """The meaning of each action."""
        return MoveTable.from_rules(self)

    def card_name(self, identity: int) -> str:
        """Return a card's name, such as R1; -- for no card, ?? for a hidden one."""
        if identity < 0:
            return "--" if identity == NO_CARD else "??"
        return f"{self.suits[identity // self.ranks]}{identity % self.ranks + 1}"


@dataclass(frozen=True)
class MoveTable:
    """The meaning of each action: discards, plays, colour hints, rank hints, and last the no-op."""

    kind: np.ndarray  # [action]
    slot: np.ndarray  # of the card played or discarded; 0 otherwise
    offset: np.ndarray  # how many seats on the receiver of a hint sits; 0 otherwise
    hint: np.ndarray  # the number of the hint, colours first; 0 otherwise
    touches: np.ndarray  # the identities that the hint touches; none otherwise

    @classmethod
    def from_rules(cls, rules: HanabiRules) -> MoveTable:
        """List the actions of a rule set."""
        colours, ranks = len(rules.colours), rules.ranks
        others = range(1, rules.players)
        rows = [(DISCARD, slot, 0, 0) for slot in range(rules.hand_size)]
        rows += [(PLAY, slot, 0, 0) for slot in range(rules.hand_size)]
        rows += [(HINT_COLOUR, 0, offset, c) for offset in others for c in range(colours)]
        rows += [(HINT_RANK, 0, offset, colours + r) for offset in others for r in range(ranks)]
        rows += [(NOOP, 0, 0, 0)]
        kind, slot, offset, hint = np.array(rows, np.int32).T
        is_hint = (kind == HINT_COLOUR) | (kind == HINT_RANK)
        return cls(kind, slot, offset, hint, np.where(is_hint, rules.hint_sets[hint], 0).astype(np.uint32))

    @property
    def noop(self) -> int:
        """The number of the no-op."""
        return len(self.kind) - 1


@record
class LastMove:
    """The last move, as all seats saw it. Before the first move: the no-op."""

    action: Int[Array, ""]
    card: Int8[Array, ""]  # the card that was played or discarded; NO_CARD after a hint
    touched: Bool[Array, " slot"]  # the cards that the hint named
    scored: Bool[Array, ""]  # the card found its place
    token: Bool[Array, ""]  # a completed suit gave a hint token back


@record
class HanabiState:
    """The whole state, hidden cards included."""

    deck: Int8[Array, " deck"]  # identities, top card first; it stays as it was, `dealt` moves on
    dealt: Int[Array, ""]  # cards that have left the deck
    hands: Int8[Array, "seat slot"]  # identities, oldest card first; NO_CARD in empty slots
    possible: UInt32[Array, "seat slot"]  # what each card can be by its hints alone, as a set of identities
    told_colours: UInt8[Array, "seat slot"]  # the colours that hints named on each card, as bits
    told_ranks: UInt8[Array, "seat slot"]  # the ranks that hints named on each card, as bits
    fireworks: Int8[Array, " suit"]  # the height of each suit's firework
    discards: Int8[Array, " identity"]  # copies discarded or misplayed
    tokens: Int[Array, ""]  # hint tokens
    lives: Int[Array, ""]
    time: Int[Array, ""]  # moves made; seat `time` modulo players is to move
    turns_left: Int[Array, ""]  # falls with every move once the deck is empty
    last: LastMove


def card_bit(cards: Int8[Array, "*shape"]) -> UInt32[Array, "*shape"]:
    """Return the set of just this card; empty for an empty slot or a hidden card."""
    return jnp.where(cards >= 0, jnp.uint32(1) << jnp.maximum(cards, 0).astype(jnp.uint32), jnp.uint32(0))
