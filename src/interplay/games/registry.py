"""Games by name. A table from a family's name to `module:Thing`, imported when used."""

from __future__ import annotations

import functools
import json
from typing import Any

from interplay.errors import UnknownName
from interplay.games.api import Game
from interplay.registry import Registry

GAMES = Registry(
    "game",
    entry_points="interplay.games",
    table={
        "overcooked": "interplay.games.overcooked.game:Family",
        "rescue": "interplay.games.rescue.game:Family",
        "hanabi": "interplay.games.hanabi.game:Family",
        "kitchen": "interplay.games.kitchen.game:Family",
        "jaxmarl": "interplay.games.interop.jaxmarl:Family",
    },
)


def make(name: str, **options: Any) -> Game:
    """The game of this name, such as `overcooked/counter_circuit`; its options as keywords.

    A family (`overcooked`) is an object with `make(variant, **options)` and `variants()`. A name of
    the form `module:Thing` is imported and called with the options.
    """
    return _make(name, json.dumps(options, sort_keys=True, default=list))


@functools.lru_cache(maxsize=256)
def _make(name: str, options: str) -> Game:
    """Games never change, so the same name gives the same game, and what was compiled for it serves again."""
    settings = json.loads(options)
    if ":" in name:
        return GAMES.load(name)(**settings)
    family, _, variant = name.partition("/")
    if family not in GAMES.names():
        raise UnknownName("game", name, names())
    return GAMES.load(family).make(variant, **settings)


def names() -> list[str]:
    """Every registered game with its variants."""
    found = []
    for family in GAMES.names():
        found += [f"{family}/{variant}" if variant else family for variant in GAMES.load(family).variants()]
    return found
