"""Does a game require cooperation? Decided by search on its rules, with plans that prove it.

Required cooperation (RC): no seat alone reaches the goal, some joint plan does. Not required: some seat can, while
the others stand idle where they start, in the way or not. A game family brings a `Solver`; every plan that it finds
is played on the real rules before it is believed.
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
    """What a game's family offers as `Solver(game)`: searches for plans to its goal."""

    goal: str  # in words

    def reached(self, state: State, step: Step) -> bool:
        """Whether a step of the game, and the state it led to, reached the goal."""
        ...

    def alone(self, seat: int) -> SearchResult:
        """One seat acts; the others stand idle where they start."""
        ...

    def unhindered(self, seat: int) -> SearchResult:
        """One seat acts as if the others were out of the way: a plan for the game `by_itself` of that seat."""
        ...

    def by_itself(self, seat: int) -> tuple[Game, Mapping[str, Any]]:
        """The game without the other seats, and the `start` that puts the seat where it starts."""
        ...

    def together(self) -> SearchResult:
        """All seats act."""
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
        """The same if idle partners are out of the way: `required` here is required by the layout itself."""
        return _verdict(self.unhindered, self.together)

    def rows(self) -> list[Row]:
        """One row per question: who acts, whether there is a plan, its length, and what bounds it."""
        named = {"game": self.game_id, "verdict": self.verdict, "if_unhindered": self.verdict_unhindered}
        asked = [
            *((f"{n} alone", f) for n, f in zip(self.seat_names, self.alone)),
            *((f"{n} alone, others out of the way", f) for n, f in zip(self.seat_names, self.unhindered)),
            ("all together", self.together),
        ]
        return [{**named, "who": who, **_told(found, self.action_names)} for who, found in asked]

    def summary(self) -> Row:
        """The certificate in one row."""

        def length(found: SearchResult) -> str:
            return {True: str(found.length), False: "none", None: "?"}[found.possible]

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
    if any(found.possible for found in solo):
        return NOT_REQUIRED
    if together.possible is False:
        return IMPOSSIBLE
    certain = together.possible and all(found.possible is False for found in solo)
    return REQUIRED if certain else UNDECIDED


def _told(found: SearchResult, action_names: Sequence[str]) -> Row:
    plan = None
    if found.actions is not None:
        plan = [" ".join(action_names[int(a)] for a in seat) for seat in found.actions.T]
    return {
        "possible": found.possible,
        "steps": found.length,
        "lower_bound": found.lower,
        "shortest": found.shortest if found.possible else None,
        "why": found.why or None,
        "expanded": found.expanded,
        "plan": plan,
    }


def solver(game: Game) -> Solver:
    """The solver that a game's family declares, or the one that searches small games breadth first."""
    return (capability(game, "solver") or BreadthFirstSolver)(game)


def certify(game: Game | str) -> Certificate:
    """Whether the game requires cooperation. All plans have been played on its rules."""
    world = make(game) if isinstance(game, str) else game
    search = solver(world)
    seats = range(world.num_seats)
    alone = tuple(search.alone(seat) for seat in seats)
    unhindered = tuple(search.unhindered(seat) for seat in seats)
    together = _best_joint(search.together(), alone)
    for found in (*alone, together):
        prove(world, search, found)
    for seat, found in zip(seats, unhindered):
        game_of_one, start = search.by_itself(seat)
        prove(game_of_one, search, found, start)
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
    """What one seat can do alone is a joint plan too, should the search for a better one have found none."""
    plans = [f for f in alone if f.actions is not None]
    best = min(plans, key=lambda f: len(f.actions), default=None)  # type: ignore[arg-type]
    if best is None or (together.length or np.inf) <= (best.length or np.inf):
        return together
    return SearchResult(actions=best.actions, lower=together.lower, expanded=together.expanded, why=together.why)


def prove(game: Game, search: Solver, found: SearchResult, start: Mapping[str, Any] | None = None) -> None:
    """Play a plan on the game's rules; an error unless its last step, and no earlier one, reaches the goal."""
    if found.actions is None:
        return
    key, play = jax.random.key(0), _compiled(game) if is_jax(game) else game.step
    state = game.init(key, **(start or {}))
    reached = []
    for actions in found.actions:
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
    """One row per game."""
    return Table.of([c.summary() for c in certificates], "Required cooperation, certified by search")
