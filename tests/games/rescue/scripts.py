"""Play a house by script: u d l r walk or turn, i interacts, . stays; `20i` interacts twenty times."""

import re
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import interplay
from interplay.games.rescue import rules
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


@jax.jit
def _roll(constants, first, actions):
    def advance(state, action):
        state, step = rules.step(constants, state, action)
        return state, (state, step)

    _, (states, steps) = jax.lax.scan(advance, first, actions)
    return jax.tree_util.tree_map(lambda a, b: jnp.concatenate([a[None], b]), first, states), steps


def roll(game, first, actions):
    """[step + 1] states and [step] steps under these actions; padded, so that few lengths are compiled."""
    length = len(actions)
    more = np.full((-length % 128, game.num_seats), 4)
    states, steps = _roll(game.rules, first, np.concatenate([np.asarray(actions), more]).astype(np.int32))
    cut = jax.tree_util.tree_map
    return cut(lambda a: np.asarray(a)[: length + 1], states), cut(lambda a: np.asarray(a)[:length], steps)


def padded(house: str, width: int = 9, height: int = 7) -> str:
    """The house with more wall to the right and below: places stay, and houses of one size compile once."""
    rows = [row.ljust(width, "#") for row in house.split("/")]
    return "/".join(rows + ["#" * width] * (height - len(rows)))


def play(house: str, *scripts: str, **options) -> Played:
    """The house after the seats (in reading order) followed their scripts; the horizon is the longest script."""
    plans = [spell(script) for script in scripts]
    length = max(map(len, plans))
    actions = np.array([plan + [4] * (length - len(plan)) for plan in plans], np.int32).T
    game = interplay.make("rescue", house=padded(house), horizon=length, **options)
    states, steps = roll(game, game.init(jax.random.key(0)), actions)
    return Played(game, states, float(np.sum(steps.reward)), read(game, states, actions))
