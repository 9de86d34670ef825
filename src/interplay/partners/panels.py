"""Panels by name: shipped ones of trained partners, scripted ones, folders, or partners of one's own choice."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from interplay.agents.api import Policy
from interplay.agents.registry import agent
from interplay.errors import InterplayError, UnknownName
from interplay.games.api import Game
from interplay.partners.panel import Panel
from interplay.partners.panel_file import PANEL, read_panel

__all__ = ["SCRIPTED", "Panel", "all_shipped", "panel", "scripted", "shipped"]

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
            if isinstance(partner.mind, Policy):
                partner.mind.bind(game)
    except InterplayError:
        return False
    return True


def scripted(game: Game) -> Panel:
    """The scripted panel of the game's family."""
    family = game.id.partition("/")[0]
    if family not in SCRIPTED:
        raise InterplayError(f"no panel is shipped for {game.id}; name the partners yourself (--partners A B ...)")
    return Panel("scripted", tuple(agent(p) for p in SCRIPTED[family]))
