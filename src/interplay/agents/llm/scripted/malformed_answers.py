"""Models that answer badly, to test how errors are handled."""

from __future__ import annotations

from typing import Any

from interplay.agents.llm.chat import ChatRequest
from interplay.agents.llm.scripted.simple import Scripted


class Prose(Scripted):
    """Answers in prose instead of JSON."""

    name = "scripted/prose"

    def answer(self, request: ChatRequest) -> str:
        """Return a sentence."""
        return "Sure! I think we should first pick up the egg and then see how it goes."


class HalfJson(Scripted):
    """Stops in the middle of its JSON."""

    name = "scripted/half_json"

    def answer(self, request: ChatRequest) -> str:
        """Return half a JSON object."""
        return '{"analysis": "we need an egg", "plan": ["pickup(egg, ingred'


class UnknownVerb(Scripted):
    """Plans an action that does not exist."""

    name = "scripted/unknown_verb"

    def fill(self, request: ChatRequest) -> dict[str, Any]:
        """Return the fields of the answer."""
        return super().fill(request) | {"plan": ["teleport(egg)"]}


class Endless(Scripted):
    """Asks another question at every turn."""

    name = "scripted/endless"

    def fill(self, request: ChatRequest) -> dict[str, Any]:
        """Return the fields of the answer."""
        return super().fill(request) | {"plan": ["wait(1)"], "say": "What do you think?"}
