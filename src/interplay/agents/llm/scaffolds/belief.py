"""Belief tracking: a JSON belief about the partner, updated when there is new evidence.

What can be computed (held object, latency and fulfilment of requests) is computed in code and never left to the model.
"""

from __future__ import annotations

import json
from typing import Any

from interplay.agents.llm.answers import TEXT, TEXTS, AnswerShape
from interplay.agents.llm.chat import system_and_user
from interplay.agents.llm.kitchen.situation import Situation
from interplay.agents.llm.metered_calls import Caller
from interplay.agents.llm.scaffolds import partner_facts

SYSTEM = """You keep a belief about your partner in a kitchen. You get the belief so far, what your partner has done \
and said since, and what the kitchen's verifier refused to it. Change only what the new evidence speaks to, and carry \
the rest over as it is. Answer with one JSON object: "analysis", "subgoal" (what the partner is after), \
"blocked_actions" (what it seems unable to do), "communication_style"."""
SHAPE = AnswerShape({"analysis": TEXT, "subgoal": TEXT, "blocked_actions": TEXTS, "communication_style": TEXT})
LAST = 5  # requests over which latency and fulfilment are taken


class Belief:
    """The belief about one partner in one episode."""

    def __init__(self):
        self._belief: dict[str, Any] = {"subgoal": "unknown", "blocked_actions": [], "communication_style": "unknown"}
        self._seen: set[str] = set()  # executions, messages and refusals already read

    async def aside(self, situation: Situation, caller: Caller) -> str:
        """Update the belief if there is news, and return it as JSON."""
        seat = partner_facts.partner(situation)
        fresh = self._fresh(situation, seat)
        if fresh:
            text = f"Belief so far: {json.dumps(self._belief)}\n\nSince then:\n" + "\n".join(fresh)
            reading = await caller.ask(system_and_user(SYSTEM, text), SHAPE, "belief", scaffold=True, context=situation)
            if reading.fields:
                self._belief = {name: reading.fields[name] for name in self._belief}
        belief = {**self._belief, **computed(situation, seat)}
        caller.note("belief", scaffold="belief", about=seat, updated=bool(fresh), **belief)
        return "# Your belief about your partner\n" + json.dumps(belief, ensure_ascii=False)

    def _fresh(self, situation: Situation, seat: int) -> list[str]:
        executed = [f"step {d.t}: did {d.verb} of {d.object}" for d in situation.executions if d.seat == seat]
        said = [f"step {m.t}: said {m.text!r}" for m in situation.messages if m.sender == seat]
        blocked = [f"step {r.t}: was refused {r.text}" for r in situation.refusals if r.seat == seat]
        fresh = [line for line in executed + said + blocked if line not in self._seen]
        self._seen |= set(fresh)
        return fresh


def computed(situation: Situation, seat: int) -> dict[str, Any]:
    """Return the held object, mean steps until the last requests were done, and the share that was."""
    last = partner_facts.requests(situation, situation.seat, seat)[-LAST:]
    latencies = [a.latency for a in last if a.latency is not None]
    return {
        "held_object": partner_facts.held_name(situation, seat),
        "recent_latency": round(sum(latencies) / len(latencies), 1) if latencies else None,
        "recent_fulfillment": round(sum(a.done is not None for a in last) / len(last), 2) if last else None,
    }
