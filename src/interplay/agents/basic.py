"""Agents for any game: random, idle, and any policy with noise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from interplay.agents.api import Info, Policy
from interplay.agents.identity import fingerprint_of
from interplay.errors import InterplayError
from interplay.games.api import Game


def masked(logits: Float[Array, " action"], legal) -> Float[Array, " action"]:
    """Return logits with the illegal actions at the lowest finite value."""
    return jnp.where(legal, logits, jnp.finfo(logits.dtype).min)


class Random(Policy):
    """A policy that takes each legal action with equal probability."""

    identity_kind: ClassVar[str] = "random"
    encoding: ClassVar[str] = "nothing"  # that `act` reads

    def act(self, memory, obs, legal, key):
        """Choose an action and update the memory."""
        logits = masked(jnp.zeros(legal.shape, jnp.float32), legal)
        return memory, jax.random.categorical(key, logits), Info(logits)


class Stay(Policy):
    """A policy that always takes the game's action `stay` or `noop`."""

    identity_kind: ClassVar[str] = "stay"
    encoding: ClassVar[str] = "nothing"  # that `act` reads
    action: int = eqx.field(static=True, default=-1)

    def bind(self, game: Game) -> Policy:
        """Find the idle action.

        Raises:
            InterplayError: The game has no action `stay` or `noop`.
        """
        for name in ("stay", "noop"):
            if name in game.action_names:
                return Stay(game.action_names.index(name))
        raise InterplayError(f"{game.id} has no action that does nothing, so nobody can stay idle in it")

    def act(self, memory, obs, legal, key):
        """Choose an action and update the memory."""
        logits = masked(jnp.where(jnp.arange(legal.shape[0]) == self.action, 0.0, -30.0), legal)
        return memory, jnp.argmax(logits), Info(logits)


class Noisy(Policy):
    """A policy that takes a uniformly random legal action with probability `epsilon`."""

    identity_kind: ClassVar[str] = "noisy"
    base: Policy
    epsilon: Float[Array, ""]

    def __init__(self, base: Policy, epsilon: float):
        self.base = base
        self.epsilon = jnp.float32(epsilon)

    def fingerprint(self) -> Mapping[str, Any]:
        """Return the base policy's fingerprint and epsilon."""
        return {"base": fingerprint_of(self.base), "epsilon": self.epsilon}

    @property
    def encoding(self) -> str:
        """Name of the encoding that `act` reads."""
        return self.base.encoding

    def bind(self, game: Game) -> Policy:
        """Return this policy prepared for a game."""
        return eqx.tree_at(lambda n: n.base, self, self.base.bind(game))

    def init(self, key, seat):
        """Return the memory at the start of an episode."""
        return self.base.init(key, seat)

    def act(self, memory, obs, legal, key):
        """Choose an action and update the memory."""
        for_base, for_coin, for_slip = jax.random.split(key, 3)
        memory, action, info = self.base.act(memory, obs, legal, for_base)
        uniform = masked(jnp.zeros(legal.shape, jnp.float32), legal)
        slip = jax.random.bernoulli(for_coin, self.epsilon)
        action = jnp.where(slip, jax.random.categorical(for_slip, uniform), action)
        odds = (1 - self.epsilon) * jax.nn.softmax(info.logits) + self.epsilon * jax.nn.softmax(uniform)
        return memory, action, Info(jnp.log(jnp.maximum(odds, 1e-9)))
