"""Changes to states for counterfactual rollouts."""

from __future__ import annotations

import numpy as np

from interplay.errors import InterplayError
from interplay.games.overcooked.game import Overcooked
from interplay.games.overcooked.rules import faced_cells
from interplay.games.overcooked.state import COUNTER, OvercookedItem, OvercookedState


def remove_object(game: Overcooked, before: OvercookedState, after: OvercookedState, seat: int) -> OvercookedState:
    """Return the state after a step in which this seat put something on a counter, without that thing.

    Raises:
        InterplayError: The seat put nothing on a counter.
    """
    front = np.asarray(faced_cells(game.kitchen, before))
    place = int(front[seat])
    put = int(before.held[seat]) > 0 and int(after.held[seat]) == 0 and game.kitchen.terrain[place] == COUNTER
    if not put:
        raise InterplayError(f"{game.id}, step {int(before.time)}: seat {seat} put nothing on a counter")
    changed = vars(after) | {"items": after.items.at[place].set(OvercookedItem.NOTHING)}
    for other in range(seat + 1, game.num_seats):  # taken within the same step
        if front[other] == place and int(before.held[other]) == 0 and int(after.held[other]) > 0:
            changed["held"] = after.held.at[other].set(OvercookedItem.NOTHING)
    return OvercookedState(**changed)
