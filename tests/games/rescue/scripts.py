"""Play a house by script: u d l r walk or turn, i interacts, . stays; `20i` interacts twenty times."""

import re
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import interplay
from interplay.symbolic.read import read
from interplay.symbolic.trace import SymbolicTrace

KEYS = {letter: n for n, letter in enumerate("udlr.i")}


class Played(NamedTuple):
    game: Any
    states: Any  # [step + 1, ...]
    score: float
    trace: SymbolicTrace

    @property
    def last(self):
        return jax.tree_util.tree_map(lambda a: a[-1], self.states)


def spell(script: str) -> list[int]:
    return [KEYS[key] for number, key in re.findall(r"(\d*)([udlr.i])", script) for _ in range(int(number or 1))]


def roll(game, first, actions):
    """[step + 1] states and [step, seat] rewards under these actions."""

    def advance(state, action):
        state, step = game.step(state, action, jax.random.key(0))
        return state, (state, step)

    _, (states, steps) = jax.lax.scan(advance, first, jnp.asarray(actions))
    return jax.tree_util.tree_map(lambda a, b: jnp.concatenate([a[None], b]), first, states), steps


def play(house: str, *scripts: str, **options) -> Played:
    """The house after the seats (in reading order) followed their scripts; the horizon is the longest script."""
    plans = [spell(script) for script in scripts]
    length = max(map(len, plans))
    actions = np.array([plan + [4] * (length - len(plan)) for plan in plans], np.int32).T
    game = interplay.make("rescue", house=house, horizon=length, **options)
    states, steps = roll(game, game.init(jax.random.key(0)), actions)
    return Played(game, states, float(jnp.sum(steps.reward)), read(game, states, actions))
