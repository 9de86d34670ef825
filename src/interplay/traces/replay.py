"""Replay: states, rewards and game events of an episode, recomputed from its start and its actions.

Pure JAX games replay in batches, compiled once per game and padded length; others step by step in Python.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, islice
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, PyTree, UInt32

from interplay.errors import InterplayError, TraceError
from interplay.games.api import Game, State, Step, is_jax
from interplay.games.checksum import checksum
from interplay.games.records import is_key
from interplay.games.registry import make_recorded
from interplay.games.state_arrays import unpack
from interplay.rollout.episode import Episode
from interplay.table import plain
from interplay.traces.replay_comparison import compare

tree_map = jax.tree_util.tree_map
CHUNK = 64  # episodes replayed at once
_KEPT_GAMES = 64  # made games, and compiled replays, that are kept


@dataclass(frozen=True, kw_only=True)
class Replay:
    """An episode played again."""

    states: State  # a stacked record [step + 1, ...] of numpy arrays; of a Python game, a list of its states
    steps: Step  # [step, ...] numpy
    checks: UInt32[np.ndarray, " step+1"]
    legal: Bool[np.ndarray, "step seat"]  # whether the recorded action was allowed

    def state(self, t: int) -> State:
        """The state after `t` steps, ready for `game.step` and `game.observe`."""
        if isinstance(self.states, list):
            return self.states[t]
        return jax.tree_util.tree_map(lambda leaf: jnp.asarray(leaf[t]), self.states)


@dataclass(frozen=True, kw_only=True)
class ReplayBatch:
    """Episodes of one game replayed together. Past its end an episode stands still and its steps are all zero."""

    episodes: Sequence[Episode]
    states: State  # [episode, step + 1, ...] JAX arrays; None if not asked for
    steps: Step  # [episode, step, ...]
    played: Bool[np.ndarray, "episode step"]  # False past the end
    checks: UInt32[np.ndarray, "episode step+1"]
    legal: Bool[np.ndarray, "episode step seat"]

    def each(self) -> Iterator[Replay]:
        """The episodes one by one, each cut to its own length."""
        states, steps = _to_numpy(self.states), _to_numpy(self.steps)
        for i, episode in enumerate(self.episodes):
            n = episode.length
            yield Replay(
                states=jax.tree_util.tree_map(lambda x, i=i, n=n: x[i, : n + 1], states),
                steps=jax.tree_util.tree_map(lambda x, i=i, n=n: x[i, :n], steps),
                checks=self.checks[i, : n + 1],
                legal=self.legal[i, :n],
            )


def _to_numpy(tree: PyTree) -> Any:
    return tree_map(lambda x: x if is_key(x) else np.asarray(x), tree)


def game_key(episode: Episode) -> tuple[str, str]:
    """What tells the games of a set apart: the id and the options."""
    return episode.game_id, json.dumps(plain(episode.options), sort_keys=True, default=str)


def game_of(episode: Episode) -> Game:
    """The game of an episode, made once and kept; an error if it cannot replay this episode."""
    game = made_game(episode)
    check_fits(game, episode)
    return game


def made_game(episode: Episode) -> Game:
    """The game that the episode names, made once and kept, whether it fits or not."""
    return _made(*game_key(episode))


@lru_cache(maxsize=_KEPT_GAMES)
def _made(name: str, options: str) -> Game:
    try:
        return make_recorded(name, json.loads(options))
    except InterplayError as error:
        raise TraceError(f"cannot make the game {name!r} again: {error}") from error


def check_fits(game: Game, episode: Episode) -> None:
    """An error if this game cannot replay this episode."""
    if game.rules_version != episode.rules_version:
        raise TraceError(
            f"{episode.game_id} was recorded under rules version {episode.rules_version!r}, the game here has "
            f"{game.rules_version!r}, so the actions would replay differently: use the game's version that recorded it"
        )
    if game.num_seats != len(episode.agents):
        raise TraceError(f"{episode.game_id} has {game.num_seats} seats, the episode has {len(episode.agents)}")
    if not game.replayable and episode.states is None:
        raise TraceError("the game cannot be replayed and the episode has not recorded its states")
    actions = np.asarray(episode.actions)
    beyond = np.argwhere((actions < 0) | (actions >= len(game.action_names)))
    if beyond.size:
        t, seat = beyond[0]
        raise TraceError(
            f"step {t}: seat {seat} took action {actions[t, seat]}; {episode.game_id} has the actions 0 to "
            f"{len(game.action_names) - 1}"
        )


def replay(game: Game, episode: Episode, *, check: bool = True) -> Replay:
    """Play an episode again. With `check`, a replay that disagrees with its record is an error."""
    return next(replays(game, [episode], chunk=1, check=check))


def replays(game: Game, episodes: Iterable[Episode], *, chunk: int = CHUNK, check: bool = True) -> Iterator[Replay]:
    """Play episodes of one game again, in their order, `chunk` at a time."""
    for episode, replayed in replay_unchecked(game, episodes, chunk):
        if check:
            check_agrees(game, episode, replayed)
        yield replayed


def check_agrees(game: Game, episode: Episode, replayed: Replay) -> None:
    """Raise `TraceError` if a replay disagrees with the record of its episode."""
    for problem in compare(game, episode, replayed):
        raise TraceError(f"{episode.game_id}, episode {episode.index} of seed {episode.seed}: {problem}")


def replay_unchecked(game: Game, episodes: Iterable[Episode], chunk: int) -> Iterator[tuple[Episode, Replay]]:
    """Play episodes of one game again, whatever the game is made of, and compare nothing."""
    if is_jax(game):
        for batch in replay_batches(game, episodes, chunk=chunk):
            yield from zip(batch.episodes, batch.each(), strict=True)
    else:
        for episode in episodes:
            check_fits(game, episode)
            yield episode, _play_through(game, episode) if game.replayable else recorded_replay(game, episode)


def states_at(game: Game, episode: Episode, t: int) -> State:
    """The state after `t` steps of an episode: where a counterfactual may branch off."""
    if not 0 <= t <= episode.length:
        raise TraceError(f"no state at t={t}: the episode has {episode.length} steps, so t is 0 to {episode.length}")
    return replay(game, episode).state(t)


def replay_batches(
    game: Game, episodes: Iterable[Episode], *, chunk: int = CHUNK, keep_states: bool = True
) -> Iterator[ReplayBatch]:
    """Play episodes of one pure JAX game again, `chunk` at a time, as arrays with a leading axis of episodes.

    Nothing is compared with the record here: `verify` does that, and so do `replay` and `replays`.
    """
    if not is_jax(game):
        raise TraceError(f"{game.id} is not pure JAX, so it replays one episode at a time: use replays")
    remaining = iter(episodes)
    while group := list(islice(remaining, chunk)):
        for episode in group:
            check_fits(game, episode)
        if not game.replayable:
            yield _recorded_batch(game, group)
            continue
        # Neighbours whose start arrays can be stacked: nearly always all of them.
        for _, alike in groupby(group, lambda episode: {name: np.shape(v) for name, v in episode.start.items()}):
            yield _replay_batch(game, list(alike), keep_states)


def _replay_batch(game: Game, episodes: list[Episode], keep_states: bool) -> ReplayBatch:
    length = padded(max(e.length for e in episodes), game.horizon)
    rows = episodes + [episodes[-1]] * (padded(len(episodes), least=1) - len(episodes))
    actions = np.zeros((len(rows), length, game.num_seats), dtype=np.int32)
    played = np.zeros((len(rows), length), dtype=bool)
    for i, episode in enumerate(rows):
        actions[i, : episode.length] = episode.actions
        played[i, : episode.length] = True
    start = {name: np.stack([e.start[name] for e in rows]) for name in episodes[0].start}
    keys = jax.random.split(jax.random.key(0), len(rows))  # a replayable game asks nothing of them
    try:
        states, steps, checks, legal = _program(game, keep_states)(start, keys, actions, played)
    except (TypeError, ValueError, IndexError, KeyError) as error:  # of the game's own code, on what data gave it
        raise _unplayable(episodes[0], error) from None
    n = len(episodes)
    states, steps = jax.tree_util.tree_map(lambda leaf: leaf[:n], (states, steps))
    return ReplayBatch(
        episodes=episodes,
        states=states,
        steps=steps,
        played=played[:n],
        checks=np.asarray(checks)[:n],
        legal=np.asarray(legal)[:n],
    )


def _unplayable(episode: Episode, error: Exception) -> TraceError:
    lines = str(error).splitlines() or [""]
    return TraceError(
        f"{episode.game_id}, episode {episode.index}: the game cannot be played from the start that was recorded, "
        f"{type(error).__name__}: {lines[0][:300]}"
    )


def padded(size: int, most: int | None = None, least: int = 16) -> int:
    """The size up to which to pad: a power of two, so that few shapes are compiled, or the most there can be."""
    power = max(least, 1 << max(size - 1, 0).bit_length())
    return most if most is not None and size <= most < power else power


@lru_cache(maxsize=_KEPT_GAMES)
def _program(game: Game, keep_states: bool) -> Callable[..., Any]:
    def one(start: dict[str, Any], key: Any, actions: Any, played: Any) -> Any:
        first = game.init(key, **start)

        def advance(state: State, now: tuple[Any, Any]) -> tuple[State, Any]:
            chosen, on = now
            legal = jnp.take_along_axis(game.legal(state), chosen[:, None], axis=1)[:, 0]
            after, step = game.step(state, chosen, key)
            after = jax.tree_util.tree_map(lambda new, old: jnp.where(on, new, old), after, state)
            step = jax.tree_util.tree_map(lambda x: jnp.where(on, x, jnp.zeros_like(x)), step)
            return after, (after if keep_states else None, step, checksum(after), legal)

        _, (states, steps, checks, legal) = jax.lax.scan(advance, first, (actions, played))
        checks = jnp.concatenate([checksum(first)[None], checks])
        if keep_states:
            states = jax.tree_util.tree_map(lambda a, b: jnp.concatenate([a[None], b]), first, states)
        return states, steps, checks, legal

    return jax.jit(jax.vmap(one))


def recorded_replay(game: Game, episode: Episode) -> Replay:
    """An episode of a game that cannot be replayed, from the states that it recorded."""
    assert episode.states is not None
    try:
        states, steps = unpack(game, episode.states, episode.length)
    except InterplayError as error:
        raise TraceError(f"{episode.game_id}, episode {episode.index}: {error}") from None
    if is_jax(game):
        checks, legal = tree_map(np.asarray, _recorded_facts(game)(states))
    else:
        check = getattr(game, "checksum", checksum)
        checks = np.array([int(check(s)) for s in states], np.uint32)
        legal = np.array([np.asarray(game.legal(s)) for s in states])
    taken = np.asarray(episode.actions, np.int64)[..., None]
    return Replay(
        states=states,
        steps=steps,
        checks=checks,
        legal=np.take_along_axis(legal[:-1], taken, axis=-1)[..., 0]
        if episode.length
        else np.zeros((0, game.num_seats), bool),
    )


@lru_cache(maxsize=_KEPT_GAMES)
def _recorded_facts(game: Game) -> Callable[..., Any]:
    return jax.jit(jax.vmap(lambda state: (checksum(state), game.legal(state))))


def _recorded_batch(game: Game, episodes: Sequence[Episode]) -> ReplayBatch:
    """The same for several episodes, each filled up to the longest by its last state and steps of nothing."""
    replays = [recorded_replay(game, episode) for episode in episodes]
    longest = max(episode.length for episode in episodes)

    def filled(value: Any, size: int, *, last: bool) -> np.ndarray:
        value = np.asarray(value)
        rest = (
            np.repeat(value[-1:], size - len(value), axis=0)
            if last
            else np.zeros((size - len(value), *value.shape[1:]))
        )
        return np.concatenate([value, rest.astype(value.dtype)])

    def stacked(values: Sequence[Any], size: int, *, last: bool) -> Any:
        return tree_map(lambda *x: np.stack([filled(v, size, last=last) for v in x]), *values)

    return ReplayBatch(
        episodes=episodes,
        states=stacked([r.states for r in replays], longest + 1, last=True),
        steps=stacked([r.steps for r in replays], longest, last=False),
        played=np.arange(longest) < np.array([e.length for e in episodes])[:, None],
        checks=np.stack([filled(r.checks, longest + 1, last=True) for r in replays]),
        legal=np.stack([filled(r.legal, longest, last=False) for r in replays]).astype(bool),
    )


def _play_through(game: Game, episode: Episode) -> Replay:
    key = jax.random.key(0)
    try:
        state = game.init(key, **episode.start)
    except (TypeError, ValueError, IndexError, KeyError) as error:
        raise _unplayable(episode, error) from None
    states, steps, legal = [state], [], []
    for actions in np.asarray(episode.actions):
        legal.append(np.asarray(game.legal(state))[np.arange(game.num_seats), actions])
        state, step = game.step(state, actions, key)
        states.append(state)
        steps.append(step)
    check = getattr(game, "checksum", checksum)  # a plain game's state may hold anything
    return Replay(
        states=states,
        steps=_stack_steps(game, steps),
        checks=np.array([int(check(s)) for s in states], dtype=np.uint32),
        legal=np.array(legal, dtype=bool).reshape(len(steps), game.num_seats),
    )


def _stack_steps(game: Game, steps: Sequence[Step]) -> Step:
    if steps:
        return jax.tree_util.tree_map(lambda *leaves: np.stack([np.asarray(leaf) for leaf in leaves]), *steps)
    seats = game.num_seats
    return Step(
        reward=np.zeros((0, seats)),  # type: ignore[arg-type]
        shaped=np.zeros((0, seats)),  # type: ignore[arg-type]
        terminated=np.zeros(0, bool),  # type: ignore[arg-type]
        truncated=np.zeros(0, bool),  # type: ignore[arg-type]
        events=np.zeros((0, seats, len(game.event_names)), int),  # type: ignore[arg-type]
    )
