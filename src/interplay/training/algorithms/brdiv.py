"""Best-response diversity: BRDiv and LBRDiv.

BRDiv is of Rahman et al., 2023, Generating Teammates for Training Robust Ad Hoc Teamwork Agents via Best-Response
Diversity; LBRDiv of Rahman et al., 2024, Minimum Coverage Sets for Training Robust Ad Hoc Teamwork Agents.

A population is n pairs of a partner π_i and its response BR_i. All n² pairings are played, each at a table of its own;
R_ij is the return of π_i with BR_j. Pairs are to do well, and crossed pairs badly:

    BRDiv    max Σ_i R_ii + α Σ_{i≠j} [(R_ii - R_ij) + (R_ii - R_ji)]
    LBRDiv   max Σ_i R_ii  so that  R_ii ≥ R_ij + τ  and  R_ii ≥ R_ji + τ  for all i ≠ j

In LBRDiv every constraint has a multiplier that rises while the constraint does not hold. Returns are weighted through
the advantages at each table, and value networks read which table it is. Slack is measured by finished episodes and not
by values. The ego is a best response to the partners, in a second stage.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from interplay.errors import InterplayError
from interplay.games.records import record
from interplay.training.algorithms.br import best_response
from interplay.training.algorithms.coplay import finite_members, population_experiment
from interplay.training.config import Experiment
from interplay.training.loader import make_game, method_options
from interplay.training.method import Logs, Method, TableScores
from interplay.training.run import Trained, train_stage
from interplay.training.saved_stages import load_stage
from interplay.training.stage_state import TrainingSetup
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
    """Options of BRDiv."""

    alpha: float = 0.005  # weight of what crossed pairs lose; too large, and partners learn to sabotage


@dataclass(frozen=True)
class LagrangeOptions(BRDivPopulation):
    """Options of LBRDiv."""

    tolerance: float = 10.0  # tau: by how much a pair is to be better than a crossed one, in points
    multipliers: float = 0.25  # to begin with: from 0, pairs settle on one way before they are told apart
    multiplier_rate: float = 0.01  # of the multipliers, per update and point of slack
    decay: float = 0.9  # of the running means of returns from which slack is taken, per update


@dataclass(frozen=True, kw_only=True)
class BRDiv(Method):
    """The population: learners 0 ... n-1 are the partners, n ... 2n-1 their responses.

    The logged return is that of true pairs.
    """

    number: int  # of pairs

    @classmethod
    def create(cls, experiment: Experiment, options: BRDivOptions) -> BRDiv:
        """Return BRDiv with its weights: R_ii is in 2 (n - 1) differences beside itself, R_ij is taken off in two."""
        number = options.population
        true_pair, crossed = 1 + 2 * options.alpha * (number - 1), -2 * options.alpha
        weights = [true_pair if i == j else crossed for i in range(number) for j in range(number)]
        plan = pairings(experiment, number)
        return cls(replace(plan, weights=tuple((w, w) for w in weights)), number=number)

    def learner_name(self, learner: int) -> str:
        """Return `partner0`, ..., `response0`, ..."""
        kind = "partner" if learner < self.number else "response"
        return f"{kind}{learner % self.number}"


@record
class Multipliers:
    """The state of LBRDiv."""

    partner: Float[Array, "n n"]  # of R_ii ≥ R_ij + τ; the diagonals are not used
    response: Float[Array, "n n"]  # of R_ii ≥ R_ji + τ
    returns: Float[Array, "n n"]  # running means of R_ij
    met: Float[Array, "n n"]  # episodes of each pairing


@dataclass(frozen=True, kw_only=True)
class LBRDiv(BRDiv):
    """BRDiv with a Lagrange multiplier for each constraint."""

    options: LagrangeOptions
    can_continue = False

    @classmethod
    def create(cls, experiment: Experiment, options: LagrangeOptions) -> LBRDiv:  # type: ignore[override]
        """Return LBRDiv."""
        return cls(pairings(experiment, options.population), number=options.population, options=options)

    def init_state(self, setup: TrainingSetup, members: PyTree) -> Multipliers:
        """Return the multipliers to begin with."""
        zeros = jnp.zeros((self.number, self.number), jnp.float32)
        crossed = jnp.where(np.eye(self.number, dtype=bool), 0.0, jnp.float32(self.options.multipliers))
        return Multipliers(partner=crossed, response=crossed, returns=zeros, met=zeros)

    def table_weights(self, state: Multipliers, scores: TableScores) -> tuple[Multipliers, Array, Logs]:
        """Move the multipliers by the slack of their constraints, and return the weights of the pairings."""
        number, options = self.number, self.options
        score, episodes = (x.reshape(number, number) for x in (scores.score, scores.episodes))
        mean = score / jnp.maximum(episodes, 1.0)
        decay = jnp.where(state.met > 0, options.decay, 0.0)
        returns = jnp.where(episodes > 0, decay * state.returns + (1 - decay) * mean, state.returns)
        met = state.met + episodes
        own, crossed = jnp.diagonal(returns)[:, None], ~np.eye(number, dtype=bool)
        known = crossed & (jnp.min(met) > 0)

        def move(multiplier: Array, other: Array) -> Array:
            slack = own - other - options.tolerance
            return jnp.where(known, jnp.maximum(multiplier - options.multiplier_rate * slack, 0.0), multiplier)

        partner, response = move(state.partner, returns), move(state.response, returns.T)
        table = jnp.where(crossed, -(partner + response.T), 1 + jnp.sum(partner + response, axis=1)[:, None])
        logs = {
            "crossed_return": jnp.sum(returns * crossed) / (number * (number - 1)),
            "multipliers": jnp.sum(partner + response) / (2 * number * (number - 1)),
        }
        # Multipliers of constraints that cannot be met grow without end; entropy and values are to keep their share.
        table = table / jnp.maximum(jnp.max(jnp.abs(table)) / LARGEST, 1.0)
        weights = jnp.repeat(table.reshape(-1, 1), 2, axis=1)
        return Multipliers(partner=partner, response=response, returns=returns, met=met), weights, logs


def pairings(experiment: Experiment, number: int) -> TeamPlan:
    """Return the tables: table i * n + j is π_i with BR_j.

    Raises:
        InterplayError: If the game is not for two.
    """
    game = make_game(experiment)
    if game.num_seats != 2:
        raise InterplayError(f"{game.id} has {game.num_seats} seats; a partner and its response are two")
    pairs = [(i, j) for i in range(number) for j in range(number)]
    return TeamPlan(
        tuple((i, number + j) for i, j in pairs),
        rotate=True,
        table_kinds=tuple(range(number**2)),
        scored=tuple(i == j for i, j in pairs),
    )


def train(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """Train BRDiv's population, then a best response to its partners."""
    return _with_ego(experiment, method_options(BRDivOptions, experiment), quiet)


