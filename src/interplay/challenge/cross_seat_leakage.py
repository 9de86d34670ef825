"""Did a candidate with several seats of a Hanabi game use what its other seats see of its own cards?

One connection holds all seats of a candidate, so it could. For every card that the candidate played, the odds that it
fits are computed from what the playing seat alone may know: hints, cards in sight, cards gone. Conventions make plays
fit more often than these odds say, but as often with one seat as with several. The check compares the surplus of a
game's plays between games of one and of several seats (Welch's test over games).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from interplay.games.api import Game
from interplay.games.hanabi.game import Hanabi
from interplay.games.hanabi.state import PLAY
from interplay.rollout.episode import Episode
from interplay.traces.replay import replay

CANDIDATE = "candidate"
LEVEL = 0.001  # below this chance, of a candidate that does not look, a result is marked
LEAST = 10  # games of each kind that a comparison needs


class GameSurplus(NamedTuple):
    """How much oftener a candidate's plays fitted in one game than their odds said."""

    seats: int  # that it held
    plays: int
    surplus: float  # mean over its plays


def peeking(game: Game, episodes: Sequence[Episode]) -> dict[str, Any] | None:
    """Compare games of one seat with those of several.

    Args:
        game: What was played.
        episodes: With the candidate's seats named `candidate`.

    Returns:
        The surplus of both kinds of games, the one-sided p value and whether it is suspicious; None for other games
        than Hanabi and where there are too few games to compare.
    """
    if not isinstance(game, Hanabi):
        return None
    rows = [row for episode in episodes if (row := surplus_of(game, episode)) is not None]
    one = [row.surplus for row in rows if row.seats == 1]
    several = [row.surplus for row in rows if row.seats > 1]
    if len(one) < LEAST or len(several) < LEAST:
        return None
    test: Any = stats.ttest_ind(several, one, equal_var=False, alternative="greater")
    p = float(test.pvalue)
    means = {"one_seat": float(np.mean(one)), "several_seats": float(np.mean(several))}
    return {**means, "games": [len(one), len(several)], "p": p, "suspicious": p < LEVEL}


def surplus_of(game: Any, episode: Episode) -> GameSurplus | None:
    """Return the surplus of the candidate's plays in a game; None if it played no card."""
    seats = [seat for seat, agent in enumerate(episode.agents) if agent.name == CANDIDATE]
    states, rules = replay(game, episode).states, game.rules
    hands, fireworks, discards, possible = (
        np.asarray(getattr(states, name)) for name in ("hands", "fireworks", "discards", "possible")
    )
    actions, ids, surplus = np.asarray(episode.actions), np.arange(rules.identities), []
    for t in range(episode.length):
        actor = t % rules.players
        action = int(actions[t, actor])
        if actor not in seats or rules.moves.kind[action] != PLAY:
            continue
        slot, height = int(rules.moves.slot[action]), np.repeat(fireworks[t], rules.ranks)
        others = np.delete(hands[t], actor, axis=0)
        in_sight = np.bincount(others[others >= 0].astype(int), minlength=len(ids))
        played = height > ids % rules.ranks
        left = np.maximum(np.asarray(rules.total_copies) - discards[t] - played - in_sight, 0)
        weight = left * ((int(possible[t, actor, slot]) >> ids) & 1)
        fits = height == ids % rules.ranks
        odds = float(weight @ fits / max(weight.sum(), 1))
        surplus.append(float(fits[int(hands[t, actor, slot])]) - odds)
    return GameSurplus(len(seats), len(surplus), float(np.mean(surplus))) if surplus else None
