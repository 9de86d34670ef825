"""No scaffold: the cook decides on what it sees and hears."""

from __future__ import annotations

from interplay.agents.llm.kitchen.situation import Situation
from interplay.agents.llm.metered_calls import Caller


class Baseline:
    """Adds nothing."""

    async def aside(self, situation: Situation, caller: Caller) -> str:
        """Return an empty note."""
        return ""
