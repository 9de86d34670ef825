"""Generalised advantage estimation, and the normalisation of returns."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from interplay.games.records import record


def advantages(
    reward: Float[Array, "step ..."],
    value: Float[Array, "step ..."],
    next_value: Float[Array, "step ..."],
    terminated: Bool[Array, "step ..."],
    done: Bool[Array, "step ..."],
    gamma: float,
    lam: float,
) -> Float[Array, "step ..."]:
    """Return generalised advantage estimates.

    Args:
        reward: Of each step.
        value: Of the state before each step.
        next_value: Of the state after each step, before any reset: where the horizon cut an episode its value still
            counts, where the game ended by its rules (`terminated`) it does not.
        terminated: Whether the game ended by its rules.
        done: Whether the episode ended in any way.
        gamma: Discount.
        lam: Lambda.
    """
    delta = reward + gamma * jnp.where(terminated, 0.0, next_value) - value
    keep = gamma * lam * (1.0 - done.astype(jnp.float32))

    # Advantage = delta + keep * (the next step's advantage): maps that compose, so a tree of them takes log(steps)
    # operations where a loop takes one a step.
    def compose(later: tuple[Array, Array], earlier: tuple[Array, Array]) -> tuple[Array, Array]:
        return earlier[0] * later[0], earlier[1] + earlier[0] * later[1]

    return jax.lax.associative_scan(compose, (keep, delta), reverse=True)[1]


@record
class Normaliser:
    """Running mean and variance of returns, [learner]; the first update sets it."""

    mean: Float[Array, " learner"]
    square: Float[Array, " learner"]
    weight: Float[Array, " learner"]  # of what was seen so far; 1 - decay**updates


LEAST_VARIANCE = 1e-2


def new_normaliser(learners: int) -> Normaliser:
    """Return a normaliser that has seen nothing."""
    zeros = jnp.zeros(learners, jnp.float32)
    return Normaliser(mean=zeros, square=zeros, weight=zeros)


def observe_returns(
    normaliser: Normaliser,
    returns: Float[Array, "learner sample"],
    decay: float,
    counts: Float[Array, "learner sample"],
) -> Normaliser:
    """Return the normaliser after further returns, each with a weight in `counts`."""
    total = jnp.maximum(jnp.sum(counts, axis=1), 1.0)
    mean, square = jnp.sum(returns * counts, axis=1) / total, jnp.sum(returns**2 * counts, axis=1) / total
    return Normaliser(
        mean=decay * normaliser.mean + (1 - decay) * mean,
        square=decay * normaliser.square + (1 - decay) * square,
        weight=decay * normaliser.weight + (1 - decay),
    )


def scale(normaliser: Normaliser) -> tuple[Float[Array, " learner"], Float[Array, " learner"]]:
    """Return mean and standard deviation; 0 and 1 before anything was seen."""
    seen = normaliser.weight > 0
    weight = jnp.where(seen, normaliser.weight, 1.0)
    mean = normaliser.mean / weight
    variance = jnp.maximum(normaliser.square / weight - mean**2, LEAST_VARIANCE)
    return mean, jnp.where(seen, jnp.sqrt(variance), 1.0)
