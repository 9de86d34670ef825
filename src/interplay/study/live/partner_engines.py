"""Engines for the games of a study, with the partners that may be met in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax

from interplay.agents.api import Agent, as_agent
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.games.registry import make_recorded
from interplay.partners.panels import panel
from interplay.rollout.live import LiveEngine, live_engine
from interplay.study.analysis.analysis_list import pages
from interplay.study.pages.game import PlayPage
from interplay.study.pages.wait import Wait
from interplay.study.protocol.model import GameSetting, Protocol, Repeat

PANEL = "panel:"  # prefix of a panel's name: every game is played with one of its partners


def make_engine(protocol: Protocol, name: str, sizes: Sequence[int] | None = None) -> LiveEngine:
    """Return the engine of one of a study's games, for these batch sizes.

    Raises:
        InterplayError: The game, its seat or its partners are wrong; the message says which game.
    """
    setting = protocol.games[name]
    try:
        game = make_recorded(setting.game, setting.options)
        if isinstance(setting.seat, int) and not 0 <= setting.seat < game.num_seats:
            raise InterplayError(f"seat {setting.seat}: {game.id} has seats 0 to {game.num_seats - 1}")
        rooms = {page.id: page for page in pages(protocol) if isinstance(page, Wait)}
        met = _partners(protocol, name)
        for room in (rooms[partner] for partner in met & set(rooms)):
            if room.people > game.num_seats:
                raise InterplayError(f"{room.people} people of {room.id!r} cannot sit in {game.num_seats} seats")
            met = met - {room.id} | {room.otherwise}
        partners = {partner: partner_agents(game, protocol.partners[partner]) for partner in sorted(met)}
        return live_engine(game, partners, sizes=sizes)
    except InterplayError as error:
        raise InterplayError(f"study {protocol.name!r}, game {name!r}: {error}") from error


def partner_agents(game: Game, name: str) -> tuple[Agent, ...]:
    """Return the agents that a partner of a study file stands for: one, or those of a panel (`panel:NAME`).

    `{layout}` in a name is the variant of the game, so that one partner may be trained on each.
    """
    if not name.startswith(PANEL):
        return (as_agent(name, game=game),)
    agents = panel(game, name.removeprefix(PANEL) or None).partners
    if not agents:
        raise InterplayError(f"{name}: this panel has no partners for {game.id}")
    return tuple(agents)


def figure(game: Game) -> str:
    """Return a picture of a game at its start, as SVG."""
    return game.scene(game.init(jax.random.key(0)), 0).svg()


def faster(setting: GameSetting, speed: float) -> GameSetting:
    """Return a setting with ticks and partners that are `speed` times faster."""
    slower = {name: getattr(setting, name) / speed for name in ("partner_delay_s", "countdown_s")}
    changes: dict[str, float] = {"tick_hz": setting.tick_hz * speed, **slower}
    return setting.model_copy(update=changes)


def _partners(protocol: Protocol, setting: str) -> set[str]:
    """Return the partners, and waiting rooms, with whom a game may be played."""
    partners: set[str] = set()

    def walk(items: Sequence[Any], levels: dict[str, tuple[str, ...]]) -> None:
        for item in items:
            if isinstance(item, Repeat):
                more = protocol.designs[item.over].factors if item.over else {}
                walk(item.pages, {**levels, **more})
            elif isinstance(item, PlayPage) and setting in _values(item.game, levels):
                partners.update(_values(item.partner, levels))

    walk(protocol.flow, {})
    return partners


def _values(name: str, levels: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    return levels[name[1:]] if name.startswith("$") else (name,)
