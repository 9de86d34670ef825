"""Policies that differ in numbers only, stacked: one compiled program serves them all, in any number of teams."""

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
from interplay.rollout.seat import StaticPolicy, bound
from interplay.rollout.teams import Team


@dataclass(frozen=True, eq=False)
class PolicyBatch:
    """Policies of one structure, and the slots that they fill. A slot is env * seats + seat.

    Batches are equal if one compiled program can serve both.
    """

    static: StaticPolicy
    arrays: Any  # the policies' arrays, [policy, ...]
    slots: np.ndarray  # [policy, place] int32; unused places hold an index past the last slot
    encoding: str

    def policy(self, arrays: Any) -> Policy:
        """A policy from its arrays."""
        return eqx.combine(arrays, self.static.policy)

    @property
    def _signature(self) -> tuple:
        return self.static, _shapes(self.arrays), self.slots.shape, self.encoding

    def __hash__(self) -> int:
        return hash(self._signature)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PolicyBatch) and self._signature == other._signature


def _shapes(arrays: Any) -> tuple:
    return tuple((a.shape, str(a.dtype)) for a in jax.tree_util.tree_leaves(arrays))


def policy_batches(game: Game, envs: Sequence[Team]) -> list[PolicyBatch]:
    """Group the policies that are seated in these environments (players are left out)."""
    ready: dict[int, tuple[Any, StaticPolicy, str]] = {}
    slots: dict[int, list[int]] = {}
    for env, team in enumerate(envs):
        for seat, agent in enumerate(team.agents):
            if not isinstance(agent.policy, Policy):
                continue
            if id(agent.policy) not in ready:
                policy = bound(agent.policy, game)
                arrays, static = eqx.partition(policy, eqx.is_array)
                ready[id(agent.policy)] = (arrays, StaticPolicy(static), policy.encoding)
            slots.setdefault(id(agent.policy), []).append(env * game.num_seats + seat)
    groups: dict[Any, list[int]] = {}
    for policy, (arrays, static, encoding) in ready.items():
        groups.setdefault((static, _shapes(arrays), encoding), []).append(policy)
    beyond = len(envs) * game.num_seats
    batches = []
    for (static, _, encoding), members in groups.items():
        filled = np.full((len(members), max(len(slots[m]) for m in members)), beyond, np.int32)
        for row, member in enumerate(members):
            filled[row, : len(slots[member])] = slots[member]
        stacked = jax.tree_util.tree_map(lambda *a: jnp.stack(a), *(ready[m][0] for m in members))
        batches.append(PolicyBatch(static, stacked, filled, encoding))
    return batches
