"""Efficient end-to-end training: self-play with a copy that lags behind and errs, so that no convention is exact.

The partner acts as a mixture: with probability epsilon a legal action at random, else as a running mean of the ego's
own weights. Only the ego learns. With a model of its partner, it reads what it expects the partner to do; the copy
reads odds drawn at random in that place.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array

from interplay.agents.api import Info, Policy
from interplay.agents.basic import Noisy, masked
from interplay.agents.networks import Core
from interplay.agents.neural import NeuralPolicy
from interplay.agents.partner_conditioned import VIEW, PartnerConditionedNetwork, PartnerModel
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.games.registry import make
from interplay.training.actor_critic import new_member
from interplay.training.collect import Rollout
from interplay.training.config import Experiment
from interplay.training.loader import build
from interplay.training.loss import chosen
from interplay.training.method import Guests, Method
from interplay.training.run import Trained
from interplay.training.run import train as train_stage
from interplay.training.team_assignment import GUEST, TeamPlan


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


def train(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """max J(π, (1 - ε) π' + ε uniform), where π' follows π; the ego takes every seat in turn."""
    options = build(E3TOptions, experiment.algorithm.options, "algorithm.options")
    game = make(experiment.game.name, **experiment.game.options)
    frames = options.frames if options.model else 0
    plan = TeamPlan(((0, *[GUEST] * (game.num_seats - 1)),), rotate=True)
    scheme = Method(plan, follow=partial(follow, decay=options.decay))
    if options.model:
        pupil = Pupil(options, experiment.ppo.minibatches)
        scheme = dataclasses.replace(
            scheme,
            member=lambda key: new_member(game, experiment.network, 0, key, frames),
            notebook=pupil.begin,
            teach=pupil.teach,
        )
    partner = Noisy(_partner(experiment, game, frames), options.epsilon)
    guests = Guests.repeated(partner, 1, experiment.runs)
    return train_stage(experiment, scheme, guests=guests, quiet=quiet)


class Unaware(Policy):
    """A copy of an ego with a model of its partner, that is told random odds in place of what the model expects."""

    core: Core
    reads: str = eqx.field(static=True)

    @property
    def encoding(self) -> str:
        return self.reads

    def init(self, key: Any, seat: Any) -> Array:
        return self.core.start()

    def act(self, memory: Any, obs: Any, legal: Any, key: Any) -> tuple[Any, Array, Info]:
        for_odds, for_choice = jax.random.split(key)
        odds = jax.nn.softmax(jax.random.normal(for_odds, (self.core.shape.outputs,)))
        memory, logits = self.core.step(memory, obs, odds)
        logits = masked(logits, legal)
        return memory, jax.random.categorical(for_choice, logits), Info(logits)


def _partner(experiment: Experiment, game: Game, frames: int) -> Policy:
    """A policy of the ego's kind, whose weights `follow` sets."""
    core = new_member(game, experiment.network, 0, jax.random.key(0), frames).policy
    if isinstance(core, PartnerConditionedNetwork):
        return Unaware(core.core, experiment.network.encoding)
    return NeuralPolicy(core, experiment.network.encoding)


def follow(members: Any, guests: Any, first: bool, *, decay: float) -> Any:
    """The one guest's weights, moved towards the ego's; at first they are the ego's."""
    ego = members.policy.core if isinstance(members.policy, PartnerConditionedNetwork) else members.policy

    def moved(theirs: Any, ours: Any) -> Any:
        return ours if first else decay * theirs + (1 - decay) * ours

    return eqx.tree_at(lambda g: g.base.core, guests, jax.tree_util.tree_map(moved, guests.base.core, ego))


@dataclass(frozen=True)
class Pupil:
    """How the model learns: cross-entropy to what the partner did, with an optimiser of its own, before the policy."""

    options: E3TOptions
    parts: int  # of a pass, a step of gradient descent each

    @property
    def steps(self) -> optax.GradientTransformation:
        return optax.flatten(optax.adam(self.options.model_rate, eps=1e-5))

    def begin(self, members: Any) -> Any:
        return self.steps.init(_first(members.policy.model))

    def teach(self, members: Any, state: Any, rollout: Rollout) -> tuple[Any, Any, dict[str, Array]]:
        """Passes over the rollout, in sequences of all its steps. In a game of many seats the model is of the next."""
        model, slots = _first(members.policy.model), rollout.action.shape[2]
        size = slots // math.gcd(slots, self.parts)
        past = rollout.memory[0, 0, :, -model.frames * VIEW :]
        whole = (past, rollout.seen[:, 0], rollout.start, rollout.others[:, 0, :, 0])
        in_order = (past, *(jnp.moveaxis(x, 1, 0) for x in whole[1:]))  # [slot, step, ...]
        parts = jax.tree_util.tree_map(lambda x: x.reshape(-1, size, *x.shape[1:]), in_order)

        def one(carry: tuple[Any, Any], part: Any) -> tuple[Any, dict[str, Array]]:
            model, state = carry
            gradient, told = jax.grad(prediction_loss, has_aux=True)(model, *part)
            updates, state = self.steps.update(gradient, state)
            return (optax.apply_updates(model, updates), state), told

        def epoch(carry: tuple[Any, Any], _: None) -> tuple[Any, dict[str, Array]]:
            return jax.lax.scan(one, carry, parts)

        (model, state), told = jax.lax.scan(epoch, (model, state), None, self.options.model_epochs)
        members = eqx.tree_at(lambda m: m.policy.model, members, jax.tree_util.tree_map(lambda x: x[None], model))
        return members, state, jax.tree_util.tree_map(lambda x: jnp.mean(x[-1]), told)


def prediction_loss(
    model: PartnerModel, past: Array, seen: Array, start: Array, action: Array
) -> tuple[Array, dict[str, Array]]:
    """Of sequences [slot, step, ...]: minus the log-probability of what the partner did."""
    _, logits = jax.vmap(model.unroll)(past, seen, start)
    loss = -jnp.mean(chosen(jax.nn.log_softmax(logits), action))
    right = jnp.mean(jnp.argmax(logits, axis=-1) == action)
    return loss, {"model_loss": loss, "model_right": right}


def _first(tree: Any) -> Any:
    return jax.tree_util.tree_map(lambda x: x[0], tree)
