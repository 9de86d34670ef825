"""From a game's episode to its symbolic trace, through the domain that lies beside the game."""

from __future__ import annotations

from typing import Any

from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.games.registry import capability
from interplay.rollout.episode import Episode
from interplay.symbolic.declare import DomainReader
from interplay.symbolic.trace import SymbolicTrace


def reader(game: Game) -> DomainReader:
    """The reader of a game's episodes, as its family declares it. Make it once per game: it remembers facts."""
    domain = capability(game, "symbolic_domain")
    if domain is None:
        raise InterplayError(
            f"{game.id} has no symbolic domain. To add one, write its facts and operators (interplay.symbolic.declare) "
            "as a Reader and name it in the game's family as symbolic_domain"
        )
    return domain(game)


def symbolic_trace(game: Game, episode: Episode, of: DomainReader | None = None) -> SymbolicTrace:
    """The symbolic trace of a recorded episode of this game; a trace of another game is an error."""
    from interplay.traces.replay import replay

    if episode.game_id != game.id:
        raise InterplayError(f"the trace is of {episode.game_id}, not of {game.id}: read it with its own game")
    return read(game, replay(game, episode).states, episode.actions, of)


def read(game: Game, states: Any, actions: Any, of: DomainReader | None = None) -> SymbolicTrace:
    """The same from states [step + 1, ...] and actions [step, seat] at hand."""
    return (of or reader(game)).read(states, actions)
