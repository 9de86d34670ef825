"""Frozen partners of the learners: their policies, how learners have done with each, and how they are sampled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray, PyTree

from interplay.agents.api import Agent, Policy
from interplay.agents.basic import Noisy
from interplay.agents.neural import NeuralPolicy
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.games.records import record
from interplay.training.team_assignment import TeamPlan


@dataclass(frozen=True)
class FrozenPartners:
    """Partners of one kind: policies that differ in their arrays only."""

    arrays: PyTree  # [partner, ...], or [run, partner, ...] if each run has its own
    static: Any  # the policy without its arrays
    number: int
    per_run: bool = False

    def policy(self, arrays: PyTree) -> Policy:
        """Return the policy that has these arrays."""
        return eqx.combine(arrays, self.static)

    @classmethod
    def repeat(cls, policy: Policy, number: int, runs: int) -> FrozenPartners:
        """Return `number` copies of a policy for each run, whose arrays are replaced while training goes on."""
        arrays, static = eqx.partition(policy, eqx.is_array)
        copies = jax.tree.map(lambda x: jnp.broadcast_to(x, (runs, number, *x.shape)), arrays)
        return cls(copies, static, number, per_run=True)

    @classmethod
    def from_agents(cls, game: Game, agents: Sequence[Agent]) -> FrozenPartners:
        """Return partners that all runs share.

        Raises:
            InterplayError: If there are none, or if they differ in more than their arrays.
        """
        policies = []
        for agent in agents:
            if not isinstance(agent.policy, Policy):
                raise InterplayError(f"{agent.name!r} is a player; only policies can be partners in training")
            policies.append(agent.policy.bind(game))
        if not policies:
            raise InterplayError("no partners were given")
        if any(isinstance(p, Noisy) for p in policies):  # without noise is with a noise of 0
            policies = [p if isinstance(p, Noisy) else Noisy(p, 0.0) for p in policies]
        parts = [eqx.partition(p, eqx.is_array) for p in policies]
        arrays, static = parts[0]
        for agent, (other, its_static) in zip(agents, parts, strict=True):
            if not _same_shapes(arrays, other) or not eqx.tree_equal(static, its_static):
                names = f"{agents[0].name!r} and {agent.name!r}"
                raise InterplayError(f"partners in one training run must be of one kind; {names} are not")
        return cls(jax.tree.map(lambda *a: jnp.stack(a), *(a for a, _ in parts)), static, len(parts))

    @classmethod
    def from_populations(cls, game: Game, populations: Sequence[Sequence[Agent]]) -> FrozenPartners:
        """Return partners of which run r has `populations[r]`.

        Raises:
            InterplayError: If the populations differ in size, or for the reasons of `from_agents`.
        """
        sizes = sorted({len(population) for population in populations})
        if len(sizes) != 1:
            raise InterplayError(f"every run needs equally many partners; here they are {', '.join(map(str, sizes))}")
        together = cls.from_agents(game, [agent for population in populations for agent in population])
        split = (len(populations), sizes[0])
        arrays = jax.tree.map(lambda x: x.reshape(*split, *x.shape[1:]), together.arrays)
        return cls(arrays, together.static, sizes[0], per_run=True)

    @classmethod
    def from_networks(cls, networks: PyTree, encoding: str) -> FrozenPartners:
        """Return partners that act by networks [run, partner, ...] on this encoding."""
        one = jax.tree.map(lambda x: x[0, 0], networks)
        runs, number = jax.tree.leaves(networks)[0].shape[:2]
        partners = cls.repeat(NeuralPolicy(one, encoding), number, runs)
        return replace(partners, arrays=eqx.tree_at(lambda p: p.core, partners.arrays, networks))

    def select_runs(self, runs: Sequence[int]) -> FrozenPartners:
        """Return the partners of some of the runs, in this order."""
        if not self.per_run:
            return self
        rows = jax.tree.map(lambda x: x[np.asarray(runs)], self.arrays)
        return FrozenPartners(rows, self.static, self.number, per_run=True)


def _same_shapes(one: Any, other: Any) -> bool:
    """Return whether two trees hold arrays of the same names, shapes and types."""
    shapes = [[(x.shape, x.dtype) for x in jax.tree.leaves(tree)] for tree in (one, other)]
    return jax.tree.structure(one) == jax.tree.structure(other) and shapes[0] == shapes[1]


@record
class PartnerStats:
    """How a run's learners have done with each partner, by the seat rotation of the table."""

    returns: Float[Array, "partner rotation"]  # running mean of the score of finished episodes
    episodes: Float[Array, "partner rotation"]  # how many were finished
    odds: Any = None  # [partner] sampling probabilities, where the method sets them (COLE)
    priority: Any = None  # power of the rank of difficulty by which partners are sampled


class PartnerAssignment(NamedTuple):
    """Which partner plays in each partner slot, and in which seats. A rotation of -1 is random in every episode."""

    partners: Int[Array, " partner_slot"]
    rotation: Int[Array, " table"]


def sample_partners(plan: TeamPlan, key: PRNGKeyArray, odds: Float[Array, " partner"]) -> PartnerAssignment:
    """Sample partners by these odds, as evenly as the number of slots allows; seats are random."""
    partners = systematic_sample(key, odds, len(plan.partner_slots))
    return PartnerAssignment(partners, jnp.full(len(plan.tables), -1, jnp.int32))


def systematic_sample(key: PRNGKeyArray, odds: Float[Array, " item"], number: int) -> Int[Array, " sample"]:
    """Return `number` items by systematic sampling, in random order. The odds may have any sum."""
    for_offset, for_order = jax.random.split(key)
    points = (jnp.arange(number) + jax.random.uniform(for_offset)) / number
    items = jnp.searchsorted(jnp.cumsum(odds / jnp.sum(odds)), points)
    items = jnp.clip(items, 0, odds.shape[0] - 1)
    return items[jax.random.permutation(for_order, number)].astype(jnp.int32)


def sample_by_difficulty(plan: TeamPlan, key: PRNGKeyArray, stats: PartnerStats) -> PartnerAssignment:
    """Sample (partner, seat) by (rank of difficulty) ** `stats.priority`: the lower the mean return, the more often.

    A table takes one entry (partner, rotation), so that a partner may be hard in one seat and easy in the other. Until
    every entry has been played, all have the same odds.
    """
    for_entries, for_rest = jax.random.split(key)
    partners, rotations = stats.returns.shape
    returns = stats.returns.reshape(-1)
    rank = jnp.argsort(jnp.argsort(-returns)) + 1  # 1: the easiest
    odds = rank.astype(jnp.float32) ** stats.priority
    odds = jnp.where(jnp.min(stats.episodes) > 0, odds, jnp.ones_like(odds))
    tables = len(plan.tables)
    entry = systematic_sample(for_entries, odds, tables)
    first = {int(place) // plan.roles: i for i, place in reversed(list(enumerate(plan.partner_slots)))}
    others = sample_partners(plan, for_rest, odds.reshape(partners, rotations).sum(axis=1)).partners
    first_slots = jnp.array([first[t] for t in range(tables)])
    return PartnerAssignment(others.at[first_slots].set(entry // rotations), entry % rotations)
