"""Episodes of a JAX game, many at a time: compiled where all seats are policies, stepwise where players sit."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, UInt32

from interplay.agents.api import Policy
from interplay.games.api import Game, Step
from interplay.games.checksum import checksum
from interplay.games.records import record
from interplay.games.state_arrays import pack_stacked
from interplay.rollout.episode import CHECK_EVERY, Episode, EventLog
from interplay.rollout.policy_batch import PolicyBatch, policy_batches
from interplay.rollout.seat import (
    START,
    Seat,
    ask_all,
    chance_key,
    episode_keys,
    illegal,
    make_view,
    policy_start,
    policy_turn,
    seat_key,
)
from interplay.rollout.teams import Team

Progress = Callable[[int], None]  # is given the number of episodes that have just ended
tree_map = jax.tree_util.tree_map


@record
class RolloutState:
    """What a rollout carries from step to step."""

    t: Int[Array, ""]
    keys: Any  # [env] one key an episode
    state: Any  # [env, ...]
    memories: tuple  # per policy batch, [policy, place, ...]
    done: Bool[Array, " env"]
    terminated: Bool[Array, " env"]
    length: Int[Array, " env"]
    rewards: Float[Array, "env seat"]
    fault: Int[Array, "env seat"]  # the first step at which a policy chose what it may not, or -1


class RolloutChunk(NamedTuple):
    """What `CHECK_EVERY` steps add to the record."""

    actions: Int[Array, "step env seat"]
    check: UInt32[Array, " env"]
    states: Any  # [step, env, ...], of a game that cannot be replayed; None otherwise
    steps: Step | None  # the same


class CompiledRollout(NamedTuple):
    """The compiled programs of one game and one set of policy batches."""

    begin: Callable[..., Any]  # keys, arrays, slots -> RolloutState, start, check
    chunk: Callable[..., Any]  # RolloutState, arrays, slots -> RolloutState, RolloutChunk
    choose: Callable[..., Any]  # RolloutState, arrays, slots -> RolloutState, actions: for stepwise play
    advance: Callable[..., Any]  # RolloutState, actions -> RolloutState, Step
    check: Callable[..., Any]  # state -> checksum


def rollout(
    game: Game, teams: Sequence[Team], numbers: range, seed: int, batch: int, progress: Progress | None = None
) -> Iterator[Episode]:
    """Play episodes of a JAX game.

    Args:
        game: A game of pure JAX functions.
        teams: Who plays.
        numbers: The numbers of the episodes that each team plays.
        seed: Seeds all chance; results depend on it, the team and the episode's number, not on batches.
        batch: How many environments step together at the most.
        progress: Called with the number of episodes that have just ended.

    Yields:
        The episodes, team by team in their order.
    """
    for first_team in range(0, len(teams), batch):
        part = teams[first_team : first_team + batch]
        episodes = len(numbers)
        chunks = max(1, -(-len(part) * episodes // batch))
        size = -(-episodes // chunks)  # episodes of every team that are played together
        by_team: list[list[Episode]] = [[] for _ in part]
        for first in range(0, episodes, size):
            envs = [team for team in part for _ in range(size)]
            # The last group may overrun: its spare episodes are played, so that shapes stay, and dropped.
            indices = [numbers.start + first + i for _ in part for i in range(size)]
            played = _play(game, envs, indices, seed)
            for number in range(len(part)):
                by_team[number] += played[number * size : number * size + min(size, episodes - first)]
            if progress:
                progress(len(part) * min(size, episodes - first))
        for of_team in by_team:
            yield from of_team


def _play(game: Game, envs: Sequence[Team], indices: Sequence[int], seed: int) -> list[Episode]:
    batches = tuple(policy_batches(game, envs))
    programs = compiled_rollout(game, batches)
    arrays, slots = [b.arrays for b in batches], [b.slots for b in batches]
    keys = episode_keys(seed, [e.number for e in envs], indices)
    now, start, check = programs.begin(keys, arrays, slots)
    players = PlayerPool(game, envs, keys)
    first, checks, chunks = now.state, [np.asarray(check)], []
    with contextlib.closing(players):
        while not bool(np.all(now.done)):
            if players.seats:
                now, chunk = _stepwise(game, programs, players, now, arrays, slots)
            else:
                now, chunk = programs.chunk(now, arrays, slots)
            chunks.append(tree_map(np.asarray, chunk))
            checks.append(np.asarray(chunk.check))
            _refuse_faults(game, envs, now, chunks[-1].actions)
    return _episodes(game, envs, indices, seed, now, start, first, checks, chunks, players.logs)


def _stepwise(
    game: Game, programs: CompiledRollout, players: PlayerPool, now: RolloutState, arrays: Any, slots: Any
) -> tuple[RolloutState, RolloutChunk]:
    """A chunk of steps, with players asked in each."""
    taken = np.zeros((CHECK_EVERY, now.done.shape[0], game.num_seats), np.int16)
    states, steps = [], []
    for turn in range(CHECK_EVERY):
        if bool(np.all(now.done)):
            break
        now, actions = programs.choose(now, arrays, slots)
        taken[turn] = players.ask(now, np.asarray(actions).copy())
        now, step = programs.advance(now, jnp.asarray(taken[turn], jnp.int32))
        if not game.replayable:
            states.append(now.state)
            steps.append(step)
    stacked = (
        [None, None]
        if game.replayable
        else [tree_map(lambda *x: jnp.stack(x), *records) for records in (states, steps)]
    )
    return now, RolloutChunk(taken, programs.check(now.state), *stacked)  # type: ignore[arg-type]


def _refuse_faults(game: Game, envs: Sequence[Team], now: RolloutState, taken: np.ndarray) -> None:
    faults = np.argwhere(np.asarray(now.fault) >= 0)
    if len(faults):
        env, seat = faults[0]
        t = int(now.fault[env, seat])
        legal = np.ones(len(game.action_names), bool)
        name = envs[env].agents[seat].name
        raise illegal(game, name, int(seat), int(taken[t % CHECK_EVERY, env, seat]), legal, t)


def _episodes(
    game: Game,
    envs: Sequence[Team],
    indices: Sequence[int],
    seed: int,
    now: RolloutState,
    start: Any,
    first: Any,
    checks: Sequence[np.ndarray],
    chunks: Sequence[RolloutChunk],
    logs: Sequence[EventLog],
) -> list[Episode]:
    lengths, rewards, terminated, start = tree_map(np.asarray, (now.length, now.rewards, now.terminated, start))
    actions = np.concatenate([c.actions for c in chunks])
    states, steps = (None, None) if game.replayable else _joined(first, chunks)
    episodes = []
    for env, team in enumerate(envs):
        length = int(lengths[env])
        at = np.array([*range(0, length, CHECK_EVERY), length], np.int32)
        packed = None if states is None else _pack_one(states, steps, env, length)
        episodes.append(
            Episode.of(
                game,
                agents=team.identities,
                seed=seed,
                index=indices[env],
                start={name: np.array(value[env]) for name, value in start.items()},
                actions=actions[:length, env].copy(),
                check_steps=at,
                checks=np.array([checks[i][env] for i in range(len(at))], np.uint32),
                rewards=rewards[env].astype(np.float64),
                terminated=bool(terminated[env]),
                events=tuple(logs[env].events),
                states=packed,
            )
        )
    return episodes


def _joined(first: Any, chunks: Sequence[RolloutChunk]) -> tuple[Any, Any]:
    """States [step + 1, env, ...] and steps [step, env, ...] of a whole rollout."""
    states = tree_map(lambda a, *b: np.concatenate([np.asarray(a)[None], *b]), first, *(c.states for c in chunks))
    return states, tree_map(lambda *x: np.concatenate(x), *(c.steps for c in chunks))


def _pack_one(states: Any, steps: Any, env: int, length: int) -> dict[str, np.ndarray]:
    return pack_stacked(tree_map(lambda x: x[: length + 1, env], states), tree_map(lambda x: x[:length, env], steps))


class PlayerPool:
    """All players of a batch of environments: asked when they are to move, all at once."""

    def __init__(self, game: Game, envs: Sequence[Team], keys: Any):
        self.game, self.logs = game, [EventLog() for _ in envs]
        self.seats = [
            (env, Seat(game, agent, seat, keys[env]))
            for env, team in enumerate(envs)
            for seat, agent in enumerate(team.agents)
            if not isinstance(agent.policy, Policy)
        ]
        self._show = _show(game, tuple(sorted({seat.encoding for _, seat in self.seats}))) if self.seats else None

    def ask(self, now: RolloutState, actions: np.ndarray) -> np.ndarray:
        """The joint actions [env, seat] with every player's own choice put in."""
        assert self._show is not None
        done, t = np.asarray(now.done), int(now.t)
        turn, legal, seen = tree_map(np.asarray, self._show(now.state))
        to_ask = [
            (env, seat, bool(turn[env, seat.seat]))
            for env, seat in self.seats
            if not done[env] and (turn[env, seat.seat] or seat.watches)
        ]
        views = [self._view(env, seat, now.state, seen, legal[env, seat.seat], t) for env, seat, _ in to_ask]
        moves = ask_all([(seat, view, on_turn) for (_, seat, on_turn), view in zip(to_ask, views, strict=True)])
        for (env, seat, _), move in zip(to_ask, moves, strict=True):
            actions[env, seat.seat] = move.action
            for event in move.events:
                self.logs[env].add(t, seat.seat, event)
        return actions

    def close(self) -> None:
        """All episodes are over."""
        for _, seat in self.seats:
            seat.close()

    def _view(self, env: int, seat: Seat, state: Any, seen: Any, legal: np.ndarray, t: int) -> Any:
        observation = tree_map(lambda x: x[env, seat.seat], seen[seat.encoding])
        # The state is taken out of the batch only for those who ask: it costs more than most decisions.
        return make_view(
            self.game, lambda: tree_map(lambda x: x[env], state), t, seat.seat, legal, observation, seat.encoding
        )


