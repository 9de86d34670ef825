"""Checks of decks and moves with readable errors, outside of compiled code."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.errors import IllegalAction, InterplayError
from interplay.games.hanabi import rules as hanabi
from interplay.games.hanabi.state import DISCARD, HINT_COLOUR, HINT_RANK, NO_CARD, NOOP, PLAY, HanabiRules, HanabiState


def check_deck(rules: HanabiRules, deck: Any) -> np.ndarray:
    """Return the deck as identities, [deck] int8.

    Raises:
        InterplayError: It is no deck of these rules; the message says why.
    """
    cards = np.asarray(deck)
    size = rules.deck_size
    if cards.ndim != 2 or cards.shape[1] != 2 or not np.issubdtype(cards.dtype, np.integer):
        raise InterplayError(
            f"a deck is an integer array [{size}, 2] of (colour, rank - 1), top card first; "
            f"this one is {cards.dtype} {list(cards.shape)}"
        )
    if len(cards) != size:
        raise InterplayError(f"this deck has {len(cards)} cards; the rule set has {size}")
    for place, (suit, rank) in enumerate(cards):
        if not (0 <= suit < len(rules.suits) and 0 <= rank < rules.ranks):
            raise InterplayError(
                f"card {place} of this deck is ({suit}, {rank}); colours run from 0 to {len(rules.suits) - 1} "
                f"({rules.suits}) and ranks from 0 to {rules.ranks - 1}"
            )
    identities = cards[:, 0] * rules.ranks + cards[:, 1]
    counts = np.bincount(identities, minlength=rules.identities)
    wrong = [
        f"{count} copies of {rules.card_name(i)} instead of {total}"
        for i, (count, total) in enumerate(zip(counts, rules.total_copies))
        if count != total
    ]
    if wrong:
        raise InterplayError(f"this deck has {', '.join(wrong)}")
    return identities.astype(np.int8)


def check_actions(rules: HanabiRules, action_names: tuple[str, ...], state: HanabiState, actions: Any) -> None:
    """Check that every seat's action is legal.

    Raises:
        InterplayError: One is not; the message says which, why, and what was legal.
    """
    legal = np.asarray(hanabi.legal(rules, state))
    actions = np.asarray(actions)
    if actions.shape != (rules.players,):
        raise IllegalAction(f"actions are one number per seat, [{rules.players}]; these have shape {actions.shape}")
    for seat, action in enumerate(actions):
        if not 0 <= action < len(action_names):
            raise IllegalAction(f"seat {seat}: there is no action {action}; they run from 0 to {len(action_names) - 1}")
        if not legal[seat, action]:
            allowed = ", ".join(name for name, ok in zip(action_names, legal[seat]) if ok)
            raise IllegalAction(
                f"turn {int(state.time)}, seat {seat}: {action_names[action]} ({action}) is not legal: "
                f"{_why(rules, state, seat, int(action))}; legal: {allowed}"
            )


def _why(rules: HanabiRules, state: HanabiState, seat: int, action: int) -> str:
    turn = int(state.time) % rules.players
    moves = rules.moves
    kind, slot = moves.kind[action], int(moves.slot[action])
    if seat != turn:
        return f"it is seat {turn}'s turn"
    if kind == NOOP:
        return "it is this seat's turn, and a turn cannot be passed"
    if kind in (DISCARD, PLAY) and int(state.hands[seat, slot]) == NO_CARD:
        return f"there is no card in slot {slot}"
    if kind == DISCARD:
        return f"all {rules.hint_tokens} hint tokens are there, so none can be gained"
    assert kind in (HINT_COLOUR, HINT_RANK)
    if int(state.tokens) == 0:
        return "no hint token is left"
    return f"it names no card of seat {(seat + int(moves.offset[action])) % rules.players}"
