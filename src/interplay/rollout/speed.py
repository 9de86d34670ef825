"""How fast a game runs: random legal actions, every seat's observation made and read, episodes begun anew when over."""

from __future__ import annotations

import time
from typing import Any

import jax
import jax.numpy as jnp

from interplay.errors import InterplayError, UnknownName
from interplay.games.api import Game, is_jax


def random_play(game: Game, envs: int, steps: int, encoding: str) -> Any:
    """A compiled function of a key that plays `envs` environments for `steps` steps each."""

    def begin(key: Any) -> Any:
        return jax.vmap(game.init)(jax.random.split(key, envs))

    def turn(carry: tuple, key: Any) -> tuple:
        state, read = carry
        for_action, for_step, for_reset = jax.random.split(key, 3)
        legal = jax.vmap(game.legal)(state)
        actions = jax.random.categorical(for_action, jnp.where(legal, 0.0, -jnp.inf))
        state, step = jax.vmap(game.step)(state, actions, jax.random.split(for_step, envs))
        over = step.terminated | step.truncated

        def reset_where_over(old: Any, new: Any) -> Any:
            return jnp.where(over.reshape(-1, *[1] * (old.ndim - 1)), new, old)

        state = jax.tree_util.tree_map(reset_where_over, state, begin(for_reset))
        seen = jax.vmap(lambda s: game.observe(s, encoding))(state)
        return (state, jax.tree_util.tree_map(_read, read, seen)), None

    def play(key: Any) -> Any:
        state = begin(key)
        seen = jax.vmap(lambda s: game.observe(s, encoding))(state)
        carry, _ = jax.lax.scan(turn, (state, seen), jax.random.split(key, steps))
        return carry

    return jax.jit(play)


def _read(before: Any, now: Any) -> Any:
    """Every number of the observation is used, and none can be left out by the compiler."""
    return before ^ now if jnp.issubdtype(now.dtype, jnp.integer) else before - now


def measure_speed(game: Game, *, envs: int, steps: int, encoding: str) -> dict[str, Any]:
    """Steps per second, the best of some runs, compilation apart."""
    if not is_jax(game):
        raise InterplayError(f"{game.id} is not a JAX game; it runs one environment at a time")
    if encoding not in game.encodings:
        raise UnknownName("encoding", encoding, list(game.encodings))
    began = time.perf_counter()
    program = random_play(game, envs, steps, encoding)
    jax.block_until_ready(program(jax.random.key(0)))
    compiled = time.perf_counter() - began
    times = []
    for repeat in range(3):
        began = time.perf_counter()
        jax.block_until_ready(program(jax.random.key(repeat + 1)))
        times.append(time.perf_counter() - began)
    return {
        "game": game.id,
        "encoding": encoding,
        "envs": envs,
        "steps_per_second": round(envs * steps / min(times)),
        "first_run_s": round(compiled, 2),
        "device": jax.devices()[0].device_kind,
    }
