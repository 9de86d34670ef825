"""The reference team made worse in one way each, as test cases for an audit of communication.

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
    """Adds a remark without a request whenever it plans."""

    name = "scripted/chatty"

    def small_talk(self, situation: Situation) -> str:
        """Return a friendly remark."""
        return CHATTER[situation.t % len(CHATTER)] if situation.purpose == "plan" else ""


class Redundant(Reference):
    """Asks once more for each thing that its partner has just done."""

    name = "scripted/redundant"

    def small_talk(self, situation: Situation) -> str:
        """Return requests for what was just done."""
        if situation.purpose != "plan" or not situation.knows_recipe():
            return ""
        said = sum(m.text.count("Please ") for m in situation.messages if m.sender == situation.seat)
        done = [d for d in situation.executions if d.seat != situation.seat and d.verb in WORDS]
        return " ".join(_in_words(execution) for execution in done[said:])


def _in_words(execution: Execution) -> str:
    return WORDS[execution.verb].format(object=execution.object, place=execution.place.replace("_", " "))


class Deaf(Reference):
    """Ignores all requests when it is the assistant."""

    name = "scripted/deaf"

    def to_do(self, situation: Situation) -> list[Macro]:
        """Return nothing."""
        return []


class Forgetful(Reference):
    """Forgets, as assistant, the second of every three requests until it is asked again."""

    name = "scripted/forgetful"

    def to_do(self, situation: Situation) -> list[Macro]:
        """Return the requests up to a forgotten one; what comes after it has to wait too."""
        wanted = asked_of(situation)
        forgotten = next((i for i, w in enumerate(wanted) if w.number % 3 == 1 and w.times == 1), len(wanted))
        return [w.macro for w in wanted[:forgotten]]


class Clumsy(Reference):
    """Looks, as assistant, for everything on the counter first."""

    name = "scripted/clumsy"

    def follow(self, situation: Situation) -> list[str]:
        """Return the plan, with the wrong place for a first pickup."""
        plan = super().follow(situation)
        todo = self.to_do(situation)
        slips = bool(todo) and plan == [str(todo[0])] and todo[0].verb == "pickup" and todo[0].place != "counter"
        return [str(todo[0]._replace(place="counter"))] if slips and situation.purpose != "correct" else plan
