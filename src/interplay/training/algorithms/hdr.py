"""Human-data-regularised IPPO (HDR-IPPO; Dizdarević et al., 2025, Ad-Hoc Human-AI Coordination Challenge).

    max (1 - λ) J(π, π) - λ E KL(clone || π), begun with π = clone

Self-play that begins with a clone of people and stays near it: the frozen clone, the anchor, is evaluated along the
same games. The value is a head of its own on the policy's memory and is learnt from scratch. Runs may differ in λ, so
that an ablation is one call. A clone that remembers its own turns alone is trained by turns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from interplay.agents import neural
from interplay.agents.api import Agent
from interplay.agents.networks import Core
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.games.records import record
from interplay.training.actor_critic import ActorCritic, policy_shape, value_head
from interplay.training.algorithms.br import load_partners
from interplay.training.algorithms.sp import SelfPlay
from interplay.training.collect import Rollout
from interplay.training.config import Experiment, Network
from interplay.training.loader import make_game, method_options
from interplay.training.loss import LossBatch, log_probs
from interplay.training.method import Logs, ProcessedRollout
from interplay.training.reward_weights import RewardWeights
from interplay.training.run import Trained, train_stage
from interplay.training.stage_state import TrainingSetup
from interplay.training.team_assignment import spread


@dataclass(frozen=True)
class HDROptions:
    """The clone, and the weight of its divergence."""

    clone: str  # checkpoint of a clone, or the folder of a run of `bc`: then the one that does best with itself
    hold: tuple[float, ...] = (0.25,)  # λ: run r has the r-th of these, and begins anew when they are used up

    def __post_init__(self) -> None:
        if not self.hold or not all(0 <= weight <= 1 for weight in self.hold):
            raise InterplayError(f"algorithm.options.hold: {list(self.hold)}; one or more numbers from 0 to 1")


@record
class AnchorState:
    """The frozen clone of a run."""

    anchor_policy: Any  # networks [learner, ...]
    anchor_memory: Float[Array, "learner slot seat memory"]


@dataclass(frozen=True, kw_only=True)
class HumanDataRegularised(SelfPlay):
    """Self-play with a loss of (1 - λ) of PPO's and λ of the divergence from the policy that a run begins with."""

    anchor_weights: tuple[float, ...]  # [run] λ

    def reward_weights(self, game: Game, experiment: Experiment) -> RewardWeights:
        """Return the weights of the configuration, with each run's λ."""
        weights = super().reward_weights(game, experiment)
        return replace(weights, anchor=jnp.asarray(np.array(self.anchor_weights, np.float32)[:, None]))

    def init_state(self, setup: TrainingSetup, members: PyTree) -> AnchorState:
        """Keep the first policies. They are copies, since a chunk of updates donates the members' arrays."""
        size = jax.tree.map(lambda x: x[0], members).start().policy.shape
        memory = jnp.zeros((self.plan.learners, setup.slots, setup.memory_seats, *size), jnp.float32)
        return AnchorState(anchor_policy=jax.tree.map(jnp.copy, members.policy), anchor_memory=memory)

    def process_rollout(
        self, setup: TrainingSetup, state: PyTree, members: PyTree, rollout: Rollout
    ) -> ProcessedRollout:
        """Add the anchor's log-probabilities to the rollout."""
        memory, log_prob = anchor_log_probs(setup, state, rollout)
        state = replace(state, anchor_memory=memory)
        return ProcessedRollout(state, replace(rollout, extra=log_prob), {})

    def regularise(
        self, loss: Array, log_prob: Array, batch: LossBatch, acted: Array, weights: RewardWeights
    ) -> tuple[Array, Logs]:
        """Return (1 - λ) of PPO's loss and λ of KL(anchor || policy)."""
        divergence = jnp.sum(kl_divergence(batch.extra, log_prob, batch.legal) * acted)
        return (1 - weights.anchor) * loss + weights.anchor * divergence, {"anchor_kl": divergence}


