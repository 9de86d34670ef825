"""Other names for the colours: colours of Hanabi are alike but for their names, so any renaming is as good a game.

A renaming g says that the colour seen as i is really colour g[i]. What is seen under it is a gather of what is really
seen, and an action chosen under it is really another one. A suit that no hint names (rainbow) keeps its place.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import permutations
from typing import NamedTuple

import numpy as np
from jaxtyping import Int

from interplay.games.hanabi.encode import vector_size
from interplay.games.hanabi.state import HINT_COLOUR, Rules


class Renamings(NamedTuple):
    """Every renaming of the colours, the first of them none at all."""

    colours: Int[np.ndarray, "renaming colour"]  # the real colour of each colour seen
    seen: Int[np.ndarray, "renaming size"]  # vector as seen = real vector[..., seen]; for `hle` and `belief` alike
    real: Int[
        np.ndarray, "renaming action"
    ]  # what an action chosen as seen really is; legal as seen = legal[..., real]
    named: Int[np.ndarray, "renaming action"]  # what a real action is as seen

    @property
    def number(self) -> int:
        return len(self.colours)


@lru_cache(maxsize=16)
def renamings(rules: Rules) -> Renamings:
    """All of them: 120 with five colours."""
    colours = np.array(list(permutations(range(len(rules.colours)))), np.int32)
    seen = np.stack([seen_index(rules, g) for g in colours])
    real = np.stack([action_index(rules, g) for g in colours])
    return Renamings(colours, seen, real, np.argsort(real, axis=1).astype(np.int32))


def suit_index(rules: Rules, colours: Int[np.ndarray, " colour"]) -> Int[np.ndarray, " suit"]:
    """The real suit of each suit seen."""
    places = np.array([rules.suits.index(c) for c in rules.colours])
    suits = np.arange(len(rules.suits))
    suits[places] = places[np.asarray(colours)]
    return suits


def seen_index(rules: Rules, colours: Int[np.ndarray, " colour"]) -> Int[np.ndarray, " size"]:
    """Where in the real vector each number of the vector as seen stands."""
    suits, seats, slots, ranks = suit_index(rules, colours), rules.players, rules.hand_size, rules.ranks
    taken: list[np.ndarray] = []
    at = 0

    def take(*shape: int, axis: int | None = None, by: np.ndarray | None = None) -> None:
        nonlocal at
        block = np.arange(at, at + int(np.prod(shape))).reshape(shape)
        at += block.size
        taken.append((block if axis is None or by is None else np.take(block, by, axis=axis)).ravel())

    take((seats - 1) * slots, len(suits), ranks, axis=1, by=suits)  # the others' cards
    take(seats + rules.deck_size - seats * slots)  # whose hand lacks a card; the deck
    take(len(suits), ranks, axis=0, by=suits)  # fireworks
    take(rules.hint_tokens + rules.lives)
    take(len(suits), sum(rules.copies), axis=0, by=suits)  # discards
    take(seats + 4 + seats)  # the last move: actor, kind, receiver
    take(len(rules.colours), axis=0, by=np.asarray(colours))  # its colour
    take(ranks + 2 * slots)  # its rank, the cards it touched, the slot it used
    take(len(suits), ranks, axis=0, by=suits)  # its card
    take(2)
    for _ in range(seats * slots):
        take(len(suits), ranks, axis=0, by=suits)  # what the card may be
        take(len(rules.colours), axis=0, by=np.asarray(colours))  # what was told of it
        take(ranks)
    assert at == vector_size(rules)
    return np.concatenate(taken).astype(np.int32)


def action_index(rules: Rules, colours: Int[np.ndarray, " colour"]) -> Int[np.ndarray, " action"]:
    """What each action chosen as seen really is."""
    moves = rules.moves
    actions = np.arange(len(moves.kind), dtype=np.int32)
    hints = moves.kind == HINT_COLOUR
    return np.where(hints, actions - moves.hint + np.asarray(colours)[np.where(hints, moves.hint, 0)], actions).astype(
        np.int32
    )


def renamed_deck(
    rules: Rules, deck: Int[np.ndarray, "card 2"], colours: Int[np.ndarray, " colour"]
) -> Int[np.ndarray, "card 2"]:
    """A deck [card, (colour, rank - 1)] as it is seen."""
    as_seen = np.argsort(suit_index(rules, colours))  # the suit as which each real suit is seen
    return np.stack([as_seen[deck[:, 0]], deck[:, 1]], axis=1)
