"""Episodes of two policies inside a compiled program, for methods that evaluate their members."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray, PyTree

from interplay.agents.api import Policy
from interplay.games.api import JaxGame
from interplay.rollout.seat import policy_turn


class PairResult(NamedTuple):
    """Means over episodes."""

    score: Float[Array, ""]  # of all seats together
    events: Float[Array, "role event"]  # how often each role brought each event about


def play_pair(game: JaxGame, one: Policy, other: Policy, key: PRNGKeyArray, rounds: int) -> PairResult:
    """Return the mean score and events of `one` in role 0 and `other` in all further roles.

    Args:
        game: The game.
        one: Policy of role 0.
        other: Policy of the other roles.
        key: Of all random numbers.
        rounds: In every round there is an episode for each rotation of the seats.
    """
    rotations = jnp.tile(jnp.arange(game.num_seats), rounds)
    keys = jax.random.split(key, rotations.shape[0])
    results = jax.vmap(lambda r, k: _episode(game, one, other, r, k))(rotations, keys)
    return jax.tree.map(lambda x: jnp.mean(x, axis=0), results)


def _episode(game: JaxGame, one: Policy, other: Policy, rotation: Int[Array, ""], key: PRNGKeyArray) -> PairResult:
    roles = jnp.arange(game.num_seats)
    seats = (roles + rotation) % game.num_seats  # of the roles
    for_state, for_one, for_others, for_steps = jax.random.split(key, 4)
    others_keys = jax.random.split(for_others, game.num_seats - 1)

    def turn(carry: PyTree, key: PRNGKeyArray) -> tuple[Any, None]:
        state, memory, memories, over, score, events = carry
        for_one, for_others, for_step = jax.random.split(key, 3)
        legal = game.legal(state)[seats]
        mine, theirs = game.observe(state, one.encoding)[seats[0]], game.observe(state, other.encoding)[seats[1:]]
        memory, action, *_ = policy_turn(one, memory, mine, legal[0], for_one)
        keys = jax.random.split(for_others, game.num_seats - 1)
        memories, actions, *_ = jax.vmap(partial(policy_turn, other))(memories, theirs, legal[1:], keys)
        by_role = jnp.concatenate([action[None], actions])
        joint = jnp.zeros_like(by_role).at[seats].set(by_role).astype(jnp.int32)
        state, step = game.step(state, joint, for_step)
        score = score + jnp.where(over, 0.0, jnp.sum(step.reward))
        events = events + jnp.where(over, 0, step.events)[seats]
        return (state, memory, memories, over | step.terminated | step.truncated, score, events), None

    start = (
        game.init(for_state),
        one.init(for_one, seats[0]),
        jax.vmap(other.init)(others_keys, seats[1:]),
        jnp.bool_(False),
        jnp.float32(0.0),
        jnp.zeros((game.num_seats, len(game.event_names)), jnp.int32),
    )
    (_, _, _, _, score, events), _ = jax.lax.scan(turn, start, jax.random.split(for_steps, game.horizon))
    return PairResult(score, events.astype(jnp.float32))
