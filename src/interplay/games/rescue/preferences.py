"""What biased rescuers may prefer, and what tells their behaviours apart."""

from __future__ import annotations

from typing import Any

from interplay.games.rescue.game import Rescue

CHOICES = {
    "pass_kit": (-5.0, 0.0, 2.0),
    "pass_extinguisher": (-5.0, 0.0, 2.0),
    "discover": (-5.0, 0.0, 5.0),
    "treat_with_kit": (-0.2, 0.0, 0.3),
    "treat_by_hand": (-0.2, 0.0, 0.3),
    "extinguish": (-5.0, 0.0, 3.0),
    "clear_debris": (-5.0, 0.0, 3.0),
    "take_kit": (-5.0, 0.0, 1.0),
    "take_extinguisher": (-5.0, 0.0, 1.0),
    "stay": (-0.1, 0.0, 0.1),
    "task": (0.1, 1.0),
}
WORDS = {
    "pass_kit": ("hands kits on", "keeps kits"),
    "pass_extinguisher": ("hands extinguishers on", "keeps extinguishers"),
    "discover": ("reports victims", "reports nobody"),
    "treat_with_kit": ("treats with kits", "treats without kits"),
    "treat_by_hand": ("treats by hand", "does not treat by hand"),
    "extinguish": ("puts out fires", "lets fires burn"),
    "clear_debris": ("clears debris", "leaves debris"),
    "take_kit": ("takes kits", "leaves kits"),
    "take_extinguisher": ("takes extinguishers", "leaves extinguishers"),
    "stay": ("stands still", "keeps moving"),
}


def reward_space(game: Rescue) -> dict[str, Any]:
    """Return what evaluation partners may prefer, as `games.overcooked.preferences.reward_space` does."""
    features = [name for name in CHOICES if name != "task"]
    choices = {k: list(v) for k, v in CHOICES.items()}
    return {"choices": choices, "at_most": 3, "features": features, "words": WORDS, "least_return": 1.0}
