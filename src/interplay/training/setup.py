"""What stays the same through a stage of training, and what a run carries from update to update."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from interplay.errors import InterplayError
from interplay.games.api import Game, is_jax
from interplay.games.records import record
from interplay.training import entropy_terms, partner_substitution
from interplay.training.actor_critic import Memories
from interplay.training.advantages import Normaliser
from interplay.training.config import Experiment
from interplay.training.event_rewards import Witness, witness_of
from interplay.training.method import Guests, Method, Stats, event_weights
from interplay.training.team_assignment import TeamPlan


@dataclass(frozen=True)
class TrainingSetup:
    """The constants of a stage: nothing here is traced."""

    experiment: Experiment
    game: Game
    scheme: Method
    guests: Guests | None
    witness: Witness | None
    prices: bool  # whether any event has a price

    @classmethod
    def of(
        cls, experiment: Experiment, game: Game, scheme: Method, guests: Guests | None = None, prices: bool = True
    ) -> TrainingSetup:
        setting = cls(experiment, game, scheme, guests, witness_of(game, experiment.rewards), prices)
        setting.check()
        return setting

    def check(self) -> None:
        """Everything that can be wrong, before anything is compiled."""
        experiment, plan, ppo = self.experiment, self.plan, self.experiment.ppo
        if not is_jax(self.game):
            raise InterplayError(f"{self.game.id} is not written in JAX, so training cannot compile it")
        if plan.roles != self.game.num_seats:
            raise InterplayError(
                f"the seating plan has {plan.roles} roles; {self.game.id} has {self.game.num_seats} seats"
            )
        if len(plan.guests) and self.guests is None:
            raise InterplayError("the seating plan has places for frozen partners, but none were given")
        if self.scheme.moving and (self.guests is None or not self.guests.per_run):
            raise InterplayError("guests that change in training belong to a run: give each run its own")
        per_table = plan.per_table(experiment.envs)
        if self.scheme.stand_ins is not None:
            partner_substitution.check(plan, self.guests, experiment.envs)
        if self.scheme.redraw not in ("updates", "episode"):
            raise InterplayError(f"redraw: {self.scheme.redraw!r}; updates or episode")
        if self.scheme.redraw == "episode" and (per_table != 1 or experiment.network.critic_knows_partner):
            raise InterplayError(
                f"partners can change with every episode only at tables of one environment (here {per_table}), and "
                f"values cannot be told who they are: leave network.critic_knows_partner at false"
            )
        rewards = experiment.rewards
        entropy_terms.check(plan, rewards.entropies)
        if rewards.entropies and self.scheme.stand_ins is not None:
            raise InterplayError("rewards.entropies: they are of one learner that plays with itself, without stand-ins")
        extra = rewards.entropies or rewards.conduct or rewards.events or rewards.shaping != ((0.0, 0.0),)
        if self.scheme.imagine is not None and extra:
            raise InterplayError("rewards: imagined steps are paid by the game's points alone; leave the rest out")
        if self.scheme.imagine is not None and (experiment.network.recurrent or experiment.network.critic != "own"):
            raise InterplayError("what is imagined is judged by what one seat sees at one time: no memory, critic own")
        event_weights(self.game, experiment.rewards.shaped_events)
        if experiment.network.own_turns and self.minds == 1:
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
        return self.scheme.plan

    @property
    def slots(self) -> int:
        """Slots of a learner: its places times the environments at each."""
        return self.plan.slots.shape[1] * self.plan.per_table(self.experiment.envs)

    @property
    def minds(self) -> int:
        """Memories of a slot: one, or one for each seat that it plays for."""
        return getattr(self.game, "minds", 1) if self.experiment.network.recurrent else 1

    @property
    def recalls(self) -> bool:
        """Whether values rest on the policies' memory, which play has kept."""
        return bool(self.experiment.network.recurrent and self.experiment.network.shared_trunk)

    @property
    def chunk(self) -> int:
        """Steps of one training sequence."""
        given = self.experiment.ppo.chunk
        return given or (self.experiment.rollout if self.experiment.network.recurrent else 1)

    @property
    def sequences(self) -> int:
        """Training sequences of a learner in one update."""
        return self.slots * (self.experiment.rollout // self.chunk)

    @property
    def labels(self) -> int:
        """How many numbers a value network may be told: of guests, and of kinds of tables."""
        return (self.guests.number if self.guests else 0) + self.plan.kinds

    @property
    def redraw_every(self) -> int:
        """Updates after which partners are drawn anew: the first after an episode's length."""
        return -(-self.game.horizon // self.experiment.rollout)

    @property
    def cuts(self) -> int:
        """How often the horizon can cut an environment within a rollout."""
        return -(-self.experiment.rollout // self.game.horizon)


@record
class RolloutWorld:
    """The environments of a run, between two steps."""

    state: Any  # [env, ...]
    note: Any  # [env, ...] of the witness; () without one
    start: Bool[Array, " env"]  # an episode begins here
    rotation: Int[Array, " env"]
    score: Float[Array, " env"]  # points so far, of all seats
    memory: Any  # [learner, slot, mind, memory] of the policies
    value_memory: Any  # [learner, slot, memory] of the values
    guests: Int[Array, " guest_slot"]  # who sits in the guests' places
    table_rotation: Int[Array, " table"]  # -1: drawn anew in every episode
    guest_memory: Any  # [guest slot, place at the table, ...]
    away: Any = ()  # [env, role] where a stand-in sits in this episode
    anchor_memory: Any = ()  # [learner, slot, mind, memory] of the policies that hold the members
    pool: Any = ()  # (state, rotation) [env, ...] at a random time of the last rollout, where the scheme has origins


@record
class RunState:
    """Everything that a run carries from update to update: kept whole, it can go on as if never stopped."""

    key: Any
    members: Any  # [learner, ...]
    optimiser: Any  # [learner, ...]
    normaliser: Normaliser
    world: RolloutWorld
    stats: Stats
    guests: Any  # [guest, ...] where the scheme changes them; else ()
    notebook: Any  # what the scheme carries; else ()
    anchor: Any = ()  # [learner, ...] the policies near which an anchored scheme holds the members


def memories_of(world: RolloutWorld) -> Memories:
    return Memories(world.memory, world.value_memory)


def where(on: Bool[Array, " env"], yes: Any, no: Any) -> Any:
    """`yes` in the environments that are on, `no` in the others; any tree of [env, ...]."""

    def leaf(a: Array, b: Array) -> Array:
        if jnp.issubdtype(a.dtype, jax.dtypes.prng_key):
            return jax.random.wrap_key_data(leaf(jax.random.key_data(a), jax.random.key_data(b)))
        return jnp.where(on.reshape(on.shape + (1,) * (a.ndim - on.ndim)), a, b)

    return jax.tree_util.tree_map(leaf, yes, no)
