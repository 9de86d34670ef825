"""The scripted rescuers by name."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from interplay.agents.api import Agent
from interplay.agents.rescue.roles import LONER_ORDERS, ORDERS, Rescuer, ranked
from interplay.errors import InterplayError, UnknownName
from interplay.games.rescue.state import ROLES

OF_THE_SEAT = -1


class RescueAgents:
    """The family `rescue/NAME`.

    `helper` plays its seat's role and helps the others; `loner` does its own work only; `nurse`, `firefighter` and
    `police` play that role's script in any seat.
    """

    @staticmethod
    def variants() -> list[str]:
        """List the names of the agents in this family."""
        return ["helper", "loner", *ROLES]

    @staticmethod
    def make(variant: str = "", **options: Any) -> Agent:
        """Make the agent of a name in this family."""
        if variant not in RescueAgents.variants():
            raise UnknownName("agent", f"rescue/{variant}", [f"rescue/{v}" for v in RescueAgents.variants()])
        if options:
            raise InterplayError(f"rescue/{variant} takes no options, but was given {', '.join(options)}")
        orders = LONER_ORDERS if variant == "loner" else ORDERS
        role = ROLES.index(variant) if variant in ROLES else OF_THE_SEAT
        return Agent(f"rescue/{variant}", Rescuer(ranked(orders), jnp.int32(role)))
