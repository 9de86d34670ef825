"""The scripted chefs by name."""

from __future__ import annotations

from typing import Any

from interplay.agents.api import Agent
from interplay.agents.overcooked.chef import Chef
from interplay.agents.overcooked.roles import role_of, roles
from interplay.errors import InterplayError


class OvercookedAgents:
    """The family `overcooked/ROLE`, each role with any habits: `overcooked/slow-greedy`."""

    @staticmethod
    def variants() -> list[str]:
        """List the names of the agents in this family."""
        return list(roles())

    @staticmethod
    def make(variant: str, **options: Any) -> Agent:
        """Make the agent of a name in this family."""
        role = role_of(variant)
        if options:
            raise InterplayError(f"overcooked/{variant} takes no options, but was given {', '.join(options)}")
        return Agent(f"overcooked/{variant}", Chef(role))
