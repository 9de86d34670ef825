"""Policies of one kind, stacked: kinds are compiled, not policies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from interplay.agents.api import Policy
from interplay.games.api import Game
from interplay.play.lineups import LineUp


@dataclass(frozen=True)
class Kind:
    """Policies that differ in array values only, and the slots they fill. A slot is env * seats + seat."""

    static: Any  # the policy without its arrays
    arrays: Any  # its arrays with a leading [policy] axis
    slots: np.ndarray  # [policy, place] int32; unused places hold an index past the last slot
    encoding: str

    def policy(self, arrays: Any) -> Policy:
        return eqx.combine(arrays, self.static)

    @property
    def signature(self) -> tuple:
        """Equal for kinds that one compiled program can serve."""
        shapes = tuple((a.shape, str(a.dtype)) for a in jax.tree_util.tree_leaves(self.arrays))
        return (*_static_key(self.static), shapes, self.slots.shape, self.encoding)


def _static_key(static: Any) -> tuple:
    leaves, structure = jax.tree_util.tree_flatten(static)
    return structure, tuple(leaves)


class Static:
    """A policy without its arrays, as the key of a cache: policies that differ in numbers only share their programs."""

    def __init__(self, static: Any):
        self.static, self.key = static, _static_key(static)

    def __hash__(self) -> int:
        return hash(str(self.key[0]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Static) and self.key == other.key


def group(game: Game, envs: Sequence[LineUp]) -> list[Kind]:
    """The kinds among the policies seated in these environments (players are left out)."""
    bound: dict[int, tuple[Any, Any, str]] = {}
    slots: dict[int, list[int]] = {}
    for env, line_up in enumerate(envs):
        for seat, agent in enumerate(line_up.agents):
            if not isinstance(agent.mind, Policy):
                continue
            if id(agent.mind) not in bound:
                ready = jax.tree_util.tree_map(_as_jax, agent.mind.bind(game))
                bound[id(agent.mind)] = (*eqx.partition(ready, eqx.is_array), ready.encoding)
            slots.setdefault(id(agent.mind), []).append(env * game.num_seats + seat)
    families: dict[Any, list[int]] = {}
    for policy, (arrays, static, encoding) in bound.items():
        shapes = tuple((a.shape, str(a.dtype)) for a in jax.tree_util.tree_leaves(arrays))
        families.setdefault((*_static_key(static), shapes, encoding), []).append(policy)
    beyond = len(envs) * game.num_seats
    kinds = []
    for members in families.values():
        places = max(len(slots[m]) for m in members)
        filled = np.full((len(members), places), beyond, np.int32)
        for row, member in enumerate(members):
            filled[row, : len(slots[member])] = slots[member]
        stacked = jax.tree_util.tree_map(lambda *a: jnp.stack(a), *(bound[m][0] for m in members))
        _, static, encoding = bound[members[0]]
        kinds.append(Kind(static, stacked, filled, encoding))
    return kinds


def _as_jax(leaf: Any) -> Any:
    return jnp.asarray(leaf) if isinstance(leaf, np.ndarray) else leaf
