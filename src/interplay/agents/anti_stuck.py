"""A wrapper that keeps a policy from standing still, as is usual for policies cloned from people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from interplay.agents.api import Info, Memory, Observation, Policy
from interplay.agents.basic import masked
from interplay.agents.identity import fingerprint_of
from interplay.errors import InterplayError
from interplay.games.api import Game


class Still(NamedTuple):
    """Memory of `AntiStuckWrapper`."""

    base: Any  # the memory of the policy itself
    pose: Float[Array, " entry"]
    steps: Int[Array, ""]  # for which the pose has been the same
    tried: Bool[Array, " action"]  # in these steps


class AntiStuckWrapper(Policy):
    """Make a policy that is stuck try other actions.

    After `patience` steps in one pose (cell and facing of the chef) it samples among the actions that it has not tried
    there, with the policy's own odds; once all have been tried, all are allowed again. Carroll et al. (2019) use this
    rule to keep cloned chefs from blocking each other to the end of an episode.
    """

    identity_kind: ClassVar[str] = "unstuck"
    base: Policy
    patience: Int[Array, ""]
    pose: tuple[int, ...] = eqx.field(static=True)  # which entries of the flat observation tell it
    actions: int = eqx.field(static=True)

    def __init__(self, base: Policy, patience: int, pose: tuple[int, ...] = (), actions: int = 0):
        if patience < 0:
            raise InterplayError(f"unstuck: {patience}; a number of steps, or 0 for a policy that may stand still")
        self.base, self.patience, self.pose, self.actions = base, jnp.int32(patience), pose, actions

    def fingerprint(self) -> Mapping[str, Any]:
        """Return the wrapped policy's fingerprint and the patience."""
        return {"base": fingerprint_of(self.base), "patience": self.patience}

    @property
    def encoding(self) -> str:
        """Name of the encoding that `act` reads."""
        return self.base.encoding

    def bind(self, game: Game) -> Policy:
        """Bind the wrapped policy and find where the observation holds the pose."""
        bound = eqx.tree_at(lambda p: p.base, self, self.base.bind(game))
        ready = AntiStuckWrapper(bound.base, 0, pose_entries(game, self.encoding), len(game.action_names))
        return eqx.tree_at(lambda p: p.patience, ready, self.patience)

    def init(self, key: PRNGKeyArray, seat: Array) -> Still:
        """Return the memory at the start of an episode."""
        nowhere = jnp.full(len(self.pose), -1.0)
        return Still(self.base.init(key, seat), nowhere, jnp.int32(0), jnp.zeros(self.actions, bool))

    def act(self, memory: Memory, obs: Observation, legal: Array, key: PRNGKeyArray) -> tuple[Memory, Array, Info]:
        """Act by the wrapped policy, or try something else when stuck."""
        for_base, for_other = jax.random.split(key)
        base, action, info = self.base.act(memory.base, obs, legal, for_base)
        pose = obs.reshape(-1)[np.array(self.pose)].astype(jnp.float32)
        same = jnp.all(pose == memory.pose)
        steps, tried = jnp.where(same, memory.steps + 1, 0), memory.tried & same
        tried = tried & jnp.any(legal & ~tried)
        stuck = steps >= self.patience
        logits = masked(info.logits, legal & ~(tried & stuck))
        action = jnp.where(stuck & jnp.any(tried), jax.random.categorical(for_other, logits), action)
        tried = tried | (jnp.arange(self.actions) == action)
        return Still(base, pose, steps, tried), action, Info(logits)


def unstuck(policy: Policy, patience: int) -> Policy:
    """Wrap a policy in `AntiStuckWrapper`; return it unchanged if `patience` is 0."""
    return AntiStuckWrapper(policy, patience) if patience else policy


def pose_entries(game: Game, encoding: str) -> tuple[int, ...]:
    """Return the indices of the flat observation that hold a chef's cell and facing.

    Raises:
        InterplayError: The game is no Overcooked layout, or the encoding holds no pose.
    """
    if not game.id.startswith("overcooked/"):
        raise InterplayError(f"unstuck: the rule is about chefs in a kitchen; the game is {game.id}")
    shape = game.encodings[encoding].shape
    if encoding in ("features", "details"):
        return (*range(4), *range(11, 13))  # facing; then seven of what is held; then the place
    if encoding not in ("planes", "planes_first") or shape is None:
        raise InterplayError(f"unstuck: the rule reads poses from features, details or planes, not from {encoding!r}")
    entries = np.arange(np.prod(shape)).reshape(shape)
    entries = entries if encoding == "planes_first" else np.moveaxis(entries, -1, 0)
    own = [0, *range(game.num_seats, game.num_seats + 4)]  # the place; then the places of others; then the facing
    return tuple(int(e) for e in entries[own].reshape(-1))
