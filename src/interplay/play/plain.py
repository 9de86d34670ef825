"""Episodes of a game that is plain Python: one after the other, policies and players alike asked turn by turn."""

from __future__ import annotations

import asyncio
import json
import pickle
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from interplay.agents.api import Move, Policy, Remark, View, refuse_privileged
from interplay.errors import IllegalAction
from interplay.games.api import Game
from interplay.games.checksum import checksum
from interplay.play.episodes import CHECK_EVERY, Episode, Remarked
from interplay.play.lineups import LineUp
from interplay.play.rollout import Progress


def rollout(
    game: Game, line_ups: Sequence[LineUp], episodes: int, seed: int, progress: Progress | None = None
) -> Iterator[Episode]:
    """Each line-up plays its episodes."""
    for line_up in line_ups:
        for index in range(episodes):
            yield asyncio.run(play_episode(game, line_up, seed, index))
            if progress:
                progress(1)


class PolicySeat:
    """A policy asked one observation at a time."""

    def __init__(self, policy: Policy, game: Game, seat: int, key: Any):
        self._policy, self._seat, self._key = policy.bind(game), seat, key
        self._memory = self._policy.init(jax.random.fold_in(key, 0), jnp.int32(seat))
        policy = self._policy
        self._act = jax.jit(lambda *given: policy.act(*given))  # a method of a module with arrays has no hash
        self.encoding = self._policy.encoding

    async def act(self, view: View) -> int:
        key = jax.random.fold_in(self._key, view.t + 1)
        self._memory, action, _ = self._act(self._memory, view.observation, jnp.asarray(view.legal), key)
        return int(action)


# Who sits down: (mind, game, seat, key, seed, index, line-up's number) -> a seat.
# What the seats do: (game, line-up, seats, states, actions, remarks) -> the joint action, or None: the episode ends.
Sit = Callable[[Any, Game, int, Any, int, int, int], Any]
Choose = Callable[
    [Game, LineUp, Sequence[Any], Sequence[Any], Sequence[np.ndarray], list[Remarked]], Awaitable[np.ndarray | None]
]


async def play_episode(
    game: Game, line_up: LineUp, seed: int, index: int, sit: Sit | None = None, choose: Choose | None = None
) -> Episode:
    """One episode; other runners bring their own way to seat agents and to choose the joint action."""
    sit, choose = sit or sit_down, choose or joint_action
    key = jax.random.fold_in(jax.random.fold_in(jax.random.key(seed), line_up.number), index)
    state = game.init(jax.random.fold_in(key, 0))
    start = {name: np.array(value) for name, value in game.start(state).items()}
    seats = [
        sit(agent.mind, game, s, jax.random.fold_in(key, 1 + s), seed, index, line_up.number)
        for s, agent in enumerate(line_up.agents)
    ]
    actions, remarks, states = [], [], [state]
    steps, checks = [0], [_check(game, state)]
    rewards, ended, terminated = np.zeros(game.num_seats), False, False
    while not ended and len(actions) < game.horizon:
        t = len(actions)
        joint = await choose(game, line_up, seats, states, actions, remarks)
        if joint is None:
            break
        state, step = game.step(state, jnp.asarray(joint), jax.random.fold_in(key, t))
        actions.append(joint)
        states.append(state)
        rewards += np.asarray(step.reward, np.float64)
        terminated = bool(step.terminated)
        ended = terminated or bool(step.truncated)
        if len(actions) % CHECK_EVERY == 0:
            steps.append(len(actions))
            checks.append(_check(game, state))
    if steps[-1] != len(actions):
        steps.append(len(actions))
        checks.append(_check(game, state))
    return Episode(
        game_id=game.id,
        options=json.loads(json.dumps(dict(game.options))),
        rules_version=game.rules_version,
        agents=line_up.identities,
        seed=seed,
        index=index,
        start=start,
        actions=np.array(actions, np.int16).reshape(-1, game.num_seats),
        check_steps=np.array(steps, np.int32),
        checks=np.array(checks, np.uint32),
        rewards=rewards,
        terminated=terminated,
        events=tuple(remarks),
        states=None if game.replayable else pickle.dumps(states),
    )


