"""Self-play that is also paid by the metrics: what each of them does to the score, and to the others, side by side.

Run r is paid by variant r, so that all variants and their seeds train in one compiled program. A variant prices
dominated and dominant moves (g1, g2, g3) and weighs entropies (ad_entropy, ard_entropy, ic); the rest is free.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import jax.numpy as jnp
import numpy as np

from interplay.errors import InterplayError, UnknownName
from interplay.games.hanabi.dominated_moves import NAMES as CONDUCT
from interplay.games.registry import make
from interplay.training.algorithms.sp import scheme as self_play
from interplay.training.config import Experiment
from interplay.training.entropy_terms import NAMES as ENTROPIES
from interplay.training.loader import build
from interplay.training.method import plain_traits
from interplay.training.run import Trained
from interplay.training.run import train as train_stage


@dataclass(frozen=True)
class MetricRewardsOptions:
    """What the runs are paid for, beside the game's points."""

    variants: Mapping[str, Any] = field(default_factory=dict)  # name -> {metric: price}
    seeds: int = 1  # runs of each variant
    by_turns: bool = False  # as in self-play: only the seat to move is asked, judged and learnt from


def train(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """max J(π, π) + Σ w_k M_k(π), with weights w of each run's own."""
    options = build(MetricRewardsOptions, experiment.algorithm.options, "algorithm.options")
    names = [name for name in options.variants for _ in range(options.seeds)]
    if len(names) != experiment.runs:
        many = f"{len(options.variants)} variants x {options.seeds} seeds"
        raise InterplayError(f"runs: {experiment.runs}, but algorithm.options has {many}")
    game = make(experiment.game.name, **experiment.game.options)
    weights = np.array([_weights(name, options.variants[name]) for name in names], np.float32)[:, None]
    watched = dict.fromkeys(CONDUCT, 0.0), dict.fromkeys(ENTROPIES, 0.0)
    rewards = dataclasses.replace(experiment.rewards, conduct=watched[0], entropies=watched[1])
    experiment = dataclasses.replace(experiment, rewards=rewards)
    traits = dataclasses.replace(
        plain_traits(game, rewards, 1, experiment.runs),
        seen=jnp.asarray(weights[..., : len(CONDUCT)]),
        entropies=jnp.asarray(weights[..., len(CONDUCT) :]),
    )
    notes = [{"variant": name, **{f"pays_{k}": v for k, v in options.variants[name].items()}} for name in names]
    scheme = self_play(experiment, by_turns=options.by_turns)
    return train_stage(experiment, scheme, traits=traits, notes=notes, quiet=quiet)


def _weights(variant: str, given: Any) -> list[float]:
    known = [*CONDUCT, *ENTROPIES]
    if not isinstance(given, Mapping):
        raise InterplayError(
            f"algorithm.options.variants.{variant}: {given!r}; expected an object of metrics and prices"
        )
    for name in given:
        if name not in known:
            raise UnknownName(f"metric of algorithm.options.variants.{variant}", name, known)
    return [float(given.get(name, 0.0)) for name in known]
