"""Weights of biased players: those of ZSC-Eval's football (its Table 8)."""

from __future__ import annotations

from typing import Any

from interplay.games.api import Game

CHOICES = {"pass": [-5, 0, 1], "catch": [-5, 0, 1], "shot": [-5, 0, 1], "task": [1, 5]}
FEATURES = ("possession", "pass", "catch", "shot", "assist", "goal")
WORDS = {
    "pass": ["passes", "never passes"],
    "catch": ["catches", "avoids the ball"],
    "shot": ["shoots", "never shoots"],
}


def reward_space(game: Game) -> dict[str, Any]:
    """Return what evaluation partners may prefer: weights to draw from, how many at most, what is counted of them."""
    return {"choices": CHOICES, "at_most": 3, "features": list(FEATURES), "words": WORDS, "least_return": 0.05}
