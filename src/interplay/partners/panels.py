"""Panels: frozen sets of evaluation partners. `interplay grade` plays an agent with each of them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from interplay.agents.api import Agent, Identity
from interplay.agents.registry import agent
from interplay.errors import InterplayError, UnknownName
from interplay.games.api import Game

# Partners that ask different things of an agent: some do one half of the work and wait for the other half, some
# hand things over, some do it all, some only stand in the way.
SCRIPTED = {
    "overcooked": (
        "overcooked/greedy",
        "overcooked/greedy+0.3",
        "overcooked/trial_partner",
        "overcooked/onion_passer",
        "overcooked/onion_receiver",
        "overcooked/onion_only",
        "overcooked/dish_only",
        "overcooked/place_and_deliver",
        "stay",
        "random",
    ),
    "hanabi": (
        "hanabi/smart",
        "hanabi/holmes",
        "hanabi/value",
        "hanabi/simple",
        "hanabi/iggi",
        "hanabi/piers",
        "hanabi/outer",
        "random",
    ),
    "rescue": ("rescue/helper", "rescue/loner", "stay", "random"),
}


@dataclass(frozen=True)
class Panel:
    """Partners with a name; the hash changes when any of them does."""

    name: str
    partners: tuple[Agent, ...]

    def identities(self, game: Game) -> list[Identity]:
        return [partner.identity(game) for partner in self.partners]

    def hash(self, game: Game) -> str:
        told = "|".join(f"{i.name}:{i.hash}" for i in self.identities(game))
        return hashlib.sha256(told.encode()).hexdigest()[:16]


def panel(game: Game, name: str | None = None, partners: Sequence[str] = ()) -> Panel:
    """The panel of this name for a game (by default its scripted one), or one made of the given partners."""
    if partners:
        names = list(partners)
        twice = {n for n in names if names.count(n) > 1}
        if twice:
            raise InterplayError(f"the partner {', '.join(sorted(twice))} is named twice; name each once")
        return Panel(name or "own", tuple(agent(p) for p in names))
    family = game.id.partition("/")[0]
    if name not in (None, "scripted"):
        raise UnknownName("panel", str(name), ["scripted"])
    if family not in SCRIPTED:
        raise InterplayError(f"no panel is shipped for {game.id}; name the partners yourself (--partners A B ...)")
    return Panel("scripted", tuple(agent(p) for p in SCRIPTED[family]))
