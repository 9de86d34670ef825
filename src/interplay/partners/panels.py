"""Panels by name: of trained partners from the hub, scripted ones, folders, or partners of one's own choice."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from interplay.agents.api import Policy, as_agent
from interplay.agents.registry import agent
from interplay.agents.registry import names as agent_names
from interplay.errors import InterplayError, UnknownName
from interplay.games.api import Game
from interplay.games.registry import capability
from interplay.hub.manifest import PANEL as PANEL_KIND
from interplay.hub.store import local_names, panel_names, require
from interplay.partners.panel import Panel
from interplay.partners.panel_file import PANEL, read_panel

__all__ = ["Panel", "all_shipped", "panel", "scripted"]

DEFAULT = "generated"


def all_shipped() -> list[tuple[str, str]]:
    """List every panel of trained partners on this machine: game and name."""
    return [(name.rpartition(":")[0], name.rpartition(":")[2]) for name in local_names(PANEL_KIND)]


def panel(game: Game, name: str | None = None, partners: Sequence[str] = ()) -> Panel:
    """Return a panel for a game: one of the hub by its name, one in a folder of this path, or the given partners.

    By default the game's panel of generated partners, or its scripted one where the hub has none for this game.

    Raises:
        MissingWeights: The hub has the panel, and its files are not on this machine.
    """
    if partners:
        names = list(partners)
        twice = {n for n in names if names.count(n) > 1}
        if twice:
            raise InterplayError(f"the partner {', '.join(sorted(twice))} is named twice; name each once")
        return Panel(name or "own", tuple(as_agent(p, game=game) for p in names))
    known = panel_names(game.id)
    if name is None and DEFAULT in known:
        hint = ", or take the scripted partners by naming the panel `scripted`"
        candidate = read_panel(require(f"{game.id}:{DEFAULT}", hint), game)
        return candidate if _can_play(candidate, game) else scripted(game)
    if name in known:
        return read_panel(require(f"{game.id}:{name}"), game)
    if name is not None and name != "scripted":
        if (Path(name) / PANEL).is_file() or name.endswith(PANEL):
            return read_panel(name, game)
        raise UnknownName("panel", str(name), [*known, "scripted"])
    return scripted(game)


def _can_play(candidate: Panel, game: Game) -> bool:
    """Whether a panel's partners know this game with its options: another menu needs other partners."""
    try:
        for partner in candidate.partners:
            if isinstance(partner.policy, Policy):
                partner.policy.bind(game)
    except InterplayError:
        return False
    return True


def scripted(game: Game) -> Panel:
    """The panel of scripted agents that a game's family declares, or of all agents registered under its name."""
    names = capability(game, "partners")
    if not names:
        family = f"{game.id.partition('/')[0]}/"
        names = [*(name for name in agent_names() if name.startswith(family)), "random"]
        names += ["stay"] if {"stay", "noop"} & set(game.action_names) else []
    return Panel("scripted", tuple(agent(name) for name in names))
