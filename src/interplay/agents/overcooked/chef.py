"""The scripted chef: chooses a job, walks there, minds the others."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from interplay.agents.api import Info, Policy
from interplay.agents.overcooked import jobs, moves
from interplay.agents.overcooked.roles import Role
from interplay.agents.overcooked.tables import Tables
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.games.overcooked.encodings import Seen
from interplay.games.overcooked.state import COUNTER, INTERACT, STAY, Item, State
from interplay.games.records import record

FLOOR_OF_LOGITS = -30.0


@record
class Memory:
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

    role: Role
    tables: Tables | None = None

    @property
    def encoding(self) -> str:
        return "state"

    def bind(self, game: Game) -> Chef:
        kitchen = getattr(game, "kitchen", None)
        if kitchen is None or "state" not in game.encodings:
            raise InterplayError(f"the scripted chefs play kitchens of overcooked, not {game.id}")
        return Chef(self.role, Tables.of(kitchen, game.num_seats))

    @property
    def known(self) -> Tables:
        if self.tables is None:
            raise InterplayError("this chef has not seen a kitchen yet: call bind(game) first")
        return self.tables

    def init(self, key: PRNGKeyArray, seat: Int[Array, ""]) -> Memory:
        zeros, none = jnp.zeros(self.known.seats, jnp.int32), jnp.int32(-1)
        nil = jnp.int32(0)
        return Memory(
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

    def act(self, memory: Memory, obs: Seen, legal: Bool[Array, " action"], key: PRNGKeyArray):
        tables, role, state, seat = self.known, self.role, obs.state, obs.seat
        for_coin, for_manners, for_choice = jax.random.split(key, 3)
        memory = _remember(tables, memory, state, seat, for_coin)
        goal = jobs.choose(role, tables, state, seat, memory.still, memory.goal, memory.from_counter)
        odds = moves.odds(
            role, tables, state, seat, goal, memory.still, memory.stuck, memory.patience, for_manners
        )
        stay = jnp.arange(odds.shape[0]) == STAY
        odds = jnp.where(stay, role.pause + (1 - role.pause) * odds, (1 - role.pause) * odds)
        odds = jnp.where(legal, odds, 0.0)
        odds = jnp.where(jnp.sum(odds) > 0, odds, jnp.where(legal & stay, 1.0, 0.0))
        logits = jnp.maximum(jnp.log(odds), FLOOR_OF_LOGITS)
        action = jax.random.categorical(for_choice, jnp.where(odds > 0, logits, -jnp.inf))
        memory = eqx.tree_at(
            lambda m: (m.action, m.goal),
            memory,
            (action.astype(jnp.int32), jnp.where(goal.exists, goal.cell, -1).astype(jnp.int32)),
        )
        return memory, action, Info(logits)


def _remember(tables: Tables, memory: Memory, state: State, seat, key) -> Memory:
    """What changed since the last step, and what it tells."""
    same = (memory.cell == state.cell) & (memory.facing == state.facing) & (memory.held == state.held)
    still = jnp.where(same, memory.still + 1, 0)
    faced = tables.front[memory.cell[seat], memory.facing[seat]]
    tried = (memory.action < STAY) & (tables.terrain[tables.front[memory.cell[seat], memory.action % 4]] == 0)
    stuck = jnp.where(tried & (memory.cell[seat] == state.cell[seat]), memory.stuck + 1, 0)
    tired = (stuck >= moves.STUBBORN) & jax.random.bernoulli(key, 0.5)
    took = (memory.held[seat] == Item.NOTHING) & (state.held[seat] != Item.NOTHING) & (memory.action == INTERACT)
    from_counter = jnp.where(took, tables.terrain[faced] == COUNTER, memory.from_counter)
    return Memory(
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
