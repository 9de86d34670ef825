"""A policy with a model of its partner: the predicted action of the partner is one of its inputs.

The model reads the observations of the last steps. An agent does not observe its partner's actions directly, but sees
their effects, so successive observations stand for observations and actions. The model is trained separately: no
gradient of the policy reaches it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from interplay.agents.networks import Core, Dense, Shape, Trunk

VIEW, LATENT, CHANNELS = 32, 64, (16,)  # units of a view, of all views together, and of the convolution before


class PartnerModel(eqx.Module):
    """Network from the last observations to logits of the partner's next action."""

    encoder: Trunk
    latent: Dense
    head: Dense
    frames: int = eqx.field(static=True)

    def __init__(self, shape: Shape, key: PRNGKeyArray):
        keys = jax.random.split(key, 3)
        small = {"channels": CHANNELS, "widths": (VIEW,), "layer_norm": False, "recurrent": 0, "extra": 0, "mask": 0}
        self.frames = shape.frames
        self.encoder = Trunk(replace(shape, frames=0, **small), keys[0])
        self.latent = Dense((shape.frames + 1) * VIEW, LATENT, 1.0, keys[1])
        self.head = Dense(LATENT + VIEW, shape.outputs, 0.01, keys[2])

    def start(self) -> Float[Array, " memory"]:
        """Return the memory before the first step of an episode: zeros."""
        return jnp.zeros(self.frames * VIEW, jnp.float32)

    def step(self, past: Float[Array, " memory"], seen: Array) -> tuple[Float[Array, " memory"], Array]:
        """Return the new memory of observations, and logits of the partner's action."""
        now = self.encoder(seen)
        return self._next(past, now), self._logits(past, now)

    def unroll(
        self, past: Float[Array, " memory"], seen: Array, starts: Bool[Array, " step"]
    ) -> tuple[Float[Array, "step memory"], Float[Array, "step action"]]:
        """Do the same over a sequence of steps; the memory is reset where an episode starts."""
        views = jax.vmap(self.encoder)(seen)
        steps = jnp.arange(starts.shape[0])
        since = steps - jax.lax.cummax(jnp.where(starts, steps, -self.frames))  # steps of the episode before this one
        line = jnp.concatenate([past.reshape(self.frames, VIEW), views])
        lags = jnp.arange(self.frames, 0, -1)
        before = line[steps[:, None] + self.frames - lags]  # [step, frame, view]
        before = jnp.where((lags <= since[:, None])[..., None], before, 0.0).reshape(starts.shape[0], -1)
        return jax.vmap(self._next)(before, views), jax.vmap(self._logits)(before, views)

    def _next(self, past: Array, now: Array) -> Array:
        return jnp.concatenate([past, now])[VIEW:]

    def _logits(self, past: Array, now: Array) -> Array:
        latent = jnp.tanh(self.latent(jnp.concatenate([past, now])))
        return self.head(jnp.concatenate([latent, now]))


class PartnerConditionedNetwork(eqx.Module):
    """A network that also reads the odds of its partner's next action. Its memory is the core's, then the model's."""

    model: PartnerModel
    core: Core
    shape: Shape = eqx.field(static=True)

    def __init__(self, shape: Shape, gain: float, key: PRNGKeyArray):
        for_model, for_core = jax.random.split(key)
        self.shape, self.model = shape, PartnerModel(shape, for_model)
        self.core = Core(replace(shape, frames=0, extra=shape.outputs), gain, for_core)

    @property
    def trunk(self) -> Trunk:
        """The trunk of the policy."""
        return self.core.trunk

    def start(self) -> Float[Array, " memory"]:
        """Return the memory before the first step of an episode."""
        return jnp.concatenate([self.core.start(), self.model.start()])

    def step(self, memory: Float[Array, " memory"], seen: Array) -> tuple[Array, Float[Array, " output"]]:
        """Compute one step: the new memory, and the outputs."""
        own, past = self._parts(memory)
        past, guess = self.model.step(past, seen)
        own, outputs = self.core.step(own, seen, _odds(guess))
        return jnp.concatenate([own, past]), outputs

    def outputs(self, features: Float[Array, "... feature"], seen: Array) -> Float[Array, "... output"]:
        """Return the outputs of features."""
        return self.core.outputs(features, seen)

    def unroll(
        self, memory: Float[Array, " memory"], seen: Array, starts: Bool[Array, " step"], extra: Any = None
    ) -> tuple[Float[Array, "step memory"], Float[Array, "step feature"]]:
        """Compute a sequence of steps: the memory after each, and the features for the head."""
        own, past = self._parts(memory)
        pasts, guesses = self.model.unroll(past, seen, starts)
        owns, features = self.core.remember(own, jax.vmap(self.core.trunk)(seen, _odds(guesses)), starts)
        return jnp.concatenate([owns, pasts], axis=-1), features

    def _parts(self, memory: Array) -> tuple[Array, Array]:
        return memory[: self.core.shape.memory], memory[self.core.shape.memory :]


def _odds(guess: Array) -> Array:
    return jax.lax.stop_gradient(jax.nn.softmax(guess))


def network_of(shape: Shape, gain: float, key: PRNGKeyArray) -> Core | PartnerConditionedNetwork:
    """Make the network of a shape, with a partner model if it reads past frames."""
    return PartnerConditionedNetwork(shape, gain, key) if shape.frames else Core(shape, gain, key)
