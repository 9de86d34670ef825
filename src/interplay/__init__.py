"""interplay measures how agents work together, not only what they score."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Names are imported when first used, so that `import interplay` is quick and does not load JAX.
_PUBLIC = {
    "make": "interplay.api",
    "agent": "interplay.api",
    "play": "interplay.api",
    "crossplay": "interplay.api",
    "measure": "interplay.api",
    "TraceSet": "interplay.traces",
    "check_game": "interplay.games.check",
    "check_agent": "interplay.rollout.check_agent",
    "to_pettingzoo": "interplay.games.interop.pettingzoo",
    "InterplayError": "interplay.errors",
}

__all__ = ["__version__", *_PUBLIC]

if TYPE_CHECKING:
    from interplay.api import agent as agent
    from interplay.api import crossplay as crossplay
    from interplay.api import make as make
    from interplay.api import measure as measure
    from interplay.api import play as play
    from interplay.errors import InterplayError as InterplayError
    from interplay.games.check import check_game as check_game
    from interplay.games.interop.pettingzoo import to_pettingzoo as to_pettingzoo
    from interplay.rollout.check_agent import check_agent as check_agent
    from interplay.traces import TraceSet as TraceSet


class CallableRoom(ModuleType):
    """A room that is called like the function of the same name: importing `interplay.rollout.engine` makes
    `interplay.play` that module, and it must stay what the library's users call."""

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        function = getattr(import_module("interplay.api"), self.__name__.rpartition(".")[2])
        return function(*arguments, **keywords)


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'interplay' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
