"""Trained policies that come with the package: `trained/GAME/METHOD-SEED`, such as
`trained/overcooked/coordination_ring/hsp-1`. How they were made is told in each file and in benchmarks/zsc."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from interplay.agents.api import Agent
from interplay.errors import UnknownName

DATA = Path(__file__).parent / "data"


def shipped() -> list[str]:
    """GAME/METHOD-SEED of every policy."""
    return sorted(path.relative_to(DATA).with_suffix("").as_posix() for path in DATA.glob("**/*.safetensors"))


class ShippedAgents:
    """The agents `trained/...`. They are many, so that lists of agents leave them out."""

    @staticmethod
    def make(variant: str, **options: Any) -> Agent:
        from interplay.agents.neural import load

        path = DATA / f"{variant}.safetensors"
        if not path.is_file():
            raise UnknownName("agent", f"trained/{variant}", [f"trained/{name}" for name in shipped()])
        found = load(path, **options)
        return replace(found, name=f"trained/{variant}")

    @staticmethod
    def variants() -> list[str]:
        return []
