"""Panels by name: shipped ones of trained partners, scripted ones, folders, or partners of one's own choice."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from interplay.agents.api import Policy
from interplay.agents.registry import agent
from interplay.agents.registry import names as agent_names
from interplay.errors import InterplayError, UnknownName
from interplay.games.api import Game
from interplay.games.registry import capability
from interplay.partners.panel import Panel
from interplay.partners.panel_file import PANEL, read_panel

__all__ = ["Panel", "all_shipped", "panel", "scripted", "shipped"]

SHIPPED = Path(__file__).parent / "data"  # GAME/PANEL/panel.json
DEFAULT = "generated"


def shipped(game_id: str) -> dict[str, Path]:
    """The panels of trained partners that are shipped for a game, by name."""
    return {found.parent.name: found.parent for found in sorted((SHIPPED / game_id).glob(f"*/{PANEL}"))}


def all_shipped() -> list[tuple[str, str]]:
    """Every shipped panel of trained partners: game and name."""
    folders = sorted(found.parent for found in SHIPPED.glob(f"**/{PANEL}"))
    return [(folder.parent.relative_to(SHIPPED).as_posix(), folder.name) for folder in folders]


def panel(game: Game, name: str | None = None, partners: Sequence[str] = ()) -> Panel:
    """A panel for a game: one of this name that is shipped, one in a folder of this path, or the given partners.

    By default the game's panel of generated partners, or its scripted one where none is shipped for this game.
    """
    if partners:
        names = list(partners)
        twice = {n for n in names if names.count(n) > 1}
        if twice:
            raise InterplayError(f"the partner {', '.join(sorted(twice))} is named twice; name each once")
        return Panel(name or "own", tuple(agent(p) for p in names))
    known = shipped(game.id)
    if name is None and DEFAULT in known:
        found = read_panel(known[DEFAULT], game)
        return found if _can_play(found, game) else scripted(game)
    if name in known:
        return read_panel(known[name], game)
    if name is not None and name != "scripted":
        if (Path(name) / PANEL).is_file() or name.endswith(PANEL):
            return read_panel(name, game)
        raise UnknownName("panel", str(name), [*known, "scripted"])
    return scripted(game)


def _can_play(found: Panel, game: Game) -> bool:
    """Whether a panel's partners know this game with its options: another menu needs other partners."""
    try:
        for partner in found.partners:
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
