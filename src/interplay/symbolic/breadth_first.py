"""A breadth-first solver for small games that bring none of their own."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from interplay.errors import InterplayError
from interplay.games.api import Game, State, Step, is_jax
from interplay.games.checksum import checksum
from interplay.games.records import key_as_bits
from interplay.games.search import SearchResult

MOST_STATES = 200_000  # states of one search; beyond it the search gives up
IDLE_ACTIONS = ("stay", "noop", "wait", "idle", "pass")
tree_map = jax.tree.map


class _Layer(NamedTuple):
    """The states after so many steps: the index of each state's parent and the joint action that led to it."""

    parents: np.ndarray
    actions: np.ndarray


def _mixed(leaf: Any) -> Any:
    """Return the values of a leaf changed, so that a second checksum tells apart what the first does not."""
    return jnp.asarray(key_as_bits(leaf)) * 3 + 1


class BreadthFirstSolver:
    """Searches all states of a deterministic game, layer by layer, for the team's first points.

    States of one layer that are equal are joined. Nothing is assumed of states at different times, so a proof holds
    whatever the rules do with time.
    """

    goal = "the team's first points"

    def __init__(self, game: Game):
        if not game.replayable:
            raise InterplayError(f"{game.id} cannot be certified: chance strikes within its steps, so no plan is sure")
        if any(encoding.privileged for encoding in game.encodings.values()):
            raise InterplayError(
                f"{game.id} cannot be certified: its seats do not see everything, and a search over states would; "
                f"a solver that knows what they see can be declared in the game's family"
            )
        self.game = game
        self._idle = next((game.action_names.index(n) for n in IDLE_ACTIONS if n in game.action_names), None)
        self._step = jax.jit(jax.vmap(self._successor)) if is_jax(game) else None

    def reached(self, state: State, step: Step) -> bool:
        """Return whether a step earned the team points."""
        return float(np.sum(np.asarray(step.reward))) > 0

    def alone(self, seat: int) -> SearchResult:
        """Search with one seat acting; the others do nothing where they start."""
        if self._idle is None:
            return SearchResult(actions=None, lower=0, why="the game has no action that does nothing")
        return self._search([seat])

    def unhindered(self, seat: int) -> SearchResult:
        """Search as `alone`: in general it is not known what a game would be without the other seats."""
        return self.alone(seat)

    def by_itself(self, seat: int) -> tuple[Game, Mapping[str, Any]]:
        """Return the game itself."""
        return self.game, {}

    def together(self) -> SearchResult:
        """Search with all seats acting."""
        return self._search(range(self.game.num_seats))

    def _successor(self, state: State, actions: Any) -> tuple[Any, Any, Any, Any, Any]:
        legal = jnp.all(jnp.take_along_axis(self.game.legal(state), actions[:, None], axis=1))
        after, step = self.game.step(state, actions, jax.random.key(0))
        keys = jnp.stack([checksum(after), checksum(tree_map(_mixed, after))])
        return after, legal, jnp.sum(step.reward) > 0, step.terminated | step.truncated, keys

    def _joint_actions(self, acting: Sequence[int]) -> np.ndarray:
        count = len(self.game.action_names)
        choices = [range(count) if seat in acting else [self._idle or 0] for seat in range(self.game.num_seats)]
        if np.prod([len(c) for c in choices]) > MOST_STATES:
            raise InterplayError(
                f"{self.game.id} has too many joint actions for this search; bring a solver of its own"
            )
        return np.array(list(itertools.product(*choices)), np.int32)

    def _search(self, acting: Sequence[int]) -> SearchResult:
        joint, first = self._joint_actions(acting), self.game.init(jax.random.key(0))
        frontier: list[Any] = [first]
        layers: list[_Layer] = []
        expanded = 0
        for depth in range(self.game.horizon):
            if expanded + len(frontier) > MOST_STATES:
                why = f"more than {MOST_STATES:,} states; a solver of the game's own may do better"
                return SearchResult(actions=None, lower=depth, expanded=expanded, why=why)
            expanded += len(frontier)
            after, legal, goal, over, keys = self._expand(frontier, joint, depth)
            hits = np.argwhere(legal & goal)
            if len(hits):
                plan = self._plan(layers, int(hits[0][0]), joint[hits[0][1]])
                return SearchResult(actions=plan, lower=len(plan), expanded=expanded)
            alive = np.argwhere(legal & ~over)
            _, unique = np.unique(keys[alive[:, 0], alive[:, 1]], axis=0, return_index=True)
            chosen = alive[np.sort(unique)]
            if not len(chosen):
                return SearchResult(
                    actions=None, lower=None, expanded=expanded, why="every way of playing ends without points"
                )
            layers.append(_Layer(chosen[:, 0], joint[chosen[:, 1]]))
            frontier = [after(int(parent), int(action)) for parent, action in chosen]
        return SearchResult(actions=None, lower=None, expanded=expanded, why="no way of playing earns points in time")

    def _expand(self, frontier: list[Any], joint: np.ndarray, depth: int) -> tuple:
        """Return all successors: a function to get one, and [state, joint action] legal, goal, over and keys."""
        states, actions = len(frontier), len(joint)
        if self._step is not None:
            size = 1 << max(0, states * actions - 1).bit_length()
            at = np.minimum(np.arange(size), states * actions - 1)
            stacked = tree_map(lambda *x: np.stack([np.asarray(v) for v in x])[at // actions], *frontier)
            after, legal, goal, over, keys = tree_map(np.asarray, self._step(stacked, joint[at % actions]))
            shaped = [x[: states * actions].reshape(states, actions, *x.shape[1:]) for x in (legal, goal, over, keys)]
            return lambda s, a: tree_map(lambda x: x[s * actions + a], after), *shaped
        results = [[self._plain(state, a) for a in joint] for state in frontier]
        facts = [np.array([[r[i] for r in row] for row in results]) for i in (1, 2, 3)]
        keys = np.array([[r[4] for r in row] for row in results])[..., None]
        return lambda s, a: results[s][a][0], *facts, keys

    def _plain(self, state: State, actions: np.ndarray) -> tuple[Any, bool, bool, bool, int]:
        legal = np.asarray(self.game.legal(state))
        if not all(legal[seat, action] for seat, action in enumerate(actions)):
            return state, False, False, True, 0
        after, step = self.game.step(state, jnp.asarray(actions), jax.random.key(0))
        check = int(getattr(self.game, "checksum", checksum)(after))
        return after, True, self.reached(after, step), bool(step.terminated) or bool(step.truncated), check

    @staticmethod
    def _plan(layers: Sequence[_Layer], state: int, last: np.ndarray) -> np.ndarray:
        plan = [last]
        for layer in reversed(layers):
            plan.append(layer.actions[state])
            state = int(layer.parents[state])
        return np.array(plan[::-1], np.int32)
