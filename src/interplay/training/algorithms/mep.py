"""Maximum-entropy population: members of self-play who are paid for acting unlike their population."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from interplay.games.registry import make
from interplay.training.algorithms.coplay import EgoOptions, Population, dead_among, dealt, egos, three_skills
from interplay.training.algorithms.fcp import stage_one
from interplay.training.collect import Rollout
from interplay.training.config import Experiment
from interplay.training.loader import build
from interplay.training.loss import chosen, log_probs
from interplay.training.method import Method
from interplay.training.run import Trained
from interplay.training.run import train as train_stage
from interplay.training.saved_stages import reopened
from interplay.training.team_assignment import TeamPlan

LEAST_PROBABILITY = 1e-5


@dataclass(frozen=True)
class MEPOptions(EgoOptions):
    """The population and how partners are drawn from it."""

    population: int = 4  # members, trained side by side; every ego has a population of its own
    population_steps: float = 1e7  # environment steps of each member
    population_envs: int = 64  # environments of each member
    population_from: str | None = None  # folder of trained populations to take instead; members are dealt to egos
    shared: bool = False  # all egos learn with one population
    entropy_weight: float = 0.01  # alpha: of -log of the population's mean probability
    priority: float = 0.5  # beta: partners are drawn by (rank of difficulty) ** beta; 0: alike
    snapshots: int = 20  # how many times on the way a half-skilled partner could be taken from


def train(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """Stage 1: populations. Stage 2: best responses that meet hard partners more often."""
    options = build(MEPOptions, experiment.algorithm.options, "algorithm.options")
    return egos(experiment, populations(experiment, quiet=quiet), options, quiet=quiet)


def populations(experiment: Experiment, *, stage: str = "", quiet: bool = False) -> list[Population]:
    """The partners of each ego: three skills of every member of its population."""
    options = build(MEPOptions, experiment.algorithm.options, "algorithm.options")
    trained = opened_or_trained(experiment, options, stage=stage, quiet=quiet)
    members = dealt(trained, experiment.runs, shared=options.shared, where=str(options.population_from))
    return [
        Population(three_skills(trained, own), options.priority, dead_among(trained, own, experiment))
        for own in members
    ]


def opened_or_trained(experiment: Experiment, options: MEPOptions, *, stage: str = "", quiet: bool = False) -> Trained:
    """A population for each run (or one for all) from its folder, or trained now."""
    if options.population_from is not None:
        return reopened(options.population_from, experiment)
    runs = 1 if options.shared else experiment.runs
    return population_stage(experiment, options, stage=f"{stage}population", runs=runs, quiet=quiet)


def train_population(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """Stage 1 alone, a population a run."""
    options = build(MEPOptions, experiment.algorithm.options, "algorithm.options")
    return population_stage(experiment, options, runs=experiment.runs, quiet=quiet)


def population_stage(
    experiment: Experiment, options: MEPOptions, *, stage: str = "", runs: int = 1, quiet: bool = False
) -> Trained:
    """All members at once, each in self-play at a table of its own: one run with many learners."""
    seats, members = make(experiment.game.name, **experiment.game.options).num_seats, options.population
    envs = options.population_envs * members
    smaller = stage_one(experiment, runs, options.population_steps * members, options.snapshots)
    plan = TeamPlan(tuple((m,) * seats for m in range(members)))
    scheme = Method(
        plan,
        bonus=partial(population_entropy, weight=options.entropy_weight),
        names=tuple(f"member{m}" for m in range(members)),
    )
    return train_stage(dataclasses.replace(smaller, envs=envs), scheme, stage=stage, quiet=quiet)


def population_entropy(members: Any, rollout: Rollout, *, weight: float) -> Float[Array, "step learner slot"]:
    """-weight * log of the mean probability that all members give to the action taken. For policies without memory."""

    def of_member(member: Any) -> Float[Array, "step learner slot"]:
        logits = jax.vmap(jax.vmap(jax.vmap(member.logits)))(rollout.seen)
        return jnp.exp(chosen(log_probs(logits, rollout.legal), rollout.action))

    mean = jnp.mean(jax.lax.map(of_member, members), axis=0)
    return -weight * jnp.log(jnp.maximum(mean, LEAST_PROBABILITY)) * rollout.turn
