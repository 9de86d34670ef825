"""The graph of a population: who plays how well with whom, who is preferred, and who adds little to a coalition."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray

DAMPING, POWER_STEPS = 0.85, 40  # of PageRank; 0.85 ** 40 is 0.0015
SHARPNESS = 10.0  # of the softmax over PageRanks, and of that over Shapley values


def accepts(utility: np.ndarray, slack: float) -> bool:
    """Return whether the newest members, of which the last row is one, are whom the others like best to play with.

    Each member prefers the other with whom it scores most; who is preferred most often has to be among the newest,
    a share `slack` of all. `utility` is in order of age. Of those preferred equally often the newest counts.
    """
    number = len(utility) - 1
    others = np.where(np.eye(len(utility), dtype=bool), -np.inf, utility)
    preferred = np.bincount(np.argmax(others, axis=1), minlength=len(utility))
    best = np.flatnonzero(preferred == preferred.max())[-1]
    return bool(best >= number - int(slack * number) - 1)


def outranks(utility: np.ndarray, slack: float) -> bool:
    """Return whether the last member's mean score with all is as high as that of a share 1 - `slack` of the members."""
    means = np.mean(utility, axis=1)
    return bool(np.mean(means[:-1] <= means[-1]) >= 1 - slack)


def odds_by_rank(utility: np.ndarray, alive: np.ndarray, power: float) -> np.ndarray:
    """Return odds by the rank of difficulty: the lower a member's mean score with all, the more often it is met."""
    means = np.where(alive, np.sum(utility * alive, axis=1) / alive.sum(), np.inf)
    rank = np.argsort(np.argsort(-means)) - np.sum(~alive) + 1.0  # 1: the easiest of those alive
    odds = np.where(alive, np.maximum(rank, 1.0) ** power, 0.0)
    return (odds / odds.sum()).astype(np.float32)


def odds_by_shapley(
    utility: Float[Array, "member member"],
    alive: Bool[Array, " member"],
    visits: Float[Array, " member"],
    key: PRNGKeyArray,
    permutations: int,
) -> Float[Array, " member"]:
    """Return odds that are high for members of low Shapley value, and for those who were seldom partners."""
    values = shapley(utility, alive, key, permutations)
    scaled = values / jnp.maximum(jnp.linalg.norm(values), 1e-8)
    low = jax.nn.softmax(jnp.where(alive, -SHARPNESS * scaled, -jnp.inf))
    seldom = jnp.where(alive, jnp.sqrt(jnp.sum(visits * alive)) / (1 + visits), 0.0)
    odds = low + seldom / jnp.maximum(jnp.linalg.norm(seldom), 1e-8)
    return odds / jnp.sum(odds)


def shapley(
    utility: Float[Array, "member member"], alive: Bool[Array, " member"], key: PRNGKeyArray, permutations: int
) -> Float[Array, " member"]:
    """Return what each member adds to coalitions, on average over random orders of joining; who harms adds 0."""
    number = utility.shape[0]

    def one(key: PRNGKeyArray) -> Array:
        order = jnp.argsort(jnp.where(alive, jax.random.uniform(key, (number,)), 2.0))  # the dead come last

        def join(carry: tuple[Array, Array], who: Array) -> tuple[tuple[Array, Array], Array]:
            inside, before = carry
            inside = inside.at[who].set(alive[who])
            after = coalition_value(utility, inside)
            return (inside, after), jnp.where(alive[who], jnp.maximum(after - before, 0.0), 0.0)

        _, added = jax.lax.scan(join, (jnp.zeros(number, bool), jnp.float32(0.0)), order)
        return jnp.zeros(number).at[order].set(added)

    return jnp.mean(jax.vmap(one)(jax.random.split(key, permutations)), axis=0)


def coalition_value(utility: Float[Array, "member member"], inside: Bool[Array, " member"]) -> Float[Array, ""]:
    """Return the sum of scores within the coalition by weights of the partners, hard ones more, over its size."""
    odds = jax.nn.softmax(jnp.where(inside, -SHARPNESS * pagerank(utility, inside), -jnp.inf))
    odds = jnp.where(inside, odds, 0.0)
    total = jnp.sum(jnp.where(inside[:, None], utility, 0.0) @ odds)
    return jnp.maximum(total / jnp.maximum(jnp.sum(inside), 1), 0.0)


def pagerank(utility: Float[Array, "member member"], inside: Bool[Array, " member"]) -> Float[Array, " member"]:
    """Return the PageRank of the graph within the coalition, with the scores as weights of its edges; 0 outside."""
    size = jnp.maximum(jnp.sum(inside), 1)
    even = inside / size
    weights = jnp.maximum(utility, 0.0) * (inside[:, None] & inside)
    total = jnp.sum(weights, axis=1, keepdims=True)
    moves = jnp.where(total > 0, weights / jnp.maximum(total, 1e-8), even)

    def step(_: int, rank: Array) -> Array:
        return (DAMPING * (rank * inside) @ moves + (1 - DAMPING) * even) * inside

    return jax.lax.fori_loop(0, POWER_STEPS, step, even)
