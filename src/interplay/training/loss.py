"""The loss of PPO for one learner."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PyTree

from interplay.agents.basic import masked
from interplay.games.records import record
from interplay.training.actor_critic import ActorCritic, Memories
from interplay.training.config import PPO


@record
class LossBatch:
    """Training sequences, [learner, sequence, step, ...]; within the loss of one learner without the first axis."""

    seen: Array
    view: PyTree  # None: the same as seen
    legal: Bool[Array, "learner sequence step action"]
    action: Int[Array, "learner sequence step"]
    start: Bool[Array, "learner sequence step"]
    log_prob: Float[Array, "learner sequence step"]  # of the action when it was taken
    advantage: Float[Array, "learner sequence step"]
    target: Float[Array, "learner sequence step"]  # of the value, normalised
    value: Float[Array, "learner sequence step"]  # when the action was taken, normalised
    acted: Float[Array, "learner sequence step"]  # 1 where the policy had a say: its turn, and the step counts
    counted: Float[Array, "learner sequence step"]  # 1 where the step counts
    memory: Memories  # [learner, sequence, memory] at the sequence's first step
    label: Float[Array, "learner sequence label"]  # what else the value network is told
    restart_memory: Any = None  # [learner, sequence, step, memory] of the policy where `start` is true; None: zeros
    extra: PyTree = ()  # `Rollout.extra`, [learner, sequence, step, ...]


def log_probs(logits: Float[Array, "... action"], legal: Bool[Array, "... action"]) -> Float[Array, "... action"]:
    """Return the log-probabilities of actions; illegal ones have next to none."""
    return jax.nn.log_softmax(masked(logits, legal))


def chosen(log_prob: Float[Array, "... action"], action: Array) -> Array:
    """Return the entry of the action. A sum with a one-hot is quicker than a gather, and so is its gradient."""
    here = action[..., None] == jnp.arange(log_prob.shape[-1], dtype=action.dtype)
    return jnp.sum(jnp.where(here, log_prob, 0.0), axis=-1)


def entropy_of(log_prob: Float[Array, "... action"], legal: Bool[Array, "... action"]) -> Array:
    """Return the entropy over legal actions, in nats."""
    return -jnp.sum(jnp.where(legal, jnp.exp(log_prob) * log_prob, 0.0), axis=-1)


def policy_loss(log_ratio: Array, advantage: Array, clip: float) -> Array:
    """Return the clipped surrogate. Weights belong into the advantage: outside, they would undo the clip."""
    ratio = jnp.exp(log_ratio)
    return -jnp.minimum(ratio * advantage, jnp.clip(ratio, 1 - clip, 1 + clip) * advantage)


def value_loss(value: Array, old: Array, target: Array, ppo: PPO) -> Array:
    """Return the squared or Huber error; with a clip, the larger of those of the value and of the clipped value."""
    error = _error(value - target, ppo.huber)
    if ppo.value_clip is None:
        return error
    near = old + jnp.clip(value - old, -ppo.value_clip, ppo.value_clip)
    return jnp.maximum(error, _error(near - target, ppo.huber))


def _error(difference: Array, huber: float | None) -> Array:
    square = 0.5 * difference**2
    if huber is None:
        return square
    size = jnp.abs(difference)
    return jnp.where(size <= huber, square, huber * (size - 0.5 * huber))


def learner_loss(
    member: ActorCritic, batch: LossBatch, ppo: PPO, entropy: Array, totals: tuple[Array, Array]
) -> tuple[Array, dict[str, Array], Float[Array, "sequence step action"]]:
    """Compute PPO's loss of one learner.

    Args:
        member: The learner's networks.
        batch: Its training sequences, without the learner's axis.
        ppo: Constants.
        entropy: Coefficient of the entropy.
        totals: Sums of `acted` and `counted` of which this batch may be a part, so that losses and logs of the parts
            add up.

    Returns:
        The loss, what is logged of it, and the policy's log-probabilities.
    """
    view = batch.seen if batch.view is None else batch.view
    logits, value = member.unroll_all(batch.memory, batch.seen, view, batch.start, batch.label, batch.restart_memory)
    log_prob = log_probs(logits, batch.legal)
    log_ratio = chosen(log_prob, batch.action) - batch.log_prob
    acted, counted = batch.acted / jnp.maximum(totals[0], 1.0), batch.counted / jnp.maximum(totals[1], 1.0)
    surrogate = jnp.sum(policy_loss(log_ratio, batch.advantage, ppo.clip) * acted)
    policy_entropy = jnp.sum(entropy_of(log_prob, batch.legal) * acted)
    value_error = jnp.sum(value_loss(value, batch.value, batch.target, ppo) * counted)
    ratio = jnp.exp(log_ratio)
    logs = {
        "policy_loss": surrogate,
        "value_loss": value_error,
        "entropy": policy_entropy,
        "kl": jnp.sum((ratio - 1 - log_ratio) * acted),
        "clipped": jnp.sum((jnp.abs(ratio - 1) > ppo.clip) * acted),
    }
    loss = surrogate + ppo.value_coefficient * value_error - entropy * policy_entropy
    return loss, logs, log_prob