@functools.lru_cache(maxsize=64)
def _show(game: Game, encodings: tuple[str, ...]) -> Any:
    """Compiled: who is to move, what is legal, and what the seats see, for a batch of states."""

    def show(state: Any) -> tuple:
        return game.to_move(state), game.legal(state), {e: game.observe(state, e) for e in encodings}

    return jax.jit(jax.vmap(show))


# --- compiled programs


@functools.lru_cache(maxsize=64)
def compiled_rollout(game: Game, batches: tuple[PolicyBatch, ...]) -> CompiledRollout:
    """Compile once for a game and policy batches that one program serves, however many policies and teams there are."""

    def begin(keys: Any, arrays: Sequence[Any], slots: Sequence[Array]) -> tuple[RolloutState, Any, Array]:
        state = jax.vmap(lambda key: game.init(chance_key(key, START, game.num_seats)))(keys)
        envs = keys.shape[0]
        now = RolloutState(
            t=jnp.zeros((), jnp.int32),
            keys=keys,
            state=state,
            memories=_memories(game, batches, keys, arrays, slots),
            done=jnp.zeros(envs, bool),
            terminated=jnp.zeros(envs, bool),
            length=jnp.zeros(envs, jnp.int32),
            rewards=jnp.zeros((envs, game.num_seats), jnp.float32),
            fault=jnp.full((envs, game.num_seats), -1, jnp.int32),
        )
        return now, jax.vmap(game.start)(state), jax.vmap(checksum)(state)

    def chunk(now: RolloutState, arrays: Sequence[Any], slots: Sequence[Array]) -> tuple[RolloutState, RolloutChunk]:
        def turn(now: RolloutState, _: None) -> tuple[RolloutState, Any]:
            now, actions = choose(now, arrays, slots)
            now, step = advance(now, actions)
            return now, (actions.astype(jnp.int16), None if game.replayable else (now.state, step))

        now, (actions, kept) = jax.lax.scan(turn, now, None, length=CHECK_EVERY)
        return now, RolloutChunk(actions, jax.vmap(checksum)(now.state), *(kept or (None, None)))

    choose, advance = functools.partial(_choose, game, batches), functools.partial(_advance, game)
    return CompiledRollout(*(jax.jit(f) for f in (begin, chunk, choose, advance, jax.vmap(checksum))))


