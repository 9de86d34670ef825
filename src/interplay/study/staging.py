"""The games of a study made ready: an arena for each, with the partners that may be met in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from interplay.errors import InterplayError
from interplay.games.api import is_jax
from interplay.games.registry import make_recorded
from interplay.study.arena import Arena
from interplay.study.plain_arena import PlainArena
from interplay.study.protocol import Play, Protocol, Repeat, Setting, Wait
from interplay.study.views import viewer


def make_arena(protocol: Protocol, name: str, sizes: Sequence[int]) -> Arena | PlainArena:
    """The arena of one of a study's games; an error tells which, and what is wrong with it or its partners."""
    setting = protocol.games[name]
    try:
        game = make_recorded(setting.game, setting.options)
        viewer(game)
        if isinstance(setting.seat, int) and not 0 <= setting.seat < game.num_seats:
            raise InterplayError(f"seat {setting.seat}: {game.id} has seats 0 to {game.num_seats - 1}")
        rooms = {page.id: page for page in _pages(protocol.flow) if isinstance(page, Wait)}
        met = _partners(protocol, name)
        for room in (rooms[partner] for partner in met & set(rooms)):
            if room.people > game.num_seats:
                raise InterplayError(f"{room.people} people of {room.id!r} cannot sit in {game.num_seats} seats")
            met = met - {room.id} | {room.otherwise}
        partners = {partner: protocol.partners[partner] for partner in sorted(met)}
        return Arena(game, partners, sizes=sizes) if is_jax(game) else PlainArena(game, partners)
    except InterplayError as error:
        raise InterplayError(f"study {protocol.name!r}, game {name!r}: {error}") from error


def figure(arena: Arena | PlainArena) -> str:
    """How a game looks at its start."""
    import jax

    return arena.game.scene(arena.game.init(jax.random.key(0)), 0).svg()


def faster(setting: Setting, speed: float) -> Setting:
    changes: dict[str, float] = {"tick_hz": setting.tick_hz * speed, "partner_delay_s": setting.partner_delay_s / speed}
    return setting.model_copy(update=changes)


def _pages(items: Sequence[Any]) -> Iterator[Any]:
    for item in items:
        if isinstance(item, Repeat):
            yield from _pages(item.pages)
        else:
            yield item


def _partners(protocol: Protocol, setting: str) -> set[str]:
    """The partners, and waiting rooms, with whom a game may be played."""
    found: set[str] = set()

    def walk(items: Sequence[Any], levels: dict[str, tuple[str, ...]]) -> None:
        for item in items:
            if isinstance(item, Repeat):
                more = protocol.designs[item.over].factors if item.over else {}
                walk(item.pages, {**levels, **more})
            elif isinstance(item, Play) and setting in _values(item.game, levels):
                found.update(_values(item.partner, levels))

    walk(protocol.flow, {})
    return found


def _values(name: str, levels: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    return levels[name[1:]] if name.startswith("$") else (name,)
