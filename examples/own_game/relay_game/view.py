"""How people see and play relays in the browser. Without this file they see `scene` with the actions as buttons."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from interplay.study.live.browser_views import BrowserView


def layout(game: Any, state: Any) -> dict[str, Any]:
    """What stays the same: how many cells there are on either side of the shelf."""
    return {"reach": game.reach}


def view(game: Any, table: Any, seat: int) -> dict[str, Any]:
    """What a runner sees now: everything."""
    state = table.state
    return {
        "place": state.place.tolist(),
        "carries": state.carries.tolist(),
        "shelf": bool(state.shelf),
        "text": game.render(state, seat),
    }


class SimulatedRunner:
    """A simulated participant, who sees what the browser shows and sometimes hesitates."""

    def __init__(self, game: Any, seat: int, chance: random.Random):
        self._seat, self._chance = seat, chance
        self._ends = ((0, game.reach - 1), (game.reach + 1, 2 * game.reach))[seat]

    def choose(self, t: int, view: Mapping[str, Any]) -> str | None:
        """Fetch a parcel, bring it to the other end, and begin anew."""
        if self._chance.random() < 0.2:
            return None
        place, goal = view["place"][self._seat], self._ends[1 if view["carries"][self._seat] else 0]
        return "act" if place == goal else "right" if place < goal else "left"


VIEW = BrowserView(
    board="relay",
    real_time=True,
    layout=layout,
    view=view,
    watch=lambda game: None,
    script="relay_game:board.js",
    simulate="relay_game.view:SimulatedRunner",
)