def _memories(
    game: Game, batches: Sequence[PolicyBatch], keys: Any, arrays: Sequence[Any], slots: Sequence[Array]
) -> tuple:
    seats, memories = game.num_seats, []
    for batch, values, places in zip(batches, arrays, slots, strict=True):

        def of_policy(value: Any, row: Array, batch: PolicyBatch = batch) -> Any:
            episode = keys.at[row // seats].get(mode="clip")
            return jax.vmap(lambda key, slot: policy_start(batch.policy(value), key, slot % seats))(episode, row)

        memories.append(jax.vmap(of_policy)(values, places))
    return tuple(memories)


def _choose(
    game: Game, batches: Sequence[PolicyBatch], now: RolloutState, arrays: Sequence[Any], slots: Sequence[Array]
) -> tuple[RolloutState, Int[Array, "env seat"]]:
    """Every policy acts, on turn or off; whoever is not to move is given the action that is legal for it."""
    envs, seats = now.done.shape[0], game.num_seats
    legal, turn = jax.vmap(game.legal)(now.state), jax.vmap(game.to_move)(now.state)
    seen = {}
    for encoding in dict.fromkeys(batch.encoding for batch in batches):
        views = jax.vmap(lambda state, e=encoding: game.observe(state, e))(now.state)
        seen[encoding] = tree_map(lambda x: x.reshape(envs * seats, *x.shape[2:]), views)
    flat_legal = legal.reshape(envs * seats, -1)
    actions = jnp.argmax(flat_legal, axis=-1).astype(jnp.int32)
    memories, unsound = [], jnp.zeros(envs * seats, bool)
    keys = jax.vmap(lambda key: jax.vmap(lambda seat: seat_key(key, now.t, seat))(jnp.arange(seats)))(now.keys).reshape(
        -1
    )
    for batch, values, places, memory in zip(batches, arrays, slots, now.memories, strict=True):

        def of_policy(value: Any, row: Array, memory: Any, batch: PolicyBatch = batch) -> tuple:
            here = tree_map(lambda x: x.at[row].get(mode="clip"), (seen[batch.encoding], flat_legal, keys))
            return jax.vmap(lambda m, o, ok, k: policy_turn(batch.policy(value), m, o, ok, k)[:3])(memory, *here)

        memory, chosen, sound = jax.vmap(of_policy)(values, places, memory)
        memories.append(memory)
        actions = actions.at[places.reshape(-1)].set(chosen.reshape(-1), mode="drop")
        unsound = unsound.at[places.reshape(-1)].set(~sound.reshape(-1), mode="drop")
    actions = jnp.where(turn, actions.reshape(envs, seats), jnp.argmax(legal, axis=-1))
    new_fault = unsound.reshape(envs, seats) & turn & (now.fault < 0) & ~now.done[:, None]
    fault = jnp.where(new_fault, now.t, now.fault)
    return dataclasses.replace(now, memories=tuple(memories), fault=fault), actions.astype(jnp.int32)


def _advance(game: Game, now: RolloutState, actions: Int[Array, "env seat"]) -> tuple[RolloutState, Step]:
    """One step of every environment that is not done; the others stand still."""
    keys = jax.vmap(lambda key: chance_key(key, now.t, game.num_seats))(now.keys)
    after, step = jax.vmap(game.step)(now.state, actions, keys)
    ended = step.terminated | step.truncated | (now.t + 1 >= game.horizon)
    following = dataclasses.replace(
        now,
        t=now.t + 1,
        state=tree_map(lambda old, new: where_done(now.done, old, new), now.state, after),
        terminated=jnp.where(now.done, now.terminated, step.terminated),
        length=jnp.where(now.done, now.length, now.t + 1),
        rewards=now.rewards + jnp.where(now.done[:, None], 0.0, step.reward),
        done=now.done | ended,
    )
    return following, step


def where_done(done: Bool[Array, " env"], old: Array, new: Array) -> Array:
    """The old value where an environment is done, the new one elsewhere; keys of random numbers included."""
    if jnp.issubdtype(new.dtype, jax.dtypes.prng_key):
        return jax.random.wrap_key_data(where_done(done, jax.random.key_data(old), jax.random.key_data(new)))
    return jnp.where(done.reshape(-1, *[1] * (new.ndim - 1)), old, new)
