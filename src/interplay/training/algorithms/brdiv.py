"""Best-response diversity: partners that need different best responses, each trained with its own.

A population is n pairs of a partner π_i and its response BR_i. All n² pairings are played, each at a table of its own;
R_ij is the return of π_i with BR_j. Pairs are to do well, and crossed pairs badly:

    BRDiv    max Σ_i R_ii + α Σ_{i≠j} [(R_ii - R_ij) + (R_ii - R_ji)]
    LBRDiv   max Σ_i R_ii  so that  R_ii ≥ R_ij + τ  and  R_ii ≥ R_ji + τ  for all i ≠ j

In LBRDiv every constraint has a multiplier that a run carries, and that rises while the constraint does not hold.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from interplay.errors import InterplayError
from interplay.games.records import record
from interplay.games.registry import make
from interplay.training.algorithms.br import best_response
from interplay.training.algorithms.coplay import sound
from interplay.training.algorithms.fcp import stage_one
from interplay.training.config import Experiment
from interplay.training.loader import build
from interplay.training.method import Method, MethodView
from interplay.training.run import Trained
from interplay.training.run import train as train_stage
from interplay.training.saved_stages import reopened
from interplay.training.team_assignment import TeamPlan

LARGEST = 10.0  # weight of a pairing in LBRDiv


@dataclass(frozen=True)
class BRDivPopulation:
    """The pairs, and the ego's partners among them."""

    population: int = 3  # pairs
    population_steps: float = 9e7  # environment steps of the population, all pairings together
    population_envs: int = 0  # environments of the population; 0: as many as the ego has, rounded to whole tables
    population_from: str | None = None  # folder of a trained population to take instead
    responses: bool = False  # whether the ego meets the responses too, beside the partners
    tables: int = 0  # of the ego: groups of environments, each with one partner at a time

    def __post_init__(self) -> None:
        if self.population < 2:
            raise InterplayError(f"algorithm.options.population: {self.population}; two pairs at least")


@dataclass(frozen=True)
class BRDivOptions(BRDivPopulation):
    """BRDiv."""

    alpha: float = 0.005  # weight of what crossed pairs lose; too large, and partners learn to sabotage


@dataclass(frozen=True)
class LagrangeOptions(BRDivPopulation):
    """LBRDiv."""

    tolerance: float = 10.0  # tau: by how much a pair is to be better than a crossed one, in points
    multipliers: float = 0.25  # to begin with: from 0, pairs settle on one way before they are told apart
    multiplier_rate: float = 0.01  # of the multipliers, per update and point of slack
    decay: float = 0.9  # of the running means of returns from which slack is taken, per update


