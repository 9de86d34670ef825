"""interplay measures how agents work together, not only what they score."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Names are imported when first used, so that `import interplay` is quick and does not load JAX.
_PUBLIC = {
    "make": "interplay.api",
    "agent": "interplay.api",
    "Agent": "interplay.agents.api",
    "Policy": "interplay.agents.api",
    "FunctionPlayer": "interplay.agents.api",
    "play": "interplay.api",
    "crossplay": "interplay.api",
    "grade": "interplay.api",
    "compare": "interplay.api",
    "measure": "interplay.api",
    "certify": "interplay.api",
    "counterfactual": "interplay.api",
    "report": "interplay.api",
    "read_traces": "interplay.api",
    "Table": "interplay.table",
    "TraceSet": "interplay.traces",
    "check_game": "interplay.games.check",
    "check_agent": "interplay.rollout.check_agent",
    "to_pettingzoo": "interplay.games.interop.pettingzoo",
    "to_gymnasium": "interplay.rollout.gymnasium_env",
    "InterplayError": "interplay.errors",
}

__all__ = ["__version__", *_PUBLIC]

if TYPE_CHECKING:
    from interplay.agents.api import Agent as Agent
    from interplay.agents.api import FunctionPlayer as FunctionPlayer
    from interplay.agents.api import Policy as Policy
    from interplay.api import agent as agent
    from interplay.api import certify as certify
    from interplay.api import compare as compare
    from interplay.api import counterfactual as counterfactual
    from interplay.api import crossplay as crossplay
    from interplay.api import grade as grade
    from interplay.api import make as make
    from interplay.api import measure as measure
    from interplay.api import play as play
    from interplay.api import read_traces as read_traces
    from interplay.api import report as report
    from interplay.errors import InterplayError as InterplayError
    from interplay.games.check import check_game as check_game
    from interplay.games.interop.pettingzoo import to_pettingzoo as to_pettingzoo
    from interplay.rollout.check_agent import check_agent as check_agent
    from interplay.rollout.gymnasium_env import to_gymnasium as to_gymnasium
    from interplay.table import Table as Table
    from interplay.traces import TraceSet as TraceSet


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'interplay' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
