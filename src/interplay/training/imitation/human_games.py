"""Recorded games of people that come with interplay."""

from __future__ import annotations

from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.games.overcooked.human import HumanGame, human_games
from interplay.games.registry import make
from interplay.rollout.recorded_games import Recorded
from interplay.training.imitation.recordings import Recordings, replayed

HARMLESS = {"horizon", "rule_out_null_interacts"}  # options with which the kitchen is still the one people stood in
HALVES = ("all", "first", "second")


def human_recordings(game: Game, encoding: str, half: str = "all") -> Recordings:
    """Return what people did in this kitchen. The first and the second half were played by different people.

    They are replayed with the horizon of their own games, about three times the standard one, and with every action
    allowed, as it was for people.
    """
    chosen = games_of(game, half)
    kitchen = make(game.id, horizon=max(one.length for one in chosen))
    games = [Recorded(f"{one.layout}/{one.pair}", one.actions, one.start, one.score) for one in chosen]
    return replayed(kitchen, games, encoding)


def games_of(game: Game, half: str = "all") -> list[HumanGame]:
    """Return the human games of a kitchen, by pair of people.

    Raises:
        InterplayError: If people did not play in it.
    """
    if half not in HALVES:
        raise InterplayError(f"half: {half!r}; one of {', '.join(HALVES)}")
    other = sorted(set(game.options) - HARMLESS)
    layouts = sorted({one.layout for one in human_games()})
    games = [one for one in human_games() if one.game_id == game.id]
    if not games or other:
        changed = f" with {', '.join(other)} changed" if games else ""
        raise InterplayError(f"no games of people come with {game.id}{changed}; they played {', '.join(layouts)}")
    everyone = sorted({one.pair for one in human_games()})  # halves of people, the same in every kitchen
    first = set(everyone[::2])
    return [one for one in games if half == "all" or (one.pair in first) == (half == "first")]
