"""Games by name: a table from a family's name to `module:Thing`, imported when used."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from typing import Any

from interplay.errors import InterplayError, UnknownName
from interplay.games.api import Game
from interplay.games.family import GameFamily
from interplay.registry import Registry
from interplay.trust import admit, import_object, is_reference

GAMES = Registry(
    "game",
    entry_points="interplay.games",
    table={
        "overcooked": "interplay.games.overcooked.family:FAMILY",
        "rescue": "interplay.games.rescue.family:FAMILY",
        "hanabi": "interplay.games.hanabi.family:FAMILY",
        "kitchen": "interplay.games.collab_kitchen.family:FAMILY",
        "football": "interplay.games.football.family:FAMILY",
        "jaxmarl": "interplay.games.interop.family:FAMILY",
    },
)


def make(name: str, **options: Any) -> Game:
    """Make the game of a registered name, such as `overcooked/counter_circuit`; its options as keywords.

    A reference `module:Thing` is imported and called with the options if a person typed it (see `interplay.trust`);
    `interplay.make` is how a person types it.
    """
    return _make(name, json.dumps(options, sort_keys=True, default=list))


def as_game(thing: Game | str) -> Game:
    """Return the game that a person gave, as a game or by its name.

    Raises:
        InterplayError: It is neither.
    """
    if isinstance(thing, str):
        admit([thing])
        return make(thing)
    if not isinstance(getattr(thing, "id", None), str):
        raise InterplayError(f"{thing!r:.100} is neither a game nor the name of one")
    admit([thing.id])  # whoever gives an object runs its code already, and may open what it records
    return thing


def make_recorded(name: Any, options: Any) -> Game:
    """Make the game that data names: a registered one, with options that touch nothing on this machine.

    Raises:
        InterplayError: The name or the options are not those of a game; the message says which and why.
    """
    if not isinstance(name, str) or not isinstance(options, Mapping):
        raise InterplayError(f"a game is a name with options, not {name!r:.100} with {options!r:.100}")
    try:
        if not is_reference(name):
            local = set(options) & set(family_of(name).local_options())
            if local:
                raise InterplayError(f"{name}: the option {min(local)!r} names a file of this machine; data may not")
        return make(name, **options)
    except InterplayError:
        raise
    except Exception as error:  # whatever a game's own code makes of options that it did not expect
        raise InterplayError(f"{name} cannot be made with {options!r:.200}: {error!s:.200}") from None


def family_of(name: str) -> GameFamily:
    """Return the family of a game's name or id."""
    family = name.partition("/")[0]
    if family not in GAMES.names():
        raise UnknownName("game", name, names())
    declared = GAMES.load(family)
    if not isinstance(declared, GameFamily):
        raise InterplayError(f"{family!r} is registered as {type(declared).__name__}; a game registers a GameFamily")
    return declared


def capability(game: Game, name: str) -> Any:
    """Return what a game declares under a name of `GameFamily`: by an attribute of its own, or by its family.

    Returns:
        The thing itself, imported if the family names it by a reference; None (or an empty tuple) where neither has it.
    """
    own = getattr(game, name, None)
    if own is not None:
        return own
    family = game.id.partition("/")[0]
    declared = getattr(GAMES.load(family), name) if family in GAMES.names() else getattr(GameFamily, name, None)
    return import_object(declared) if isinstance(declared, str) else declared


def scoring(name: str, options: Mapping[str, Any]) -> dict[str, str]:
    """Return the column `scoring` of tables of a game's scores; nothing for games that are scored in one way only.

    Args:
        name: The game.
        options: Its options.
    """
    family = name.partition("/")[0]
    if family not in GAMES.names() or GAMES.load(family).score_rule is None:
        return {}
    game = make_recorded(name, dict(options))
    return {"scoring": capability(game, "score_rule")(game)}


@functools.lru_cache(maxsize=256)
def _make(name: str, options: str) -> Game:
    """Make a game, cached: games never change, so the same name gives the same game, with what was compiled for it."""
    settings = json.loads(options)
    if is_reference(name):
        game = GAMES.load(name)(**settings)
        if not isinstance(game, Game):
            raise InterplayError(
                f"{name} makes {type(game).__name__}, which is no game (interplay.check_game tells why)"
            )
        return game
    return family_of(name).make(name.partition("/")[2], **settings)


def names() -> list[str]:
    """List every registered game with its variants."""
    return [
        f"{family}/{variant}" if variant else family
        for family in GAMES.names()
        for variant in GAMES.load(family).names()
    ]
