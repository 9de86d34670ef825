"""interplay measures how agents work together, not only what they score."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Names are imported when first used, so that `import interplay` is quick and does not load JAX.
_PUBLIC = {
    "make": "interplay.games.registry",
    "agent": "interplay.agents.registry",
}

__all__ = ["__version__", *_PUBLIC]  # noqa: PLE0604

if TYPE_CHECKING:
    from interplay.agents.registry import agent as agent
    from interplay.games.registry import make as make


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'interplay' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__all__)
