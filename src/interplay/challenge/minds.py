"""Any agent of ours at the client's end of the wire: policies act on many games in one compiled call."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from interplay.agents.api import Agent, Move, Policy, View
from interplay.challenge.programs import tree_map
from interplay.challenge.table import TEXT
from interplay.challenge.wire import unpack_batch, unpack_tree
from interplay.errors import InterplayError
from interplay.games.api import Game, is_jax

BATCH = 64


class Seen(NamedTuple):
    """One seat of one game, at one time, as it came over the wire."""

    place: tuple[str, int]  # the game's name and the seat
    t: int
    told: dict[str, Any]  # observation, legal, turn


class Mind(Protocol):
    """Acts for all seats of one setting. Every look is shown once, in order; actions are asked of the last one."""

    encoding: str

    async def look(self, seen: Sequence[Seen]) -> list[np.ndarray]:
        """For each look: the chosen action, and after it the probability of every action (or nothing)."""
        ...

    def forget(self, game: str) -> None: ...


def mind(agent: Agent, game: Game, seed: int) -> Mind:
    return PolicyMind(agent.policy, game, seed) if isinstance(agent.policy, Policy) else PlayerMind(agent, game, seed)


class PolicyMind:
    """A policy: memories by game and seat, actions in batches."""

    def __init__(self, policy: Policy, game: Game, seed: int):
        bound = policy.bind(game)
        self.encoding = bound.encoding
        if game.encodings[self.encoding].privileged:
            raise InterplayError(f"this agent reads {self.encoding!r}, which shows what a seat may not see")
        state = game.init(jax.random.key(0))
        one = tree_map(lambda x: np.asarray(x)[0], game.observe(state, self.encoding))
        self._like = one
        self._key, self._count = jax.random.key(seed), 0
        self._memory: dict[tuple[str, int], Any] = {}
        self._init = jax.jit(lambda key, seat: bound.init(key, seat))  # a method of a module with arrays has no hash

        def act(memory: Any, obs: Any, legal: Any, keys: Any) -> Any:
            memory, action, info = jax.vmap(bound.act)(memory, obs, legal, keys)
            odds = jax.nn.softmax(jnp.where(legal, info.logits.astype(jnp.float32), -jnp.inf), axis=-1)
            return memory, action, odds

        self._act = jax.jit(act)

    async def look(self, seen: Sequence[Seen]) -> list[np.ndarray]:
        found: list[np.ndarray] = []
        for first in range(0, len(seen), BATCH):
            found += await asyncio.to_thread(self._batch, seen[first : first + BATCH])
        return found

    def forget(self, game: str) -> None:
        for place in [p for p in self._memory if p[0] == game]:
            del self._memory[place]

    def _batch(self, seen: Sequence[Seen]) -> list[np.ndarray]:
        self._count += 1
        key = jax.random.fold_in(self._key, self._count)
        for place in (s.place for s in seen if s.place not in self._memory):
            own = jax.random.fold_in(key, 1 + hash(place) % 2**31)
            self._memory[place] = tree_map(np.asarray, self._init(own, jnp.int32(place[1])))
        memory = tree_map(lambda *x: np.stack(x), *(self._memory[s.place] for s in seen))
        obs = unpack_batch([s.told["observation"] for s in seen], self._like)
        legal = np.array([s.told["legal"] for s in seen], bool)
        fill = np.minimum(np.arange(BATCH), len(seen) - 1)  # the last one again, so that shapes stay
        filled = tree_map(lambda x: x[fill], (memory, obs, legal))
        memory, action, odds = self._act(*filled, jax.random.split(key, BATCH))
        memory = tree_map(np.asarray, memory)
        for i, one in enumerate(seen):
            self._memory[one.place] = tree_map(lambda x, i=i: x[i], memory)
        action, odds = np.asarray(action), np.asarray(odds, np.float64)
        return [np.concatenate([[action[i]], odds[i]]) for i in range(len(seen))]


class PlayerMind:
    """Any Python object that sits down at a game; it sees what came over the wire and nothing else."""

    def __init__(self, agent: Agent, game: Game, seed: int):
        self._agent, self._game, self._seed = agent, game, seed
        # Whoever observes nothing reads the game as text, which servers send of games in plain Python.
        reads = agent.policy.encoding
        self._text = reads == "nothing" and not is_jax(game)
        self.encoding = TEXT if self._text else reads
        state = game.init(jax.random.key(0))
        self._like = tree_map(lambda x: np.asarray(x)[0], game.observe(state, reads))
        self._sessions: dict[tuple[str, int], Any] = {}

    async def look(self, seen: Sequence[Seen]) -> list[np.ndarray]:
        return list(await asyncio.gather(*(self._one(s) for s in seen)))

    def forget(self, game: str) -> None:
        for place in [p for p in self._sessions if p[0] == game]:
            del self._sessions[place]

    async def _one(self, seen: Seen) -> np.ndarray:
        legal = np.array(seen.told["legal"], bool)
        if not seen.told["turn"]:
            return np.array([np.argmax(legal)])
        player: Any = self._agent.policy
        if seen.place not in self._sessions:
            self._seed += 1
            self._sessions[seen.place] = player.begin(self._game, seen.place[1], self._seed)
        told = seen.told["observation"]
        observation = self._like if self._text else unpack_tree(told, self._like)
        view = View(self._game, seen.place[1], seen.t, legal, observation, (lambda: told) if self._text else _no_text)
        answer = await self._sessions[seen.place].act(view)
        return np.array([answer.action if isinstance(answer, Move) else int(answer)])


def _no_text() -> str:
    raise InterplayError("over the wire a player sees its observation; the game as text stays on the server")
