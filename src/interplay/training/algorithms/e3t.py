"""E3T (Yan et al., 2023, An Efficient End-to-End Training Approach for Zero-Shot Human-AI Coordination).

    max J(π, (1 - ε) π' + ε uniform), where π' follows π

The partner is a mixture: with probability epsilon a random legal action, else a running mean of the ego's own weights.
Only the ego learns, and takes every seat in turn. With `model`, the ego reads the odds of its partner's next action by
a network that is trained on the partner's actions; in their place the partner reads random odds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, PRNGKeyArray, PyTree

from interplay.agents.api import Info, Memory, Observation, Policy
from interplay.agents.basic import Noisy, masked
from interplay.agents.networks import Core
from interplay.agents.neural import NeuralPolicy
from interplay.agents.partner_conditioned import VIEW, PartnerConditionedNetwork, PartnerModel
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.training.actor_critic import ActorCritic, new_member
from interplay.training.collect import Rollout
from interplay.training.config import Experiment
from interplay.training.frozen_partners import FrozenPartners
from interplay.training.loader import make_game, method_options
from interplay.training.loss import chosen
from interplay.training.method import JointStep, Logs, Method
from interplay.training.run import Trained, train_stage
from interplay.training.stage_state import RolloutWorld, TrainingSetup
from interplay.training.team_assignment import PARTNER, TeamPlan, to_learners


@dataclass(frozen=True)
class E3TOptions:
    """The partner that the ego learns with."""

    epsilon: float = 0.5  # share of the partner's actions that are random
    decay: float = 0.9  # of the partner's weights, per update: 0.9 of them and 0.1 of the ego's
    model: bool = False  # whether the ego has a model of its partner
    frames: int = 5  # past views that the model reads
    model_rate: float = 1e-3  # its learning rate
    model_epochs: int = 8  # its passes over each rollout, before those of the policy

    def __post_init__(self) -> None:
        for name in ("epsilon", "decay"):
            if not 0 <= getattr(self, name) <= 1:
                raise InterplayError(f"algorithm.options.{name}: {getattr(self, name)}; from 0 to 1")
        if self.frames < 1:
            raise InterplayError(f"algorithm.options.frames: {self.frames}; at least 1")


@dataclass(frozen=True, kw_only=True)
class E3T(Method):
    """Training with a partner whose weights follow the ego's."""

    options: E3TOptions
    changes_partners = True
    can_continue = False

    def init_partners(self, members: PyTree, partners: PyTree) -> PyTree:
        """Give the partner the ego's weights."""
        return eqx.tree_at(lambda p: p.base.core, partners, _core(members.policy))

    def update_partners(self, members: PyTree, partners: PyTree) -> PyTree:
        """Move the partner's weights towards the ego's."""
        decay = self.options.decay

        def move(theirs: Array, ours: Array) -> Array:
            return decay * theirs + (1 - decay) * ours

        moved = jax.tree.map(move, partners.base.core, _core(members.policy))
        return eqx.tree_at(lambda p: p.base.core, partners, moved)


