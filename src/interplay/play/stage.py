"""A batch of environments of a JAX game and the compiled functions that play it: policies act, the game steps."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, UInt32

from interplay.games.api import Game
from interplay.games.checksum import checksum
from interplay.games.records import record
from interplay.play.episodes import CHECK_EVERY
from interplay.play.kinds import Kind


@record
class Stage:
    """What a rollout carries from turn to turn."""

    t: Int[Array, ""]
    keys: Any  # [env] one key an episode, from seed, line-up and episode number
    state: Any  # [env, ...]
    memories: tuple  # per kind, [policy, place, ...]
    done: Bool[Array, " env"]
    terminated: Bool[Array, " env"]
    length: Int[Array, " env"]
    rewards: Float[Array, "env seat"]
    fault: Int[Array, "env seat"]  # the first step at which a policy chose what it may not, or -1


class Block(NamedTuple):
    """What a block of turns adds to the record."""

    actions: Int[Array, "step env seat"]
    check: UInt32[Array, " env"]


class Functions(NamedTuple):
    """The compiled programs of one set of kinds."""

    begin: Callable[..., Any]  # keys, arrays, slots -> Stage, start, check
    block: Callable[..., Any]  # Stage, arrays, slots -> Stage, Block
    choose: Callable[..., Any]  # Stage, arrays, slots -> Stage, actions: for stepwise play
    advance: Callable[..., Any]  # Stage, actions -> Stage
    check: Callable[..., Any]  # state -> checksum


def functions(game: Game, kinds: Sequence[Kind]) -> Functions:
    """Compiled once for a game and the signatures of the kinds, however many policies and line-ups there are."""
    return _compiled(game, tuple(_Statics(k) for k in kinds))


class _Statics:
    """A kind as a cache key: equal if one program serves both."""

    def __init__(self, kind: Kind):
        self.kind, self.signature = kind, kind.signature

    def __hash__(self) -> int:
        return hash(self.signature[2:])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Statics) and self.signature == other.signature


@functools.lru_cache(maxsize=64)
def _compiled(game: Game, statics: tuple[_Statics, ...]) -> Functions:
    kinds = [s.kind for s in statics]

    def begin(keys: Any, arrays: Sequence[Any], slots: Sequence[Array]) -> tuple[Stage, Any, Array]:
        state = jax.vmap(lambda key: game.init(jax.random.fold_in(key, 0)))(keys)
        stage = _open(game, keys, state, _memories(game, kinds, keys, arrays, slots))
        return stage, jax.vmap(game.start)(state), jax.vmap(checksum)(state)

    def block(stage: Stage, arrays: Sequence[Any], slots: Sequence[Array]) -> tuple[Stage, Block]:
        def turn(stage: Stage, _: None) -> tuple[Stage, Array]:
            stage, actions = choose(stage, arrays, slots)
            return advance(stage, actions), actions.astype(jnp.int16)

        stage, actions = jax.lax.scan(turn, stage, None, length=CHECK_EVERY)
        return stage, Block(actions, jax.vmap(checksum)(stage.state))

    def choose(stage: Stage, arrays: Sequence[Any], slots: Sequence[Array]) -> tuple[Stage, Array]:
        return _choose(game, kinds, stage, arrays, slots)

    def advance(stage: Stage, actions: Array) -> Stage:
        return _advance(game, stage, actions)

    return Functions(*(jax.jit(f) for f in (begin, block, choose, advance, jax.vmap(checksum))))


def _open(game: Game, keys: Any, state: Any, memories: tuple) -> Stage:
    envs = keys.shape[0]
    return Stage(
        t=jnp.zeros((), jnp.int32),
        keys=keys,
        state=state,
        memories=memories,
        done=jnp.zeros(envs, bool),
        terminated=jnp.zeros(envs, bool),
        length=jnp.zeros(envs, jnp.int32),
        rewards=jnp.zeros((envs, game.num_seats), jnp.float32),
        fault=jnp.full((envs, game.num_seats), -1, jnp.int32),
    )


def _seat_keys(game: Game, keys: Any, t: Array) -> Any:
    """[env * seat] keys of this turn; each seat draws from its own."""
    now = jax.vmap(lambda key: jax.random.fold_in(key, t + 1))(keys)
    seats = jnp.arange(game.num_seats)
    return jax.vmap(lambda key: jax.vmap(lambda s: jax.random.fold_in(key, s))(seats))(now).reshape(-1)


def _memories(game: Game, kinds: Sequence[Kind], keys: Any, arrays: Sequence[Any], slots: Sequence[Array]) -> tuple:
    seat_keys = _seat_keys(game, keys, jnp.int32(-1))
    found = []
    for kind, values, places in zip(kinds, arrays, slots, strict=True):

        def one(value: Any, row: Array, kind: Kind = kind) -> Any:
            keys_here = seat_keys.at[row].get(mode="clip")
            return jax.vmap(lambda k, slot: kind.policy(value).init(k, slot % game.num_seats))(keys_here, row)

        found.append(jax.vmap(one)(values, places))
    return tuple(found)


def _choose(
    game: Game, kinds: Sequence[Kind], stage: Stage, arrays: Sequence[Any], slots: Sequence[Array]
) -> tuple[Stage, Int[Array, "env seat"]]:
    """Every policy acts, on turn or off; whoever is not to move is given the action that is legal for it."""
    envs, seats = stage.done.shape[0], game.num_seats
    legal, turn = jax.vmap(game.legal)(stage.state), jax.vmap(game.to_move)(stage.state)
    views = {kind.encoding: None for kind in kinds}
    for encoding in views:
        seen = jax.vmap(lambda state, e=encoding: game.observe(state, e))(stage.state)
        views[encoding] = jax.tree_util.tree_map(lambda x: x.reshape(envs * seats, *x.shape[2:]), seen)
    flat_legal = legal.reshape(envs * seats, -1)
    keys = _seat_keys(game, stage.keys, stage.t)
    actions = jnp.argmax(flat_legal, axis=-1).astype(jnp.int32)
    memories, unsound = [], jnp.zeros(envs * seats, bool)
    for kind, values, places, memory in zip(kinds, arrays, slots, stage.memories, strict=True):
        memory, chosen, sound = _act(kind, values, places, memory, views[kind.encoding], flat_legal, keys)
        memories.append(memory)
        actions = actions.at[places.reshape(-1)].set(chosen.reshape(-1), mode="drop")
        unsound = unsound.at[places.reshape(-1)].set(~sound.reshape(-1), mode="drop")
    actions = jnp.where(turn, actions.reshape(envs, seats), jnp.argmax(legal, axis=-1))
    allowed = jnp.take_along_axis(legal, jnp.clip(actions, 0, legal.shape[-1] - 1)[..., None], axis=-1)[..., 0]
    allowed &= (actions >= 0) & (actions < legal.shape[-1]) & ~(unsound.reshape(envs, seats) & turn)
    new_fault = ~allowed & (stage.fault < 0) & ~stage.done[:, None]
    fault = jnp.where(new_fault, stage.t, stage.fault)
    return _replace(stage, memories=tuple(memories), fault=fault), actions.astype(jnp.int32)


def _act(kind: Kind, values: Any, places: Array, memory: Any, view: Any, legal: Array, keys: Any) -> tuple:
    """One kind's policies, each in all of its places. `sound` is false where logits are not numbers."""

    def one(value: Any, row: Array, memory: Any) -> tuple:
        here = jax.tree_util.tree_map(lambda x: x.at[row].get(mode="clip"), (view, legal, keys))
        memory, action, info = jax.vmap(lambda m, o, ok, k: kind.policy(value).act(m, o, ok, k))(memory, *here)
        return memory, action.astype(jnp.int32), ~jnp.any(jnp.isnan(info.logits), axis=-1)

    return jax.vmap(one)(values, places, memory)


