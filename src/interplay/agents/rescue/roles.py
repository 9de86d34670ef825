"""Scripted rescuers: each role pursues its most urgent goal that it can walk to, by what its seat knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int

from interplay.agents.api import Info, Policy
from interplay.agents.rescue.paths import FAR, distances
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.games.rescue.encodings import KNOWN, SEEN, Knowledge
from interplay.games.rescue.state import (
    ACTIONS,
    DANGER,
    EXTINGUISHER,
    FIREFIGHTER,
    INTERACT,
    KIT,
    NURSE,
    POLICE,
    STAY,
    WALL,
)

GOALS = ("report", "treat", "take_kit", "bring_kit", "take_extinguisher", "extinguish", "clear", "guard", "explore")
NEVER = 100
NEAR = 25  # a nurse fetches a kit that is at most this far: it saves 40 steps of treatment

# The order in which a role pursues its goals.
ORDERS = {
    NURSE: ("take_kit", "treat", "report", "explore"),
    FIREFIGHTER: ("report", "extinguish", "take_extinguisher", "bring_kit", "clear", "explore"),
    POLICE: ("report", "guard", "bring_kit", "take_kit", "explore"),
}
# A loner does only what no other role could do: it reports, brings and guards nothing.
LONER_ORDERS = {
    NURSE: ("take_kit", "treat", "report", "explore"),
    FIREFIGHTER: ("extinguish", "take_extinguisher", "clear", "explore"),
    POLICE: ("explore",),
}
CHANCE_TO_SIDESTEP = 0.3


class RescuerMemory(NamedTuple):
    """What a rescuer remembers: where it has looked, and whether its last step was stopped."""

    looked: Bool[Array, " cell"]
    cell: Int[Array, ""]
    walked: Bool[Array, ""]


def ranked(orders: Mapping[int, Sequence[str]]) -> Int[Array, "role goal"]:
    """Return the rank of each goal for each role; NEVER if the role does not pursue it."""
    table = np.full((len(orders), len(GOALS)), NEVER, np.int32)
    for role, goals in orders.items():
        for rank, goal in enumerate(goals):
            table[role, GOALS.index(goal)] = rank
    return jnp.array(table)


class Rescuer(Policy):
    """Plays the script of its seat's role, or of one fixed role (`role`)."""

    encoding: ClassVar[str] = "knowledge"  # that `act` reads

    order: Int[Array, "role goal"]
    role: Int[Array, ""]  # -1: that of the seat
    front: Int[Array, "cell 4"] | None = None  # of the game; None until bound
    roles: Int[Array, " seat"] | None = None

    def bind(self, game: Game) -> Policy:
        """Return the rescuer with the tables of a game.

        Raises:
            InterplayError: The game is not rescue.
        """
        if "knowledge" not in game.encodings or not hasattr(game, "rules"):
            raise InterplayError(f"a scripted rescuer plays rescue/..., not {game.id}")
        front = jnp.array(game.rules.front.reshape(-1, 4))  # type: ignore[attr-defined]
        return Rescuer(self.order, self.role, front, jnp.array(game.rules.roles))  # type: ignore[attr-defined]

    def init(self, key, seat):
        """Return the memory at the start of an episode."""
        return RescuerMemory(jnp.zeros(self.front.shape[0], bool), jnp.int32(-1), jnp.array(False))  # type: ignore[union-attr]

    def act(self, memory, obs: Knowledge, legal, key):
        """Choose an action and update the memory."""
        looked = memory.looked | obs.sight
        cell = obs.cell[obs.seat]
        role = jnp.where(self.role >= 0, self.role, self.roles[obs.seat])  # type: ignore[index]
        masks = self._goals(obs, role, looked)
        passable = _passable(obs)
        field = distances(self._sources(obs, masks), passable, self.front)  # type: ignore[arg-type]
        far = field[:, cell] >= FAR
        far = far.at[GOALS.index("take_kit")].max((role == NURSE) & (field[GOALS.index("take_kit"), cell] > NEAR))
        ranks = jnp.where(far, NEVER, self.order[role])
        goal = jnp.argmin(ranks)
        action = self._towards(obs, field[goal], masks[goal], passable)
        stopped = memory.walked & (memory.cell == cell)
        coin, way = jax.random.split(key)
        sidestep = jnp.where(ranks[goal] >= NEVER, True, stopped) & jax.random.bernoulli(coin, CHANCE_TO_SIDESTEP)
        idle = jnp.where(ranks[goal] >= NEVER, STAY, action)
        action = jnp.where(sidestep, jax.random.randint(way, (), 0, 4), idle)
        walked = (action < STAY) & (field[goal, cell] > 0)
        logits = jnp.where(jnp.arange(len(ACTIONS)) == action, 0.0, -30.0)
        return RescuerMemory(looked, cell, walked), action, Info(logits)

    def _goals(self, obs: Knowledge, role, looked) -> Bool[Array, "goal cell"]:
        """Return the cells that each goal wants to face (or, to explore, to stand in)."""
        held_tool, cells = obs.held[obs.seat], jnp.arange(obs.terrain.shape[0])
        empty, kit, tool = held_tool < 0, held_tool == KIT, held_tool == EXTINGUISHER
        nurses = self.roles == NURSE  # type: ignore[operator]
        others = jnp.arange(obs.cell.shape[0]) != obs.seat

        def where(seats: Bool[Array, " seat"]) -> Bool[Array, " cell"]:
            return jnp.any((obs.cell[:, None] == cells) & (seats & others)[:, None], axis=0)

        bare = nurses & (obs.held < 0)
        in_need = where(bare)
        danger = jnp.any(obs.terrain == DANGER)
        goals = {
            "report": obs.victims == SEEN,
            "treat": (obs.victims == KNOWN) & (empty | kit),
            "take_kit": (obs.tools == KIT) & empty & ((role == NURSE) | jnp.any(in_need)),
            "bring_kit": in_need & kit,
            "take_extinguisher": (obs.tools == EXTINGUISHER) & empty & jnp.any(obs.burning),
            "extinguish": obs.burning & tool,
            "clear": obs.debris,
            "guard": where(nurses & ~obs.guarded) & danger & ~kit,
            "explore": (obs.terrain != WALL) & ~looked,
        }
        return jnp.stack([goals[name] for name in GOALS])

    def _sources(self, obs: Knowledge, masks: Bool[Array, "goal cell"]) -> Bool[Array, "goal cell"]:
        """Return where to stand for each goal: beside what it wants to face, and not unguarded in a danger zone."""
        beside = jnp.any(masks[:, self.front], axis=-1)
        able = (obs.terrain != DANGER) | obs.guarded[obs.seat]
        facing = jnp.arange(len(GOALS)) != GOALS.index("explore")
        return jnp.where(facing[:, None], beside & able, masks)

    def _towards(self, obs: Knowledge, field, mask, passable) -> Int[Array, ""]:
        """Return the step down the field; at its end a turn towards the goal, then the interact."""
        near = self.front[obs.cell[obs.seat]]  # type: ignore[index]
        here = field[obs.cell[obs.seat]]
        step = jnp.argmin(jnp.where(passable[near], field[near], FAR))
        turn = jnp.argmax(mask[near])
        ready = mask[near[obs.facing[obs.seat]]]
        return jnp.where(here == 0, jnp.where(ready, INTERACT, turn), step).astype(jnp.int32)


def _passable(obs: Knowledge) -> Bool[Array, " cell"]:
    free = (obs.terrain != WALL) & ~obs.debris & ~obs.burning & (obs.tools < 0) & (obs.victims == 0)
    return free.at[obs.cell].set(False).at[obs.cell[obs.seat]].set(True)
