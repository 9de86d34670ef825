"""From a game's episode to its symbolic trace, through the domain that lies beside the game."""

from __future__ import annotations

from typing import Any

from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.play.episodes import Episode
from interplay.registry import Registry
from interplay.symbolic.declare import Reader
from interplay.symbolic.trace import SymbolicTrace

READERS = Registry(
    "symbolic domain",
    entry_points="interplay.symbolic",
    table={
        "overcooked": "interplay.games.overcooked.domain:Reader",
        "rescue": "interplay.games.rescue.domain:Reader",
        "kitchen": "interplay.games.kitchen.domain:Reader",
    },
)


def reader(game: Game) -> Reader:
    """The reader of a game's episodes. Make it once per game: it remembers facts and operators.

    It is the one registered for the game's family, or the game's own attribute `symbolic` (a `Reader` class).
    """
    own = getattr(game, "symbolic", None)
    if own is not None:
        return own(game)
    family = game.id.partition("/")[0]
    if family not in READERS.names():
        raise InterplayError(
            f"{game.id} has no symbolic domain; declared: {', '.join(READERS.names())}. To add one, write its facts "
            f"and operators (interplay.symbolic.declare) and register a Reader under {family!r}"
        )
    return READERS.load(family)(game)


def symbolic_trace(game: Game, episode: Episode, of: Reader | None = None) -> SymbolicTrace:
    """The symbolic trace of a recorded episode of this game; a trace of another game is an error."""
    from interplay.traces.replay import replay

    if episode.game_id != game.id:
        raise InterplayError(f"the trace is of {episode.game_id}, not of {game.id}: read it with its own game")
    return read(game, replay(game, episode).states, episode.actions, of)


def read(game: Game, states: Any, actions: Any, of: Reader | None = None) -> SymbolicTrace:
    """The same from states [step + 1, ...] and actions [step, seat] at hand."""
    return (of or reader(game)).read(states, actions)
