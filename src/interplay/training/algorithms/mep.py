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
from interplay.training.algorithms.br import best_response
from interplay.training.algorithms.fcp import stage_one, three_skills
from interplay.training.collect import Rollout
from interplay.training.config import Experiment
from interplay.training.kept import reopened
from interplay.training.loader import build
from interplay.training.loss import chosen, log_probs
from interplay.training.run import Trained
from interplay.training.run import train as train_stage
from interplay.training.scheme import Assignment, Scheme, Stats, drawn
from interplay.training.seating import Plan

LEAST_PROBABILITY = 1e-5


@dataclass(frozen=True)
class Options:
    """The population and how partners are drawn from it."""

    population: int = 8  # members, trained side by side
    population_steps: float = 1e7  # environment steps of each member
    population_envs: int = 64  # environments of each member
    population_from: str | None = None  # folder of a trained population to take instead
    entropy_weight: float = 0.01  # alpha: of -log of the population's mean probability
    priority: float = 1.0  # beta: partners are drawn by (rank of difficulty) ** beta; 0: alike
    snapshots: int = 20
    tables: int = 0


def train(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """Stage 1: the population. Stage 2: a best response that meets hard partners more often."""
    options = build(Options, experiment.algorithm.options, "algorithm.options")
    if options.population_from is not None:
        population = reopened(options.population_from, experiment)
    else:
        population = population_stage(experiment, options, stage="population", quiet=quiet)
    agents = three_skills(population)
    assign = partial(by_difficulty, beta=options.priority)
    return best_response(experiment, agents, tables=options.tables, assign=assign, quiet=quiet)


def train_population(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """Stage 1 alone, a population a run."""
    options = build(Options, experiment.algorithm.options, "algorithm.options")
    return population_stage(experiment, options, runs=experiment.runs, quiet=quiet)


def population_stage(
    experiment: Experiment, options: Options, *, stage: str = "", runs: int = 1, quiet: bool = False
) -> Trained:
    """All members at once, each in self-play at a table of its own: one run with many learners."""
    seats, members = make(experiment.game.name, **experiment.game.options).num_seats, options.population
    envs = options.population_envs * members
    smaller = stage_one(experiment, runs, options.population_steps * members, options.snapshots)
    plan = Plan(tuple((m,) * seats for m in range(members)))
    scheme = Scheme(
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


def by_difficulty(plan: Plan, key: Any, stats: Stats, *, beta: float) -> Assignment:
    """Partner and seat by the rank of their running mean return: the lower it is, the more often they are met.

    A table takes one entry (partner, rotation), so that a partner may be hard in one seat and easy in the other.
    """
    for_entries, for_rest = jax.random.split(key)
    guests, rotations = stats.returns.shape
    flat = stats.returns.reshape(-1)
    rank = jnp.argsort(jnp.argsort(-flat)) + 1  # 1: the easiest
    odds = rank.astype(jnp.float32) ** beta
    odds = jnp.where(jnp.min(stats.episodes) > 0, odds, jnp.ones_like(odds))  # nobody is judged before all were met
    tables = len(plan.tables)
    entry = jax.random.choice(for_entries, guests * rotations, (tables,), p=odds / jnp.sum(odds))
    first = {int(place) // plan.roles: i for i, place in reversed(list(enumerate(plan.guests)))}
    chosen_guests = drawn(plan, for_rest, odds.reshape(guests, rotations).sum(axis=1)).guests
    where = jnp.array([first[t] for t in range(tables)])
    return Assignment(chosen_guests.at[where].set((entry // rotations).astype(jnp.int32)), entry % rotations)
