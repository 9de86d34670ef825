"""Read a game's episode into its symbolic trace, by the domain that lies beside the game."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from interplay.errors import InterplayError
from interplay.games.api import Game, State
from interplay.games.registry import capability
from interplay.rollout.episode import Episode
from interplay.symbolic.declare import DomainReader
from interplay.symbolic.trace import SymbolicTrace


@lru_cache(maxsize=32)
def reader(game: Game) -> DomainReader:
    """Return the reader of a game's episodes, as its family declares it, kept with the facts that it has seen.

    Raises:
        InterplayError: The game has no symbolic domain.
    """
    domain = capability(game, "symbolic_domain")
    if domain is None:
        raise InterplayError(
            f"{game.id} has no symbolic domain. To add one, write its facts and operators (interplay.symbolic.declare) "
            "as a Reader and name it in the game's family as symbolic_domain"
        )
    return domain(game)


def symbolic_trace(game: Game, episode: Episode) -> SymbolicTrace:
    """Return the symbolic trace of a recorded episode.

    Raises:
        InterplayError: The episode is of another game.
    """
    from interplay.traces.replay import replay

    if episode.game_id != game.id:
        raise InterplayError(f"the trace is of {episode.game_id}, not of {game.id}: read it with its own game")
    return read(game, replay(game, episode).states, episode.actions)


def read(game: Game, states: State, actions: Any) -> SymbolicTrace:
    """Return the symbolic trace of states [step + 1, ...] and actions [step, seat]."""
    return reader(game).read(states, actions)
