"""Lower bounds on the steps to the first treated victims, from a relaxed house.

A pose is cell * 4 + facing. In the relaxed house agents walk through each other and through tools, each firefighter
clears every hazard first, and guards are at hand if there is police. What remains is: nobody walks faster than a step a
cell or through a hazard that still blocks; tools are fetched; treatment is work at a certain speed. Fires that spread
only add to this, so only the fires of the start count.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import shortest_path

from interplay.games.rescue.rules import RescueRules
from interplay.games.rescue.state import (
    BY_HAND,
    DANGER,
    EXTINGUISHER,
    FIRE_FACTOR,
    FIREFIGHTER,
    KIT,
    NURSE,
    POLICE,
    WALL,
    WITH_KIT,
    WORK,
    RescueState,
)
from interplay.games.search import NEVER

TRACKED = 6  # hazards whose clearing is timed; a table for each set of them. Further ones do not block.
LONGEST = 4096  # no treatment that can be done takes so long

# Speeds add up: bare hands in a burning room, what a kit adds there, what either gains once the fire is out.
SLOW = (BY_HAND // FIRE_FACTOR, WITH_KIT // FIRE_FACTOR - BY_HAND // FIRE_FACTOR)
GAIN = (BY_HAND - SLOW[0], WITH_KIT - BY_HAND - SLOW[1])


class RelaxedRescue:
    """Tables of the relaxed house for the seats that move, and the estimate made of them."""

    def __init__(self, rules: RescueRules, start: RescueState, movers: tuple[int, ...], blocked: tuple[int, ...] = ()):
        self.rules, self.movers = rules, movers
        roles = [rules.roles[s] for s in movers]
        self.nurses = [s for s, role in zip(movers, roles) if role == NURSE]
        self.firefighters = [s for s, role in zip(movers, roles) if role == FIREFIGHTER]
        self.tools = {kind: [t for t, k in enumerate(rules.tool_kinds) if k == kind] for kind in (KIT, EXTINGUISHER)}
        terrain = np.asarray(start.terrain)
        self.hazards = np.flatnonzero(np.asarray(start.debris) | np.asarray(start.burning))
        self.is_fire = np.asarray(start.burning)[self.hazards]
        self.victims = np.asarray(start.victim_cell)
        self.tracked = self.hazards[:TRACKED]
        self.sets = np.arange(2 ** len(self.tracked))
        self.bits = (self.sets[:, None] >> np.arange(len(self.tracked))) & 1 == 1  # [set, hazard]
        free = terrain != WALL
        free[[*self.victims, *blocked]] = False
        self.facing = self._facing(rules.front, free)
        steps = np.stack(
            [self._steps(rules.front, free, self.tracked[bits]) for bits in self.bits]
        )  # [set, pose, pose]
        calm = np.repeat(terrain != DANGER, 4)
        guarded = np.ones_like(calm) if POLICE in roles else calm
        self.able = jnp.asarray(guarded)  # [pose] from where a nurse or firefighter can interact
        self.steps = jnp.asarray(steps)  # [set, pose, pose]
        self.to_face = jnp.asarray(self._to_face(steps, guarded))  # [set, pose, cell]
        self.police_to_face = jnp.asarray(self._to_face(steps, np.ones_like(calm)))
        self.travel = jnp.asarray(self._travel(steps[0]))  # [cell, cell] a tool's way to one who faces the cell

    def _facing(self, front: np.ndarray, free: np.ndarray) -> Int[np.ndarray, "cell 4"]:
        """Return the poses that face a cell; -1 where there is none."""
        poses = np.full((len(free), 4), -1)
        for pose in np.flatnonzero(np.repeat(free, 4)):
            poses[front[pose], pose % 4] = pose
        return poses

    def _steps(self, front: np.ndarray, free: np.ndarray, hazards: np.ndarray) -> Int[np.ndarray, "pose pose"]:
        """Return the steps from pose to pose with nobody in the way.

        A move may also only turn: what it faces (a tool, a hazard already counted as cleared) may block it.
        """
        free = free.copy()
        free[hazards] = False
        poses = np.flatnonzero(np.repeat(free, 4))
        ahead = front.reshape(-1, 4)[poses // 4]  # [pose, move]
        here = np.broadcast_to((poses // 4)[:, None], ahead.shape)
        after = np.concatenate([here, np.where(free[ahead], ahead, here)], axis=1) * 4 + np.tile(np.arange(4), 2)
        size = 4 * len(free)
        edges = csr_matrix((np.ones(after.size), (np.repeat(poses, 8), after.ravel())), shape=(size, size))
        lengths = shortest_path(edges, unweighted=True)
        return np.where(np.isfinite(lengths), lengths, NEVER).astype(np.int32)

    def _to_face(self, steps: np.ndarray, able: np.ndarray) -> Int[np.ndarray, "set pose cell"]:
        """Return the steps until an agent faces a cell from where it can interact."""
        there = (self.facing >= 0) & able[self.facing]
        nearest = np.where(there, steps[:, :, np.maximum(self.facing, 0)], NEVER)
        return nearest.min(axis=-1).astype(np.int32)

    def _travel(self, steps: np.ndarray) -> Int[np.ndarray, "cell cell"]:
        size = len(steps) // 4
        cells = steps.reshape(size, 4, size, 4).min(axis=(1, 3))
        there = np.where(self.facing >= 0, cells[:, np.maximum(self.facing, 0) // 4], NEVER)
        return there.min(axis=-1).astype(np.int32)

    def estimate(self, state: RescueState, victims: int = 1) -> Int[Array, ""]:
        """Return a lower bound on the plans after which so many victims are treated; NEVER: there is none."""
        pose = state.cell * 4 + state.facing
        blocking = (state.debris | state.burning)[self.hazards]
        left = jnp.sum(jnp.where(blocking[: len(self.tracked)], 1 << jnp.arange(len(self.tracked)), 0))
        cleared = self._cleared(state, pose)

        def victim(cell: Any, known: Any, work: Any) -> Array:
            return self._victim(state, pose, cell, known, work, left, blocking, cleared)

        each = jax.vmap(victim)(state.victim_cell, state.known, state.work)
        if victims == 1:
            return jnp.min(each)
        untreated = state.work < WORK
        latest = jnp.sort(jnp.where(untreated, each, 0))[victims - 1]
        return jnp.maximum(latest, self._all_work(state, pose, untreated, victims))

    def _all_work(self, state: RescueState, pose: Array, untreated: Array, victims: int) -> Int[Array, ""]:
        """Return the steps that the nurses need at least if the work of the easiest victims is all there is."""
        speed = WITH_KIT if self.tools[KIT] else BY_HAND
        steps = jnp.sort(jnp.where(untreated, -(-(WORK - state.work) // speed), 0))[:victims]
        ways = jnp.stack([self.to_face[0, pose[n]][state.victim_cell] for n in self.nurses])
        nearest = jnp.min(jnp.where(untreated, ways, NEVER))
        return jnp.where(jnp.sum(steps) > 0, nearest + -(-jnp.sum(steps) // len(self.nurses)), 0)

    def _cleared(self, state: RescueState, pose: Array) -> Int[Array, " hazard"]:
        """Return when each hazard can be gone at the earliest."""
        when = []
        for cell, fire in zip(self.hazards.tolist(), self.is_fire.tolist()):
            none = jnp.zeros(1, jnp.int32)
            each = [
                self._with_tool(state, pose, f, EXTINGUISHER, cell, none)[0] if fire else self.to_face[0, pose[f], cell]
                for f in self.firefighters
            ]
            when.append(jnp.min(jnp.stack(each)) + 1 if each else jnp.int32(NEVER))
        return jnp.stack(when) if when else jnp.zeros(0, jnp.int32)

    def _victim(
        self, state: RescueState, pose: Array, cell, known, work, left, blocking: Array, cleared: Array
    ) -> Array:
        """Return the steps until the victim in this cell is treated."""
        waits = self._waits(cell, left, cleared)
        sets = jnp.where(waits < NEVER, left ^ jnp.asarray(self.sets), 0)  # what still blocks, [set]
        room = jnp.asarray(self.rules.room)
        burns = self.is_fire & (room[self.hazards] == room[cell])
        out = jnp.max(jnp.where(burns & blocking, cleared, 0), initial=0)
        by_hand, with_kit = [], []
        for n in self.nurses:
            hand = jnp.min(jnp.maximum(self.to_face[sets, pose[n], cell], waits))
            kit = jnp.min(jnp.maximum(self._with_tool(state, pose, n, KIT, cell, sets), waits))
            discovered = self._discovered(pose, n, cell)
            alone = jnp.where(known, 0, 1) if len(self.movers) == 1 else 0  # its own step of discovery
            hand = jnp.maximum(hand + alone, jnp.where(known, 0, discovered))
            by_hand.append(hand)
            with_kit.append(jnp.maximum(hand, kit + alone))
        return _finished(WORK - work, jnp.stack(by_hand), jnp.stack(with_kit), out)

    def _waits(self, cell: Any, left: Any, cleared: Array) -> Int[Array, " set"]:
        """Return, for each set of hazards that a way leads across once they are cleared, when it gets to the victim."""
        sets = jnp.asarray(self.sets)
        back = jnp.min(self.to_face[0].reshape(-1, 4, self.to_face.shape[-1])[self.tracked, :, cell], axis=-1)
        waits = jnp.where(self.bits, (cleared[: len(self.tracked)] + back)[None], 0).max(axis=1, initial=0)
        return jnp.where((sets & ~left) != 0, NEVER, waits)

    def _discovered(self, pose: Array, nurse: int, cell: Any) -> Array:
        """Return after how many steps a nurse can treat a victim that somebody has to report first."""
        each = [self._face(a, pose[a], cell) + (a >= nurse) for a in self.movers]
        return jnp.min(jnp.stack(each))

    def _face(self, seat: int, pose: Any, cell: Any) -> Array:
        table = self.police_to_face if self.rules.roles[seat] == POLICE else self.to_face
        return table[0, pose, cell]

    def _with_tool(
        self, state: RescueState, pose: Array, seat: int, kind: int, cell: Any, sets: Array
    ) -> Int[Array, " set"]:
        """Return when a seat can face a cell with such a tool in hand, by the hazards that block.

        It fetches the tool, or gets it from others. A tool moves a cell a step; only where it changes hands does it
        gain a step, and not twice on the same agent, who walks no faster himself.
        """
        direct = self.to_face[sets, pose[seat], cell]
        best = jnp.full(sets.shape, NEVER)
        for tool in self.tools[kind]:
            at = jnp.maximum(state.tool_cell[tool], 0)
            lies, mine = state.tool_cell[tool] >= 0, state.held[seat] == tool
            stops = jnp.asarray(self.facing)[at]  # [4] poses to take it from
            able = (stops >= 0) & self.able[stops]
            fetch = self.steps[sets[:, None], pose[seat], stops] + 1 + self.to_face[sets[:, None], stops, cell]
            fetch = jnp.min(jnp.where(able, fetch, NEVER), axis=-1)
            best = jnp.minimum(best, jnp.where(mine, direct, jnp.where(lies, fetch, NEVER)))
            gain, others = len(self.movers) - 1, [a for a in self.movers if a != seat]
            for a in others:
                brought = jnp.where(lies, self._face(a, pose[a], at) + self.travel[at, cell], NEVER)
                carried = jnp.where(state.held[a] == tool, self.travel[state.cell[a], cell], NEVER)
                brought = jnp.minimum(brought, carried)
                best = jnp.minimum(best, jnp.where(brought < NEVER, jnp.maximum(direct, brought - gain), NEVER))
            if others:  # the seat may take it, and have it carried on by others, and back
                taken = jnp.where(lies, self._face(seat, pose[seat], at) + self.travel[at, cell], NEVER)
                taken = jnp.where(mine, 0, taken)
                best = jnp.minimum(best, jnp.where(taken < NEVER, jnp.maximum(direct, taken - gain), NEVER))
        return best


def _finished(work: Any, by_hand: Array, with_kit: Array, out: Any) -> Array:
    """Return the least number of steps after which nurses who begin at these times have done the work."""

    def enough(time: Any) -> Bool[Array, ""]:
        def spent(since: Any) -> Array:
            return jnp.sum(jnp.maximum(time - since, 0))

        done = SLOW[0] * spent(by_hand) + SLOW[1] * spent(with_kit)
        done += GAIN[0] * spent(jnp.maximum(by_hand, out)) + GAIN[1] * spent(jnp.maximum(with_kit, out))
        return done >= work

    def halve(_: Array, bounds: tuple) -> tuple:
        low, high = bounds
        middle = (low + high) // 2
        return jnp.where(enough(middle), low, middle), jnp.where(enough(middle), middle, high)

    halvings = LONGEST.bit_length() - 1  # until low + 1 == high, with high enough if anything is
    _, time = jax.lax.fori_loop(0, halvings, halve, (jnp.int32(0), jnp.int32(LONGEST)))
    return jnp.where(enough(time), time, NEVER)
