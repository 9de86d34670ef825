"""Who did what in an episode: one execution per completed act, with the lineage of the thing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from interplay.games.collab_kitchen import rules
from interplay.games.collab_kitchen.game import Kitchen
from interplay.games.collab_kitchen.reference import recipe_closure, reference_plans
from interplay.games.collab_kitchen.state import KitchenState

__all__ = ["Execution", "executions", "recipe_closure", "reference_plans"]


class Execution(NamedTuple):
    """An act that was completed in step `t`.

    `object` is what it was done to, named as it was before: cutting a potato is `cut` of `potato`, starting a stew
    `cook` of `bell_pepper~slices+corn`, filling a dish `fill_dish_with_food` of what was filled in.
    """

    t: int
    seat: int
    verb: str
    object: str
    lineage: str
    place: str


def executions(game: Kitchen, states: Sequence[KitchenState], actions: Any) -> list[Execution]:
    """Return all executions of an episode.

    Args:
        game: The kitchen.
        states: [step + 1], or the start state alone in a list.
        actions: [step, seat].
    """
    state, executed = states[0], []
    for t, joint in enumerate(actions):
        state, completed = rules.advance(game.rules, state, tuple(int(a) for a in joint))
        executed += [Execution(t, d.seat, d.verb, d.object, d.lineage, d.station.name) for d in completed]
    return executed
