"""The reference team made worse in one way each: what an audit of communication must tell apart.

chatty      talks without asking for anything               -> messages without a request, tokens
redundant   asks once more, in words, for what was just done -> redundant requests
deaf        the assistant hears nothing                     -> requests that are ignored, no dish
forgetful   the assistant forgets one request in three      -> requests that are done late, when asked again
clumsy      the assistant looks in the wrong place first    -> requests done after the verifier's help
"""

from __future__ import annotations

from interplay.agents.llm.kitchen.situation import Situation
from interplay.agents.llm.scripted.reference import Reference, asked_of
from interplay.games.collab_kitchen.lineage import Execution
from interplay.games.collab_kitchen.macros import Macro

CHATTER = (
    "What a lovely kitchen this is!",
    "I am so happy with how well our team works today.",
    "My grandmother used to say that good food takes time.",
)
WORDS = {
    "pickup": "Please pick up the {object} from the {place}.",
    "place_obj_on_counter": "Please put the {object} on the counter.",
    "put_obj_in_utensil": "Please put the {object} in the {place}.",
    "cut": "Please cut the {object}.",
    "stir": "Please stir the {object} in the blender.",
    "cook": "Please cook the {object} in the pot.",
    "bake": "Please bake the {object} in the oven.",
    "fill_dish_with_food": "Please fill the dish with {object} from the {place}.",
}


class Chatty(Reference):
    """Has something nice to say whenever it plans."""

    name = "scripted/chatty"

    def small_talk(self, situation: Situation) -> str:
        return CHATTER[situation.t % len(CHATTER)] if situation.purpose == "plan" else ""


class Redundant(Reference):
    """Asks once more for each thing that its partner has just done."""

    name = "scripted/redundant"

    def small_talk(self, situation: Situation) -> str:
        if situation.purpose != "plan" or not situation.knows_recipe():
            return ""
        said = sum(m.text.count("Please ") for m in situation.messages if m.sender == situation.seat)
        done = [d for d in situation.deeds if d.seat != situation.seat and d.verb in WORDS]
        return " ".join(_in_words(deed) for deed in done[said:])


def _in_words(deed: Execution) -> str:
    return WORDS[deed.verb].format(object=deed.object, place=deed.place.replace("_", " "))


class Deaf(Reference):
    """As assistant, hears nothing."""

    name = "scripted/deaf"

    def to_do(self, situation: Situation) -> list[Macro]:
        return []


class Forgetful(Reference):
    """As assistant, forgets the second of every three requests until it is asked again."""

    name = "scripted/forgetful"

    def to_do(self, situation: Situation) -> list[Macro]:
        """What comes after a forgotten request cannot be done before it, so it waits too."""
        wanted = asked_of(situation)
        forgotten = next((i for i, w in enumerate(wanted) if w.number % 3 == 1 and w.times == 1), len(wanted))
        return [w.macro for w in wanted[:forgotten]]


class Clumsy(Reference):
    """As assistant, first looks for everything on the counter."""

    name = "scripted/clumsy"

    def follow(self, situation: Situation) -> list[str]:
        plan = super().follow(situation)
        todo = self.to_do(situation)
        slips = bool(todo) and plan == [str(todo[0])] and todo[0].verb == "pickup" and todo[0].place != "counter"
        return [str(todo[0]._replace(place="counter"))] if slips and situation.purpose != "correct" else plan
