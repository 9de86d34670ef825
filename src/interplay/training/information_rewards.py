"""Rewards for the entropy of actions and for the information between consecutive moves.

ad_entropy   H(a), of all moves
ard_entropy  H(b, a), of a move b and the next move a
ic           I(b; a), the mutual information of the two

The gradient of the entropy of a policy's actions is that of a reward of -log of their frequency, with the frequencies
of the rollout held fixed. The mean is subtracted, since a reward for every step would be one for longer episodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from interplay.errors import InterplayError, UnknownName
from interplay.training.team_assignment import TeamPlan, spread

NAMES = ("ad_entropy", "ard_entropy", "ic")


def check(plan: TeamPlan, weights: Mapping[str, float]) -> None:
    """Check the weights of the configuration.

    Raises:
        InterplayError: If a term is unknown, or if the learner does not play with itself.
    """
    for name in weights:
        if name not in NAMES:
            raise UnknownName("term of rewards.entropies", name, list(NAMES))
    if weights and not plan.single_learner:
        raise InterplayError("rewards.entropies: they are of one learner that plays with itself (sp, op)")


def bonus(plan: TeamPlan, weights: Mapping[str, Any], rollout: Any) -> tuple[Float[Array, "step learner slot"], dict]:
    """Return the reward of every slot, and the terms of the rollout in nats.

    It is for games in which one seat moves at a time.
    """
    steps, actions = rollout.start.shape[0], rollout.logits.shape[-1]
    by_role = rollout.action[:, 0].reshape(steps, -1, plan.roles)
    turn = rollout.turn[:, 0].reshape(by_role.shape)
    moved = jax.nn.one_hot(jnp.sum(jnp.where(turn, by_role, 0), axis=-1), actions)  # [step, env, action]
    before = jnp.concatenate([jnp.zeros_like(moved[:1]), moved[:-1]]) * ~rollout.start[..., None]
    answered = jnp.sum(before, axis=-1)  # 0 where nothing is answered: at the start of an episode or of the rollout

    single = jnp.einsum("tea->a", moved)
    pairs = jnp.einsum("teb,tea->ba", before, moved)
    each, both = _log_odds(single), _log_odds(pairs)
    first, second = _log_odds(jnp.sum(pairs, axis=1)), _log_odds(jnp.sum(pairs, axis=0))
    at_pair = jnp.einsum("teb,ba,tea->te", before, both, moved)
    alone = before @ first + answered * (moved @ second)
    terms = {  # of every step, and where it counts
        "ad_entropy": (-(moved @ each), jnp.ones_like(answered)),
        "ard_entropy": (-at_pair, answered),
        "ic": (at_pair - alone, answered),
    }
    paid, logs = jnp.zeros_like(answered), {}
    for name, (value, counts) in terms.items():
        logs[name] = jnp.sum(value * counts) / jnp.maximum(jnp.sum(counts), 1.0)
        paid = paid + weights[name] * (value - logs[name]) * counts if name in weights else paid
    return jax.vmap(lambda x: spread(plan, x))(paid), logs


def _log_odds(counts: Array) -> Array:
    """Return logarithms of shares; 0 for what never happened, which is not used."""
    return jnp.where(counts > 0, jnp.log(jnp.maximum(counts, 1.0) / jnp.maximum(jnp.sum(counts), 1.0)), 0.0)
