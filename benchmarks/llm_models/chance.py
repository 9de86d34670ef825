"""An assistant that chooses by lot among the actions that are possible now: what a model must be better than.

PYTHONPATH=benchmarks/llm_models interplay llm run --assistant llm:chance:Chance \
  --chef "scripted/reference?actions=all" --dishes "boiled egg" "boiled corn~slices" --episodes 50 --horizon 40 \
  --actions choose --prompts 5 --dialogue one_way --out chance
"""

from __future__ import annotations

import random
from typing import Any

from interplay.agents.llm.chat import ChatRequest
from interplay.agents.llm.scripted.simple import Scripted


class Chance(Scripted):
    """Chooses by lot, and says nothing."""

    name = "scripted/chance"

    def fill(self, request: ChatRequest) -> dict[str, Any]:
        """Return the fields of the answer."""
        choices = (request.schema or {})["properties"]["action"]["enum"]
        return {"action": random.Random(request.key(self.name)).choice(choices)}
