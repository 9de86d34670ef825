"""Reward spaces: what biased players of a game may prefer, and which events tell behaviours apart."""

from __future__ import annotations

from typing import Any

from interplay.games.api import Game
from interplay.registry import Registry

REWARD_SPACES = Registry(
    "reward space",
    entry_points="interplay.reward_spaces",
    table={"overcooked": "interplay.games.overcooked.preferences:reward_space"},
)


def reward_space_of(game: Game) -> dict[str, Any]:
    """The reward space that comes with a game; empty for one without.

    `choices`: event -> weights that it may have; `at_most`: so many events with a weight other than 0; `features`: what
    is counted of a player; `words`: event -> what doing much and little of it is called.
    """
    family = game.id.partition("/")[0]
    return REWARD_SPACES.load(family)(game) if family in REWARD_SPACES.names() else {}
