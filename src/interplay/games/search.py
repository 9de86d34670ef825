"""Shortest plans: A* over the states of a game, many states at a time.

A family's solver says how rows (states packed into bytes) expand; this module decides the order. States are told apart
by 64 bits of a hash. Should two ever share one, a plan is still a plan, but might not be the shortest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Int, UInt8, UInt64

NEVER = 30_000  # an estimate of steps that says: impossible from here


@dataclass(frozen=True, kw_only=True)
class SearchResult:
    """The result of a search for a plan. `lower` bounds every plan; None: there is none, and `why` says why."""

    actions: Int[np.ndarray, "step seat"] | None
    lower: int | None
    expanded: int = 0
    why: str = ""

    @property
    def length(self) -> int | None:
        """Steps of the plan."""
        return None if self.actions is None else len(self.actions)

    @property
    def possible(self) -> bool | None:
        """Whether there is a plan; None: neither a plan nor a proof that there is none was found."""
        return True if self.actions is not None else False if self.lower is None else None

    @property
    def shortest(self) -> bool:
        """Whether the plan is proved to be the shortest."""
        return self.length is not None and self.length == self.lower


class RowHash:
    """A hash of packed states: two words of 32 bits inside compiled code, joined to 64 bits outside."""

    def __init__(self, width: int):
        rng = np.random.default_rng(0)
        self._mix = rng.integers(1, 2**32, (2, width), dtype=np.uint32) | np.uint32(1)

    def words(self, row: Any) -> list[Any]:
        """Return the low and the high word of a row's hash."""
        words = []
        for mix in self._mix:
            total = jnp.sum((row.astype(jnp.uint32) + 1) * mix, dtype=jnp.uint32)
            total = (total ^ (total >> 15)) * jnp.uint32(0x2C1B3C6D)
            words.append(total ^ (total >> 13))
        return words

    @staticmethod
    def joined(low: np.ndarray, high: np.ndarray) -> UInt64[np.ndarray, ...]:
        """Return the hashes of 64 bits."""
        return low.astype(np.uint64) | high.astype(np.uint64) << np.uint64(32)


class Children(NamedTuple):
    """All successors of a batch of rows, under each joint action."""

    rows: UInt8[np.ndarray, "parent action byte"]
    hashes: UInt64[np.ndarray, "parent action"]
    estimate: Int[np.ndarray, "parent action"]  # no plan from there is shorter
    guide: Int[np.ndarray, "parent action"]  # how promising the state is, in steps; no bound
    goal: Bool[np.ndarray, "parent action"]


Expand = Callable[[UInt8[np.ndarray, "parent byte"]], Children]


class _Nodes:
    """Every state that was met, in arrays that grow."""

    def __init__(self, width: int):
        self.count = 0
        self._arrays = [np.zeros((1024, width), np.uint8), *(np.zeros(1024, np.int32) for _ in range(3))]

    def add(self, rows: np.ndarray, steps: np.ndarray, parent: np.ndarray, action: np.ndarray) -> np.ndarray:
        first, self.count = self.count, self.count + len(rows)
        while self.count > len(self._arrays[0]):
            self._arrays = [np.concatenate([a, np.zeros_like(a)]) for a in self._arrays]
        for array, values in zip(self._arrays, (rows, steps, parent, action)):
            array[first : self.count] = values
        return np.arange(first, self.count)

    @property
    def rows(self) -> np.ndarray:
        return self._arrays[0]

    @property
    def steps(self) -> np.ndarray:
        return self._arrays[1]

    def way_to(self, node: int) -> list[int]:
        """Return the actions that lead from the start to a node."""
        parent, action, actions = self._arrays[2], self._arrays[3], []
        while parent[node] >= 0:
            actions.append(int(action[node]))
            node = int(parent[node])
        return actions[::-1]


class SearchProgress(NamedTuple):
    """The numbers of the joint actions on the way, or None; no plan is shorter than `lower`."""

    way: list[int] | None
    lower: int
    expanded: int