def sit_down(mind: Any, game: Game, seat: int, key: Any, seed: int, index: int, number: int) -> Any:
    """A policy or a player in its seat."""
    if isinstance(mind, Policy):
        return PolicySeat(mind, game, seat, key)
    own_seed = int(np.random.SeedSequence([seed, number, index, seat]).generate_state(1)[0])
    session = mind.begin(game, seat, own_seed)
    return _PlayerSeat(session, mind.encoding, mind.deadline_s, mind.default_action)


class _PlayerSeat:
    def __init__(self, session: Any, encoding: str, deadline_s: float | None, default_action: int | None):
        self._session, self.encoding = session, encoding
        self._deadline_s, self._default = deadline_s, default_action

    async def act(self, view: View) -> int | Move:
        try:
            return await asyncio.wait_for(self._session.act(view), self._deadline_s)
        except TimeoutError:
            known = self._default is not None and view.legal[self._default]
            action = int(self._default if known and self._default is not None else np.argmax(view.legal))
            return Move(action, [Remark("timeout", {"seconds": self._deadline_s, "action": action})])


async def joint_action(
    game: Game,
    line_up: LineUp,
    seats: Sequence[Any],
    states: Sequence[Any],
    actions: Sequence[np.ndarray],
    remarks: list[Remarked],
) -> np.ndarray:
    """All seats asked at once."""
    state, t = states[-1], len(actions)
    legal, turn = np.asarray(game.legal(state)), np.asarray(game.to_move(state))
    moves = await asyncio.gather(*(ask_seat(game, seats[s], state, t, s, legal, turn) for s in range(game.num_seats)))
    for seat, move in enumerate(moves):
        check_legal(game, line_up, seat, move.action, legal[seat], t)
        for remark in move.remarks:
            note(remarks, t, seat, remark)
    return np.array([m.action for m in moves], np.int32)


async def ask_seat(game: Game, asked: Any, state: Any, t: int, seat: int, legal: np.ndarray, turn: np.ndarray) -> Move:
    """One seat's move; off turn a player is not asked, and a policy's choice does not count."""
    if not turn[seat] and not isinstance(asked, PolicySeat):
        return Move(int(np.argmax(legal[seat])))

    def see(encoding: str) -> Any:
        if encoding != asked.encoding:
            refuse_privileged(game, encoding)
        return jax.tree_util.tree_map(lambda x: x[seat], game.observe(state, encoding))

    view = View(game, seat, t, legal[seat], see(asked.encoding), lambda: game.render(state, seat), see)
    answer = await asked.act(view)
    move = answer if isinstance(answer, Move) else Move(int(answer))
    return move if turn[seat] else Move(int(np.argmax(legal[seat])), move.remarks)


def check_legal(game: Game, line_up: LineUp, seat: int, action: int, legal: np.ndarray, t: int) -> None:
    if not (0 <= action < len(legal) and legal[action]):
        names = ", ".join(n for n, ok in zip(game.action_names, legal, strict=True) if ok)
        name = line_up.agents[seat].name
        raise IllegalAction(f"{name!r} in seat {seat} of {game.id}, step {t}: {action} is not legal; legal: {names}")


def note(remarks: list[Remarked], t: int, seat: int | None, remark: Remark) -> None:
    """Write a remark down after those of the same step."""
    seq = remarks[-1].seq + 1 if remarks and remarks[-1].t == t else 0
    remarks.append(Remarked(t=t, seq=seq, seat=seat, kind=remark.kind, payload=dict(remark.payload)))


def _check(game: Game, state: Any) -> int:
    """A plain game's state may hold anything: it may offer its own `checksum(state)`."""
    own = getattr(game, "checksum", None)
    return int(own(state) if own else checksum(state))
