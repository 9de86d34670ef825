"""The rule bots by name: `hanabi/smart`."""

from __future__ import annotations

from typing import Any

from interplay.agents.api import Agent
from interplay.errors import UnknownName
from interplay.trust import import_object

_HERE = "interplay.agents.hanabi"
_BOTS: dict[str, tuple[str, dict[str, Any]]] = {  # class or constructor, and its arguments
    "blind": ("simple_bots:Blind", {}),
    "simple": ("simple_bots:Simple", {}),
    "value": ("simple_bots:Value", {}),
    "holmes": ("holmes_bot:Holmes", {}),
    "smart": ("smart_bot:Smart", {}),
    "info": ("info_bot:BotInfo", {}),
    "cheat": ("cheat_bot:Cheat", {}),
    "hgroup": ("hgroup_bot:HGroup", {}),
    "hgroup-regular": ("hgroup_skill:LapsingHGroup.from_level", {"level": "regular"}),
    "hgroup-novice": ("hgroup_skill:LapsingHGroup.from_level", {"level": "novice"}),
    "outer": ("eger2017:Outer", {}),
    "intentional": ("eger2017:Intentional", {"reads": False}),
    "full": ("eger2017:Intentional", {"reads": True}),
    "iggi": ("rule_based:RuleList.from_name", {"name": "iggi"}),
    "piers": ("rule_based:RuleList.from_name", {"name": "piers"}),
    "vandenbergh": ("rule_based:RuleList.from_name", {"name": "vandenbergh"}),
    "vandenbergh-paper": ("rule_based:RuleList.from_name", {"name": "vandenbergh-paper"}),
    "internal": ("rule_based:RuleList.from_name", {"name": "internal"}),
    "fireworks-outer": ("rule_based:RuleList.from_name", {"name": "fireworks-outer"}),
}


class HanabiAgents:
    """The family of agents `hanabi/NAME`."""

    @staticmethod
    def variants() -> list[str]:
        """List the names of the agents in this family."""
        return list(_BOTS)

    @staticmethod
    def make(variant: str, **options: Any) -> Agent:
        """Make the agent of a name in this family."""
        if variant not in _BOTS:
            raise UnknownName("agent", f"hanabi/{variant}", [f"hanabi/{v}" for v in _BOTS])
        reference, arguments = _BOTS[variant]
        return Agent(f"hanabi/{variant}", import_object(f"{_HERE}.{reference}")(**arguments, **options), dict(options))
