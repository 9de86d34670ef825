"""Any agent of ours at the client's end of the wire: policies act on many games in one compiled call."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from interplay.agents.api import Agent, Policy, View
from interplay.challenge.array_encoding import unpack_batch
from interplay.errors import InterplayError
from interplay.games.api import Game, is_jax
from interplay.rollout.live_python import TEXT
from interplay.rollout.seat import Seat, bound, policy_start, policy_turn, seat_key, see

BATCH = 64
tree_map = jax.tree_util.tree_map


class SeatMessage(NamedTuple):
    """One seat of one game, at one time, as it came over the wire."""

    place: tuple[str, int]  # the game's name and the seat
    t: int
    content: dict[str, Any]  # observation, legal, turn


class ClientAgent(Protocol):
    """Acts for all seats of one setting. Every message is shown once, in order; actions are asked of the last one."""

    encoding: str

    async def act(self, messages: Sequence[SeatMessage]) -> list[np.ndarray]:
        """For each message: the chosen action, and after it the probability of every action (or nothing)."""
        ...

    def forget(self, game: str) -> None:
        """Let go of a game that is over, or told from the start again."""
        ...


def client_agent(agent: Agent, game: Game, seed: int) -> ClientAgent:
    """An agent ready to play a game over the wire."""
    return (
        PolicyClient(agent.policy, game, seed) if isinstance(agent.policy, Policy) else PlayerClient(agent, game, seed)
    )


def _episode_key(seed: int, game: str) -> Any:
    """The key of a game by its name, the same in every process."""
    return jax.random.fold_in(jax.random.key(seed), zlib.crc32(game.encode()))


class PolicyClient:
    """A policy: memories by game and seat, actions in batches."""

    def __init__(self, policy: Policy, game: Game, seed: int):
        self._policy, self._seed = bound(policy, game), seed
        self.encoding = self._policy.encoding
        if game.encodings[self.encoding].privileged:
            raise InterplayError(f"this agent reads {self.encoding!r}, which shows what a seat may not see")
        self._like = see(game, game.init(jax.random.key(0)), 0, self.encoding)
        self._memory: dict[tuple[str, int], Any] = {}

    async def act(self, messages: Sequence[SeatMessage]) -> list[np.ndarray]:
        """Choose for all seats, so many at a time, outside the event loop."""
        answers: list[np.ndarray] = []
        for first in range(0, len(messages), BATCH):
            answers += await asyncio.to_thread(self._batch, messages[first : first + BATCH])
        return answers

    def forget(self, game: str) -> None:
        """Let go of the memories of a game."""
        for place in [p for p in self._memory if p[0] == game]:
            del self._memory[place]

    def _batch(self, messages: Sequence[SeatMessage]) -> list[np.ndarray]:
        keys = [_episode_key(self._seed, m.place[0]) for m in messages]
        for key, (place, *_) in zip(keys, messages, strict=True):
            if place not in self._memory:
                self._memory[place] = tree_map(np.asarray, _start(self._policy, key, jnp.int32(place[1])))
        memory = tree_map(lambda *x: np.stack(x), *(self._memory[m.place] for m in messages))
        observation = unpack_batch([m.content["observation"] for m in messages], self._like)
        legal = np.array([m.content["legal"] for m in messages], bool)
        fill = np.minimum(np.arange(BATCH), len(messages) - 1)  # the last one again, so that shapes stay
        memory, observation, legal = tree_map(lambda x: x[fill], (memory, observation, legal))
        times = np.array([m.t for m in messages], np.int32)[fill]
        seats = np.array([m.place[1] for m in messages], np.int32)[fill]
        memory, action, odds = _turns(self._policy, memory, observation, legal, jnp.stack(keys)[fill], times, seats)
        memory, action, odds = tree_map(np.asarray, memory), np.asarray(action), np.asarray(odds, np.float64)
        for i, message in enumerate(messages):
            self._memory[message.place] = tree_map(lambda x, i=i: x[i], memory)
        return [np.concatenate([[action[i]], odds[i]]) for i in range(len(messages))]


@eqx.filter_jit
def _start(policy: Policy, key: Any, seat: Any) -> Any:
    return policy_start(policy, key, seat)


@eqx.filter_jit
def _turns(policy: Policy, memory: Any, observation: Any, legal: Any, keys: Any, times: Any, seats: Any) -> Any:
    def one(memory: Any, observation: Any, legal: Any, key: Any, t: Any, seat: Any) -> Any:
        turn = policy_turn(policy, memory, observation, legal, seat_key(key, t, seat))
        odds = jax.nn.softmax(jnp.where(legal, turn.logits.astype(jnp.float32), -jnp.inf))
        return turn.memory, turn.action, odds

    return jax.vmap(one)(memory, observation, legal, keys, times, seats)


class PlayerClient:
    """Any Python object that sits down at a game; it sees what came over the wire and nothing else."""

    def __init__(self, agent: Agent, game: Game, seed: int):
        self._agent, self._game, self._seed = agent, game, seed
        # Whoever observes nothing reads the game as text, which servers send of games in plain Python.
        reads = agent.policy.encoding
        self._text = reads == "nothing" and not is_jax(game)
        self.encoding = TEXT if self._text else reads
        self._like = see(game, game.init(jax.random.key(0)), 0, reads)
        self._seats: dict[tuple[str, int], Seat] = {}

    async def act(self, messages: Sequence[SeatMessage]) -> list[np.ndarray]:
        """Ask for all seats at once."""
        return list(await asyncio.gather(*(self._one(m) for m in messages)))

    def forget(self, game: str) -> None:
        """Let go of the sessions of a game."""
        for place in [p for p in self._seats if p[0] == game]:
            self._seats.pop(place).close()

    async def _one(self, message: SeatMessage) -> np.ndarray:
        name, number = message.place
        if message.place not in self._seats:
            self._seats[message.place] = Seat(self._game, self._agent, number, _episode_key(self._seed, name))
        seat, content = self._seats[message.place], message.content["observation"]
        observation = self._like if self._text else tree_map(lambda x: x[0], unpack_batch([content], self._like))
        legal = np.array(message.content["legal"], bool)
        text = (lambda: content) if self._text else _no_text
        view = View(self._game, number, message.t, legal, observation, text)
        return np.array([(await seat.act(view, bool(message.content["turn"]))).action])


def _no_text() -> str:
    raise InterplayError("over the wire a player sees its observation; the game as text stays on the server")
