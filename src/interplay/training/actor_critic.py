"""A member: a policy network and a value network that are trained together."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray, PyTree

from interplay.agents.networks import ACTIVATIONS, Core, Dense, Shape, twin_features, twins
from interplay.agents.partner_conditioned import PartnerConditionedNetwork, network_of
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.training.config import Network


class Memories(NamedTuple):
    """Recurrent states of the policy and of the value. Of size 0 without memory."""

    policy: Float[Array, "... memory"]
    value: Float[Array, "... memory"]


class ValueHead(eqx.Module):
    """The value's own layers on the policy's features."""

    layers: tuple[Dense, ...]
    head: Dense
    activation: str = eqx.field(static=True)
    precision: str = eqx.field(static=True)

    def __init__(self, inputs: int, widths: tuple[int, ...], activation: str, precision: str, key: PRNGKeyArray):
        keys = jax.random.split(key, len(widths) + 1)
        sizes = pairwise((inputs, *widths))
        self.layers = tuple(Dense(a, b, math.sqrt(2), k) for (a, b), k in zip(sizes, keys[1:], strict=True))
        self.head = Dense(widths[-1], 1, 1.0, keys[0])
        self.activation, self.precision = activation, precision

    def __call__(self, features: Float[Array, "... feature"]) -> Float[Array, "... 1"]:
        """Return the value."""
        x = features
        for layer in self.layers:
            x = ACTIVATIONS[self.activation](layer(x, self.precision, self.precision))
        return self.head(x, self.precision)


class ActorCritic(eqx.Module):
    """Policy and value. With a shared trunk the value is a second head on the policy's features."""

    policy: Core | PartnerConditionedNetwork
    critic: Core | Dense | ValueHead

    def start(self) -> Memories:
        """Return the memories at the start of an episode."""
        value = self.critic.start() if isinstance(self.critic, Core) else jnp.zeros(0, jnp.float32)
        return Memories(self.policy.start(), value)

    def unroll(
        self, memory: Memories, seen: Array, view: Array, starts: Bool[Array, " step"], label: Any, restart: Any = None
    ) -> tuple[Float[Array, "step action"], Float[Array, " step"]]:
        """Return logits and (normalised) values over a sequence of steps.

        Args:
            memory: At the first step.
            seen: What the policy reads, [step, ...].
            view: What the value reads, [step, ...].
            starts: Where the memory is reset.
            label: What else the value reads.
            restart: The policy's memory where it is reset, [step, memory]; None: zeros.
        """
        critic = self.critic
        if self.side_by_side and isinstance(critic, Core):
            of_policy, of_value = jax.vmap(lambda x: twin_features(self.policy.trunk, critic.trunk, x))(seen)
            return self.policy.outputs(of_policy, seen), critic.decoded(of_value)[:, 0]
        more = () if restart is None else (None, restart)
        _, features = self.policy.unroll(memory.policy, seen, starts, *more)
        logits = self.policy.outputs(features, seen)
        if not isinstance(self.critic, Core):
            return logits, self.critic(features)[:, 0]
        _, features = self.critic.unroll(memory.value, view, starts, label)
        return logits, self.critic.decoded(features)[:, 0]

    def unroll_all(
        self, memory: Memories, seen: Array, view: Array, starts: Bool[Array, "sequence step"], label: Any, restart: Any
    ) -> tuple[Float[Array, "sequence step action"], Float[Array, "sequence step"]]:
        """Return the same as `unroll` over many sequences, [sequence, ...]."""
        if isinstance(self.policy, Core) and self.policy.shape.recurrent and not isinstance(self.critic, Core):
            features = self.policy.unroll_all(memory.policy, seen, starts, restart)
            return self.policy.outputs(features, seen), self.critic(features)[..., 0]
        return jax.vmap(self.unroll)(memory, seen, view, starts, label, restart)

    def values(
        self, memory: Memories, view: Array, starts: Bool[Array, " step"], label: Any
    ) -> tuple[Float[Array, "step memory"], Float[Array, " step"]]:
        """Return the memory that the value uses after each step, and (normalised) values."""
        if not isinstance(self.critic, Core):
            after, features = self.policy.unroll(memory.policy, view, starts)
            return after, self.critic(features)[:, 0]
        after, features = self.critic.unroll(memory.value, view, starts, label)
        return after, self.critic.decoded(features)[:, 0]

    @property
    def side_by_side(self) -> bool:
        """Whether policy and value have networks of one shape on the same input, computed in one pass."""
        if not isinstance(self.critic, Core) or self.policy.shape.recurrent:
            return False
        return twins(self.policy.trunk, self.critic.trunk)

    def logits(self, seen: Array) -> Float[Array, " action"]:
        """Return the logits of a policy without memory."""
        return self.policy.step(self.policy.start(), seen)[1]


