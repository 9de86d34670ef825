"""Shortest plans to treated victims: A* on the real rules, for one agent alone and for all together.

The house is the one that key 0 draws, and the search knows where its victims lie: it asks what the rules allow, not
what a team that still has to search can do. Successors come from `rules.step` itself, one primitive action a step; the
estimate (see `relaxed`) knows how long a treatment lasts, so its many steps are walked through without a choice.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from interplay.errors import InterplayError
from interplay.games.rescue import rules
from interplay.games.rescue.game import Rescue
from interplay.games.rescue.generators import HouseStart, Plan
from interplay.games.rescue.relaxed import RelaxedRescue
from interplay.games.rescue.state import ACTIONS, DANGER, FLOOR, NOBODY, NURSE, STAY, WALL, WORK, RescueState
from interplay.games.search import NEVER, Children, RowHash, SearchResult, find_plan

CHILDREN = 4096  # successors made at once
EFFORT = 6_000_000  # successors looked at before a search settles for bounds
GREED = 2  # how much more the search for any plan trusts the estimate than the steps already taken


@dataclass(frozen=True)
class OnlySeat:
    """A house with one agent of its team, who starts where it always does."""

    whole: Plan
    seat: int

    def __getattr__(self, name: str) -> Any:
        return getattr(self.whole, name)

    @property
    def roles(self) -> tuple[int, ...]:
        """The role of the agent."""
        return (self.whole.roles[self.seat],)

    def draw(self, key: PRNGKeyArray) -> HouseStart:
        """Draw the house with this agent's start only."""
        start, mine = self.whole.draw(key), slice(self.seat, self.seat + 1)
        return replace(start, cell=start.cell[mine], facing=start.facing[mine])


class RescueSolver:
    """Searches one house for plans after which a number of victims is treated, within the horizon of an episode."""

    def __init__(self, game: Rescue, *, effort: int = EFFORT, start: RescueState | None = None, victims: int = 1):
        self.game, self.effort, self.victims = game, effort, victims
        self.state = game.init(jax.random.key(0)) if start is None else start
        if not 1 <= victims <= game.plan.num_victims:
            raise InterplayError(f"victims: {victims}; {game.id} has {game.plan.num_victims}")

    @property
    def goal(self) -> str:
        """The goal in words."""
        number = "one victim is" if self.victims == 1 else f"{self.victims} victims are"
        return f"{number} treated (in the house that key 0 draws)"

    def reached(self, state: RescueState, step: Any) -> bool:
        """Return whether a treatment was finished, and enough victims are treated."""
        finished = bool(np.any(np.asarray(step.events)[:, rules.EVENTS.index("finish_treatment")]))
        return finished and int(np.sum(np.asarray(state.treated_by) >= 0)) >= self.victims

    def by_itself(self, seat: int) -> tuple[Rescue, dict[str, Any]]:
        """Return the house without the other agents."""
        plan: Any = OnlySeat(self.game.plan, seat)
        spread, options = self.game.rules.spread, self.game.options
        single = Rescue(self.game.id, plan, horizon=self.game.horizon, spread=spread, options=options)
        mine = slice(seat, seat + 1)
        start = {**self.game.start(self.state), "cell": self.state.cell[mine], "facing": self.state.facing[mine]}
        return single, start

    def alone(self, seat: int) -> SearchResult:
        """Search a plan of one agent; the others stand idle where they start, in the way or not."""
        idle = tuple(int(c) for s, c in enumerate(self.state.cell) if s != seat)
        return self._solo(self.game, self.state, seat, idle)

    def unhindered(self, seat: int) -> SearchResult:
        """Search a plan of one agent in a house without the others."""
        single, start = self.by_itself(seat)
        return self._solo(single, single.init(jax.random.key(0), **start), 0, ())

    def together(self) -> SearchResult:
        """Search a joint plan: the shortest if the search gets there, else a plan and a lower bound."""
        seats = self.game.num_seats
        joint = np.array(list(itertools.product(range(len(ACTIONS)), repeat=seats)), np.int32)
        relaxed = RelaxedRescue(self.game.rules, self.state, tuple(range(seats)))
        space = _RescueSpace(self.game.rules, self.state, joint, relaxed, self.victims)
        if space.first >= NEVER:
            return SearchResult(
                actions=None, lower=None, why=f"nobody can bring a nurse to a victim: {self._team_lacks()}"
            )
        return space.solve(self.effort, self.game.horizon)

    def bound(self) -> int:
        """Return a number of steps that no joint plan is shorter than."""
        relaxed = RelaxedRescue(self.game.rules, self.state, tuple(range(self.game.num_seats)))
        return int(jax.jit(relaxed.estimate, static_argnums=1)(self.state, self.victims))

    def _solo(self, game: Rescue, start: RescueState, seat: int, idle: tuple[int, ...]) -> SearchResult:
        if game.rules.roles[seat] != NURSE:
            return SearchResult(actions=None, lower=None, why="only nurses treat victims")
        joint = np.full((len(ACTIONS), game.num_seats), STAY, np.int32)
        joint[:, seat] = range(len(ACTIONS))
        relaxed = RelaxedRescue(game.rules, start, (seat,), idle)
        space = _RescueSpace(game.rules, start, joint, relaxed, self.victims)
        if space.first >= NEVER:
            return SearchResult(actions=None, lower=None, why=self._kept_by(game, start, seat, idle))
        return space.solve(self.effort, game.horizon)

    def _kept_by(self, game: Rescue, start: RescueState, seat: int, idle: tuple[int, ...]) -> str:
        """Return what keeps a nurse from every victim: whatever, taken away by itself, would let her through."""
        clear = replace(start, debris=start.debris & False, burning=start.burning & False)
        calm = replace(start, terrain=jnp.where(start.terrain == DANGER, FLOOR, start.terrain))
        fewer = {
            "debris or fire blocks": (clear, idle),
            "danger zones without a guard keep": (calm, idle),
            "idle teammates block": (start, ()),
        }
        keeps = [
            what
            for what, (state, others) in fewer.items()
            if int(jax.jit(RelaxedRescue(game.rules, state, (seat,), others).estimate)(state)) < NEVER
        ]
        obstacles = " and ".join(keeps) or "debris, fire, danger zones and teammates together keep"
        return f"{obstacles} this nurse from every victim"

    def _team_lacks(self) -> str:
        fire = bool(np.any(self.state.burning)) and "no extinguisher that a firefighter can get to a fire"
        danger = bool(np.any(self.state.terrain == DANGER)) and "no police to guard in a danger zone"
        return " or ".join(lack for lack in (fire, danger) if lack) or "walls and hazards block every way"


