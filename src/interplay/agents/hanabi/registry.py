"""The rule bots by name: `hanabi/smart`."""

from __future__ import annotations

from typing import Any

from interplay.agents.api import Agent
from interplay.errors import UnknownName
from interplay.trust import import_object

_HERE = "interplay.agents.hanabi"
_BOTS: dict[str, tuple[str, dict[str, Any]]] = {  # the class, and what is told to it
    "blind": ("simple:Blind", {}),
    "simple": ("simple:Simple", {}),
    "value": ("simple:Value", {}),
    "holmes": ("holmes:Holmes", {}),
    "smart": ("smart:Smart", {}),
    "info": ("info:BotInfo", {}),
    "cheat": ("cheat:Cheat", {}),
    "hgroup": ("hgroup:HGroup", {}),
    "hgroup-regular": ("hgroup_levels:LapsingHGroup.of", {"level": "regular"}),
    "hgroup-novice": ("hgroup_levels:LapsingHGroup.of", {"level": "novice"}),
    "outer": ("eger2017:Outer", {}),
    "intentional": ("eger2017:Intentional", {"reads": False}),
    "full": ("eger2017:Intentional", {"reads": True}),
    "iggi": ("rule_based:RuleList.of", {"name": "iggi"}),
    "piers": ("rule_based:RuleList.of", {"name": "piers"}),
    "vandenbergh": ("rule_based:RuleList.of", {"name": "vandenbergh"}),
    "vandenbergh-paper": ("rule_based:RuleList.of", {"name": "vandenbergh-paper"}),
    "internal": ("rule_based:RuleList.of", {"name": "internal"}),
    "fireworks-outer": ("rule_based:RuleList.of", {"name": "fireworks-outer"}),
}


class HanabiAgents:
    @staticmethod
    def variants() -> list[str]:
        return list(_BOTS)

    @staticmethod
    def make(variant: str, **options: Any) -> Agent:
        if variant not in _BOTS:
            raise UnknownName("agent", f"hanabi/{variant}", [f"hanabi/{v}" for v in _BOTS])
        reference, told = _BOTS[variant]
        return Agent(f"hanabi/{variant}", import_object(f"{_HERE}.{reference}")(**told, **options), dict(options))
