"""Read a game's episode into its symbolic trace, by the domain that lies beside the game."""

from __future__ import annotations

from typing import Any

from interplay.errors import InterplayError
from interplay.games.api import Game, State
from interplay.games.registry import capability
from interplay.rollout.episode import Episode
from interplay.symbolic.declare import DomainReader
from interplay.symbolic.trace import SymbolicTrace


def reader(game: Game) -> DomainReader:
    """Return the reader of a game's episodes, as its family declares it. Make it once per game: it caches facts.

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


def symbolic_trace(game: Game, episode: Episode, of: DomainReader | None = None) -> SymbolicTrace:
    """Return the symbolic trace of a recorded episode.

    Args:
        game: The game of the episode.
        episode: The recorded episode.
        of: The game's reader, if it was made before.

    Raises:
        InterplayError: The episode is of another game.
    """
    from interplay.traces.replay import replay

    if episode.game_id != game.id:
        raise InterplayError(f"the trace is of {episode.game_id}, not of {game.id}: read it with its own game")
    return read(game, replay(game, episode).states, episode.actions, of)


def read(game: Game, states: State, actions: Any, of: DomainReader | None = None) -> SymbolicTrace:
    """Return the symbolic trace of states [step + 1, ...] and actions [step, seat]."""
    return (of or reader(game)).read(states, actions)