class _RescueSpace:
    """States as rows of bytes, and their successors under the given joint actions."""

    def __init__(
        self,
        constants: rules.RescueRules,
        start: RescueState,
        joint: np.ndarray,
        relaxed: RelaxedRescue,
        victims: int = 1,
    ):
        self.rules, self.start, self.joint, self.relaxed, self.victims = constants, start, joint, relaxed, victims
        self.debris = np.flatnonzero(np.asarray(start.debris))
        spreads = np.asarray(start.terrain) != WALL if constants.spread else np.asarray(start.burning)
        self.flammable = np.flatnonzero(spreads)
        self.guards = bool(np.any(np.asarray(start.terrain) == DANGER))  # elsewhere guarding changes nothing
        self.batch = int(np.clip(CHILDREN // len(joint), 1, 128))
        self.first = int(jax.jit(self._estimate)(start))
        self.row = np.asarray(self._pack(start))
        self._hash = RowHash(len(self.row))
        self._expand = jax.jit(jax.vmap(self._children))

    def solve(self, effort: int, horizon: int) -> SearchResult:
        """Search any plan first, quickly; then the shortest, or a bound on it."""
        limit, below = effort // len(self.joint), horizon + 1
        if self.first >= below:
            late = f"no plan is shorter than {self.first} steps, and an episode has {horizon}"
            return SearchResult(actions=None, lower=None, why=late)
        none = f"no state within reach leads to a treated victim in the {horizon} steps of an episode"
        return find_plan(
            self.expand, self.row, self.first, self.joint,
            limit=limit, batch=self.batch, first_batch=self.batch, below=below, why_none=none,
        )  # fmt: skip

    def expand(self, rows: np.ndarray) -> Children:
        padded = np.concatenate([rows, np.repeat(rows[-1:], self.batch - len(rows), axis=0)])
        children, low, high, estimate, goal = (np.asarray(a)[: len(rows)] for a in self._expand(padded))
        return Children(children, RowHash.joined(low, high), estimate, GREED * estimate, goal)

    def _estimate(self, state: RescueState) -> Any:
        return jnp.minimum(self.relaxed.estimate(state, self.victims), NEVER)

    def _children(self, row: Any) -> tuple:
        state = self._unpack(row)

        def successor(actions: Any) -> tuple:
            after, _ = rules.step(self.rules, state, actions)
            packed = self._pack(after)
            goal = jnp.sum(after.treated_by >= 0) >= self.victims
            return packed, *self._hash.words(packed), self._estimate(after), goal

        return jax.vmap(successor)(jnp.asarray(self.joint))

    def _pack(self, state: RescueState) -> Any:
        """Return the state as two bytes a number.

        What does not affect the future is left out: uses of tools, who treated whom, and of the time all but when fires
        spread next.
        """
        guarding = state.guarding if self.guards else jnp.full_like(state.guarding, NOBODY)
        phase = state.time[None] % max(self.rules.spread, 1)
        hazards = [state.debris[self.debris], state.burning[self.flammable]]
        parts = [state.cell, state.facing, state.held + 1, guarding + 1, phase, *hazards, state.tool_cell + 1]
        numbers = jnp.concatenate([p.astype(jnp.int32) for p in (*parts, state.known, state.work)])
        return jnp.concatenate([numbers % 256, numbers // 256]).astype(jnp.uint8)

    def _unpack(self, row: Any) -> RescueState:
        low, high = jnp.split(row.astype(jnp.int32), 2)
        start, debris, flammable = self.start, self.debris, self.flammable
        seats, tools, victims = start.cell.shape[0], start.tool_cell.shape[0], start.known.shape[0]
        cuts = np.cumsum([seats, seats, seats, seats, 1, len(debris), len(flammable), tools, victims])
        cell, facing, hands, guarding, phase, blocks, burns, tool_cell, known, work = jnp.split(low + 256 * high, cuts)
        nothing = jnp.zeros_like(start.debris)
        return replace(
            start,
            cell=cell,
            facing=facing,
            held=hands - 1,
            guarding=guarding - 1,
            time=phase[0],
            debris=nothing.at[debris].set(blocks > 0),
            burning=nothing.at[flammable].set(burns > 0),
            tool_cell=tool_cell - 1,
            known=known > 0,
            work=work,
            treated_by=jnp.where(work >= WORK, 0, NOBODY),
        )
