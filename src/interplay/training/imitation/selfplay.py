"""Scores of networks with themselves, each taking its likeliest action, by which an epoch is chosen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from interplay.agents.basic import masked
from interplay.agents.networks import Core
from interplay.games.api import Game
from interplay.games.hanabi.game import Hanabi
from interplay.games.registry import make


def forgiving(game: Game) -> Game:
    """Return Hanabi with points kept after the third bomb; other games as they are.

    Clones of few games seldom finish one, and where every epoch scores 0 none can be chosen.
    """
    return make(game.id, **{**game.options, "bomb": "keep"}) if isinstance(game, Hanabi) else game


def greedy_judge(game: Game, encoding: str, games: int, seed: int) -> Callable[[Any], Float[Array, " split"]]:
    """Return a function that gives the mean score of networks [split, ...], each in all seats of the same games."""

    def judge(cores: Any) -> Float[Array, " split"]:
        return jax.vmap(lambda core: jnp.mean(greedy_scores(game, core, encoding, games, seed)))(cores)

    return judge


def greedy_scores(game: Game, core: Core, encoding: str, games: int, seed: int) -> Float[Array, " game"]:
    """Return the scores of one network in all seats."""
    keys = jax.random.split(jax.random.key(seed), games)
    state = jax.vmap(lambda key: game.init(jax.random.fold_in(key, 0)))(keys)
    memory = jnp.zeros((games, game.num_seats, *core.start().shape), jnp.float32)

    def turn(carry: tuple, t: Array) -> tuple[tuple, None]:
        state, memory, score, over = carry
        seen, legal = jax.vmap(lambda s: (game.observe(s, encoding), game.legal(s)))(state)
        after, logits = jax.vmap(jax.vmap(core.step))(memory, seen)
        if core.shape.own_turns:
            after = jnp.where((jnp.sum(legal, axis=-1) > 1)[..., None], after, memory)
        actions = jnp.argmax(masked(logits, legal), axis=-1)
        state, step = jax.vmap(game.step)(state, actions, jax.vmap(lambda key: jax.random.fold_in(key, t + 1))(keys))
        score = score + jnp.where(over, 0.0, jnp.sum(step.reward, axis=-1))
        return (state, after, score, over | step.terminated | step.truncated), None

    carry = (state, memory, jnp.zeros(games), jnp.zeros(games, bool))
    (_, _, score, _), _ = jax.lax.scan(turn, carry, jnp.arange(game.horizon))
    return score
