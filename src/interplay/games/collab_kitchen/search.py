"""Search for plans in primitive steps: all joint poses of a world at once, step by step, as sets.

Without a width the search is exact: it tries the shortest length that the bound allows, then one more, and so on, so
that the first plan is the shortest. With a width only the most advanced worlds of each step are kept: a plan is found
soon, and is usually as short, but proves nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Int

from interplay.games.collab_kitchen.bounds import Ways
from interplay.games.collab_kitchen.floor import FAR, Floor, floor_of
from interplay.games.collab_kitchen.rules import KitchenRules
from interplay.games.collab_kitchen.state import STAY, KitchenState
from interplay.games.collab_kitchen.worlds import Turn, WorldAct, Worlds

Layer = dict[int, np.ndarray]  # world -> the joint poses that are new in this step


class SearchPlan(NamedTuple):
    """Joint actions [step, seat] of a plan or None, a proved lower bound (None: no plan exists), states expanded."""

    actions: Int[np.ndarray, "step seat"] | None
    lower: int | None
    expanded: int


class Search:
    """Searches from one state, with one or two seats that act."""

    def __init__(self, constants: KitchenRules, state: KitchenState, active: tuple[int, ...], thorough: bool = True):
        self.rules, self.state, self.active = constants, state, active
        self.floor: Floor = floor_of(constants.layout, state.cooks, active)
        self.worlds = Worlds(constants, Ways(constants.layout, constants.dish, self.floor), thorough)
        self.expanded = 0
        a, b = self.floor.first, self.floor.second
        self.faces_a = np.repeat(a.faces, b.count)
        self.faces_b = np.tile(b.faces, a.count)
        self.start = a.index[state.cooks[active[0]]] * b.count
        self.start += b.index[state.cooks[active[1]]] if len(active) == 2 else 0
        self.first_world = self.worlds.number(state.world)
        moves = self.floor.moves
        self.only_b = np.arange(moves)  # the first cook stays
        self.only_a = np.arange(0, self.floor.after.shape[1], moves)
        self.every = np.arange(self.floor.after.shape[1])

    @property
    def bound(self) -> int:
        """A lower bound on the length of every plan."""
        return int(self.worlds.bound(self.first_world)[self.start])

    def exact(self, most: int, limit: int | None = None, below: int | None = None) -> SearchPlan:
        """Return the shortest plan of at most `most` steps, shorter than `below` (a known plan's length).

        Gives up after `limit` joint poses; the lower bound is what was proved by then.
        """
        if self.bound >= FAR:
            return SearchPlan(None, None, self.expanded)
        top = most + 1 if below is None else min(most + 1, below)
        for length in range(self.bound, top):
            plan, complete = self._within(length, None, limit)
            if plan is not None:
                return SearchPlan(plan, length, self.expanded)
            if not complete:
                return SearchPlan(None, length, self.expanded)
        return SearchPlan(None, top, self.expanded)

    def quick(self, most: int, width: int) -> SearchPlan:
        """Return a plan by keeping `width` worlds a step, as short as that allows."""
        if self.bound >= FAR:
            return SearchPlan(None, None, self.expanded)
        for length in range(self.bound, most + 1):
            plan, _ = self._within(length, width, None)
            if plan is not None:
                return SearchPlan(plan, self.bound, self.expanded)
        return SearchPlan(None, self.bound, self.expanded)

    def _within(self, length: int, width: int | None, limit: int | None) -> tuple[np.ndarray | None, bool]:
        """Return a plan of at most `length` steps, and whether the search was complete."""
        seen: dict[int, np.ndarray] = {}
        layers: list[Layer] = [{self.first_world: np.array([self.start])}]
        came: list[dict[int, set[int]]] = [{}]
        seen[self.first_world] = self._fresh()
        seen[self.first_world][self.start] = True
        for t in range(length):
            if limit is not None and self.expanded > limit:
                return None, False
            marked, origin = self._expand(layers[t])
            done = [w for w in marked if self.worlds.delivered(w)]
            if done:
                joint = int(np.flatnonzero(marked[done[0]])[0])
                came.append(origin)
                return self._way(layers, came, done[0], joint), True
            layer = self._kept(marked, seen, length - t - 1, width)
            if not layer:
                return None, True
            layers.append(layer)
            came.append(origin)
        return None, True

    def _fresh(self) -> np.ndarray:
        return np.zeros(len(self.floor.after), bool)

    def _expand(self, layer: Layer) -> tuple[dict[int, np.ndarray], dict[int, set[int]]]:
        marked: dict[int, np.ndarray] = {}
        origin: dict[int, set[int]] = {}
        for world, joint in layer.items():
            self.expanded += len(joint)
            for turn in self.worlds.turns(world):
                chosen, moves = self._able(turn, joint)
                if not len(chosen):
                    continue
                if turn.world not in marked:
                    marked[turn.world] = self._fresh()
                marked[turn.world][self.floor.after[chosen][:, moves].ravel()] = True
                origin.setdefault(turn.world, set()).add(world)
        return marked, origin

    def _able(self, turn: Turn, joint: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the joint poses in which hands can do this, and the joint moves left to those who walk."""
        if turn.first is not None:
            joint = joint[self.faces_a[joint] == turn.first.station]
        if turn.second is not None:
            joint = joint[self.faces_b[joint] == turn.second.station]
        if turn.first is None:
            return joint, self.every if turn.second is None else self.only_a
        return joint, self.only_b if turn.second is None else self.only_b[:1]

    def _kept(self, marked: dict[int, np.ndarray], seen: dict[int, np.ndarray], left: int, width: int | None) -> Layer:
        layer: Layer = {}
        least: dict[int, int] = {}
        for world, mask in marked.items():
            bound = self.worlds.bound(world)
            known = seen.get(world)
            new = mask & (bound <= left)
            if known is not None:
                new &= ~known
            poses = np.flatnonzero(new)
            if len(poses):
                layer[world] = poses
                least[world] = int(bound[poses].min())
        if width is not None:
            layer = self._most_advanced(layer, least, width)
        for world, poses in layer.items():
            if world not in seen:
                seen[world] = self._fresh()
            seen[world][poses] = True
        return layer

    def _most_advanced(self, layer: Layer, least: dict[int, int], width: int) -> Layer:
        """Return the best worlds at each stage of the recipe.

        So detours, such as laying something aside, survive.
        """
        taken: dict[tuple, int] = {}
        kept = {}
        for world in sorted(layer, key=lambda w: (least[w] + self.worlds.work(w), w)):
            stage = self.worlds.stage(world)
            taken[stage] = taken.get(stage, 0) + 1
            if taken[stage] <= width:
                kept[world] = layer[world]
        return kept

    def _way(self, layers: list[Layer], came: list[dict[int, set[int]]], world: int, joint: int) -> np.ndarray:
        """Return the joint actions that lead to a world and joint pose after the last layer."""
        actions = []
        for t in range(len(layers) - 1, -1, -1):
            before, world, joint = self._before(layers[t], sorted(came[t + 1][world]), world, joint)
            actions.append(before)
        return np.array(actions[::-1], np.int32)

    def _before(self, layer: Layer, worlds: list[int], world: int, joint: int) -> tuple[list[int], int, int]:
        for origin in worlds:
            for turn in self.worlds.turns(origin):
                if turn.world != world:
                    continue
                chosen, moves = self._able(turn, layer[origin])
                where = np.argwhere(self.floor.after[chosen][:, moves] == joint)
                if len(where):
                    row, column = where[0]
                    return self._joint_action(turn, int(moves[column])), origin, int(chosen[row])
        raise AssertionError("a state without an origin")

    def _joint_action(self, turn: Turn, move: int) -> list[int]:
        pair = divmod(move, self.floor.moves)
        actions = [STAY] * len(self.rules.roles)
        for seat, act, own in zip(self.active, (turn.first, turn.second), pair):
            actions[seat] = _action(act, own)
        return actions


def _action(act: WorldAct | None, move: int) -> int:
    return move if act is None else act.action
