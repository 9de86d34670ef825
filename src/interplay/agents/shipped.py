"""Trained policies that come with the package: `trained/GAME/METHOD-SEED`.

For example `trained/overcooked/coordination_ring/hsp-1`. Each file, and benchmarks/zsc, say how they were made.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from interplay.agents.api import Agent
from interplay.errors import UnknownName

DATA = Path(__file__).parent / "data"


def shipped() -> list[str]:
    """List GAME/METHOD-SEED of every policy."""
    return sorted(path.relative_to(DATA).with_suffix("").as_posix() for path in DATA.glob("**/*.safetensors"))


class ShippedAgents:
    """The family `trained/...`. There are many, so lists of agents leave them out."""

    @staticmethod
    def make(variant: str, **options: Any) -> Agent:
        """Make the agent of a name in this family."""
        from interplay.agents.neural import load

        path = DATA / f"{variant}.safetensors"
        if not path.is_file():
            raise UnknownName("agent", f"trained/{variant}", [f"trained/{name}" for name in shipped()])
        loaded = load(path, **options)
        return replace(loaded, name=f"trained/{variant}")

    @staticmethod
    def variants() -> list[str]:
        """Return nothing, to keep the lists of agents short."""
        return []
