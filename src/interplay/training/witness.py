"""Rewards for what a single step does not show: a record kept beside the state, such as who helped whom."""

from __future__ import annotations

from typing import Any, Protocol

from jaxtyping import Array, Float

from interplay.errors import InterplayError
from interplay.games.api import Game, State
from interplay.training.config import Rewards


class Witness(Protocol):
    """Follows an episode and pays seats for what it has seen. Pure JAX."""

    def begin(self) -> Any:
        """The record at the start of an episode."""
        ...

    def see(self, note: Any, before: State, after: State, actions: Array) -> tuple[Any, Float[Array, " seat"]]:
        """The record after a step, and what the step pays to each seat."""
        ...


class Teaming:
    """Pays 1 to giver and receiver of every hand-over that ends in a delivered soup."""

    def __init__(self, game: Any):
        if not hasattr(game, "kitchen"):
            raise InterplayError(f"rewards.teaming: {game.id} does not count hand-overs; it is for Overcooked")
        self.game = game

    def begin(self) -> Any:
        from interplay.games.overcooked import lineage

        return lineage.begin(self.game.num_seats, self.game.layout.size)

    def see(self, note: Any, before: State, after: State, actions: Array) -> tuple[Any, Float[Array, " seat"]]:
        from interplay.games.overcooked import lineage

        new = lineage.follow(self.game.kitchen, note, before, after, actions)
        return new, lineage.teaming_reward(note, new)


def witness_of(game: Game, rewards: Rewards) -> Witness | None:
    return Teaming(game) if rewards.teaming or rewards.watch_teaming else None
