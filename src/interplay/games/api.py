"""The contract of games, which users' own games may keep too.

`Game` is a plain protocol, so that a game may be Python all the way down. `JaxGame` adds that `init`, `step`,
`observe`, `legal` and `to_move` are pure and can be jitted and vmapped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from interplay.games.records import record
from interplay.games.scene import Scene

State = Any  # a record of the game's own


@record
class Step:
    """The outcome of one joint action."""

    reward: Float[Array, " seat"]  # points, credited to the seat that earned them: the team's score is their sum
    shaped: Float[Array, " seat"]  # training help, never part of a score
    terminated: Bool[Array, ""]  # the game is over by its own rules
    truncated: Bool[Array, ""]  # the horizon cut it
    events: Int[Array, "seat event"]  # how often each event of `event_names` happened to each seat in this step


@dataclass(frozen=True)
class Encoding:
    """One form of observation. `shape` is that of a single seat's view; None for a record of arrays."""

    shape: tuple[int, ...] | None
    dtype: str
    doc: str
    privileged: bool = False  # shows what a seat may not see; tables mark its readers
    useful: bool = False  # ends with an entry for each action: 0 where it would do nothing


@runtime_checkable
class Game(Protocol):
    """A game for a fixed number of seats. Turn-based ones end their actions with a no-op, legal only off turn."""

    id: str  # `interplay.make(game.id, **game.options)` makes an equal game
    options: Mapping[str, Any]  # plain JSON values
    num_seats: int
    seat_names: tuple[str, ...]
    action_names: tuple[str, ...]
    event_names: tuple[str, ...]
    encodings: Mapping[str, Encoding]
    rules_version: str  # changes when recorded actions would replay differently
    horizon: int  # no episode is longer
    replayable: bool  # False: `step` is random, so traces must record states

    def init(self, key: PRNGKeyArray, **start: Any) -> State:
        """Return a start state.

        Args:
            key: Random key.
            **start: Values that replace what chance would decide (a deck, start poses).
        """
        ...

    def start(self, state: State) -> Mapping[str, Any]:
        """Return the arrays with which `init(key, **game.start(state))` gives this start state under any key."""
        ...

    def step(self, state: State, actions: Int[Array, " seat"], key: PRNGKeyArray) -> tuple[State, Step]:
        """Play one joint action. Never resets."""
        ...

    def observe(self, state: State, encoding: str) -> Any:
        """Return what every seat sees, [seat, ...]."""
        ...

    def legal(self, state: State) -> Bool[Array, "seat action"]:
        """Return which actions each seat may take."""
        ...

    def to_move(self, state: State) -> Bool[Array, " seat"]:
        """Return which seats are to move."""
        ...

    def render(self, state: State, seat: int | None = None) -> str:
        """Return the state as text; with a seat, only what that seat may see."""
        ...

    def scene(self, state: State, seat: int | None = None) -> Scene:
        """Return the state as shapes to draw: `scene.svg()`, `scene.png()`, and the report's replay."""
        ...


@runtime_checkable
class JaxGame(Game, Protocol):
    """A game whose rules are pure JAX functions."""

    pure: ClassVar[bool] = True


def is_jax(game: Game) -> bool:
    """Return whether the game's functions may be jitted and vmapped."""
    return bool(getattr(game, "pure", False))


NOTHING = Encoding((0,), "float32", "no observation, for agents that need none")


def no_observation(seats: int) -> Float[Array, "seat 0"]:
    """Return the observation of the encoding `nothing`, which every game has."""
    return jnp.zeros((seats, 0), jnp.float32)
