"""Event weights of biased chefs, and events that tell behaviours apart: data of the field, in `preferences.json`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from interplay.games.overcooked.game import Overcooked

DATA = Path(__file__).with_name("preferences.json")
LEAST_RETURN = 10.0  # half a soup an episode


def reward_space(game: Overcooked) -> dict[str, Any]:
    """Return what evaluation partners may prefer.

    `choices`: event -> weights to draw from; `at_most` so many not 0; `features`: what is counted of a chef; `words`:
    event -> what doing much and little of it is called; `least_return`: a mean score that is as good as none.
    """
    several = len(game.menu.orders) > 1 or any("T" in order for order in game.menu.orders)
    data = json.loads(DATA.read_text())
    return data["several_recipes" if several else "one_recipe"] | {"words": data["words"], "least_return": LEAST_RETURN}
