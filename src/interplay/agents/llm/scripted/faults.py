"""Models that answer badly, to show what then happens."""

from __future__ import annotations

from typing import Any

from interplay.agents.llm.chat import ChatRequest
from interplay.agents.llm.scripted.simple import Scripted


class Prose(Scripted):
    """Talks about it at length."""

    name = "scripted/prose"

    def answer(self, ask: ChatRequest) -> str:
        return "Sure! I think we should first pick up the egg and then see how it goes."


class HalfJson(Scripted):
    """Stops in the middle of its JSON."""

    name = "scripted/half_json"

    def answer(self, ask: ChatRequest) -> str:
        return '{"analysis": "we need an egg", "plan": ["pickup(egg, ingred'


class UnknownVerb(Scripted):
    """Plans what nobody can do."""

    name = "scripted/unknown_verb"

    def fill(self, ask: ChatRequest) -> dict[str, Any]:
        return super().fill(ask) | {"plan": ["teleport(egg)"]}


class Endless(Scripted):
    """Always has another question."""

    name = "scripted/endless"

    def fill(self, ask: ChatRequest) -> dict[str, Any]:
        return super().fill(ask) | {"plan": ["wait(1)"], "say": "What do you think?"}
