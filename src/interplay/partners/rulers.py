"""The ruler of BR-Prox: for every partner and seat the best response that can be found, and what it is worth.

A weak best response flatters everyone. So each partner gets a fresh best response, trained against it alone; it
competes with the one that was trained together with the partner, with those of all other candidates and with the
partners themselves; and the winner is measured anew, in episodes that had no part in the choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from interplay.agents.api import Agent
from interplay.games.api import Game
from interplay.partners.config import Build
from interplay.partners.evaluate import Cast, all_pairs, play_pairs
from interplay.partners.panel import Estimate, Response


@dataclass(frozen=True)
class Trial:
    """How all challengers did with all partners."""

    names: tuple[str, ...]  # of the challengers
    returns: Float[np.ndarray, "partner challenger seat"]
    winner: Int[np.ndarray, "partner seat"]


def trial(game: Game, config: Build, partners: Cast, challengers: Sequence[Cast], seed: int) -> Trial:
    """Every challenger with every partner in every seat. Of equals the partner's own wins."""
    found = []
    for cast in challengers:
        played = play_pairs(
            game,
            partners,
            cast,
            all_pairs(len(partners), len(cast)),
            episodes=config.trial_episodes,
            seed=seed + len(found),
            most_envs=config.most_envs,
        )
        found.append(played.returns.reshape(len(partners), len(cast), game.num_seats))
    returns = np.concatenate(found, axis=1)
    names = tuple(name for cast in challengers for name in cast.names)
    winner = returns.argmax(axis=1)
    for p, partner in enumerate(partners.names):
        for name in reversed(_own(partner)):
            if name in names:
                mine = returns[p, names.index(name)]
                winner[p] = np.where(mine >= returns[p].max(axis=0), names.index(name), winner[p])
    return Trial(names, returns, winner)


def rulers(
    game: Game, config: Build, partners: Cast, challengers: Sequence[Cast], found: Trial, seed: int
) -> list[tuple[Response, ...]]:
    """The winners' worth by partner, from episodes of their own. A seat in which nobody scores has no ruler.

    (Unless `least_return` lets candidates in that do not score either, for a quick look at an untrained panel.)
    """
    agents = [(cast, player) for cast in challengers for player in range(len(cast))]
    made: dict[int, Agent] = {}
    responses: list[list[Response]] = [[] for _ in range(len(partners))]
    for number, cast in enumerate(challengers):
        first = sum(len(c) for c in challengers[:number])
        mine = [
            (p, int(w), seat)
            for p, row in enumerate(found.winner)
            for seat, w in enumerate(row)
            if first <= w < first + len(cast)
        ]
        if not mine:
            continue
        pairs = sorted({(p, w - first) for p, w, _ in mine})
        played = play_pairs(
            game,
            partners,
            cast,
            pairs,
            episodes=config.ruler_episodes,
            seed=seed + number,
            most_envs=config.most_envs,
        )
        for p, w, seat in mine:
            worth = Estimate.of(played.scores[pairs.index((p, w - first)), seat])
            if worth.mean > min(0.0, config.least_return):
                made.setdefault(w, agents[w][0].agent(agents[w][1]))
                responses[p].append(Response(seat, made[w], _how(partners.names[p], found.names[w]), worth))
    return [tuple(sorted(of, key=lambda r: r.seat)) for of in responses]


def _own(partner: str) -> dict[str, str]:
    """The names of the responses that belong to a partner such as c003.mid, and how they came about."""
    return {
        f"br.{partner}": "trained against it",
        f"br.{partner.rpartition('.')[0]}": "trained with it",
        partner: "the partner itself",
    }


def _how(partner: str, response: str) -> str:
    return _own(partner).get(response, f"another's: {response}")