@dataclass(frozen=True, kw_only=True)
class E3TWithPartnerModel(E3T):
    """E3T whose ego has a model of its partner, trained by cross-entropy to the partner's actions."""

    minibatches: int  # of a pass over a rollout

    def new_member(self, setup: TrainingSetup, key: PRNGKeyArray) -> ActorCritic:
        """Return networks with a partner model."""
        return new_member(setup.game, setup.experiment.network, 0, key, self.options.frames)

    def record_step(self, setup: TrainingSetup, members: PyTree, world: RolloutWorld, step: JointStep) -> Array:
        """Keep the actions of the other roles, [learner, slot, other]."""
        turned = [jnp.roll(step.by_role, -i, axis=1) for i in range(1, self.plan.roles)]
        return to_learners(self.plan, jnp.stack(turned, axis=-1)).astype(jnp.int8)

    @property
    def optimiser(self) -> optax.GradientTransformation:
        """The model's own optimiser."""
        return optax.flatten(optax.adam(self.options.model_rate, eps=1e-5))

    def init_state(self, setup: TrainingSetup, members: PyTree) -> PyTree:
        """Return the state of the model's optimiser."""
        return self.optimiser.init(_first(members.policy.model))

    def aux_update(self, members: PyTree, state: PyTree, rollout: Rollout) -> tuple[Any, Any, Logs]:
        """Train the model on sequences of all steps. In a game of many seats it predicts the next one."""
        model, slots = _first(members.policy.model), rollout.action.shape[2]
        size = slots // math.gcd(slots, self.minibatches)
        past = rollout.memory[0, 0, :, -model.frames * VIEW :]
        whole = (rollout.seen[:, 0], rollout.start, rollout.extra[:, 0, :, 0])
        in_order = (past, *(jnp.moveaxis(x, 1, 0) for x in whole))  # [slot, step, ...]
        parts = jax.tree.map(lambda x: x.reshape(-1, size, *x.shape[1:]), in_order)

        def one(carry: tuple[Any, Any], part: Any) -> tuple[Any, Logs]:
            model, state = carry
            gradient, logs = jax.grad(prediction_loss, has_aux=True)(model, *part)
            updates, state = self.optimiser.update(gradient, state)
            return (optax.apply_updates(model, updates), state), logs

        def epoch(carry: tuple[Any, Any], _: None) -> tuple[Any, Logs]:
            return jax.lax.scan(one, carry, parts)

        (model, state), logs = jax.lax.scan(epoch, (model, state), None, self.options.model_epochs)
        members = eqx.tree_at(lambda m: m.policy.model, members, jax.tree.map(lambda x: x[None], model))
        return members, state, jax.tree.map(lambda x: jnp.mean(x[-1]), logs)


def prediction_loss(
    model: PartnerModel, past: Array, seen: Array, start: Array, action: Array
) -> tuple[Array, dict[str, Array]]:
    """Return minus the log-probability of the partner's actions, over sequences [slot, step, ...]."""
    _, logits = jax.vmap(model.unroll)(past, seen, start)
    loss = -jnp.mean(chosen(jax.nn.log_softmax(logits), action))
    right = jnp.mean(jnp.argmax(logits, axis=-1) == action)
    return loss, {"model_loss": loss, "model_right": right}


class RandomOddsPolicy(Policy):
    """A copy of an ego with a partner model, that reads random odds in place of the model's."""

    core: Core
    reads: str = eqx.field(static=True)

    @property
    def encoding(self) -> str:
        """What it reads."""
        return self.reads

    def init(self, key: PRNGKeyArray, seat: Array) -> Array:
        """Return an empty memory."""
        return self.core.start()

    def act(self, memory: Memory, obs: Observation, legal: Array, key: PRNGKeyArray) -> tuple[Memory, Array, Info]:
        """Sample an action."""
        for_odds, for_choice = jax.random.split(key)
        odds = jax.nn.softmax(jax.random.normal(for_odds, (self.core.shape.outputs,)))
        memory, logits = self.core.step(memory, obs, odds)
        logits = masked(logits, legal)
        return memory, jax.random.categorical(for_choice, logits), Info(logits)


def train(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """Train egos, one a run."""
    options = method_options(E3TOptions, experiment)
    game = make_game(experiment)
    plan = TeamPlan(((0, *[PARTNER] * (game.num_seats - 1)),), rotate=True)
    method = E3T(plan, options=options)
    if options.model:
        method = E3TWithPartnerModel(plan, options=options, minibatches=experiment.ppo.minibatches)
    partner = Noisy(_partner(experiment, game, options), options.epsilon)
    return train_stage(experiment, method, partners=FrozenPartners.repeat(partner, 1, experiment.runs), quiet=quiet)


def _partner(experiment: Experiment, game: Game, options: E3TOptions) -> Policy:
    """Return a policy of the ego's kind, whose weights the method sets."""
    frames = options.frames if options.model else 0
    network = new_member(game, experiment.network, 0, jax.random.key(0), frames).policy
    policy = RandomOddsPolicy if options.model else NeuralPolicy
    return policy(_core(network), experiment.network.encoding)


def _core(network: Any) -> Core:
    """Return the part of a policy's network that reads what its model predicts; without a model, the network."""
    return network.core if isinstance(network, PartnerConditionedNetwork) else network


def _first(tree: PyTree) -> PyTree:
    return jax.tree.map(lambda x: x[0], tree)
