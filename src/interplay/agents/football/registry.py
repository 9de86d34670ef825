"""The scripted football players by name."""

from __future__ import annotations

from typing import Any

from interplay.agents.api import Agent
from interplay.agents.football.players import ScriptedAttacker
from interplay.errors import InterplayError, UnknownName

# shoot within, pass when the defender is within, keeps to its place
PLAYERS = {"passer": (0.12, 0.25, False), "shooter": (0.30, 0.0, False), "positioner": (0.15, 0.12, True)}


class FootballAgents:
    """The family `football/NAME`.

    `passer` passes as soon as the defender comes near and shoots only close to the goal; `shooter` runs at the goal,
    shoots early and never passes; `positioner` keeps to its place, and passes on what it gets.
    """

    @staticmethod
    def variants() -> list[str]:
        """List the names of the agents in this family."""
        return list(PLAYERS)

    @staticmethod
    def make(variant: str = "", **options: Any) -> Agent:
        """Make the agent of a name in this family."""
        if variant not in PLAYERS:
            raise UnknownName("agent", f"football/{variant}", [f"football/{v}" for v in PLAYERS])
        if options:
            raise InterplayError(f"football/{variant} takes no options, but was given {', '.join(options)}")
        return Agent(f"football/{variant}", ScriptedAttacker(*PLAYERS[variant]))
