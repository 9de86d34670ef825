"""What the learners of each run are rewarded for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from interplay.errors import UnknownName
from interplay.games.api import Game
from interplay.games.records import record
from interplay.training.config import Rewards


@record
class RewardWeights:
    """Weights of the parts of the reward. In a run [learner, ...]; in all runs [run, learner, ...]."""

    task: Float[Array, " learner"]  # of the game's points
    shaping: Float[Array, " learner"]  # of the shaped reward, on top of its schedule
    events: Float[Array, "learner event"]  # of each event of the game
    recorded: Any = None  # [learner, kind] of what the event recorder sees; None: as `rewards` says
    entropies: Any = None  # [learner, term] of `information_rewards.NAMES`; None: as `rewards` says
    anchor: Any = None  # [learner] of the KL divergence from a frozen policy in the loss, from 0 to 1 (HDR)


def equal_reward_weights(game: Game, rewards: Rewards, learners: int, runs: int) -> RewardWeights:
    """Return the weights of the configuration, the same for all learners of all runs."""
    events = np.broadcast_to(event_weights(game, rewards.events), (runs, learners, len(game.event_names)))
    return RewardWeights(
        task=jnp.full((runs, learners), rewards.task, jnp.float32),
        shaping=jnp.ones((runs, learners), jnp.float32),
        events=jnp.asarray(events, jnp.float32),
    )


def event_weights(game: Game, weights: Mapping[str, float]) -> np.ndarray:
    """Return the weights [event] of named events; those not named have 0.

    Raises:
        UnknownName: If the game has no event of a name.
    """
    array = np.zeros(len(game.event_names), np.float32)
    for name, weight in dict(weights).items():
        if name not in game.event_names:
            raise UnknownName(f"event of {game.id}", name, list(game.event_names))
        array[game.event_names.index(name)] = weight
    return array
