"""No scaffold: the cook decides on what it sees and hears."""

from __future__ import annotations

from interplay.agents.llm.caller import Caller
from interplay.agents.llm.kitchen.situation import Situation


class Baseline:
    """Adds nothing."""

    async def aside(self, situation: Situation, caller: Caller) -> str:
        return ""
