"""The rule bots by name: `hanabi/smart`."""

from __future__ import annotations

from typing import Any

from interplay.agents.api import Agent
from interplay.errors import UnknownName
from interplay.registry import load_reference

_BOTS = {
    "blind": "interplay.agents.hanabi.simple:Blind",
    "simple": "interplay.agents.hanabi.simple:Simple",
    "value": "interplay.agents.hanabi.simple:Value",
    "holmes": "interplay.agents.hanabi.holmes:Holmes",
    "smart": "interplay.agents.hanabi.smart:Smart",
    "info": "interplay.agents.hanabi.info:Info",
    "cheat": "interplay.agents.hanabi.cheat:Cheat",
}


class Family:
    @staticmethod
    def variants() -> list[str]:
        return list(_BOTS)

    @staticmethod
    def make(variant: str, **options: Any) -> Agent:
        if variant not in _BOTS:
            raise UnknownName("agent", f"hanabi/{variant}", [f"hanabi/{v}" for v in _BOTS])
        return Agent(f"hanabi/{variant}", load_reference(_BOTS[variant])(**options), dict(options))
