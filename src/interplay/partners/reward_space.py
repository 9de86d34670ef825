"""A game's reward space: preferences drawn from it for a panel's candidates, and what is counted of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from interplay.errors import InterplayError, UnknownName
from interplay.games.api import Game
from interplay.games.registry import capability
from interplay.partners.evaluate import PlayedReturns
from interplay.partners.features import BehaviourFeatures, Id
from interplay.training.algorithms import hsp

TASK = hsp.TASK
POINTS = "points"  # the feature that is no event: what the seat earned


@dataclass(frozen=True)
class RewardSpace:
    """What candidates may prefer, and what is counted of them and of their best responses."""

    choices: Mapping[str, Any]  # event -> weights that it may have; `task` weighs the game's points
    at_most: int  # events with a weight other than 0
    features: tuple[str, ...]  # events, and `points`


def reward_space(
    game: Game, choices: Mapping[str, Any] | None = None, at_most: int | None = None, features: Sequence[str] = ()
) -> RewardSpace:
    """The reward space that comes with a game, with what is given in its place."""
    declared = capability(game, "reward_space")
    own = {} if declared is None else declared(game)
    chosen = choices or own.get("choices")
    if not chosen:
        raise InterplayError(f"{game.id} comes without a reward space; give choices: event -> weights to draw from")
    counted = tuple(features) or tuple(own.get("features", (*game.event_names, POINTS)))
    for name in counted:
        if name != POINTS and name not in game.event_names:
            raise UnknownName(f"feature, an event of {game.id}", name, [*game.event_names, POINTS])
    return RewardSpace(chosen, own.get("at_most", 3) if at_most is None else at_most, counted)


def least_return(game: Game) -> float:
    """The return that counts as none, as the game's reward space says: of who does not return more, nothing is told."""
    declared = capability(game, "reward_space")
    return float(declared(game).get("least_return", 0.0)) if declared is not None else 0.0


def draw(game: Game, space: RewardSpace, many: int, seed: int) -> list[dict[str, float]]:
    """Different preferences, of the half of the space that training partners (`hsp`) never have."""
    options = hsp.HSPOptions(choices=space.choices, at_most=space.at_most, split="evaluation")
    return hsp.draw(game, options, many, seed)


def features_of(
    game: Game, space: RewardSpace, played: PlayedReturns, ids: Sequence[Id], *, of_response: bool
) -> BehaviourFeatures:
    """Mean counts per episode, a column for each feature and seat: of the best responses, or of the partners."""
    seats = game.num_seats
    names, columns = [], []
    for feature in space.features:
        counted = played.points if feature == POINTS else played.events[..., game.event_names.index(feature)]
        for seat in range(seats):
            # The response is counted where it sits; the partner in a seat where the response sits in the next one.
            seating = seat if of_response else (seat + 1) % seats
            names.append(f"{feature}@seat{seat}")
            columns.append(counted[:, seating, seat])
    returns = played.scores.mean(axis=(1, 2))
    return BehaviourFeatures(tuple(ids), tuple(names), returns, np.stack(columns, axis=1).astype(float))