def train(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """BRDiv's population, then a best response to its partners."""
    return _with_ego(experiment, build(BRDivOptions, experiment.algorithm.options, "algorithm.options"), quiet)


def train_lagrange(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """LBRDiv's population, then a best response to its partners."""
    return _with_ego(experiment, build(LagrangeOptions, experiment.algorithm.options, "algorithm.options"), quiet)


def train_population(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """BRDiv's population alone, one a run."""
    options = build(BRDivOptions, experiment.algorithm.options, "algorithm.options")
    return population_stage(experiment, options, runs=experiment.runs, quiet=quiet)


def train_lagrange_population(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """LBRDiv's population alone, one a run."""
    options = build(LagrangeOptions, experiment.algorithm.options, "algorithm.options")
    return population_stage(experiment, options, runs=experiment.runs, quiet=quiet)


def _with_ego(experiment: Experiment, options: BRDivOptions | LagrangeOptions, quiet: bool) -> Trained:
    if options.population_from is not None:
        population = reopened(options.population_from, experiment)
    else:
        population = population_stage(experiment, options, stage="population", quiet=quiet)
    partners = population.returns().shape[1] // 2  # and as many responses
    agents = [population.agent(run, who) for run, who in sound(population) if who < partners or options.responses]
    if not agents:
        raise InterplayError("the weights of no partner are numbers; lower the learning rate or alpha")
    return best_response(experiment, agents, tables=options.tables, quiet=quiet)


def population_stage(
    experiment: Experiment,
    options: BRDivOptions | LagrangeOptions,
    *,
    stage: str = "",
    runs: int = 1,
    quiet: bool = False,
) -> Trained:
    """All pairings at once; learners 0 ... n-1 are the partners, n ... 2n-1 their responses. The logged return is that
    of true pairs."""
    number = options.population
    plan = seating(experiment, number)
    names = tuple(f"{who}{i}" for who in ("partner", "response") for i in range(number))
    scheme = Method(dataclasses.replace(plan, weights=fixed_weights(number, options)), names=names)
    if isinstance(options, LagrangeOptions):
        start = new_multipliers(number, options.multipliers)
        scheme = Method(plan, names=names, notebook=lambda members: start, weigh=partial(weigh, options=options))
    smaller = with_envs(stage_one(experiment, runs, options.population_steps, 0), options.population_envs, number**2)
    return train_stage(told_tables(smaller), scheme, stage=stage, quiet=quiet)


def seating(experiment: Experiment, number: int) -> TeamPlan:
    """Table i * n + j is π_i with BR_j."""
    game = make(experiment.game.name, **experiment.game.options)
    if game.num_seats != 2:
        raise InterplayError(f"{game.id} has {game.num_seats} seats; a partner and its response are two")
    pairs = [(i, j) for i in range(number) for j in range(number)]
    return TeamPlan(
        tuple((i, number + j) for i, j in pairs),
        rotate=True,
        streams=tuple(range(number**2)),
        scored=tuple(i == j for i, j in pairs),
    )


def told_tables(experiment: Experiment) -> Experiment:
    """With values that know at which kind of table they are: a return that is wished for and one that is not would
    otherwise be averaged."""
    if experiment.network.shared_trunk:
        raise InterplayError("network.shared_trunk: values have to know the table, so they need a network of their own")
    return dataclasses.replace(experiment, network=dataclasses.replace(experiment.network, critic_knows_partner=True))


def with_envs(experiment: Experiment, envs: int, tables: int) -> Experiment:
    """With so many environments (0: as many as it has), rounded up to the same number at every table."""
    return dataclasses.replace(experiment, envs=-(-(envs or experiment.envs) // tables) * tables)


def fixed_weights(number: int, options: Any) -> tuple[tuple[float, float], ...] | None:
    """R_ii stands once for itself and in 2 (n - 1) differences; R_ij, i ≠ j, is taken off in two of them."""
    if not isinstance(options, BRDivOptions):
        return None
    pair, crossed = 1 + 2 * options.alpha * (number - 1), -2 * options.alpha
    return tuple((w, w) for i in range(number) for j in range(number) for w in [pair if i == j else crossed])


@record
class Multipliers:
    """What a run of LBRDiv carries."""

    partner: Float[Array, "n n"]  # of R_ii ≥ R_ij + τ; the diagonals are not used
    response: Float[Array, "n n"]  # of R_ii ≥ R_ji + τ
    returns: Float[Array, "n n"]  # running means of R_ij
    met: Float[Array, "n n"]  # episodes of each pairing


def new_multipliers(number: int, first: float) -> Multipliers:
    zeros = jnp.zeros((number, number), jnp.float32)
    crossed = jnp.where(np.eye(number, dtype=bool), 0.0, jnp.float32(first))
    return Multipliers(partner=crossed, response=crossed, returns=zeros, met=zeros)


def weigh(
    kept: Multipliers, seen: MethodView, *, options: LagrangeOptions
) -> tuple[Multipliers, Array, dict[str, Array]]:
    """Weights of the pairings, after the multipliers have followed the slack of their constraints.

    Slack is taken from what was played, not from values: every pairing has a table of its own, so that none is rare.
    """
    number = options.population
    score, episodes = (x.reshape(number, number) for x in (seen.score, seen.episodes))
    mean = score / jnp.maximum(episodes, 1.0)
    decay = jnp.where(kept.met > 0, options.decay, 0.0)
    returns = jnp.where(episodes > 0, decay * kept.returns + (1 - decay) * mean, kept.returns)
    met = kept.met + episodes
    own, crossed = jnp.diagonal(returns)[:, None], ~np.eye(number, dtype=bool)
    known = crossed & (jnp.min(met) > 0)

    def follow(multiplier: Array, other: Array) -> Array:
        slack = own - other - options.tolerance
        return jnp.where(known, jnp.maximum(multiplier - options.multiplier_rate * slack, 0.0), multiplier)

    partner, response = follow(kept.partner, returns), follow(kept.response, returns.T)
    table = jnp.where(crossed, -(partner + response.T), 1 + jnp.sum(partner + response, axis=1)[:, None])
    told = {
        "crossed_return": jnp.sum(returns * crossed) / (number * (number - 1)),
        "multipliers": jnp.sum(partner + response) / (2 * number * (number - 1)),
    }
    # Multipliers of constraints that cannot be met grow without end; entropy and values are to keep their share.
    table = table / jnp.maximum(jnp.max(jnp.abs(table)) / LARGEST, 1.0)
    weights = jnp.repeat(table.reshape(-1, 1), 2, axis=1)
    return Multipliers(partner=partner, response=response, returns=returns, met=met), weights, told
