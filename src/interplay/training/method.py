"""The base class of training methods: what a coordination algorithm may decide beside the one PPO.

A method is a frozen dataclass that overrides some of the functions below; every default is plain PPO. A stage of
training (`run.train_stage`) has one method. Algorithms with several stages, such as a population and then its best
response, call `run.train_stage` once for each; see `algorithms/`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray, PyTree

from interplay.games.api import Game
from interplay.training import partner_rollout
from interplay.training.actor_critic import ActorCritic, new_member
from interplay.training.config import Experiment
from interplay.training.frozen_partners import PartnerAssignment, PartnerStats, sample_partners
from interplay.training.loss import LossBatch
from interplay.training.reward_weights import RewardWeights, equal_reward_weights
from interplay.training.stage_state import RolloutWorld, RunState, TrainingSetup
from interplay.training.team_assignment import PARTNER, TeamPlan, to_roles

if TYPE_CHECKING:
    from interplay.training.collect import Finished, Rollout
    from interplay.training.update import LearningSignal, ValueEstimates

STATS_DECAY = 0.95  # of the running mean returns with each partner, per update with a finished episode

Logs = dict[str, Array]


class PartnerPlacement(NamedTuple):
    """The partners with which new environments begin."""

    assignment: PartnerAssignment
    memory: PyTree  # of the partners
    episode_state: Any = ()  # what the method carries in each environment


class JointStep(NamedTuple):
    """One step of all environments."""

    by_role: Int[Array, "env role"]  # actions
    by_seat: Int[Array, "env seat"]
    randomness: dict[str, Array]  # of `Method.draw_randomness`


class ProcessedRollout(NamedTuple):
    """What `Method.process_rollout` gives."""

    state: PyTree  # of the method
    rollout: Rollout
    logs: Logs


class TableScores(NamedTuple):
    """The episodes that ended in a rollout, by table."""

    score: Float[Array, " table"]  # summed over episodes
    episodes: Float[Array, " table"]
    partners: Int[Array, " partner_slot"]
    stats: PartnerStats  # before this rollout


@dataclass(frozen=True)
class Method:
    """PPO with the teams of a plan; subclasses override what their algorithm does differently.

    Attributes:
        plan: Who plays in which table and role.
        changes_partners: Whether partners change while training goes on, so that every run carries its own.
        can_continue: Whether files of policies hold all that is needed to continue training from them.
    """

    plan: TeamPlan
    changes_partners: ClassVar[bool] = False
    can_continue: ClassVar[bool] = True

    # Setting up a stage

    def check(self, setup: TrainingSetup) -> None:
        """Raise an InterplayError if the method cannot train with these settings."""

    def wrap_game(self, game: Game) -> Game:
        """Return the game as it is played in training; the policies are still for `game`."""
        return game

    def new_member(self, setup: TrainingSetup, key: PRNGKeyArray) -> ActorCritic:
        """Return a learner's networks with random weights."""
        return new_member(setup.game, setup.experiment.network, setup.labels, key)

    def exported_policy(self, policy: Any) -> Any:
        """Return a trained policy as its file holds it."""
        return policy

    def learner_name(self, learner: int) -> str:
        """Return the name of a learner in the files of its policies."""
        return str(learner) if learner else ""

    def reward_weights(self, game: Game, experiment: Experiment) -> RewardWeights:
        """Return what each learner of each run is rewarded for, [run, learner, ...]."""
        return equal_reward_weights(game, experiment.rewards, self.plan.learners, experiment.runs)

    def select_runs(self, runs: Sequence[int]) -> Self:
        """Return the method for some of the runs, which are trained again."""
        return self

    # The method's own state

    def init_state(self, setup: TrainingSetup, members: PyTree) -> PyTree:
        """Return the arrays that a run carries for the method from update to update."""
        return ()

    # Team assignment

    @property
    def redraws_partners(self) -> bool:
        """Whether partners are sampled again every `setup.redraw_every` updates, with new environments."""
        return len(self.plan.partner_slots) > 0

    def new_stats(self, setup: TrainingSetup, run: Array) -> PartnerStats:
        """Return the statistics of a run (counted from 0) that has not begun."""
        number = setup.partners.number if setup.partners else 0
        zeros = jnp.zeros((number, self.plan.roles), jnp.float32)
        odds = jnp.ones(number) / max(number, 1)
        return PartnerStats(returns=zeros, episodes=zeros, odds=odds, priority=jnp.float32(0.0))

    def assign_partners(self, key: PRNGKeyArray, stats: PartnerStats) -> PartnerAssignment:
        """Return who plays in the partner slots: by default every partner equally often."""
        number = stats.returns.shape[0]
        return sample_partners(self.plan, key, jnp.full(number, 1.0 / number))

    def place_partners(
        self, setup: TrainingSetup, partners: PyTree, stats: PartnerStats, keys: tuple[PRNGKeyArray, PRNGKeyArray]
    ) -> PartnerPlacement:
        """Return the partners of new environments.

        Args:
            setup: Of the stage.
            partners: Their arrays, [partner, ...].
            stats: Statistics of the run.
            keys: Of the assignment and of the memories.
        """
        if not len(self.plan.partner_slots):
            rotation = jnp.full(len(self.plan.tables), -1, jnp.int32)
            return PartnerPlacement(PartnerAssignment(jnp.zeros(0, jnp.int32), rotation), ())
        assignment = self.assign_partners(keys[0], stats)
        assert setup.partners is not None
        arrays = jax.tree.map(lambda x: x[assignment.partners], partners)
        places = self.plan.envs_per_table(setup.experiment.envs)
        memory = partner_rollout.new_memories(setup.partners, arrays, len(self.plan.partner_slots), places, keys[1])
        return PartnerPlacement(assignment, memory)

    def update_stats(
        self, setup: TrainingSetup, stats: PartnerStats, partners: Int[Array, " partner_slot"], finished: Finished
    ) -> PartnerStats:
        """Return the statistics after a rollout: running means over whole episodes that a learner played."""
        plan = self.plan
        learns = np.array([any(who != PARTNER for who in table) for table in plan.tables])
        whole = learns & (np.array(plan.start_from or (-1,) * len(plan.tables)) < 0)
        score, episodes = (whole[:, None] * plan.sum_by_table(x) for x in (finished.score, finished.episodes))
        tables = plan.partner_slots // plan.roles
        total = jnp.zeros_like(stats.returns).at[partners].add(score[tables])
        count = jnp.zeros_like(stats.returns).at[partners].add(episodes[tables])
        mean = total / jnp.maximum(count, 1.0)
        decay = jnp.where(stats.episodes > 0, STATS_DECAY, 0.0)
        returns = jnp.where(count > 0, decay * stats.returns + (1 - decay) * mean, stats.returns)
        return replace(stats, returns=returns, episodes=stats.episodes + count)

    # Playing

    def draw_randomness(self, setup: TrainingSetup, key: PRNGKeyArray, steps: int, progress: Array) -> dict[str, Array]:
        """Return random numbers [step, ...] that the method uses while playing; `progress` is from 0 to 1."""
        return {}

    def joint_actions(
        self, setup: TrainingSetup, partners: PyTree, world: RolloutWorld, actions: Array, key: PRNGKeyArray
    ) -> tuple[Any, Int[Array, "env role"]]:
        """Return the partners' memory and everyone's actions, from those of the learners [learner, slot]."""
        if not len(self.plan.partner_slots):
            return world.partner_memory, to_roles(self.plan, actions, None)
        memory, partner_actions = partner_rollout.act(setup, partners, world, key)
        return memory, to_roles(self.plan, actions, partner_actions)

    def record_step(self, setup: TrainingSetup, members: PyTree, world: RolloutWorld, step: JointStep) -> Any:
        """Return what is kept of a step in `Rollout.extra`, a tree of [learner, slot, ...]."""
        return ()

    def on_episode_end(self, world: RolloutWorld, done: Array, randomness: dict[str, Array]) -> dict[str, Any]:
        """Return fields of the world that change where an episode ended."""
        return {}

    # Learning from a rollout

    def process_rollout(
        self, setup: TrainingSetup, state: PyTree, members: PyTree, rollout: Rollout
    ) -> ProcessedRollout:
        """Return the method's state, the rollout with its own rewards added, and what is logged."""
        return ProcessedRollout(state, rollout, {})

    def table_weights(self, state: PyTree, scores: TableScores) -> tuple[Any, Float[Array, "table role"], Logs]:
        """Return the method's state, the weights of the advantages at each table, and what is logged."""
        return state, self.plan.weight_table, {}  # type: ignore[return-value] - NumPy where nothing is traced

    def advantages(self, estimates: ValueEstimates) -> LearningSignal:
        """Return advantages, and targets for the values: by default generalised advantage estimates."""
        return estimates.learning_signal()

    def regularise(
        self, loss: Array, log_prob: Array, batch: LossBatch, acted: Array, weights: RewardWeights
    ) -> tuple[Array, Logs]:
        """Return the loss of one learner, from PPO's, and what is logged of the change.

        `log_prob` are the policy's; `acted` [sequence, step] are weights of a mean over the policy's steps.
        """
        return loss, {}

    def loss_samples(self, members: PyTree, rollout: Rollout) -> PyTree:
        """Return what `extra_loss` is computed from, [minibatch, ...]."""
        return ()

    def extra_loss(self, members: PyTree, samples: Any) -> tuple[Array, Logs]:
        """Return a loss over all learners of a run together, added to PPO's, and what is logged of it."""
        return jnp.float32(0.0), {}

    def aux_update(self, members: PyTree, state: PyTree, rollout: Rollout) -> tuple[Any, Any, Logs]:
        """Train networks beside policy and value, before those: return members, state, and what is logged."""
        return members, state, {}

    # After an update

    def init_partners(self, members: PyTree, partners: PyTree) -> PyTree:
        """Return the partners' arrays at the start of a run."""
        return partners

    def update_partners(self, members: PyTree, partners: PyTree) -> PyTree:
        """Return the partners' arrays after an update of the learners, where `changes_partners`."""
        return partners

    @property
    def interval(self) -> int:
        """Updates from one `on_interval` to the next; 0: never."""
        return 0

    def on_interval(self, runs: RunState, update: int) -> tuple[RunState, dict[str, Any]]:
        """Return all runs, changed outside the compiled program, and what is logged."""
        return runs, {}
