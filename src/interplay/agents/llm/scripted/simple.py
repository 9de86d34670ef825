"""The base class of scripted models, and three for tests, forecasts and solo play."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from interplay.agents.llm.chat import Answer, ChatRequest


def count_tokens(text: str) -> int:
    """Count words and punctuation marks, as a deterministic stand-in for tokens."""
    return len(re.findall(r"\w+|[^\w\s]", text))


class Scripted:
    """A model that answers by a rule, in no time and without tokens."""

    name = "scripted/base"
    counted = False  # for tests: count words and marks as tokens

    async def chat(self, request: ChatRequest) -> Answer:
        """Answer a request."""
        text = self.answer(request)
        read, written = (count_tokens(request.text), count_tokens(text)) if self.counted else (0, 0)
        return Answer(text=text, tokens_in=read, tokens_out=written, latency_s=0.0, cost=0.0)

    def answer(self, request: ChatRequest) -> str:
        """Return the answer's text: its fields as JSON."""
        fields = self.fill(request)
        wanted = (request.schema or {}).get("properties", {})
        if "plan" in fields and "target" in wanted:
            fields = _one_action(fields)
        elif "plan" in fields and "action" in wanted:
            fields = _chosen_action(fields, wanted["action"]["enum"])
        return json.dumps({name: fields.get(name, "") for name in wanted or fields}, ensure_ascii=False)

    def fill(self, request: ChatRequest) -> dict[str, Any]:
        """Return the fields of the answer; by default the first choice everywhere, and nothing said."""
        properties = (request.schema or {}).get("properties", {})
        return {name: self._first(kind) for name, kind in properties.items()}

    @staticmethod
    def _first(kind: dict[str, Any]) -> Any:
        return kind["enum"][0] if "enum" in kind else [] if kind["type"] == "array" else ""


def _one_action(fields: dict[str, Any]) -> dict[str, Any]:
    """Return a decision as one action, its target and a message, in which the requests of the plan stand."""
    plan = fields["plan"]
    act = next((entry for entry in plan if not entry.startswith("request(")), "")
    said = [entry for entry in plan if entry.startswith("request(")]
    action, _, target = act.partition("(")
    return {"action": action, "target": target.removesuffix(")"), "message": " ".join([*said, fields.get("say", "")])}


def _chosen_action(fields: dict[str, Any], choices: Sequence[str]) -> dict[str, Any]:
    """Return a decision as one of the choices: that of the plan's first act, else a wait, or to keep the plan."""
    acts = [entry for entry in fields["plan"] if not entry.startswith("request(")]
    said = [entry for entry in fields["plan"] if entry.startswith("request(")]
    alike = [choice for choice in choices if acts and choice.partition("(")[0] == acts[0].partition("(")[0]]
    if acts and acts[0] in choices:
        action = acts[0]
    elif len(alike) == 1:  # place_obj_on_counter() and place_obj_on_counter(counter)
        action = alike[0]
    else:
        action = "wait(1)" if acts else choices[-1]  # the last one keeps the plan, or waits
    return {"action": action, "say": " ".join([*said, fields.get("say", "")]).strip()}


class First(Scripted):
    """Takes the first of whatever it is offered."""

    name = "scripted/first"


class Default(Scripted):
    """Makes the moves that a session would make without a model, so that episodes last as long as they may."""

    name = "scripted/default"

    def fill(self, request: ChatRequest) -> dict[str, Any]:
        """Return the fields of the answer."""
        proposed = request.context if isinstance(request.context, dict) else {}
        return super().fill(request) | proposed


class Idle(Scripted):
    """Waits as long as a plan may, and never speaks."""

    name = "scripted/idle"

    def fill(self, request: ChatRequest) -> dict[str, Any]:
        """Return the fields of the answer."""
        fields = super().fill(request)
        return fields | ({"plan": ["wait(20)"]} if "plan" in fields and request.purpose != "reply" else {})
