"""Who holds what and what is in the utensils, derived from executions: foreign transcripts have no states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from interplay.metrics.communication.kitchen_words import MAKES, made_by
from interplay.metrics.communication.records import TranscriptEvent

AT = {"cut": "chopping_board", "stir": "blender", "cook": "pot", "bake": "oven"}  # unless it is said


class SceneObject(NamedTuple):
    """A thing in a hand or in a utensil."""

    object: str
    lineage: str | None


@dataclass(frozen=True)
class KitchenScene:
    """What the cooks hold and what the utensils contain at one time."""

    hands: Mapping[int, SceneObject] = field(default_factory=dict)  # by seat
    utensils: Mapping[str, tuple[SceneObject, ...]] = field(default_factory=dict)

    def after(self, event: TranscriptEvent) -> KitchenScene:
        """The scene after an execution."""
        act = event.act
        if act is None:
            return self
        thing = SceneObject(act.object, event.lineage) if act.object else None
        hands, utensils = dict(self.hands), dict(self.utensils)
        place = act.place or AT.get(act.verb) or ""
        if act.verb in ("pickup", "fill_dish_with_food"):
            if thing:
                hands[event.agent] = thing
            if place in utensils:
                left = () if act.verb != "pickup" else tuple(h for h in utensils[place] if h != thing)
                utensils[place] = left
        elif act.verb == "put_obj_in_utensil":
            hands.pop(event.agent, None)
            utensils[place] = (*utensils.get(place, ()), *([thing] if thing else []))
        elif act.verb in MAKES:
            made = made_by(act.verb, thing.object) if thing else None
            utensils[place] = (SceneObject(made, event.lineage),) if made else ()
        else:  # on the counter, or delivered
            hands.pop(event.agent, None)
        return replace(self, hands=hands, utensils=utensils)

    def contents(self, place: str) -> SceneObject | None:
        """What is in a utensil, several things as one mix."""
        things = self.utensils.get(place, ())
        if not things:
            return None
        lineages = [h.lineage for h in things if h.lineage]
        return SceneObject("+".join(sorted(h.object for h in things)), "+".join(lineages) or None)
