"""Changes to states for counterfactual rollouts."""

from __future__ import annotations

import numpy as np

from interplay.errors import InterplayError
from interplay.games.overcooked.game import Overcooked
from interplay.games.overcooked.rules import faced_cells
from interplay.games.overcooked.state import COUNTER, IDLE, POT, OvercookedItem, OvercookedState


def remove_object(game: Overcooked, before: OvercookedState, after: OvercookedState, seat: int) -> OvercookedState:
    """Return the state after a step in which this seat put something on a counter or into a pot, without that thing.

    The counter or pot is as it was before the step; the giver's hands are empty as after it.

    Raises:
        InterplayError: The seat put nothing there, and set nothing cooking.
    """
    front = np.asarray(faced_cells(game.kitchen, before))
    place = int(front[seat])
    put = int(before.held[seat]) > 0 and int(after.held[seat]) == 0
    started = int(before.timer[place]) == IDLE and int(after.timer[place]) != IDLE
    if game.kitchen.terrain[place] not in (COUNTER, POT) or not (put or started):
        raise InterplayError(f"{game.id}, step {int(before.time)}: seat {seat} put nothing on a counter or into a pot")
    changed = vars(after) | {"items": after.items.at[place].set(before.items[place])}
    if game.kitchen.terrain[place] == POT:
        return OvercookedState(**changed | {"timer": after.timer.at[place].set(before.timer[place])})
    for other in range(seat + 1, game.num_seats):  # taken within the same step
        if front[other] == place and int(before.held[other]) == 0 and int(after.held[other]) > 0:
            changed["held"] = after.held.at[other].set(OvercookedItem.NOTHING)
    return OvercookedState(**changed)
