"""A game by turns as one seat plays it that is always to move.

Off turn nothing can be chosen, so what the others see then need neither be shown to a network nor learnt from: half of
the work at two players, two thirds at three. The one seat sees what the seat to move sees, and earns what the team
earns; its value at one turn follows on the next mover's value. Where policies remember, the one seat has as many minds
as the game has seats: a mind remembers its own turns alone (`network.own_turns`).
"""

from __future__ import annotations

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int

from interplay.errors import InterplayError
from interplay.games.api import Game, Step


class Movers:
    """The game of another's id and options: policies that are trained in it play that one."""

    pure: ClassVar[bool] = True
    num_seats: int = 1
    seat_names: tuple[str, ...] = ("the seat to move",)

    def __init__(self, game: Game):
        if np.sum(np.asarray(game.to_move(game.init(jax.random.key(0))))) != 1:
            raise InterplayError(
                f"{game.id} is not played by turns, so there is no one seat to move: set by_turns to false"
            )
        self.base = game
        self.minds: int = game.num_seats
        self.id, self.options, self.rules_version = game.id, game.options, game.rules_version
        self.action_names, self.event_names = game.action_names, game.event_names
        self.encodings, self.horizon, self.replayable = game.encodings, game.horizon, game.replayable
        self.rules: Any = getattr(game, "rules", None)

    def init(self, key: Any, **start: Any) -> Any:
        return self.base.init(key, **start)

    def start(self, state: Any) -> Any:
        return self.base.start(state)

    def step(self, state: Any, actions: Int[Array, " one"], key: Any) -> tuple[Any, Step]:
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

    def observe(self, state: Any, encoding: str) -> Any:
        return self._of_mover(state, self.base.observe(state, encoding))

    def legal(self, state: Any) -> Bool[Array, "one action"]:
        return self._of_mover(state, self.base.legal(state))

    def to_move(self, state: Any) -> Bool[Array, " one"]:
        return jnp.ones(1, bool)

    def mover(self, state: Any) -> Int[Array, ""]:
        """The seat to move, whose mind it is."""
        return jnp.argmax(self.base.to_move(state))

    def _of_mover(self, state: Any, x: Any) -> Any:
        """[seat, ...] -> [1, ...]. A choice between rows is one with whatever made them, where a gather is not."""
        turn = self.base.to_move(state)

        def leaf(x: Array) -> Array:
            found = x[:1]
            for seat in range(1, self.base.num_seats):
                found = jnp.where(turn[seat], x[seat : seat + 1], found)
            return found

        return jax.tree_util.tree_map(leaf, x)

    def render(self, state: Any, seat: int | None = None) -> str:
        return self.base.render(state, seat)

    def scene(self, state: Any, seat: int | None = None) -> Any:
        return self.base.scene(state, seat)
