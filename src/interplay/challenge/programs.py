"""The compiled programs of an arena: games live in one pool of arrays, and each program works on some of its slots.

Nothing is copied to the host but what the candidates see: a step of sixty-four games is one call for the game, one
for each partner that sits in any of them, and one for the view.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from interplay.agents.api import Policy
from interplay.games.api import Game
from interplay.games.checksum import checksum
from interplay.games.records import record
from interplay.rollout.policy_batch import Static

tree_map = jax.tree_util.tree_map


@record
class Pool:
    """All games of an arena, by slot. Slots that are not in use hold an old game."""

    state: Any  # [slot, ...]
    keys: Any  # [slot]
    time: Array  # [slot]
    pending: Array  # [slot, seat] what the partners will do next


class Stepped(NamedTuple):
    """What a step tells the host, [game, ...]."""

    joint: Array  # [game, seat]
    reward: Array  # [game, seat]
    terminated: Array
    done: Array
    check: Array
    fault: Array  # a partner chose what it may not


class Shown(NamedTuple):
    """What the seats see, [game, seat, ...]."""

    observation: Any
    legal: Array
    turn: Array


class Programs:
    """The programs of one game; compiled when first used with a number of games."""

    def __init__(self, game: Game, capacity: int):
        self.game, self.capacity = game, capacity
        self.begin = jax.jit(functools.partial(_begin, game), donate_argnums=0)
        self.step = jax.jit(functools.partial(_step, game), donate_argnums=0)
        self._views: dict[str, Callable[..., Shown]] = {}

    def pool(self) -> Pool:
        size, seats = self.capacity, self.game.num_seats
        keys = jax.random.split(jax.random.key(0), size)
        state = jax.jit(jax.vmap(self.game.init))(keys)
        pending = jnp.zeros((size, seats), jnp.int32)
        return Pool(state=state, keys=keys, time=jnp.zeros(size, jnp.int32), pending=pending)

    def view(self, encoding: str) -> Callable[..., Shown]:
        if encoding not in self._views:
            self._views[encoding] = jax.jit(functools.partial(_view, self.game, encoding))
        return self._views[encoding]


def _begin(game: Game, pool: Pool, slots: Array, chance: Array) -> tuple[Pool, Any, Array]:
    """Deal into slots; what chance decided, and the first checksums."""
    keys = jax.vmap(jax.random.wrap_key_data)(chance)
    state = jax.vmap(lambda key: game.init(jax.random.fold_in(key, 0)))(keys)
    dealt = Pool(
        state=_put(pool.state, slots, state),
        keys=pool.keys.at[slots].set(keys, mode="drop"),
        time=pool.time.at[slots].set(0, mode="drop"),
        pending=pool.pending,
    )
    return dealt, jax.vmap(game.start)(state), jax.vmap(checksum)(state)


def _step(game: Game, pool: Pool, slots: Array, actions: Array, own: Array) -> tuple[Pool, Stepped]:
    """One joint action in each slot: the candidate's where `own`, the partners' pending ones elsewhere."""
    state, keys, time = _get(pool.state, slots), pool.keys[slots], pool.time[slots]
    legal, turn = jax.vmap(game.legal)(state), jax.vmap(game.to_move)(state)
    waiting = jnp.argmax(legal, axis=-1).astype(jnp.int32)  # off turn: the one action that is legal
    joint = jnp.where(own, actions, jnp.where(turn, pool.pending[slots], waiting))
    inside = (joint >= 0) & (joint < legal.shape[-1])
    at = jnp.clip(joint, 0, legal.shape[-1] - 1)[..., None]
    allowed = inside & jnp.take_along_axis(legal, at, axis=-1)[..., 0]
    step_keys = jax.vmap(lambda k, t: jax.random.fold_in(k, 2 * t + 1))(keys, time)
    after, step = jax.vmap(game.step)(state, joint, step_keys)
    done = step.terminated | step.truncated | (time + 1 >= game.horizon)
    moved = Pool(
        state=_put(pool.state, slots, after),
        keys=pool.keys,
        time=pool.time.at[slots].set(time + 1, mode="drop"),
        pending=pool.pending,
    )
    told = Stepped(
        joint.astype(jnp.int16), step.reward, step.terminated, done, jax.vmap(checksum)(after), ~allowed.all(axis=-1)
    )
    return moved, told


def _view(game: Game, encoding: str, pool: Pool, slots: Array) -> Shown:
    def one(state: Any) -> Shown:
        return Shown(game.observe(state, encoding), game.legal(state), game.to_move(state))

    return jax.vmap(one)(_get(pool.state, slots))


class Partner:
    """A hidden partner: its memories of all games, and the programs by which it begins and acts."""

    def __init__(self, game: Game, policy: Policy, capacity: int):
        ready = tree_map(lambda x: jnp.asarray(x) if hasattr(x, "dtype") else x, policy.bind(game))
        self._arrays, static = eqx.partition(ready, eqx.is_array)
        self._begin, self._act = _partner_programs(game, Static(static))
        one = jax.eval_shape(lambda: ready.init(jax.random.key(0), jnp.int32(0)))
        self.memory = tree_map(lambda x: jnp.zeros((capacity, game.num_seats, *x.shape), x.dtype), one)

    def begin(self, pool: Pool, slots: Any, seats: Any) -> None:
        self.memory = self._begin(self.memory, self._arrays, pool.keys, slots, seats)

    def act(self, pool: Pool, slots: Any, seats: Any) -> Pool:
        self.memory, pending = self._act(self.memory, self._arrays, pool, slots, seats)
        return Pool(state=pool.state, keys=pool.keys, time=pool.time, pending=pending)


@functools.lru_cache(maxsize=64)
def _partner_programs(game: Game, static: Static) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def begin(memory: Any, arrays: Any, keys: Any, slots: Array, seats: Array) -> Any:
        policy = eqx.combine(arrays, static.static)
        own = jax.vmap(lambda k, s: jax.random.fold_in(jax.random.fold_in(k, 1_000_000), s))(keys[slots], seats)
        return _put(memory, (slots, seats), jax.vmap(policy.init)(own, seats))

    def act(memory: Any, arrays: Any, pool: Pool, slots: Array, seats: Array) -> tuple[Any, Array]:
        policy = eqx.combine(arrays, static.static)

        def one(held: Any, state: Any, key: Any, time: Array, seat: Array) -> tuple[Any, Array]:
            seen = tree_map(lambda x: x[seat], game.observe(state, policy.encoding))
            own = jax.random.fold_in(jax.random.fold_in(key, 2 * time + 2), seat)
            held, action, _ = policy.act(held, seen, game.legal(state)[seat], own)
            return held, action.astype(jnp.int32)

        held = _get(memory, (slots, seats))
        held, chosen = jax.vmap(one)(held, _get(pool.state, slots), pool.keys[slots], pool.time[slots], seats)
        return _put(memory, (slots, seats), held), pool.pending.at[slots, seats].set(chosen, mode="drop")

    return jax.jit(begin, donate_argnums=0), jax.jit(act, donate_argnums=0)


def _get(tree: Any, at: Any) -> Any:
    return tree_map(lambda x: x[at], tree)


def _put(tree: Any, at: Any, values: Any) -> Any:
    """Slots past the end of the pool, which fill a batch up, are dropped."""
    return tree_map(lambda x, v: x.at[at].set(v, mode="drop"), tree, values)
