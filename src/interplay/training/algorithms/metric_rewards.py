"""Self-play that is also rewarded by metrics, to see what each of them does to the score and to the others.

Run r is rewarded by variant r, so that all variants and their seeds train in one compiled program. A variant prices
dominated and dominant moves (g1, g2, g3) and weighs entropies (ad_entropy, ard_entropy, ic); the rest is free.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import jax.numpy as jnp
import numpy as np

from interplay.errors import InterplayError, UnknownName
from interplay.games.api import Game
from interplay.games.hanabi.dominated_moves import NAMES as CONDUCT
from interplay.training.algorithms.sp import SelfPlay
from interplay.training.config import Experiment
from interplay.training.information_rewards import NAMES as ENTROPIES
from interplay.training.loader import method_options
from interplay.training.reward_weights import RewardWeights
from interplay.training.run import Trained, train_stage


@dataclass(frozen=True)
class MetricRewardsOptions:
    """What the runs are rewarded for, beside the game's points."""

    variants: Mapping[str, Any] = field(default_factory=dict)  # name -> {metric: price}
    seeds: int = 1  # runs of each variant
    by_turns: bool = False  # as in self-play: only the seat to move is asked, judged and learnt from


@dataclass(frozen=True, kw_only=True)
class MetricRewards(SelfPlay):
    """max J(π, π) + Σ w_k M_k(π), with weights w of each run's own."""

    prices: tuple[tuple[float, ...], ...]  # [run][metric]

    def reward_weights(self, game: Game, experiment: Experiment) -> RewardWeights:
        """Return the weights of the configuration, with each run's own prices of the metrics."""
        prices = jnp.asarray(np.array(self.prices, np.float32)[:, None])
        weights = super().reward_weights(game, experiment)
        return replace(weights, recorded=prices[..., : len(CONDUCT)], entropies=prices[..., len(CONDUCT) :])


def train(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """Train `seeds` runs of each variant."""
    options = method_options(MetricRewardsOptions, experiment)
    names = [name for name in options.variants for _ in range(options.seeds)]
    if len(names) != experiment.runs:
        many = f"{len(options.variants)} variants x {options.seeds} seeds"
        raise InterplayError(f"runs: {experiment.runs}, but algorithm.options has {many}")
    measured = {"conduct": dict.fromkeys(CONDUCT, 0.0), "entropies": dict.fromkeys(ENTROPIES, 0.0)}
    experiment = replace(experiment, rewards=replace(experiment.rewards, **measured))
    prices = tuple(_prices(name, options.variants[name]) for name in names)
    notes = [{"variant": name, **{f"pays_{k}": v for k, v in options.variants[name].items()}} for name in names]
    method = MetricRewards.create(experiment, by_turns=options.by_turns, prices=prices)
    return train_stage(experiment, method, notes=notes, quiet=quiet)


def _prices(variant: str, prices: Any) -> tuple[float, ...]:
    known = [*CONDUCT, *ENTROPIES]
    if not isinstance(prices, Mapping):
        raise InterplayError(
            f"algorithm.options.variants.{variant}: {prices!r}; expected an object of metrics and prices"
        )
    for name in prices:
        if name not in known:
            raise UnknownName(f"metric of algorithm.options.variants.{variant}", name, known)
    return tuple(float(prices.get(name, 0.0)) for name in known)
