"""Games of bots, compiled whole: scores, lengths, lives and every move."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import interplay
from interplay.agents.hanabi.base_bot import RuleBot


class Games(NamedTuple):
    points: np.ndarray  # [game] cards on the table at the end
    lives: np.ndarray  # [game]
    moves: np.ndarray  # [game]
    actions: np.ndarray  # [game, horizon], -1 past the end
    decks: np.ndarray  # [game, deck, 2]
    illegal: np.ndarray  # [game] turns in which a bot's own choice was not legal, before it was mended

    @property
    def scores(self) -> np.ndarray:
        """HLE's: a lost third life costs all points."""
        return np.where(self.lives > 0, self.points, 0)


def _rows(tree, index):
    return jax.tree.map(lambda x: x[index], tree)


@lru_cache
def _runner(names: tuple[str, ...], options: tuple):
    game = interplay.make(f"hanabi/{len(names)}p", **dict(options))
    bots = [interplay.agent(n).policy.bind(game) for n in names]
    kinds = dict(zip(names, bots))

    def one(key, deck):
        for_bots, for_moves = jax.random.split(key)
        state = game.init(key, deck=deck)
        bot_keys = jax.random.split(for_bots, len(bots))
        memories = tuple(bot.init(k, jnp.int32(i)) for i, (bot, k) in enumerate(zip(bots, bot_keys)))

        def turn(carry):
            state, memories, over, log, illegal = carry
            legal = game.legal(state)
            keys = jax.random.split(jax.random.fold_in(for_moves, state.time), len(bots))
            actions, new = [None] * len(bots), list(memories)
            for name, bot in kinds.items():
                seats = np.array([i for i, n in enumerate(names) if n == name])
                obs = _rows(game.observe(state, bot.encoding), seats)
                stacked = jax.tree.map(lambda *x: jnp.stack(x), *(memories[i] for i in seats))
                after, chosen, _ = jax.vmap(bot.act)(stacked, obs, legal[seats], keys[seats])
                if type(bot).choose is not RuleBot.choose and hasattr(after, "model"):
                    wanted = jax.vmap(bot.choose)(after.model, obs, keys[seats])
                    fine = jnp.take_along_axis(legal[seats], wanted[:, None], axis=1)[:, 0]
                    illegal += jnp.any(~fine & game.to_move(state)[seats]) & ~over
                for j, i in enumerate(seats):
                    actions[i], new[i] = chosen[j], _rows(after, j)
            joint = jnp.stack(actions)
            played = jnp.sum(jnp.where(game.to_move(state), joint, 0))
            after, step = game.step(state, joint, key)
            log = log.at[jnp.where(over, game.horizon, state.time)].set(played, mode="drop")
            state = jax.tree.map(lambda a, b: jnp.where(over, a, b), state, after)
            return state, tuple(new), over | step.terminated, log, illegal

        log = jnp.full(game.horizon, -1, jnp.int32)
        carry = (state, memories, jnp.bool_(False), log, jnp.int32(0))
        state, _, _, log, illegal = jax.lax.while_loop(lambda c: ~c[2], turn, carry)
        return jnp.sum(state.fireworks), state.lives, state.time, log, game.start(state)["deck"], illegal

    return jax.jit(jax.vmap(one))


def selfplay(names: tuple[str, ...], games: int, seed: int = 0, decks: np.ndarray | None = None, **options) -> Games:
    """Games of a team, one name per seat; on given decks or on random ones."""
    keys = jax.random.split(jax.random.key(seed), games)
    if decks is None:
        game = interplay.make(f"hanabi/{len(names)}p")
        decks = jax.jit(jax.vmap(lambda k: game.start(game.init(k))["deck"]))(jax.random.split(keys[0], games))
    run = _runner(tuple(names), tuple(sorted(options.items())))
    return Games(*jax.tree.map(np.asarray, run(keys, np.asarray(decks))))
