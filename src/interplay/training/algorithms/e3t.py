"""Efficient end-to-end training: self-play with a copy that lags behind and errs, so that no convention is exact.

The partner acts as a mixture: with probability epsilon a legal action at random, else as a running mean of the ego's
own weights. Only the ego learns.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import equinox as eqx
import jax

from interplay.agents.basic import Noisy
from interplay.agents.neural import NeuralPolicy
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.games.registry import make
from interplay.training.config import Experiment
from interplay.training.loader import build
from interplay.training.members import new_member
from interplay.training.run import Trained
from interplay.training.run import train as train_stage
from interplay.training.scheme import Guests, Scheme
from interplay.training.seating import GUEST, Plan


@dataclass(frozen=True)
class Options:
    """The partner that the ego learns with."""

    epsilon: float = 0.5  # share of the partner's actions that are random
    decay: float = 0.9  # of the partner's weights, per update: 0.9 of them and 0.1 of the ego's

    def __post_init__(self) -> None:
        for name in ("epsilon", "decay"):
            if not 0 <= getattr(self, name) <= 1:
                raise InterplayError(f"algorithm.options.{name}: {getattr(self, name)}; from 0 to 1")


def train(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """max J(π, (1 - ε) π' + ε uniform), where π' follows π; the ego takes every seat in turn."""
    options = build(Options, experiment.algorithm.options, "algorithm.options")
    game = make(experiment.game.name, **experiment.game.options)
    scheme = Scheme(
        Plan(((0, *[GUEST] * (game.num_seats - 1)),), rotate=True), follow=partial(follow, decay=options.decay)
    )
    partner = Noisy(_any(experiment, game), options.epsilon)
    guests = Guests.repeated(partner, 1, experiment.runs)
    return train_stage(experiment, scheme, guests=guests, quiet=quiet)


def _any(experiment: Experiment, game: Game) -> NeuralPolicy:
    """A policy of the ego's kind, whose weights `follow` sets."""
    core = new_member(game, experiment.network, 0, jax.random.key(0)).policy
    return NeuralPolicy(core, experiment.network.encoding)


def follow(members: Any, guests: Any, first: bool, *, decay: float) -> Any:
    """The one guest's weights, moved towards the ego's; at first they are the ego's."""

    def moved(theirs: Any, ours: Any) -> Any:
        return ours if first else decay * theirs + (1 - decay) * ours

    return eqx.tree_at(lambda g: g.base.core, guests, jax.tree_util.tree_map(moved, guests.base.core, members.policy))
