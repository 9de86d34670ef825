"""A network of another framework in any seat of a game whose encodings it can read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, PRNGKeyArray

from interplay.agents.api import Info, Memory, Observation, Policy
from interplay.agents.basic import masked
from interplay.agents.foreign.layers import Layer, Weights, actions_of, apply, start
from interplay.agents.foreign.observations import VIEWS, Input
from interplay.errors import InterplayError
from interplay.games.api import Game


class ForeignPolicy(Policy):
    """A network that others trained. It samples its actions, or takes the likeliest if `greedy`."""

    identity_kind: ClassVar[str] = "foreign network"
    weights: dict[str, Array]
    greedy: Bool[Array, ""]
    layers: tuple[Layer, ...] = eqx.field(static=True)
    inputs: tuple[Input, ...] = eqx.field(static=True)  # what it may read; after `bind` the one that fits

    def __init__(self, layers: Sequence[Layer], weights: Weights, inputs: Sequence[Input], *, greedy: bool = False):
        self.layers, self.inputs = tuple(layers), tuple(inputs)
        self.weights = {name: jnp.asarray(array, jnp.float32) for name, array in weights.items()}
        self.greedy = jnp.bool_(greedy)

    def fingerprint(self) -> Mapping[str, Any]:
        """Return its layers, weights, what it may read, and how it acts."""
        layers = [list(layer) for layer in self.layers]
        return {"layers": layers, "inputs": [list(i) for i in self.inputs], "greedy": self.greedy} | dict(self.weights)

    @property
    def encoding(self) -> str:
        """Name of the encoding that `act` reads."""
        return self.inputs[0].encoding

    def bind(self, game: Game) -> Policy:
        """Return this policy with the input and the padding that fit the game.

        Raises:
            InterplayError: The network fits none of the game's encodings, or knows another number of actions.
        """
        known = actions_of(self.layers, self.weights)
        if known != len(game.action_names):
            raise InterplayError(f"this network knows {known} actions; {game.id} has {len(game.action_names)}")
        problems = []
        for one in self.inputs:
            if one.encoding not in game.encodings:
                continue
            for padding in ("same", "valid"):
                layers = tuple(replace_padding(layer, padding) for layer in self.layers)
                tried = ForeignPolicy(layers, self.weights, (one,), greedy=False)
                tried = eqx.tree_at(lambda p: p.greedy, tried, self.greedy)
                try:
                    jax.eval_shape(lambda p=tried: p.try_on(game))
                    return tried
                except (TypeError, ValueError, IndexError) as error:
                    problems.append(str(error).splitlines()[0][:120])
        wanted = ", ".join(dict.fromkeys(one.encoding for one in self.inputs))
        why = f": {problems[0]}" if problems else ""
        raise InterplayError(f"this network reads {wanted}, and fits no such encoding of {game.id}{why}")

    def try_on(self, game: Game) -> Any:
        """Act once at the start of a game, to see whether the shapes fit."""
        key = jax.random.key(0)
        state = game.init(key)
        obs = jax.tree.map(lambda leaf: leaf[0], game.observe(state, self.encoding))
        return self.act(self.init(key, jnp.int32(0)), obs, jnp.asarray(game.legal(state)[0]), key)

    def init(self, key: PRNGKeyArray, seat: Array) -> tuple[Array, ...]:
        """Return the memory at the start of an episode."""
        return start(self.layers, self.weights)

    def act(self, memory: Memory, obs: Observation, legal: Array, key: PRNGKeyArray) -> tuple[Memory, Array, Info]:
        """Choose an action and update the memory."""
        memory, logits = apply(self.layers, self.weights, memory, VIEWS[self.inputs[0].view](obs))
        logits = masked(logits, legal)
        return memory, jnp.where(self.greedy, jnp.argmax(logits), jax.random.categorical(key, logits)), Info(logits)


def replace_padding(layer: Layer, padding: str) -> Layer:
    """Return a convolution with another padding; other layers as they are."""
    return layer._replace(option=padding) if layer.kind == "conv" else layer
