"""Rollouts of scripted chefs, compiled once per kitchen, since roles differ in arrays only."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from interplay.agents.overcooked.registry import OvercookedAgents as Chefs
from interplay.games.overcooked.game import Overcooked
from interplay.games.overcooked.state import STAY
from interplay.games.registry import make

USER_LAYOUT = "XXXXPXXX/O  1   X/X  XX 2P/D      S/XXXXXTXX"
MULTI = {"orders": ["OOT", "OT"], "values": [30, 10], "times": [15, 10], "auto_cook": False, "unordered": -10}


@dataclass(frozen=True)
class Played:
    """Some episodes of one team."""

    game: Overcooked
    scores: np.ndarray  # [episode]
    events: np.ndarray  # [episode, seat, event] counts
    actions: np.ndarray  # [episode, step, seat]
    cell: np.ndarray  # [episode, step, seat]
    facing: np.ndarray
    held: np.ndarray
    items: np.ndarray  # [episode, cell] at the end
    logits: np.ndarray  # [episode, step, seat, action]
    legal: np.ndarray  # [episode, step, seat] whether the chosen action was legal

    def count(self, seat: int, *events: str) -> int:
        """How often these happened to a seat, over all episodes."""
        return int(sum(self.events[:, seat, self.game.event_names.index(e)].sum() for e in events))

    def quarrels(self) -> float:
        """The share of steps in which somebody tried to walk and nothing at all changed."""
        same = [np.all(x[:, 1:] == x[:, :-1], axis=-1) for x in (self.cell, self.facing, self.held)]
        return float(np.mean(same[0] & same[1] & same[2] & np.any(self.actions[:, :-1] < STAY, axis=-1)))

    def longest_stand(self) -> int:
        """The longest time for which nobody left their cell."""
        longest = 0
        for episode in np.all(self.cell[:, 1:] == self.cell[:, :-1], axis=-1):
            run = 0
            for stood in episode:
                run = run + 1 if stood else 0
                longest = max(longest, run)
        return longest


def play(name: str, lineup: list[str], episodes: int = 6, **options) -> Played:
    """Episodes of these roles, by seat, in a kitchen."""
    game, roll = _roller(name, tuple(sorted((k, _frozen(v)) for k, v in options.items())))
    chefs = [Chefs.make(role).policy.bind(game) for role in lineup]
    team = jax.tree.map(lambda *leaves: jnp.stack(leaves), *chefs)
    keys = jax.random.split(jax.random.key(7), episodes)
    reward, events, actions, cell, facing, held, logits, legal, items = map(np.asarray, roll(team, keys))
    return Played(game, reward.sum(axis=(1, 2)), events.sum(axis=1), actions, cell, facing, held, items, logits, legal)


def _frozen(value):
    return tuple(value) if isinstance(value, list) else value


@cache
def _roller(name: str, options: tuple):
    given = {k: list(v) if isinstance(v, tuple) else v for k, v in options}
    game = make(f"overcooked/{name}", **given)
    seats = jnp.arange(game.num_seats)

    def one(team, key):
        for_start, for_steps = jax.random.split(key)
        state = game.init(for_start)
        memory = eqx.filter_vmap(lambda chef, seat: chef.init(for_start, seat))(team, seats)

        def turn(carry, key):
            state, memory = carry
            legal = game.legal(state)
            keys = jax.random.split(key, game.num_seats)
            act = eqx.filter_vmap(lambda chef, *rest: chef.act(*rest))
            memory, action, info = act(team, memory, game.observe(state, "state"), legal, keys)
            after, step = game.step(state, action, key)
            allowed = jnp.take_along_axis(legal, action[:, None], axis=1)[:, 0]
            seen = (step.reward, step.events, action, state.cell, state.facing, state.held, info.logits, allowed)
            return (after, memory), seen

        (state, _), seen = jax.lax.scan(turn, (state, memory), jax.random.split(for_steps, game.horizon))
        return *seen, state.items

    return game, eqx.filter_jit(lambda team, keys: jax.vmap(one, in_axes=(None, 0))(team, keys))