def policy_shape(game: Game, network: Network) -> Shape:
    """Return the shape of the policy's network in a game.

    Raises:
        InterplayError: If the game has no such encoding, or one that networks cannot read.
    """
    if network.encoding not in game.encodings:
        known = ", ".join(name for name, e in game.encodings.items() if e.shape)
        raise InterplayError(f"network.encoding: {game.id} has no {network.encoding!r}; it has {known}")
    encoding = game.encodings[network.encoding]
    if not encoding.shape or 0 in encoding.shape:
        raise InterplayError(f"network.encoding: a network cannot read {network.encoding!r}: {encoding.doc}")
    return Shape(
        input=encoding.shape,
        outputs=len(game.action_names),
        trunk=network.trunk,
        planes="first" if network.encoding.endswith("_first") else "last",
        channels=network.channels,
        widths=network.widths,
        activation=network.activation,
        layer_norm=network.layer_norm,
        recurrent=network.recurrent,
        norm_first=network.norm_first,
        cell=network.cell,
        depth=network.depth,
        decoder=network.decoder,
        own_turns=network.own_turns,
        precision=network.precision,
        mask=len(game.action_names) if encoding.useful else 0,
    )


def new_member(game: Game, network: Network, labels: int, key: PRNGKeyArray, frames: int = 0) -> ActorCritic:
    """Return a member with random weights.

    Args:
        game: The game.
        network: Its networks.
        labels: Size of the label that the value network may read.
        key: Of the weights.
        frames: Past observations that the policy's model of its partner reads; 0: no such model.
    """
    shape = policy_shape(game, network)
    for_policy, for_critic = jax.random.split(key)
    policy = network_of(dataclasses.replace(shape, frames=frames), 0.01, for_policy)
    if network.shared_trunk:
        return ActorCritic(policy, value_head(shape, network, for_critic))
    seen = shape.input
    if network.critic == "central":
        axis = planes_axis(shape)
        seen = tuple(n * game.num_seats if i == axis else n for i, n in enumerate(seen))
    extra = labels if network.critic_knows_partner else 0
    return ActorCritic(
        policy, Core(dataclasses.replace(shape, input=seen, outputs=1, extra=extra, mask=0), 1.0, for_critic)
    )


def new_networks(make: Callable[[Any], Any], over: Any) -> PyTree:
    """Apply `make` over the first axis of a tree: side by side; on a CPU one after the other.

    Weights begin as orthogonal matrices, and XLA's thread pool deadlocks on a machine with few cores in several QR
    decompositions of several matrices each.
    """
    return jax.lax.map(make, over) if jax.default_backend() == "cpu" else jax.vmap(make)(over)


def value_head(shape: Shape, network: Network, key: PRNGKeyArray) -> Dense | ValueHead:
    """Return the value's layers on a shared trunk: a last layer, after layers of its own if `network` has any."""
    if not network.critic_widths:
        return Dense(shape.features, 1, 1.0, key)
    return ValueHead(shape.features, network.critic_widths, network.critic_activation, network.precision, key)


def planes_axis(shape: Shape) -> int:
    """Return the axis along which the observations of several seats are joined."""
    return len(shape.input) - 1 if len(shape.input) == 3 and shape.planes == "last" else 0