def train_lagrange(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """Train LBRDiv's population, then a best response to its partners."""
    return _with_ego(experiment, method_options(LagrangeOptions, experiment), quiet)


def train_population(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """Train BRDiv's population alone, one a run."""
    return population_stage(experiment, method_options(BRDivOptions, experiment), runs=experiment.runs, quiet=quiet)


def train_lagrange_population(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """Train LBRDiv's population alone, one a run."""
    return population_stage(experiment, method_options(LagrangeOptions, experiment), runs=experiment.runs, quiet=quiet)


def _with_ego(experiment: Experiment, options: BRDivOptions | LagrangeOptions, quiet: bool) -> Trained:
    if options.population_from is not None:
        population = load_stage(options.population_from, experiment)
    else:
        population = population_stage(experiment, options, stage="population", quiet=quiet)
    partners = population.returns().shape[1] // 2  # and as many responses
    members = finite_members(population)
    agents = [population.agent(run, who) for run, who in members if who < partners or options.responses]
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
    """Train populations, one a run, with all pairings at once."""
    lagrange = isinstance(options, LagrangeOptions)
    method = LBRDiv.create(experiment, options) if lagrange else BRDiv.create(experiment, options)
    smaller = population_experiment(experiment, runs, options.population_steps, 0)
    smaller = with_envs(smaller, options.population_envs, options.population**2)
    return train_stage(with_table_labels(smaller), method, stage=stage, quiet=quiet)


def with_table_labels(experiment: Experiment) -> Experiment:
    """Return the experiment with values that read the kind of their table.

    Without it they would average returns that are maximised and returns that are minimised.

    Raises:
        InterplayError: If the value shares the policy's trunk.
    """
    if experiment.network.shared_trunk:
        raise InterplayError("network.shared_trunk: values have to know the table, so they need a network of their own")
    return replace(experiment, network=replace(experiment.network, critic_knows_partner=True))


def with_envs(experiment: Experiment, envs: int, tables: int) -> Experiment:
    """Return the experiment with so many environments (0: as many as it has), rounded up to whole tables."""
    return replace(experiment, envs=-(-(envs or experiment.envs) // tables) * tables)
