"""A turn-based game with a single seat that is always to move.

Off turn nothing can be chosen, so what the others see then need neither be shown to a network nor learnt from: half of
the work at two players, two thirds at three. The single seat sees what the seat to move sees, and earns what the team
earns; the value after a turn is the next mover's. Where policies have memory, the single seat has one for each seat of
the game, which holds that seat's own turns alone (`network.own_turns`).
"""

from __future__ import annotations

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, PRNGKeyArray, PyTree

from interplay.errors import InterplayError
from interplay.games.api import Game, Step


class ActiveSeatGame:
    """A wrapper with the id and options of the game, since policies trained in it play that game."""

    pure: ClassVar[bool] = True
    num_seats: int = 1
    seat_names: tuple[str, ...] = ("the seat to move",)

    def __init__(self, game: Game):
        if np.sum(np.asarray(game.to_move(game.init(jax.random.key(0))))) != 1:
            raise InterplayError(
                f"{game.id} is not played by turns, so there is no one seat to move: set by_turns to false"
            )
        self.base = game
        self.memory_seats: int = game.num_seats

    def __getattr__(self, name: str) -> Any:
        return getattr(self.base, name)

    def step(self, state: PyTree, actions: Int[Array, " one"], key: PRNGKeyArray) -> tuple[Any, Step]:
        """Step the game by the action of the seat to move; rewards and events are sums over seats."""
        turn = self.base.to_move(state)
        wait = jnp.argmax(self.base.legal(state), axis=-1)  # off turn there is one legal action
        after, step = self.base.step(state, jnp.where(turn, actions[0], wait), key)

        def all_seats(x: Array) -> Array:
            return jnp.sum(x, axis=0, keepdims=True)

        return after, Step(
            reward=all_seats(step.reward),
            shaped=all_seats(step.shaped),
            terminated=step.terminated,
            truncated=step.truncated,
            events=all_seats(step.events),
        )

    def observe(self, state: PyTree, encoding: str) -> Any:
        """Return what the seat to move sees, [1, ...]."""
        return self._of_mover(state, self.base.observe(state, encoding))

    def legal(self, state: PyTree) -> Bool[Array, "one action"]:
        """Return the legal actions of the seat to move."""
        return self._of_mover(state, self.base.legal(state))

    def to_move(self, state: PyTree) -> Bool[Array, " one"]:
        """Return that the single seat is to move."""
        return jnp.ones(1, bool)

    def active_seat(self, state: PyTree) -> Int[Array, ""]:
        """Return the seat to move."""
        return jnp.argmax(self.base.to_move(state))

    def _of_mover(self, state: PyTree, x: Any) -> Any:
        """Select the mover's row of [seat, ...], as [1, ...], by `where`, which is fused with what made the rows."""
        turn = self.base.to_move(state)

        def leaf(x: Array) -> Array:
            row = x[:1]
            for seat in range(1, self.base.num_seats):
                row = jnp.where(turn[seat], x[seat : seat + 1], row)
            return row

        return jax.tree.map(leaf, x)
