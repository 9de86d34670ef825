"""The scripted chefs by name."""

from __future__ import annotations

from typing import Any

from interplay.agents.api import Agent
from interplay.agents.overcooked.chef import Chef
from interplay.agents.overcooked.roles import roles
from interplay.errors import InterplayError, UnknownName


class Family:
    """`overcooked/greedy` and the other roles."""

    @staticmethod
    def variants() -> list[str]:
        return list(roles())

    @staticmethod
    def make(variant: str, **options: Any) -> Agent:
        known = roles()
        if variant not in known:
            raise UnknownName("agent", f"overcooked/{variant}", [f"overcooked/{name}" for name in known])
        if options:
            raise InterplayError(f"overcooked/{variant} takes no options, but was given {', '.join(options)}")
        return Agent(f"overcooked/{variant}", Chef(known[variant]))
