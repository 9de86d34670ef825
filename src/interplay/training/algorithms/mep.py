"""Maximum-entropy population (Zhao et al., 2023, Maximum Entropy Population-Based Training ...).

    Stage 1: members maximise their own return in self-play and -α log π̄(a | o), π̄ the mean policy of the population
    Stage 2: a best response that plays more often with partners with whom its return is low

Members are trained side by side as the learners of one run. As in FCP each gives partners of three levels of skill.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from interplay.training.algorithms import coplay
from interplay.training.collect import Rollout
from interplay.training.config import Experiment
from interplay.training.loader import make_game, method_options
from interplay.training.loss import chosen, log_probs
from interplay.training.method import Method, ProcessedRollout
from interplay.training.run import Trained, train_stage
from interplay.training.stage_state import TrainingSetup
from interplay.training.team_assignment import TeamPlan

LEAST_PROBABILITY = 1e-5


@dataclass(frozen=True)
class MEPOptions(coplay.PopulationOptions):
    """The population and how partners are drawn from it."""

    entropy_weight: float = 0.01  # alpha: of -log of the population's mean probability
    priority: float = 0.5  # beta: partners are drawn by (rank of difficulty) ** beta; 0: alike


@dataclass(frozen=True, kw_only=True)
class MaximumEntropyPopulation(Method):
    """Stage 1: every member in self-play at a table of its own, rewarded for acting unlike the population."""

    entropy_weight: float

    def learner_name(self, learner: int) -> str:
        """Return `member0`, `member1`, ..."""
        return f"member{learner}"

    def process_rollout(
        self, setup: TrainingSetup, state: PyTree, members: PyTree, rollout: Rollout
    ) -> ProcessedRollout:
        """Add the entropy reward."""
        reward = rollout.reward + population_entropy(members, rollout, weight=self.entropy_weight)
        return ProcessedRollout(state, replace(rollout, reward=reward), {})


def population_entropy(members: PyTree, rollout: Rollout, *, weight: float) -> Float[Array, "step learner slot"]:
    """Return -weight * log of the mean probability that all members give to the action taken.

    It is for policies without memory.
    """

    def of_member(member: PyTree) -> Float[Array, "step learner slot"]:
        logits = jax.vmap(jax.vmap(jax.vmap(member.logits)))(rollout.seen)
        return jnp.exp(chosen(log_probs(logits, rollout.legal), rollout.action))

    mean = jnp.mean(jax.lax.map(of_member, members), axis=0)
    return -weight * jnp.log(jnp.maximum(mean, LEAST_PROBABILITY)) * rollout.turn


def train(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """Train both stages, an ego a run."""
    options = method_options(MEPOptions, experiment)
    return coplay.train_egos(experiment, populations(experiment, quiet=quiet), options, quiet=quiet)


def train_population(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """Train stage 1 alone, a population a run."""
    return population_stage(experiment, method_options(MEPOptions, experiment), runs=experiment.runs, quiet=quiet)


def populations(experiment: Experiment, *, stage: str = "", quiet: bool = False) -> list[coplay.Population]:
    """Train or read stage 1, and return the partners of each ego."""
    options = method_options(MEPOptions, experiment)
    stage = f"{stage}population"
    trained = coplay.load_or_train(experiment, options, population_stage, stage=stage, quiet=quiet)
    return coplay.skilled_populations(trained, experiment, options, options.priority)


def population_stage(
    experiment: Experiment, options: MEPOptions, *, stage: str = "", runs: int = 1, quiet: bool = False
) -> Trained:
    """Train populations, one a run."""
    seats, members = make_game(experiment).num_seats, options.population
    smaller = coplay.population_experiment(experiment, runs, options.population_steps * members, options.snapshots)
    smaller = replace(smaller, envs=options.population_envs * members)
    plan = TeamPlan(tuple((m,) * seats for m in range(members)))
    method = MaximumEntropyPopulation(plan, entropy_weight=options.entropy_weight)
    return train_stage(smaller, method, stage=stage, quiet=quiet)
