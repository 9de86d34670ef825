"""Decide whether a game requires cooperation, by search on its rules, with plans that prove it.

Required cooperation (RC): no seat alone reaches the goal, some joint plan does. Not required: some seat can, while the
others stand idle where they start, in the way or not. A game family brings a `Solver`; every plan that it finds is
played on the real rules before it is accepted.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from interplay.errors import InterplayError
from interplay.games.api import Game, State, Step, is_jax
from interplay.games.registry import capability, make
from interplay.games.search import SearchResult
from interplay.symbolic.breadth_first import BreadthFirstSolver
from interplay.table import Row, Table

REQUIRED, NOT_REQUIRED, IMPOSSIBLE, UNDECIDED = VERDICTS = ("required", "not required", "impossible", "undecided")


class Solver(Protocol):
    """Searches for plans to a game's goal; a game's family offers it as `Solver(game)`."""

    goal: str  # in words

    def reached(self, state: State, step: Step) -> bool:
        """Return whether a step of the game, and the state it led to, reached the goal."""
        ...

    def alone(self, seat: int) -> SearchResult:
        """Search with one seat acting; the others stand idle where they start."""
        ...

    def unhindered(self, seat: int) -> SearchResult:
        """Search with one seat acting as if the others were out of the way: a plan for the game of `by_itself`."""
        ...

    def by_itself(self, seat: int) -> tuple[Game, Mapping[str, Any]]:
        """Return the game without the other seats, and the `start` that puts the seat where it starts."""
        ...

    def together(self) -> SearchResult:
        """Search with all seats acting."""
        ...


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """Whether a game requires cooperation, and the plans that show it."""

    game_id: str
    goal: str
    seat_names: tuple[str, ...]
    action_names: tuple[str, ...]
    alone: tuple[SearchResult, ...]  # by seat
    unhindered: tuple[SearchResult, ...]  # by seat
    together: SearchResult

    @property
    def verdict(self) -> str:
        """One of VERDICTS, with idle partners standing where they start."""
        return _verdict(self.alone, self.together)

    @property
    def verdict_unhindered(self) -> str:
        """The verdict if idle partners are out of the way: `required` here is required by the layout itself."""
        return _verdict(self.unhindered, self.together)

    def rows(self) -> list[Row]:
        """Return one row per question: who acts, whether there is a plan, its length, and what bounds it."""
        named = {"game": self.game_id, "verdict": self.verdict, "if_unhindered": self.verdict_unhindered}
        asked = [
            *((f"{n} alone", f) for n, f in zip(self.seat_names, self.alone)),
            *((f"{n} alone, others out of the way", f) for n, f in zip(self.seat_names, self.unhindered)),
            ("all together", self.together),
        ]
        return [{**named, "who": who, **_result_columns(result, self.action_names)} for who, result in asked]

    def summary(self) -> Row:
        """Return the certificate in one row."""

        def length(result: SearchResult) -> str:
            return {True: str(result.length), False: "none", None: "?"}[result.possible]

        return {
            "game": self.game_id,
            "cooperation": self.verdict,
            "if_unhindered": self.verdict_unhindered,
            "alone": " | ".join(map(length, self.alone)),
            "unhindered": " | ".join(map(length, self.unhindered)),
            "together": length(self.together),
            "joint_lower_bound": self.together.lower,
            "joint_optimal": self.together.shortest if self.together.possible else None,
            "why": "; ".join(f"{n}: {f.why}" for n, f in zip(self.seat_names, self.alone) if f.why) or None,
        }


def _verdict(solo: Sequence[SearchResult], together: SearchResult) -> str:
    if any(result.possible for result in solo):
        return NOT_REQUIRED
    if together.possible is False:
        return IMPOSSIBLE
    certain = together.possible and all(result.possible is False for result in solo)
    return REQUIRED if certain else UNDECIDED


def _result_columns(result: SearchResult, action_names: Sequence[str]) -> Row:
    plan = None
    if result.actions is not None:
        plan = [" ".join(action_names[int(a)] for a in seat) for seat in result.actions.T]
    return {
        "possible": result.possible,
        "steps": result.length,
        "lower_bound": result.lower,
        "shortest": result.shortest if result.possible else None,
        "why": result.why or None,
        "expanded": result.expanded,
        "plan": plan,
    }


def solver(game: Game) -> Solver:
    """Return the solver that a game's family declares, or the one that searches small games breadth first."""
    return (capability(game, "solver") or BreadthFirstSolver)(game)


def certify(game: Game | str) -> Certificate:
    """Decide whether a game requires cooperation. All plans have been played on its rules.

    Raises:
        InterplayError: A plan does not reach the goal when it is played.
    """
    world = make(game) if isinstance(game, str) else game
    search = solver(world)
    seats = range(world.num_seats)
    alone = tuple(search.alone(seat) for seat in seats)
    unhindered = tuple(search.unhindered(seat) for seat in seats)
    together = _best_joint(search.together(), alone)
    for result in (*alone, together):
        prove(world, search, result)
    for seat, result in zip(seats, unhindered):
        game_of_one, start = search.by_itself(seat)
        prove(game_of_one, search, result, start)
    return Certificate(
        game_id=world.id,
        goal=search.goal,
        seat_names=tuple(world.seat_names),
        action_names=tuple(world.action_names),
        alone=alone,
        unhindered=unhindered,
        together=together,
    )


def _best_joint(together: SearchResult, alone: Sequence[SearchResult]) -> SearchResult:
    """Return a joint plan; a seat's own plan is one too, should the search for a better one have found none."""
    plans = [f for f in alone if f.actions is not None]
    best = min(plans, key=lambda f: len(f.actions), default=None)  # type: ignore[arg-type]
    if best is None or (together.length or np.inf) <= (best.length or np.inf):
        return together
    return SearchResult(actions=best.actions, lower=together.lower, expanded=together.expanded, why=together.why)


def prove(game: Game, search: Solver, result: SearchResult, start: Mapping[str, Any] | None = None) -> None:
    """Play a plan on the game's rules.

    Raises:
        InterplayError: The goal is not reached exactly with its last step.
    """
    if result.actions is None:
        return
    key, play = jax.random.key(0), _compiled(game) if is_jax(game) else game.step
    state = game.init(key, **(start or {}))
    reached = []
    for actions in result.actions:
        state, step = play(state, jnp.asarray(actions, jnp.int32), key)
        reached.append(search.reached(state, step))
    if reached != [False] * (len(reached) - 1) + [True]:
        raise InterplayError(
            f"{game.id}: played on the rules, the solver's plan of {len(reached)} steps does not reach the goal "
            f"({search.goal}) with its last step, so nothing is certified; the solver is wrong"
        )


@functools.lru_cache(maxsize=4)  # the plans of a certificate are for few games, and a method is not compiled only once
def _compiled(game: Game) -> Callable[..., Any]:
    return jax.jit(game.step)


def table(certificates: Iterable[Certificate]) -> Table:
    """Return one row per game."""
    return Table.of([c.summary() for c in certificates], "Required cooperation, certified by search")
