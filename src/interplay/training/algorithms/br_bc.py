"""Best response to behaviour clones of people (BR-BC; PPO_BC of Carroll et al., 2019, On the Utility of Learning ...).

    max (1 - p) J(π, π) + p J(π, BC), p rising from 0 to 1

The learner plays all seats at first, and ever more games with a clone that does not learn. At the start of each game
every seat but one is the clone's with probability p, so with three players there are games with no clone, with one and
with two. The clone samples its actions. Only the learner's seats are learnt from, and advantages are normalised over
these alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, PyTree

from interplay.errors import InterplayError
from interplay.training import schedule
from interplay.training.algorithms.br import load_partners
from interplay.training.config import Experiment
from interplay.training.frozen_partners import FrozenPartners, PartnerStats
from interplay.training.loader import make_game, method_options
from interplay.training.method import JointStep, Method, PartnerPlacement
from interplay.training.partner_rollout import act_in_groups, new_memories
from interplay.training.run import Trained, train_stage
from interplay.training.schedule import Schedule
from interplay.training.stage_state import RolloutWorld, TrainingSetup
from interplay.training.team_assignment import TeamPlan, to_learners, to_roles
from interplay.training.update import LearningSignal, ValueEstimates

FIXED = 1  # role 0 is always the learner's


@dataclass(frozen=True)
class BRBCOptions:
    """Who the clones are, and how often they play."""

    partners: tuple[str, ...]  # checkpoints, or folders of training runs; each is met in as many environments
    odds: Schedule = ((0.0, 0.0), (0.1, 0.0), (0.6, 1.0))  # that a seat is a clone's, by the share of the budget

    def __post_init__(self) -> None:
        if any(not 0 <= value <= 1 for _, value in self.odds):
            raise InterplayError(f"algorithm.options.odds: {self.odds}; odds are from 0 to 1")


@dataclass(frozen=True, kw_only=True)
class BestResponseToClones(Method):
    """Self-play in which frozen partners take the learner's place for whole episodes.

    The environments are split evenly among the partners, so that no weights are gathered environment by environment.
    Whether a partner plays a role in this episode, [env, role], is the method's state of an episode.
    """

    odds: Schedule  # that a partner plays a role other than the first, by the share of the budget

    def check(self, setup: TrainingSetup) -> None:
        """Check that one learner fills a single table, and that the partners share the environments equally."""
        plan, envs = self.plan, setup.experiment.envs
        if not plan.single_learner or not plan.rotate or len(plan.tables) != 1:
            raise InterplayError("clones take places of one learner that fills a single table and takes turns in seats")
        if setup.partners is None:
            raise InterplayError("no frozen partners were given to take the learner's places")
        if envs % setup.partners.number:
            raise InterplayError(f"envs: {envs} cannot be shared equally among {setup.partners.number} clones")
        if setup.experiment.rewards.entropies:
            raise InterplayError("rewards.entropies: they are of one learner that plays with itself, without clones")

    def draw(self, progress: Any, number: Float[Array, "*env role"]) -> Bool[Array, "*env role"]:
        """Return the roles that partners play, from numbers between 0 and 1."""
        return (number < schedule.at(self.odds, progress)) & (jnp.arange(number.shape[-1]) >= FIXED)

    def place_partners(
        self, setup: TrainingSetup, partners: PyTree, stats: PartnerStats, keys: tuple[PRNGKeyArray, PRNGKeyArray]
    ) -> PartnerPlacement:
        """Draw the roles that partners play in the first episodes."""
        assert setup.partners is not None
        envs, roles = setup.experiment.envs, self.plan.roles
        places = envs // setup.partners.number * (roles - FIXED)
        return (
            super()
            .place_partners(setup, partners, stats, keys)
            ._replace(
                memory=new_memories(setup.partners, partners, setup.partners.number, places, keys[1]),
                episode_state=self.draw(0.0, jax.random.uniform(keys[0], (envs, roles))),
            )
        )

    def draw_randomness(self, setup: TrainingSetup, key: PRNGKeyArray, steps: int, progress: Array) -> dict[str, Array]:
        """Draw the roles that partners play in the episodes that may begin at each step."""
        shape = (steps, setup.experiment.envs, self.plan.roles)
        return {"substituted": self.draw(progress, jax.random.uniform(jax.random.fold_in(key, 2), shape))}

    def on_episode_end(self, world: RolloutWorld, done: Array, randomness: dict[str, Array]) -> dict[str, Any]:
        """Replace the roles that partners play where an episode ended."""
        return {"episode_state": jnp.where(done[:, None], randomness["substituted"], world.episode_state)}

    def joint_actions(
        self, setup: TrainingSetup, partners: PyTree, world: RolloutWorld, actions: Array, key: PRNGKeyArray
    ) -> tuple[Any, Int[Array, "env role"]]:
        """Return the partners' actions in the roles that they play, and the learner's in the others."""
        assert setup.partners is not None
        number, others = setup.partners.number, self.plan.roles - FIXED

        def group(x: Array) -> Array:
            return x[:, FIXED:].reshape(number, x.shape[0] // number * others, *x.shape[2:])

        memory, action = act_in_groups(setup, partners, world, group, key)
        action = jnp.pad(action.reshape(-1, others), ((0, 0), (FIXED, 0)))
        return memory, jnp.where(world.episode_state, action, to_roles(self.plan, actions, None))

    def record_step(self, setup: TrainingSetup, members: PyTree, world: RolloutWorld, step: JointStep) -> Array:
        """Keep where a partner played."""
        return to_learners(self.plan, world.episode_state)

    def advantages(self, estimates: ValueEstimates) -> LearningSignal:
        """Leave out the steps of partners."""
        signal = super().advantages(estimates)
        return signal._replace(counted=signal.counted * ~estimates.rollout.extra)


def train(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """Train best responses, one a run."""
    options = method_options(BRBCOptions, experiment)
    game = make_game(experiment)
    agents = [a for name in options.partners for a in load_partners(name)]
    method = BestResponseToClones(TeamPlan(((0,) * game.num_seats,), rotate=True), odds=options.odds)
    notes = [{"partners": [a.name for a in agents]}] * experiment.runs
    partners = FrozenPartners.from_agents(game, agents)
    return train_stage(experiment, method, partners=partners, notes=notes, quiet=quiet)
