"""Pairs of a biased player and its best response: one is paid for events, the other for the task.

What partners with preferences are made of: the biased player maximises w_task r + φ.w over the game's events, the
other one plain r; both are trained together, and change seats. A run is a pair; all pairs train at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import jax.numpy as jnp
import numpy as np

from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.games.registry import make
from interplay.training.config import Experiment
from interplay.training.loader import build
from interplay.training.run import Trained
from interplay.training.run import train as train_stage
from interplay.training.scheme import Scheme, Traits, event_weights
from interplay.training.seating import Plan

TASK = "task"  # the name under which a preference weighs the game's points
BIASED, RESPONSE = 0, 1  # the learners of a pair


@dataclass(frozen=True)
class Options:
    """What the biased players may prefer. Either a list of preferences, or sets of weights to draw them from."""

    preferences: tuple[Any, ...] = ()  # of each run: event -> weight; `task` weighs the points (1 if not named)
    choices: Mapping[str, Any] = field(default_factory=dict)  # event -> weights that it may have
    at_most: int = 3  # events with a weight other than 0 in a draw
    biased_shaping: bool = False  # whether the biased player is paid the shaped reward too


def train_pairs(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """Run r trains the pair of preference r."""
    options = build(Options, experiment.algorithm.options, "algorithm.options")
    game = make(experiment.game.name, **experiment.game.options)
    preferences = list(options.preferences) or draw(game, options, experiment.runs, experiment.seed)
    return pairs(experiment, game, preferences, options.biased_shaping, quiet=quiet)


def pairs(
    experiment: Experiment,
    game: Game,
    preferences: list[dict[str, float]],
    biased_shaping: bool = False,
    *,
    stage: str = "",
    quiet: bool = False,
) -> Trained:
    """Train these pairs, a run each."""
    if len(preferences) != experiment.runs:
        raise InterplayError(f"runs: {experiment.runs}, but {len(preferences)} preferences; each run trains one pair")
    if game.num_seats != 2:
        raise InterplayError(f"{game.id} has {game.num_seats} seats; a pair is for two")
    plan = Plan(((BIASED, RESPONSE),), rotate=True)
    scheme = Scheme(plan, names=("biased", "response"))
    traits = traits_of(game, experiment, preferences, biased_shaping)
    notes = [{"preference": p} for p in preferences]
    return train_stage(experiment, scheme, traits=traits, stage=stage, notes=notes, quiet=quiet)


def traits_of(game: Game, experiment: Experiment, preferences: list[dict[str, float]], biased_shaping: bool) -> Traits:
    """[run, (biased, response), ...]"""
    runs, rewards = len(preferences), experiment.rewards
    events = np.zeros((runs, 2, len(game.event_names)), np.float32)
    events[:, :] = event_weights(game, rewards.events)
    task = np.full((runs, 2), rewards.task, np.float32)
    for run, preference in enumerate(preferences):
        named = {k: v for k, v in preference.items() if k != TASK}
        events[run, BIASED] += event_weights(game, named)
        task[run, BIASED] = preference.get(TASK, 1.0) * rewards.task
    shaping = np.ones((runs, 2), np.float32)
    shaping[:, BIASED] = float(biased_shaping)
    return Traits(task=jnp.asarray(task), shaping=jnp.asarray(shaping), events=jnp.asarray(events))


def draw(game: Game, options: Options, many: int, seed: int) -> list[dict[str, float]]:
    """Different preferences, each a weight for every event from its choices, at most so many of them not 0."""
    if not options.choices:
        raise InterplayError("algorithm.options: give preferences, or choices to draw them from")
    event_weights(game, {k: 0.0 for k in options.choices if k != TASK})
    generator = np.random.default_rng(seed)
    found: list[dict[str, float]] = []
    for _ in range(1000 * many):
        weights = {event: float(generator.choice(values)) for event, values in options.choices.items()}
        preference = {e: w for e, w in weights.items() if w or e == TASK}
        if sum(e != TASK for e in preference) <= options.at_most and preference not in found:
            found.append(preference)
            if len(found) == many:
                return found
    raise InterplayError(f"algorithm.options.choices: they allow only {len(found)} different preferences of {many}")
