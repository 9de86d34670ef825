"""Fictitious co-play: a best response to self-play agents of many seeds and three levels of skill."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import jax
import numpy as np

from interplay.agents.api import Agent
from interplay.errors import InterplayError
from interplay.training.algorithms import sp
from interplay.training.algorithms.br import best_response
from interplay.training.config import Experiment, Output
from interplay.training.kept import reopened
from interplay.training.loader import build
from interplay.training.run import Trained


@dataclass(frozen=True)
class Options:
    """The population that the ego learns with."""

    population: int = 8  # seeds of self-play
    population_steps: float = 1e7  # environment steps of each
    population_from: str | None = None  # folder of a trained population to take instead
    snapshots: int = 20  # how many times on the way a half-skilled partner could be taken from
    tables: int = 0  # groups of environments, each with one partner at a time; 0: as many as partners, if envs allow
    redraw: str = "updates"  # or episode: every environment and seat has a new partner in every episode
    checkpoints: tuple[float, ...] = ()  # shares of the population's training that give partners; none: 3 skills

    def __post_init__(self) -> None:
        if any(not 0 <= share <= 1 for share in self.checkpoints):
            raise InterplayError(f"algorithm.options.checkpoints: {self.checkpoints}; shares are from 0 to 1")


def train(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """Stage 1: seeds of self-play. Stage 2: max E_j J(π, π_j) over their first, half-skilled and last policies."""
    options = build(Options, experiment.algorithm.options, "algorithm.options")
    if options.population_from is not None:
        population = reopened(options.population_from, experiment)
    else:
        smaller = stage_one(experiment, options.population, options.population_steps, options.snapshots)
        population = sp.train(smaller, stage="population", quiet=quiet)
    partners = taken_at(population, options.checkpoints) if options.checkpoints else three_skills(population)
    return best_response(experiment, partners, tables=options.tables, redraw=options.redraw, quiet=quiet)


def stage_one(experiment: Experiment, runs: int, steps: float, snapshots: int) -> Experiment:
    """The experiment that trains the population: members without memory, told of nobody, as many runs as members."""
    network = dataclasses.replace(experiment.network, recurrent=0, critic_knows_partner=False)
    output: Output = dataclasses.replace(experiment.output, snapshots=snapshots)
    algorithm = dataclasses.replace(experiment.algorithm, options={})
    ppo = dataclasses.replace(experiment.ppo, chunk=0)
    return dataclasses.replace(
        experiment, runs=runs, first_run=0, steps=steps, network=network, output=output, algorithm=algorithm, ppo=ppo
    )


def three_skills(trained: Trained) -> list[Agent]:
    """Of every member: its first policy, the one whose return came nearest to half of its last, and its last."""
    if len(trained.snapshots) < 3:
        raise InterplayError("three skills of a population need its snapshots; train it with snapshots, 1 or more")
    return [
        trained.agent(run, learner, snapshot=which)
        for run, learner in sound(trained)
        for which in (0, half_skilled(trained, run, learner), len(trained.snapshots) - 1)
    ]


def taken_at(trained: Trained, shares: tuple[float, ...]) -> list[Agent]:
    """Of every member: its policies at the snapshots nearest to these shares of its training, which the clock may have
    ended early."""
    if not trained.snapshots:
        raise InterplayError("checkpoints of a population need its snapshots; train it with snapshots, 1 or more")
    updates = np.array([s.update for s in trained.snapshots])
    nearest = [int(np.argmin(np.abs(updates - share * updates[-1]))) for share in shares]
    return [trained.agent(*member, snapshot=which) for member in sound(trained) for which in dict.fromkeys(nearest)]


def sound(trained: Trained) -> list[tuple[int, int]]:
    """The members, by run and learner, whose training did not come to weights that are no numbers."""
    fine = np.ones(trained.returns().shape, bool)
    for leaf in jax.tree_util.tree_leaves(trained.members.policy):
        fine &= np.all(np.isfinite(np.asarray(leaf)), axis=tuple(range(2, leaf.ndim)))
    if not fine.any():
        raise InterplayError("the weights of no member of the population are numbers; lower the learning rate")
    return [(int(run), int(learner)) for run, learner in np.argwhere(fine)]


def half_skilled(trained: Trained, run: int, learner: int = 0) -> int:
    """The number of the snapshot whose return is nearest to half of the last; the middle one if none is known."""
    half = trained.returns()[run, learner] / 2
    returns = np.array([s.returns[run][learner] for s in trained.snapshots], float)  # None becomes NaN
    distance = np.abs(returns - half)
    between = slice(1, max(2, len(distance) - 1))  # neither the first nor the last
    if np.all(np.isnan(distance[between])):
        return len(distance) // 2
    return 1 + int(np.nanargmin(distance[between]))
