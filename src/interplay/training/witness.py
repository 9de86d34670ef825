"""Rewards for what a single step does not show: a record kept beside the state, such as who helped whom, or a judgement
of the move on the state before it."""

from __future__ import annotations

from typing import Any, Protocol

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from interplay.errors import InterplayError, UnknownName
from interplay.games.api import Game, State
from interplay.training.config import Rewards


class Witness(Protocol):
    """Follows an episode and pays seats for what it has seen. Pure JAX."""

    name: str  # under which it is logged
    weight: float  # of what it pays; 0: it is only logged

    def begin(self) -> Any:
        """The record at the start of an episode."""
        ...

    def see(self, note: Any, before: State, after: State, actions: Array) -> tuple[Any, Float[Array, " seat"]]:
        """The record after a step, and what the step pays to each seat."""
        ...


class Teaming:
    """Pays 1 to giver and receiver of every hand-over that ends in a delivered soup."""

    name = "teaming"

    def __init__(self, game: Any, weight: float):
        if not hasattr(game, "kitchen"):
            raise InterplayError(f"rewards.teaming: {game.id} does not count hand-overs; it is for Overcooked")
        self.game, self.weight = game, weight

    def begin(self) -> Any:
        from interplay.games.overcooked import lineage

        return lineage.begin(self.game.num_seats, self.game.layout.size)

    def see(self, note: Any, before: State, after: State, actions: Array) -> tuple[Any, Float[Array, " seat"]]:
        from interplay.games.overcooked import lineage

        new = lineage.follow(self.game.kitchen, note, before, after, actions)
        return new, lineage.teaming_reward(note, new)


class Conduct:
    """Pays the mover for a dominated move (g1, g2) or a dominant one (g3) of Hanabi, each at its price."""

    name, weight = "conduct", 1.0

    def __init__(self, game: Any, prices: dict[str, float], known: str):
        from interplay.games.hanabi import conduct

        rules = getattr(game, "rules", None)
        if rules is None or not game.id.startswith("hanabi/"):
            raise InterplayError(f"rewards.conduct: {game.id} has no dominated moves; it is for Hanabi")
        for name in prices:
            if name not in conduct.NAMES:
                raise UnknownName("kind of move, as in rewards.conduct,", name, list(conduct.NAMES))
        if known not in conduct.KNOWN:
            raise UnknownName("sense of rewards.known", known, list(conduct.KNOWN))
        self.rules, self.sense = rules, conduct.KNOWN.index(known)
        self.prices = np.array([prices.get(name, 0.0) for name in conduct.NAMES], np.float32)

    def begin(self) -> Any:
        return ()

    def see(self, note: Any, before: State, after: State, actions: Array) -> tuple[Any, Float[Array, " seat"]]:
        from interplay.games.hanabi import conduct, rules

        before = getattr(before, "plain", before)  # some worlds of training keep the state in another one
        turn = rules.to_move(self.rules, before)
        action = jnp.sum(jnp.where(turn, actions, 0))
        paid = self.prices @ conduct.flags(self.rules, before, action)[:, self.sense].astype(jnp.float32)
        return note, jnp.where(turn, paid, 0.0)


def witness_of(game: Game, rewards: Rewards) -> Witness | None:
    if rewards.conduct and (rewards.teaming or rewards.watch_teaming):
        raise InterplayError("rewards: teaming is for Overcooked and conduct for Hanabi; give one of them")
    if rewards.conduct:
        return Conduct(game, dict(rewards.conduct), rewards.known)
    return Teaming(game, rewards.teaming) if rewards.teaming or rewards.watch_teaming else None
