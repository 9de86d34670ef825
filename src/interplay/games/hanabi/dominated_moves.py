"""Moves that are clearly good or clearly bad by what their maker knows of the card.

Metrics and rewards use the same functions.
"""

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

from interplay.games.hanabi import card_sets
from interplay.games.hanabi.state import DISCARD, PLAY, HanabiRules, HanabiState

KNOWN = ("public", "seen")  # by hints and open cards; and by the other hands, too
NAMES = ("g1", "g2", "g3")  # discards a playable card, plays an unplayable one (dominated), plays a playable (dominant)


def known(
    rules: HanabiRules, state: HanabiState, action: Int[Array, ""]
) -> tuple[Bool[Array, " sense"], Bool[Array, " sense"]]:
    """Return whether the card that the mover uses is known to be playable, and known to be unplayable.

    Each in every sense of KNOWN; false for hints.
    """
    seat, slot = state.time % rules.players, jnp.asarray(rules.moves.slot)[action]
    can_be = jnp.stack([card_sets.public(rules, state)[seat, slot], card_sets.seen(rules, state, seat)[slot]])
    fits = card_sets.pack(rules, card_sets.playable(rules, state))
    return card_sets.within(can_be, fits), card_sets.within(can_be, ~fits)


def flags(rules: HanabiRules, state: HanabiState, action: Int[Array, ""]) -> Bool[Array, "name sense"]:
    """Return whether a move is of each kind in NAMES."""
    playable, unplayable = known(rules, state, action)
    kind = jnp.asarray(rules.moves.kind)[action]
    plays, discards = kind == PLAY, kind == DISCARD
    return jnp.stack([discards & playable, plays & unplayable, plays & playable])
