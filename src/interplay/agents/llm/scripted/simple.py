"""The base class of scripted models, and two for tests and solo play."""

from __future__ import annotations

import json
import re
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
        if "plan" in fields and "action" in wanted:
            fields = _one_action(fields)
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


class First(Scripted):
    """Takes the first of whatever it is offered."""

    name = "scripted/first"


class Idle(Scripted):
    """Waits as long as a plan may, and never speaks."""

    name = "scripted/idle"

    def fill(self, request: ChatRequest) -> dict[str, Any]:
        """Return the fields of the answer."""
        fields = super().fill(request)
        return fields | ({"plan": ["wait(20)"]} if "plan" in fields and request.purpose != "reply" else {})
