"""Replays recorded games with our rules, all at once."""

from __future__ import annotations

from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np

import interplay


@lru_cache
def game_and_replay(name: str, encodings: tuple[str, ...] = ("hle",), **options):
    """The game, and a compiled function from decks [game, ...] and actions [game, move] to what happened."""
    game = interplay.make(name, **options)
    noop = game.rules.moves.noop

    def facts(state):
        return {
            "hands": state.hands,
            "legal": jnp.sum(jnp.where(game.to_move(state)[:, None], game.legal(state), False), axis=0) > 0,
            "off_turn": jnp.all(game.legal(state)[:, -1] == ~game.to_move(state)),
            "tokens": state.tokens,
            "lives": state.lives,
            "fireworks": state.fireworks,
            "observations": {e: game.observe(state, e) for e in encodings},
        }

    def one(deck, actions):
        def move(state, action):
            joint = jnp.where(game.to_move(state), action, noop)
            state, step = game.step(state, joint, jax.random.key(0))
            return state, (facts(state), step)

        start = game.init(jax.random.key(0), deck=deck)
        _, (states, steps) = jax.lax.scan(move, start, actions)
        return jax.tree.map(lambda a, b: jnp.concatenate([a[None], b]), facts(start), states), steps

    return game, jax.jit(jax.vmap(one))


def replay(name: str, decks, actions: list[np.ndarray], encodings: tuple[str, ...] = ("hle",), **options):
    """Facts of each state [game, state, ...] and steps [game, move, ...], padded to the horizon."""
    game, run = game_and_replay(name, encodings, **options)
    padded = np.zeros((len(actions), game.horizon), np.int32)
    for row, moves in zip(padded, actions):
        row[: len(moves)] = moves
    return jax.tree.map(np.asarray, run(np.asarray(decks), padded))
