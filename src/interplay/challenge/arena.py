"""The arena of a JAX game: one thread plays all its games, together.

Requests come from the event loop and wait in a queue. The thread takes all that are there, plays them one step as a
batch, and goes on: whoever comes in the meantime joins the next step. So the event loop never computes, and a step
of many games costs little more than a step of one.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

from interplay.agents.api import Agent, Policy
from interplay.challenge.programs import Partner, Programs, tree_map
from interplay.challenge.table import Fault, Look, Table
from interplay.errors import InterplayError
from interplay.games.api import Game

LOG = logging.getLogger("interplay.challenge")
SIZES = (4, 64)  # of compiled batches


@dataclass
class _Request:
    table: Table
    actions: Mapping[int, int] | None  # None: deal
    skip: bool
    result: Future = field(default_factory=Future)
    looks: list[Look] = field(default_factory=list)


class JaxArena:
    """Plays games of one JAX game with partners that are policies."""

    def __init__(self, game: Game, partners: Sequence[Agent], *, capacity: int = 512, sizes: Sequence[int] = SIZES):
        self.game, self.partners = game, list(partners)
        for agent in partners:
            if not isinstance(agent.policy, Policy):
                raise InterplayError(f"{agent.name!r} is a player; this arena is for policies")
        self._sizes, self._capacity = sorted(sizes), capacity
        self._programs = Programs(game, capacity)
        self._pool = self._programs.pool()
        self._seated = [Partner(game, agent.policy, capacity) for agent in partners if isinstance(agent.policy, Policy)]
        self._free = list(range(capacity))
        self._lock = threading.Lock()  # of the list of free slots
        self._requests: queue.SimpleQueue[_Request | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=f"arena {game.id}", daemon=True)
        self._thread.start()
        self.steps = self.batches = 0  # how well games are joined

    async def begin(self, table: Table, skip: bool) -> list[Look]:
        with self._lock:
            if not self._free:
                raise Fault("the server is full: no more games can be dealt just now")
            table.slot = self._free.pop()
        return await self._ask(_Request(table, None, skip))

    async def advance(self, table: Table, actions: Mapping[int, int], skip: bool) -> list[Look]:
        return await self._ask(_Request(table, actions, skip))

    async def _ask(self, request: _Request) -> list[Look]:
        self._requests.put(request)
        return await asyncio.wrap_future(request.result)

    def leave(self, table: Table) -> None:
        with self._lock:
            if table.slot >= 0:
                self._free.append(table.slot)
                table.slot = -1

    def warm(self, encoding: str) -> None:
        """Compile by playing a step in slots that do not exist."""
        for size in self._sizes:
            nowhere = np.full(size, self._capacity, np.int32)
            seat = np.zeros(size, np.int32)
            pool, *_ = self._programs.begin(self._programs.pool(), nowhere, np.zeros((size, 2), np.uint32))
            for partner in self._seated:
                partner.begin(pool, nowhere, seat)
                pool = partner.act(pool, nowhere, seat)
            noop = np.zeros((size, self.game.num_seats), np.int32)
            pool, _ = self._programs.step(pool, nowhere, noop, noop == 0)
            jax.block_until_ready(self._programs.view(encoding)(pool, nowhere))

    def close(self) -> None:
        self._requests.put(None)
        self._thread.join(timeout=30)

    # What follows runs in the arena's thread.

    def _run(self) -> None:
        playing: list[_Request] = []
        while True:
            if not self._take(playing):
                return
            batch, rest = playing[: self._sizes[-1]], playing[self._sizes[-1] :]
            try:
                going_on = self._turn(batch)
            except Exception as error:
                LOG.exception("%s: a step failed", self.game.id)
                for request in batch:
                    request.result.set_exception(Fault(f"the server failed: {type(error).__name__}"))
                going_on = []
            playing = rest + going_on

    def _take(self, playing: list[_Request]) -> bool:
        """Wait for work if there is none, then take all there is; False when the arena closes."""
        block = not playing
        while True:
            try:
                request = self._requests.get(block=block)
            except queue.Empty:
                return True
            if request is None:
                return False
            if request.result.set_running_or_notify_cancel():
                playing.append(request)
            block = block and not playing

    def _turn(self, batch: Sequence[_Request]) -> list[_Request]:
        """One step of every game in the batch; those that go on without waiting for their candidate."""
        new = [r for r in batch if r.actions is None and not r.looks]
        old = [r for r in batch if not (r.actions is None and not r.looks)]
        if new:
            self._deal(new)
        stepped = self._step(old) if old else []
        alive = [r for r in [*new, *stepped] if not r.table.done]
        self._let_partners_act(alive)
        self._show([*new, *stepped])
        return [r for r in [*new, *stepped] if not self._answered(r)]

    def _deal(self, requests: Sequence[_Request]) -> None:
        chance = self._filled([r.table.chance for r in requests], np.uint32)
        self._pool, start, check = self._programs.begin(self._pool, self._slots(requests), chance)
        start, check = tree_map(np.asarray, start), np.asarray(check)
        for i, request in enumerate(requests):
            request.table.begin({name: np.array(value[i]) for name, value in start.items()}, int(check[i]))
        for partner, slots, seats in self._places(requests):
            partner.begin(self._pool, slots, seats)

    def _step(self, requests: Sequence[_Request]) -> list[_Request]:
        seats = self.game.num_seats
        actions, own = np.zeros((len(requests), seats), np.int32), np.zeros((len(requests), seats), bool)
        for i, request in enumerate(requests):
            chosen = request.actions if request.actions is not None else {}
            for seat in request.table.candidate:
                if seat in chosen:
                    actions[i, seat], own[i, seat] = chosen[seat], True
            request.actions = {}  # from now on, those that are not to move wait
        filled, mine = self._filled(actions, np.int32), self._filled(own, bool)
        self._pool, told = self._programs.step(self._pool, self._slots(requests), filled, mine)
        told = tree_map(np.asarray, told)
        self.steps, self.batches = self.steps + len(requests), self.batches + 1
        sound = []
        for i, request in enumerate(requests):
            if told.fault[i]:
                request.result.set_exception(Fault("a partner chose an action that its game does not allow"))
                continue
            row = (told.joint[i], told.reward[i].astype(np.float64), bool(told.terminated[i]))
            request.table.record(*row, bool(told.done[i]), int(told.check[i]))
            sound.append(request)
        return sound

    def _let_partners_act(self, requests: Sequence[_Request]) -> None:
        for partner, slots, seats in self._places(requests):
            self._pool = partner.act(self._pool, slots, seats)

    def _show(self, requests: Sequence[_Request]) -> None:
        for encoding in dict.fromkeys(r.table.encoding for r in requests):
            some = [r for r in requests if r.table.encoding == encoding]
            shown = tree_map(np.asarray, self._programs.view(encoding)(self._pool, self._slots(some)))
            for i, request in enumerate(some):
                request.looks.append(_look(request.table, shown, i))

    def _answered(self, request: _Request) -> bool:
        last = request.looks[-1]
        if request.skip and not last.done and not any(last.turn.values()):
            return False
        request.result.set_result(request.looks)
        return True

    def _places(self, requests: Sequence[_Request]) -> Iterator[tuple[Partner, np.ndarray, np.ndarray]]:
        """For each partner that sits anywhere: where, in batches of a compiled size."""
        places: dict[int, list[tuple[int, int]]] = {}
        for request in requests:
            for seat, who in enumerate(request.table.seats):
                if who is not None:
                    places.setdefault(who, []).append((request.table.slot, seat))
        for who, held in places.items():
            for first in range(0, len(held), self._sizes[-1]):
                part = held[first : first + self._sizes[-1]]
                size = self._size(len(part))
                slots, seats = np.full(size, self._capacity, np.int32), np.zeros(size, np.int32)
                slots[: len(part)], seats[: len(part)] = zip(*part, strict=True)
                yield self._seated[who], slots, seats

    def _slots(self, requests: Sequence[_Request]) -> np.ndarray:
        slots = np.full(self._size(len(requests)), self._capacity, np.int32)
        slots[: len(requests)] = [r.table.slot for r in requests]
        return slots

    def _filled(self, rows: Any, dtype: Any) -> np.ndarray:
        rows = np.asarray(rows, dtype)
        return np.concatenate([rows, np.zeros((self._size(len(rows)) - len(rows), *rows.shape[1:]), dtype)])

    def _size(self, count: int) -> int:
        return next(size for size in self._sizes if size >= count)


def _look(table: Table, shown: Any, at: int) -> Look:
    """The candidate's own rows, and no others."""
    seats = table.candidate
    before = {seat: int(table.actions[-1][seat]) for seat in seats} if table.actions else {}
    return Look(
        t=len(table.actions),
        observations={seat: tree_map(lambda x, seat=seat: x[at, seat].copy(), shown.observation) for seat in seats},
        legal={seat: shown.legal[at, seat].copy() for seat in seats},
        turn={seat: bool(shown.turn[at, seat]) and not table.done for seat in seats},
        done=table.done,
        score=table.score,
        taken=before,
    )
