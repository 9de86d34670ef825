"""Runners that know what to do: `relay/runner` and one that dawdles, `relay/slow`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from interplay.agents.api import Agent, Info, Policy
from interplay.agents.basic import masked
from interplay.errors import UnknownName
from relay_game.game import ACT, LEFT, RIGHT, STAY

RUNNERS = {"runner": 0.0, "slow": 0.5}  # the share of steps in which each dawdles


class Runner(Policy):
    """Fetches and brings; stays where it is in a share of its steps."""

    dawdles: Any
    reach: int = 3

    @property
    def encoding(self) -> str:
        """It reads the vector."""
        return "vector"

    def bind(self, game: Any) -> Policy:
        """Know how long the ways are."""
        return Runner(jnp.float32(self.dawdles), game.reach)

    def act(self, memory: Any, obs: Any, legal: Any, key: Any) -> tuple:
        """Go to where the next thing is to be done, and do it."""
        place, first, second, _, seat = obs
        loaded = jnp.where(seat == 0, first, second) > 0
        goal = jnp.where(
            seat == 0, jnp.where(loaded, self.reach - 1, 0), jnp.where(loaded, 2 * self.reach, self.reach + 1)
        )
        action = jnp.where(place < goal, RIGHT, jnp.where(place > goal, LEFT, ACT))
        action = jnp.where(jax.random.bernoulli(key, self.dawdles), STAY, action)
        logits = masked(jnp.where(jnp.arange(4) == action, 0.0, -30.0), legal)
        return memory, jnp.argmax(logits), Info(logits)


class Runners:
    """The agents of this package by name, as the entry point `interplay.agents` registers them."""

    @staticmethod
    def variants() -> list[str]:
        """Their names."""
        return list(RUNNERS)

    @staticmethod
    def make(variant: str, **options: Any) -> Agent:
        """One of them."""
        if variant not in RUNNERS:
            raise UnknownName("agent", f"relay/{variant}", [f"relay/{name}" for name in RUNNERS])
        return Agent(f"relay/{variant}", Runner(RUNNERS[variant]))