def search(
    expand: Expand,
    start: UInt8[np.ndarray, " byte"],
    estimate: int,
    *,
    limit: int,
    batch: int,
    guided: bool = False,
    below: int = NEVER,
) -> SearchProgress:
    """Expand states in the order of steps so far + estimate.

    A plan that is found is the shortest. Without a plan, `lower` is the least that is still open.

    Args:
        expand: Function from rows to their successors.
        start: The packed start state.
        estimate: Lower bound from the start.
        limit: Expand at most so many states.
        batch: States expanded at a time.
        guided: Order by steps + guide instead, so that a plan is found sooner, but perhaps not the shortest.
        below: Only search plans shorter than this.
    """
    nodes, seen, expanded = _Nodes(len(start)), {}, 0
    first = nodes.add(start[None], np.zeros(1, np.int32), np.full(1, -1), np.zeros(1, np.int32))
    queue = {estimate: [first]}
    while queue and expanded < limit:
        level = min(queue)
        if level >= below and not guided:
            break
        chosen = _take(queue, level, batch, nodes)
        expanded += len(chosen)
        children = expand(nodes.rows[chosen])
        steps = nodes.steps[chosen].astype(np.int64) + 1
        if children.goal.any():
            parent, action = np.unravel_index(np.argmax(children.goal), children.goal.shape)
            way = [*nodes.way_to(int(chosen[parent])), int(action)]
            return SearchProgress(way, estimate if guided else len(way), expanded)
        bound = np.maximum(steps[:, None] + children.estimate, 0 if guided else level)
        useful = (bound < below) & (children.estimate < NEVER)
        order = steps[:, None] + children.guide if guided else bound
        for level_of, new in _fresh(children, chosen, steps, order, useful, seen, nodes):
            queue.setdefault(level_of, []).append(new)
    if guided:
        return SearchProgress(None, estimate, expanded)
    return SearchProgress(None, min([below, *queue]), expanded)


def find_plan(
    expand: Expand,
    start: UInt8[np.ndarray, " byte"],
    estimate: int,
    joint: np.ndarray,
    *,
    limit: int,
    batch: int,
    first_batch: int,
    below: int = NEVER,
    why_none: str,
) -> SearchResult:
    """Search any plan first, quickly; then the shortest, or a bound on it.

    Args:
        expand: Function from rows to their successors.
        start: The packed start state.
        estimate: Lower bound from the start.
        joint: The joint actions, [number, seat].
        limit: Expand at most so many states in each search.
        batch: States expanded at a time.
        first_batch: The same in the search for any plan.
        below: Only search plans shorter than this.
        why_none: What to say where there is no such plan.
    """
    quick = search(expand, start, estimate, limit=limit, batch=first_batch, guided=True, below=below)
    below = below if quick.way is None else len(quick.way)
    best = search(expand, start, estimate, limit=limit, batch=batch, below=below)
    way, expanded = best.way or quick.way, quick.expanded + best.expanded
    if way is not None:
        return SearchResult(actions=joint[way], lower=min(best.lower, len(way)), expanded=expanded)
    if best.lower >= below:
        return SearchResult(actions=None, lower=None, expanded=expanded, why=why_none)
    return SearchResult(actions=None, lower=best.lower, expanded=expanded, why="no plan was found within the limit")


def _take(queue: dict[int, list[np.ndarray]], level: int, batch: int, nodes: _Nodes) -> np.ndarray:
    """Return nodes of the lowest level, the furthest on the way first."""
    here = np.concatenate(queue.pop(level))
    if len(here) > batch:
        order = np.argsort(-nodes.steps[here], kind="stable")
        queue[level] = [here[order[batch:]]]
        here = here[order[:batch]]
    return here


def _fresh(children: Children, chosen, steps, cost, useful, seen: dict[int, int], nodes: _Nodes):
    """Return the successors not met before, or on a longer way, by level."""
    parent, action = np.nonzero(useful)
    hashes = children.hashes[parent, action]
    taken = np.lexsort((steps[parent], hashes))
    first = np.ones(len(taken), bool)
    first[1:] = hashes[taken[1:]] != hashes[taken[:-1]]
    taken = taken[first]
    new = []
    for at, name, now in zip(taken.tolist(), hashes[taken].tolist(), steps[parent[taken]].tolist()):
        before = seen.get(name)
        if before is None or now < before:
            seen[name] = now
            new.append(at)
    parent, action = parent[new], action[new]
    added = nodes.add(children.rows[parent, action], steps[parent], chosen[parent], action)
    levels = cost[parent, action]
    for level in np.unique(levels).tolist():
        yield level, added[levels == level]
