"""Scaffolds by name."""

from __future__ import annotations

from typing import Protocol

from interplay.agents.llm.kitchen.situation import Situation
from interplay.agents.llm.metered_calls import Caller
from interplay.registry import Registry

SCAFFOLDS = Registry(
    "scaffold",
    entry_points="interplay.scaffolds",
    table={
        "baseline": "interplay.agents.llm.scaffolds.no_scaffold:Baseline",
        "proagent": "interplay.agents.llm.scaffolds.proagent:ProAgent",
        "belief": "interplay.agents.llm.scaffolds.belief:Belief",
        "adaptive": "interplay.agents.llm.scaffolds.adaptive:AdaptiveOrder",
    },
)


class Scaffold(Protocol):
    """One cook's scaffold in one episode."""

    async def aside(self, situation: Situation, caller: Caller) -> str:
        """Return a block for the decision prompt. Calls made here are marked, so that their tokens count apart."""
        ...


def scaffold(name: str) -> Scaffold:
    """Make the scaffold of a name."""
    return SCAFFOLDS.load(name)()
