"""ProAgent: infer the partner's state, predict its next action, choose a sub-goal that anticipates it.

The partner's state is computed in code. The prediction is a choice among what the partner can do, so that a model
cannot predict the impossible; the same answer names the anticipatory sub-goal.
"""

from __future__ import annotations

from interplay.agents.llm.answers import TEXT, AnswerShape
from interplay.agents.llm.chat import system_and_user
from interplay.agents.llm.kitchen.situation import Situation
from interplay.agents.llm.metered_calls import Caller
from interplay.agents.llm.scaffolds import partner_facts

SYSTEM = """You predict what your partner in a kitchen does next. Think briefly, then choose its most likely next \
action from the list, and say what you could get ready meanwhile so that it helps and nothing is done twice. Answer \
with one JSON object: "analysis", "next_action" (exactly as listed), "subgoal"."""


class ProAgent:
    """Predicts one partner at every decision."""

    async def aside(self, situation: Situation, caller: Caller) -> str:
        """Ask for a prediction, and describe the partner's state and likely next action."""
        seat = partner_facts.partner(situation)
        inferred = partner_state(situation, seat)
        facts = "\n".join(f"- {name}: {value}" for name, value in inferred.items())
        options = partner_facts.choices(situation, seat)
        text = (
            f"{situation.game.render(situation.state, situation.seat)}\n\nYour partner:\n{facts}\n\n"
            "Actions it can do next:\n" + "\n".join(f"- {option}" for option in options)
        )
        shape = AnswerShape({"analysis": TEXT, "next_action": options, "subgoal": TEXT})
        reading = await caller.ask(system_and_user(SYSTEM, text), shape, "predict", scaffold=True, context=situation)
        predicted = reading.fields["next_action"] if reading.fields else None
        subgoal = reading.fields["subgoal"] if reading.fields else None
        caller.note("belief", scaffold="proagent", about=seat, **inferred, predicted=predicted, subgoal=subgoal)
        lines = ["# Your partner, as inferred", facts]
        if predicted:
            lines.append(f"- most likely next action: {predicted}")
        if subgoal:
            lines.append(f"- what you could get ready: {subgoal}")
        return "\n".join([*lines, "Choose actions that anticipate or complement this, and do no work twice."])


def partner_state(situation: Situation, seat: int) -> dict[str, str]:
    """Return role, held object, station, last request, likely sub-goal and what was refused, from the trace alone."""
    said = [m for m in situation.messages if m.sender == seat]
    waiting = [a.what for a in partner_facts.requests(situation, situation.seat, seat) if a.done is None]
    return {
        "role": situation.name(seat),
        "held": partner_facts.held_name(situation, seat),
        "station": partner_facts.station(situation, seat),
        "last_request": said[-1].text if said else "none",
        "likely_subgoal": waiting[0] if waiting else "unknown",
        "blocked_actions": "; ".join(partner_facts.refused(situation, seat)) or "none",
    }
