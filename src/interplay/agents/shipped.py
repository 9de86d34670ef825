"""Trained policies of the hub: `trained/GAME/METHOD-SEED`.

For example `trained/overcooked/counter_circuit/hsp-1`. Each file, and benchmarks/zsc, say how they were made.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from interplay.agents.api import Agent
from interplay.hub.manifest import AGENT
from interplay.hub.store import local_names, require


def shipped() -> list[str]:
    """List GAME/METHOD-SEED of every policy on this machine."""
    return [name.removeprefix("trained/") for name in local_names(AGENT)]


class ShippedAgents:
    """The family `trained/...`. There are many, so lists of agents leave them out."""

    @staticmethod
    def make(variant: str, **options: Any) -> Agent:
        """Make the agent of a name in this family.

        Raises:
            UnknownName: There is no such agent.
            MissingWeights: Its file is not on this machine.
        """
        from interplay.agents.neural import load

        loaded = load(require(f"trained/{variant}"), **options)
        return replace(loaded, name=f"trained/{variant}")

    @staticmethod
    def variants() -> list[str]:
        """Return nothing, to keep the lists of agents short."""
        return []
