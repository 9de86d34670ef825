"""The scripted chef: chooses a job, walks there, and avoids the others."""

from __future__ import annotations

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int, PRNGKeyArray

from interplay.agents.api import Info, Policy
from interplay.agents.overcooked import jobs, moves
from interplay.agents.overcooked.kitchen_constants import Tables
from interplay.agents.overcooked.roles import ChefRole
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.games.overcooked.encodings import OvercookedView
from interplay.games.overcooked.state import COUNTER, INTERACT, STAY, OvercookedItem, OvercookedState
from interplay.games.records import record

LEAST = 1e-13  # odds of an action that is not taken: logits stay finite, about -30


@record
class ChefMemory:
    """What a chef remembers from one step to the next."""

    cell: Int[Array, " seat"]  # where everybody was, faced and what they held
    facing: Int[Array, " seat"]
    held: Int[Array, " seat"]
    still: Int[Array, " seat"]  # steps since a chef last changed any of these
    action: Int[Array, ""]  # my last one
    goal: Int[Array, ""]  # the cell I was on the way to, -1 for none
    stuck: Int[Array, ""]  # steps that I have tried to walk and did not get on
    patience: Int[Array, ""]  # steps for which I make way although I need not
    from_counter: Bool[Array, ""]  # what I hold lay on a counter


class Chef(Policy):
    """A chef with a role. Every role is the same policy with other prices."""

    encoding: ClassVar[str] = "state"  # that `act` reads

    role: ChefRole
    tables: Tables | None = None

    def bind(self, game: Game) -> Chef:
        """Return the chef with the tables of a kitchen.

        Raises:
            InterplayError: The game is not Overcooked.
        """
        kitchen = getattr(game, "kitchen", None)
        if kitchen is None or "state" not in game.encodings:
            raise InterplayError(f"the scripted chefs play kitchens of overcooked, not {game.id}")
        return Chef(self.role, Tables.from_kitchen(kitchen, game.num_seats))

    @property
    def known(self) -> Tables:
        """The tables of the bound kitchen."""
        if self.tables is None:
            raise InterplayError("this chef has not seen a kitchen yet: call bind(game) first")
        return self.tables

    def init(self, key: PRNGKeyArray, seat: Int[Array, ""]) -> ChefMemory:
        """Return the memory at the start of an episode."""
        zeros, none = jnp.zeros(self.known.seats, jnp.int32), jnp.int32(-1)
        nil = jnp.int32(0)
        return ChefMemory(
            cell=zeros - 1,
            facing=zeros,
            held=zeros,
            still=zeros,
            action=jnp.int32(STAY),
            goal=none,
            stuck=nil,
            patience=nil,
            from_counter=jnp.zeros((), bool),
        )

    def act(self, memory: ChefMemory, obs: OvercookedView, legal: Bool[Array, " action"], key: PRNGKeyArray):
        """Choose an action and update the memory."""
        tables, role, state, seat = self.known, self.role, obs.state, obs.seat
        luck = jax.random.uniform(key, (4,))  # one draw for all, since generators are slow to compile
        memory = _remember(tables, memory, state, seat, luck[0])
        goal = jobs.choose(role, tables, state, seat, memory.still, memory.goal, memory.from_counter)
        odds = moves.odds(role, tables, state, seat, goal, memory.still, memory.stuck, memory.patience, luck[1:3])
        stay = jnp.arange(odds.shape[0]) == STAY
        odds = jnp.where(stay, role.pause + (1 - role.pause) * odds, (1 - role.pause) * odds)
        odds = jnp.where(legal, odds, 0.0)
        odds = jnp.where(jnp.sum(odds) > 0, odds, jnp.where(stay, 1.0, 0.0))
        logits = jnp.log(jnp.maximum(odds / jnp.sum(odds), LEAST))
        action = jnp.argmax(jnp.cumsum(odds) > luck[3] * jnp.sum(odds))
        memory = eqx.tree_at(
            lambda m: (m.action, m.goal),
            memory,
            (action.astype(jnp.int32), jnp.where(goal.exists, goal.cell, -1).astype(jnp.int32)),
        )
        return memory, action, Info(logits)


def _remember(tables: Tables, memory: ChefMemory, state: OvercookedState, seat, luck) -> ChefMemory:
    """Update the memory with what changed since the last step."""
    same = (memory.cell == state.cell) & (memory.facing == state.facing) & (memory.held == state.held)
    still = jnp.where(same, memory.still + 1, 0)
    faced = tables.front[memory.cell[seat], memory.facing[seat]]
    tried = (memory.action < STAY) & (tables.terrain[tables.front[memory.cell[seat], memory.action % 4]] == 0)
    stuck = jnp.where(tried & (memory.cell[seat] == state.cell[seat]), memory.stuck + 1, 0)
    tired = (stuck >= moves.STUBBORN) & (luck < 0.5)
    took = (
        (memory.held[seat] == OvercookedItem.NOTHING)
        & (state.held[seat] != OvercookedItem.NOTHING)
        & (memory.action == INTERACT)
    )
    from_counter = jnp.where(took, tables.terrain[faced] == COUNTER, memory.from_counter)
    return ChefMemory(
        cell=state.cell,
        facing=state.facing,
        held=state.held,
        still=still,
        action=memory.action,
        goal=memory.goal,
        stuck=stuck,
        patience=jnp.where(tired, 4, jnp.maximum(memory.patience - 1, 0)),
        from_counter=from_counter & (took | (state.held[seat] == memory.held[seat])),
    )
