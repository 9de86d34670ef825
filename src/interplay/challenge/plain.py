"""The arena of any other game, or of partners that are not policies: one game at a time, step by step, in threads."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from interplay.agents.api import Agent, Move, Policy, View
from interplay.challenge.table import TEXT, Fault, Look, Table
from interplay.games.api import Game
from interplay.games.checksum import checksum


class PlainArena:
    """Plays any game with any agents."""

    def __init__(self, game: Game, partners: Sequence[Agent], *, threads: int = 4):
        self.game, self.partners = game, list(partners)
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=f"arena {game.id}")
        # Players may hold connections that belong to an event loop, so theirs lives as long as the arena.
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="players", daemon=True)
        self._thread.start()
        self._policies = {id(a): _compiled(a.policy.bind(game)) for a in partners if isinstance(a.policy, Policy)}
        self._live: dict[int, _Live] = {}
        self._next = 0

    async def begin(self, table: Table, skip: bool) -> list[Look]:
        self._next += 1
        table.slot = self._next
        return await self._in_thread(self._begin, table, skip)

    async def advance(self, table: Table, actions: Mapping[int, int], skip: bool) -> list[Look]:
        return await self._in_thread(self._advance, table, dict(actions), skip)

    def leave(self, table: Table) -> None:
        self._live.pop(table.slot, None)
        table.slot = -1

    def warm(self, encoding: str) -> None:
        state = self.game.init(jax.random.key(0))
        if encoding != TEXT:
            self.game.observe(state, encoding)

    def close(self) -> None:
        self._threads.shutdown(wait=True)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=10)

    async def _in_thread(self, work: Any, *args: Any) -> list[Look]:
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._threads, work, *args)
        except Exception as error:
            raise Fault(f"the server failed: {type(error).__name__}: {error}") from error

    # What follows runs in a thread of the pool.

    def _begin(self, table: Table, skip: bool) -> list[Look]:
        key = jax.random.wrap_key_data(jnp.array(table.chance, jnp.uint32))
        state = self.game.init(jax.random.fold_in(key, 0))
        live = self._live[table.slot] = _Live(self.game, key, state, self._sit(table, key))
        start = {name: np.array(value) for name, value in self.game.start(state).items()}
        table.begin(start, live.check())
        looks = [live.look(table)]
        return looks if not skip else looks + self._until_asked(table, live, looks[-1])

    def _sit(self, table: Table, key: Any) -> dict[int, Any]:
        seats: dict[int, Any] = {}
        for seat, who in enumerate(table.seats):
            if who is None:
                continue
            agent, own = self.partners[who], jax.random.fold_in(key, 1_000_000 + seat)
            if isinstance(agent.policy, Policy):
                bound = agent.policy.bind(self.game)
                memory = bound.init(own, jnp.int32(seat))
                seats[seat] = _PolicySeat(bound.encoding, self._policies[id(agent)], memory, own)
            else:
                seed = int(jax.random.bits(own, (), jnp.uint32))
                session = agent.policy.begin(self.game, seat, seed)
                seats[seat] = _PlayerSeat(agent.policy, session, self._loop)
        return seats

    def _advance(self, table: Table, actions: dict[int, int], skip: bool) -> list[Look]:
        live = self._live[table.slot]
        looks = [live.step(table, actions)]
        return looks if not skip else looks + self._until_asked(table, live, looks[-1])

    def _until_asked(self, table: Table, live: _Live, last: Look) -> list[Look]:
        looks: list[Look] = []
        while not last.done and not any(last.turn.values()):
            last = live.step(table, {})
            looks.append(last)
        return looks


def _compiled(policy: Policy) -> Any:
    """A policy's `act`, compiled once for all games; its method itself has no hash where it holds arrays."""
    return jax.jit(lambda memory, obs, legal, key: policy.act(memory, obs, legal, key))


class _Live:
    """The state of one game and those who sit at it."""

    def __init__(self, game: Game, key: Any, state: Any, seats: dict[int, Any]):
        self._game, self._key, self._state, self._seats = game, key, state, seats

    def check(self) -> int:
        own = getattr(self._game, "checksum", None)
        return int(own(self._state) if own else checksum(self._state))

    def step(self, table: Table, actions: Mapping[int, int]) -> Look:
        game, t = self._game, len(table.actions)
        legal, turn = np.asarray(game.legal(self._state)), np.asarray(game.to_move(self._state))
        joint = np.argmax(legal, axis=-1).astype(np.int32)
        for seat, asked in self._seats.items():
            if turn[seat] or isinstance(asked, _PolicySeat):
                action = asked.act(self._view(seat, asked.encoding, t, legal[seat]))
                joint[seat] = action if turn[seat] else joint[seat]
        for seat, action in actions.items():
            joint[seat] = action
        for seat, action in enumerate(joint):
            if not (0 <= action < legal.shape[-1] and legal[seat, action]):
                raise Fault(f"a partner in seat {seat} chose an action that its game does not allow")
        if not game.replayable:
            table.states.append(self._state)
        self._state, step = game.step(self._state, jnp.asarray(joint), jax.random.fold_in(self._key, 2 * t + 1))
        done = bool(step.terminated) or bool(step.truncated) or t + 1 >= game.horizon
        table.record(joint, np.asarray(step.reward, np.float64), bool(step.terminated), done, self.check())
        if done and not game.replayable:
            table.states.append(self._state)
        return self.look(table)

    def look(self, table: Table) -> Look:
        game = self._game
        legal, turn = np.asarray(game.legal(self._state)), np.asarray(game.to_move(self._state))
        seats = table.candidate
        return Look(
            t=len(table.actions),
            observations={s: self._seen(table.encoding, s) for s in seats},
            legal={s: legal[s] for s in seats},
            turn={s: bool(turn[s]) and not table.done for s in seats},
            done=table.done,
            score=table.score,
            taken={s: int(table.actions[-1][s]) for s in seats} if table.actions else {},
        )

    def _seen(self, encoding: str, seat: int) -> Any:
        if encoding == TEXT:
            return self._game.render(self._state, seat)
        return jax.tree_util.tree_map(lambda x: np.asarray(x[seat]), self._game.observe(self._state, encoding))

    def _view(self, seat: int, encoding: str, t: int, legal: np.ndarray) -> View:
        seen = jax.tree_util.tree_map(lambda x: x[seat], self._game.observe(self._state, encoding))
        return View(self._game, seat, t, legal, seen, lambda: self._game.render(self._state, seat))


class _PolicySeat:
    def __init__(self, encoding: str, act: Any, memory: Any, key: Any):
        self.encoding, self._act, self._memory, self._key = encoding, act, memory, key

    def act(self, view: View) -> int:
        key = jax.random.fold_in(self._key, view.t)
        self._memory, action, _ = self._act(self._memory, view.observation, jnp.asarray(view.legal), key)
        return int(action)


class _PlayerSeat:
    def __init__(self, player: Any, session: Any, loop: asyncio.AbstractEventLoop):
        self.encoding, self._player, self._session, self._loop = player.encoding, player, session, loop

    def act(self, view: View) -> int:
        asked = asyncio.wait_for(self._session.act(view), self._player.deadline_s)
        try:
            answer = asyncio.run_coroutine_threadsafe(asked, self._loop).result()
        except TimeoutError:
            default = self._player.default_action
            return int(default) if default is not None and view.legal[default] else int(np.argmax(view.legal))
        return answer.action if isinstance(answer, Move) else int(answer)
