"""What stays the same through a stage of training, and what a run carries from update to update."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, PyTree

from interplay.errors import InterplayError
from interplay.games.api import Game, is_jax
from interplay.games.records import is_key, record
from interplay.training import information_rewards
from interplay.training.advantages import Normaliser
from interplay.training.behaviour_rewards import EventRecorder, event_recorder_for
from interplay.training.config import Experiment
from interplay.training.frozen_partners import FrozenPartners, PartnerStats
from interplay.training.reward_weights import event_weights
from interplay.training.team_assignment import TeamPlan

if TYPE_CHECKING:
    from interplay.training.method import Method


@dataclass(frozen=True)
class TrainingSetup:
    """The constants of a stage: nothing here is traced."""

    experiment: Experiment
    game: Game
    method: Method
    partners: FrozenPartners | None
    event_recorder: EventRecorder | None
    pays_events: bool  # whether any event of the game has a weight

    @classmethod
    def create(
        cls,
        experiment: Experiment,
        game: Game,
        method: Method,
        partners: FrozenPartners | None = None,
        pays_events: bool = True,
    ) -> TrainingSetup:
        """Return the setup of a stage in `game`, which is `method.wrap_game` of the experiment's.

        Raises:
            InterplayError: If anything does not fit together, before anything is compiled.
        """
        recorder = event_recorder_for(game, experiment.rewards)
        setup = cls(experiment, game, method, partners, recorder, pays_events)
        setup._check()
        return setup

    def _check(self) -> None:
        experiment, plan, ppo = self.experiment, self.plan, self.experiment.ppo
        if not is_jax(self.game):
            raise InterplayError(f"{self.game.id} is not written in JAX, so training cannot compile it")
        if plan.roles != self.game.num_seats:
            raise InterplayError(
                f"the team plan has {plan.roles} roles; {self.game.id} has {self.game.num_seats} seats"
            )
        if len(plan.partner_slots) and self.partners is None:
            raise InterplayError("the team plan has places for frozen partners, but none were given")
        if self.method.changes_partners and (self.partners is None or not self.partners.per_run):
            raise InterplayError("partners that change in training belong to a run: give each run its own")
        plan.envs_per_table(experiment.envs)
        self.method.check(self)
        information_rewards.check(plan, experiment.rewards.entropies)
        event_weights(self.game, experiment.rewards.shaped_events)
        if experiment.network.own_turns and self.memory_seats == 1:
            raise InterplayError(
                "network.own_turns: memory of own turns is trained where only the seat to move is asked: set "
                "algorithm.options.by_turns to true, in a method that has it"
            )
        if experiment.rollout % self.chunk:
            raise InterplayError(f"ppo.chunk: {self.chunk} does not divide the rollout of {experiment.rollout} steps")
        if self.sequences % (ppo.minibatches * ppo.microbatches):
            parts = f"{ppo.minibatches} minibatches x {ppo.microbatches} microbatches"
            raise InterplayError(f"ppo: {self.sequences} sequences of an update cannot be cut into {parts}")

    @property
    def plan(self) -> TeamPlan:
        """The teams of the method."""
        return self.method.plan

    @property
    def slots(self) -> int:
        """Slots of a learner: its places times the environments at each."""
        return self.plan.slots.shape[1] * self.plan.envs_per_table(self.experiment.envs)

    @property
    def memory_seats(self) -> int:
        """Memories of a slot: one, or one for each seat that it plays for."""
        return getattr(self.game, "memory_seats", 1) if self.experiment.network.recurrent else 1

    @property
    def values_use_policy_memory(self) -> bool:
        """Whether values are computed from the policies' memory, which the rollout holds."""
        return bool(self.experiment.network.recurrent and self.experiment.network.shared_trunk)

    @property
    def chunk(self) -> int:
        """Steps of one training sequence."""
        chunk = self.experiment.ppo.chunk
        return chunk or (self.experiment.rollout if self.experiment.network.recurrent else 1)

    @property
    def sequences(self) -> int:
        """Training sequences of a learner in one update."""
        return self.slots * (self.experiment.rollout // self.chunk)

    @property
    def labels(self) -> int:
        """Size of the one-hot label that a value network may read: partners, and kinds of tables."""
        return (self.partners.number if self.partners else 0) + self.plan.num_kinds

    @property
    def redraw_every(self) -> int:
        """Updates after which partners are sampled again: the first after an episode's length."""
        return -(-self.game.horizon // self.experiment.rollout)

    @property
    def blocks(self) -> int:
        """Parts into which the steps of a rollout are cut, so that each needs the memory of a minibatch."""
        return math.gcd(self.experiment.rollout, self.experiment.ppo.minibatches * self.experiment.ppo.microbatches)

    @property
    def cuts(self) -> int:
        """How often the horizon can cut an environment within a rollout."""
        return -(-self.experiment.rollout // self.game.horizon)

    def per_slot(self, x: Any) -> Float[Array, "learner slot"]:
        """Return the entries of [table, role] that belong to each learner's slots."""
        places = jnp.asarray(x).reshape(-1)[self.plan.slots]
        return jnp.repeat(places, self.slots // places.shape[1], axis=1)


@record
class RolloutWorld:
    """The environments of a run, between two steps."""

    state: PyTree  # [env, ...]
    event_record: Any  # [env, ...] of the event recorder; () without one
    start: Bool[Array, " env"]  # an episode begins here
    rotation: Int[Array, " env"]
    score: Float[Array, " env"]  # points so far, of all seats
    memory: PyTree  # [learner, slot, memory seat, memory] of the policies
    value_memory: Any  # [learner, slot, memory] of the values
    partners: Int[Array, " partner_slot"]  # who plays in the partner slots
    table_rotation: Int[Array, " table"]  # -1: random in every episode
    partner_memory: Any  # [partner slot, environment of the table, ...]
    episode_state: Any = ()  # what the method carries in each environment
    kept_states: PyTree = ()  # (state, rotation) [env, ...] at a random time of the last rollout, for `plan.start_from`


@record
class RunState:
    """Everything that a run carries from update to update; a checkpoint holds all of it."""

    key: PRNGKeyArray
    members: PyTree  # [learner, ...]
    optimiser: PyTree  # [learner, ...]
    normaliser: Normaliser
    world: RolloutWorld
    stats: PartnerStats
    partners: PyTree  # [partner, ...] where the method changes them; else ()
    method_state: Any  # what the method carries; else ()


def where(on: Bool[Array, " env"], yes: PyTree, no: PyTree) -> PyTree:
    """Return a tree with `yes` in the environments that are on and `no` in the others; leaves are [env, ...]."""

    def leaf(a: Array, b: Array) -> Array:
        if is_key(a):
            return jax.random.wrap_key_data(leaf(jax.random.key_data(a), jax.random.key_data(b)))
        return jnp.where(on.reshape(on.shape + (1,) * (a.ndim - on.ndim)), a, b)

    return jax.tree.map(leaf, yes, no)