def anchor_log_probs(
    setup: TrainingSetup, state: AnchorState, rollout: Rollout
) -> tuple[Float[Array, "learner slot seat memory"], Float[Array, "step learner slot action"]]:
    """Return the anchors' memory after a rollout, and their log-probabilities in each step of it.

    The memory goes on from rollout to rollout and is reset only where an episode begins, so that in the middle of a
    game it is the one of a policy that has followed the game from its start.
    """
    steps, blocks = setup.experiment.rollout, setup.blocks
    start = jax.vmap(lambda x: spread(setup.plan, x))(rollout.start)
    seat = jnp.zeros(start.shape, jnp.int8) if rollout.memory_seat is None else rollout.memory_seat
    whole = (rollout.seen, start, rollout.legal, seat)
    parts = jax.tree.map(lambda x: x.reshape(blocks, steps // blocks, *x.shape[1:]), whole)

    def of_slot(anchor: Any, memory: Array, seen: Array, start: Array, legal: Array, seat: Array) -> tuple:
        """Return [seat, memory] and [step, action]: each step uses the memory of its seat."""

        def turn(memory: Array, now: tuple[Array, Array, Array]) -> tuple[Array, Array]:
            features, start, seat = now
            memory = jnp.where(start, 0.0, memory)
            mine = (jnp.arange(setup.memory_seats) == seat)[:, None]
            own, out = anchor.recall(jnp.sum(jnp.where(mine, memory, 0.0), axis=0), features)
            return jnp.where(mine, own, memory), out

        memory, features = jax.lax.scan(turn, memory, (jax.vmap(anchor.trunk)(seen), start, seat))
        return memory, log_probs(anchor.outputs(features, seen), legal)

    of_slots = jax.vmap(of_slot, in_axes=(None, 0, 1, 1, 1, 1), out_axes=(0, 1))
    of_learners = jax.vmap(of_slots, in_axes=(0, 0, 1, 1, 1, 1), out_axes=(0, 1))

    def block(memory: Array, part: tuple[Array, ...]) -> tuple[Array, Array]:
        return of_learners(state.anchor_policy, memory, *part)

    memory, log_prob = jax.lax.scan(block, state.anchor_memory, parts)
    return memory, log_prob.reshape(steps, *log_prob.shape[2:])


def kl_divergence(anchor: Float[Array, "... action"], log_prob: Float[Array, "... action"], legal: Array) -> Array:
    """Return KL(anchor || policy) from log-probabilities."""
    return jnp.sum(jnp.where(legal, jnp.exp(anchor) * (anchor - log_prob), 0.0), axis=-1)


def train(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """Train policies near the clone, one a run."""
    options = method_options(HDROptions, experiment)
    return train_near(experiment, best_clone(options.clone), options.hold, quiet=quiet)


def best_clone(name: str) -> Agent:
    """Return the agent of a checkpoint; of a folder of clones, the one with the best return with itself."""
    return max(load_partners(name), key=lambda a: float(a.config.get("return") or 0.0))


def train_near(experiment: Experiment, clone: Agent, hold: tuple[float, ...], *, quiet: bool = False) -> Trained:
    """Train runs that begin with the clone.

    Args:
        experiment: The settings. Of `network` only the value's layers and the precision count; the rest is the clone's.
        clone: A policy with a network.
        hold: λ of each run, repeated as often as needed.
        quiet: No progress on standard error.

    Raises:
        InterplayError: If the clone has no network of its own.
    """
    game = make_game(experiment)
    policy = clone.policy.bind(game) if isinstance(clone.policy, neural.NeuralPolicy) else clone.policy
    if not isinstance(policy, neural.NeuralPolicy) or not isinstance(policy.core, Core):
        raise InterplayError(f"algorithm.options.clone: {clone.name!r} is no policy with a network of its own")
    network = network_like(policy, experiment.network)
    experiment = replace(experiment, network=network)
    shape = policy_shape(game, network)
    skeleton = jax.eval_shape(lambda: Core(shape, 0.01, jax.random.key(0)))
    core = jax.tree.unflatten(jax.tree.structure(skeleton), [jnp.asarray(x) for x in jax.tree.leaves(policy.core)])
    seed = jax.random.key(experiment.seed)

    def member(run: Any) -> ActorCritic:
        return ActorCritic(core, value_head(shape, network, jax.random.fold_in(seed, run)))

    numbers = jnp.arange(experiment.runs) + experiment.first_run
    members = jax.tree.map(lambda x: x[:, None], jax.vmap(member)(numbers))
    weights = tuple(hold[int(n) % len(hold)] for n in numbers)
    method = HumanDataRegularised.create(experiment, by_turns=network.own_turns, anchor_weights=weights)
    notes = [{"hold": float(weight), "clone": clone.name} for weight in weights]
    return train_stage(experiment, method, members=members, notes=notes, quiet=quiet)


def network_like(clone: neural.NeuralPolicy, wanted: Network) -> Network:
    """Return the clone's network, with the value as a head on its memory."""
    shape = clone.core.shape
    same = {
        name: getattr(shape, name)
        for name in (
            "trunk", "channels", "widths", "activation", "layer_norm", "norm_first", "recurrent", "cell", "depth",
            "decoder", "own_turns",
        )
    }  # fmt: skip
    return replace(
        wanted,
        encoding=clone.reads,
        shared_trunk=True,
        critic="own",
        critic_knows_partner=False,
        critic_widths=wanted.critic_widths or (512,),
        **same,
    )