def _advance(game: Game, stage: Stage, actions: Int[Array, "env seat"]) -> Stage:
    """One step of every environment that is not done; the others stand still."""
    keys = jax.vmap(lambda key: jax.random.fold_in(jax.random.fold_in(key, stage.t + 1), game.num_seats))(stage.keys)
    after, step = jax.vmap(game.step)(stage.state, actions, keys)

    def keep(old: Array, new: Array) -> Array:
        return jnp.where(stage.done.reshape(-1, *[1] * (new.ndim - 1)), old, new)

    ended = step.terminated | step.truncated | (stage.t + 1 >= game.horizon)
    return _replace(
        stage,
        t=stage.t + 1,
        state=jax.tree_util.tree_map(keep, stage.state, after),
        terminated=jnp.where(stage.done, stage.terminated, step.terminated),
        length=jnp.where(stage.done, stage.length, stage.t + 1),
        rewards=stage.rewards + jnp.where(stage.done[:, None], 0.0, step.reward),
        done=stage.done | ended,
    )


def _replace(stage: Stage, **changes: Any) -> Stage:
    return Stage(**(vars(stage) | changes))


def keys_of(seed: int, numbers: Sequence[int], indices: Sequence[int]) -> Any:
    """[env] keys that depend on seed, line-up and episode number alone."""
    base = jax.random.key(seed)
    fold = jax.vmap(lambda n, i: jax.random.fold_in(jax.random.fold_in(base, n), i))
    return fold(jnp.asarray(np.array(numbers, np.uint32)), jnp.asarray(np.array(indices, np.uint32)))
