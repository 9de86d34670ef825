"""What all recordings of Hanabi need: decks and moves as arrays, and the first player in seat 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from interplay.errors import InterplayError
from interplay.games.hanabi.checks import check_deck
from interplay.games.hanabi.game import Hanabi
from interplay.games.hanabi.state import HanabiRules
from interplay.games.registry import make


def hanabi(players: int, variant: str = "", **options: Any) -> Hanabi:
    """The game for so many players; its rules are at hand."""
    if not 2 <= players <= 5:
        raise InterplayError(f"{players} players; Hanabi is for 2 to 5")
    game = make(f"hanabi/{players}p{'-' if variant else ''}{variant}", **options)
    assert isinstance(game, Hanabi)
    return game


def deck_array(rules: HanabiRules, cards: Any) -> np.ndarray:
    """A deck [card, 2] of (colour, rank - 1), top card first; an error says what is wrong with it."""
    try:
        deck = np.array(cards)
    except ValueError:
        raise InterplayError("this deck is not a list of pairs (colour, rank - 1)") from None
    check_deck(rules, deck)
    return deck.astype(np.int8)


def joint_moves(moves: Sequence[int] | np.ndarray, rules: HanabiRules) -> np.ndarray:
    """[step, seat]: seats move in turn, from seat 0 on; the others wait."""
    noop = rules.moves.noop
    for turn, move in enumerate(moves):
        if isinstance(move, bool) or not isinstance(move, int | np.integer) or not 0 <= move < noop:
            raise InterplayError(f"turn {turn}: there is no move {move!r}; they run from 0 to {noop - 1}")
    actions = np.full((len(moves), rules.players), noop, np.int16)
    turns = np.arange(len(moves))
    actions[turns, turns % rules.players] = np.asarray(moves, np.int16).reshape(-1)
    return actions


def seated_first(deck: np.ndarray, rules: HanabiRules, first: int) -> np.ndarray:
    """The deck that deals everyone the same hand when the seats are counted from the first player on.

    In our games seat 0 moves first. Seat s of ours is seat s + first of the source.
    """
    dealt = rules.players * rules.hand_size
    hands = deck[:dealt].reshape(rules.players, rules.hand_size, 2)
    return np.concatenate([np.roll(hands, -first, axis=0).reshape(dealt, 2), deck[dealt:]])
