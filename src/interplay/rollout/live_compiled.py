"""Live games in JAX: one thread steps all tables that wait as one batch, and lets their policies choose.

So the event loop never computes, and many games cost little more than one.
"""

from __future__ import annotations

import functools
import logging
import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from interplay.agents.api import Agent, Move, Policy
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.games.checksum import checksum
from interplay.rollout.episode import EpisodeRecorder
from interplay.rollout.live import LiveEngine, LiveTable, PartnerFault, PartnerId
from interplay.rollout.packing import Packing
from interplay.rollout.seat import START, StaticPolicy, chance_key, policy_start, seat_turn
from interplay.rollout.worker_threads import PlayerWorker

LOG = logging.getLogger("interplay.live")
SIZES = (1, 8, 64)  # of compiled batches
tree_map = jax.tree_util.tree_map


@dataclass(eq=False)
class _StepJob:
    table: LiveTable
    actions: np.ndarray | None  # None: begin, and play what was played before
    before: Sequence[Sequence[int]] = ()
    until_asked: bool = False
    result: Future = field(default_factory=Future)


class CompiledEngine(LiveEngine):
    """Plays the tables of one JAX game: policies choose here, players in threads of their own."""

    def __init__(self, game: Game, partners: Mapping[str, Agent | Sequence[Agent]], *, sizes: Sequence[int] = SIZES):
        super().__init__(game, partners)
        self._sizes = sorted(sizes)
        self._programs = _programs(game)
        self._policies = {partner: _PackedPolicy(game, policy) for partner, policy in self.registry.policies.items()}
        self._jobs: queue.SimpleQueue[_StepJob | None] = queue.SimpleQueue()
        self._behind: list[_StepJob] = []  # tables that are brought to where they were
        self._following: list[_StepJob] = []  # tables that go on by themselves until somebody is to move
        self._thread = threading.Thread(target=self._run, name=f"live {game.id}", daemon=True)
        self._thread.start()
        self.steps = self.batches = 0  # how well games are joined

    def begin(self, table: LiveTable, before: Sequence[Sequence[int]] = ()) -> Future:
        """Deal, and play again the joint actions that were played before."""
        return self._ask(_StepJob(table, None, before))

    def goes_on_alone(self, table: LiveTable) -> bool:
        """Tables whose partners are all policies do."""
        return all(self.registry.at(table, seat) in self._policies for seat in table.bots)

    def step(self, table: LiveTable, actions: np.ndarray, *, until_asked: bool = False) -> Future:
        """Play one joint action; with `until_asked`, go on until one of the people is to move or the game is over."""
        return self._ask(_StepJob(table, np.asarray(actions, np.int32), (), until_asked))

    def warm(self, encoding: str | None = None) -> None:
        """Compile everything by playing a step with every partner, in every size of batch."""
        for partner in self.registry.policies or [None]:
            bots = {} if partner is None else dict.fromkeys(range(1, self.game.num_seats), partner.name)
            members = 1 if partner is None else len(self.registry.agents[partner.name])
            chance = (0 if partner is None else partner.member) - 1 + members  # with which seat 1 gets this member
            for size in self._sizes:
                tables = [LiveTable((chance, at), bots, encoding=encoding) for at in range(size)]
                for table in tables:
                    self._open(_StepJob(table, None))
                actions = np.argmax(tables[0].legal, axis=-1).astype(np.int32)
                self._advance_all([_StepJob(table, actions) for table in tables])

    def close(self) -> None:
        """Stop the thread when what is queued is done."""
        self._jobs.put(None)
        self._thread.join(timeout=30)

    def _ask(self, job: _StepJob) -> Future:
        self._jobs.put(job)
        return job.result

    # --- what follows runs in the engine's thread

    def _run(self) -> None:
        while True:
            idle = not self._behind and not self._following
            jobs: list[_StepJob | None] = [self._jobs.get()] if idle else []
            while len(jobs) < self._sizes[-1]:
                try:
                    jobs.append(self._jobs.get_nowait())
                except queue.Empty:
                    break
            following, self._following = self._following, []
            steps = [*following, *(job for job in jobs if job is not None and job.actions is not None)]
            for first in range(0, len(steps), self._sizes[-1]):
                self._guarded(self._advance_all, steps[first : first + self._sizes[-1]])
            for job in jobs:
                if job is not None and job.actions is None:
                    self._guarded(lambda one: self._open(one[0]), [job])
            self._catch_up()
            if None in jobs:
                return

    def _guarded(self, work: Callable[[list[_StepJob]], None], jobs: list[_StepJob]) -> None:
        if not jobs:
            return
        try:
            work(jobs)
        except Exception as error:
            LOG.exception("%s: a step failed", self.game.id)
            for job in jobs:
                if not job.result.done():
                    job.result.set_exception(error)

    def _open(self, job: _StepJob) -> None:
        table = job.table
        row, start, check, legal, turn = tree_map(np.asarray, self._programs.deal(np.array(table.chance, np.uint32)))
        self._set_row(table, row)
        table.legal, table.turn = legal, turn
        table.recorder = EpisodeRecorder(self.game, table.state, start, int(check))
        for seat in table.bots:
            self._sit_down(table, seat)
        if any(len(joint) != self.game.num_seats for joint in job.before):
            raise InterplayError(f"{self.game.id}: what was played before is not of this game")
        if job.before:
            self._behind.append(job)
        else:
            self._observe([table])
            self._ready([job])

    def _sit_down(self, table: LiveTable, seat: int) -> None:
        partner = self.registry.at(table, seat)
        if partner in self._policies:
            table.memory[seat] = self._policies[partner].start(table.chance, seat)
        else:
            agent = self.registry.agent(partner)
            table.players[seat] = PlayerWorker(self.game, agent, seat, table.key, table.latched)

    def _catch_up(self) -> None:
        """Play one step of what was played before, for all tables that came back.

        After a restart that may be everyone at once, and those who are in the middle of a game shall not wait for them.
        """
        some = self._behind[: self._sizes[-1]]
        self._guarded(self._replay, some)
        caught = [job for job in some if job.table.t == len(job.before) and not job.result.done()]
        self._behind = [job for job in self._behind if job not in caught and not job.result.done()]
        self._guarded(lambda jobs: self._observe([job.table for job in jobs]), caught)
        self._guarded(self._ready, caught)

    def _replay(self, jobs: list[_StepJob]) -> None:
        tables = [job.table for job in jobs]
        self._think(tables)
        for table in tables:
            self._show_players(table, before=True)
        self._step(tables, [np.asarray(job.before[job.table.t], np.int32) for job in jobs])

    def _advance_all(self, jobs: list[_StepJob]) -> None:
        tables = [job.table for job in jobs]
        self._step(tables, [job.actions for job in jobs if job.actions is not None])
        self._observe(tables)
        self._ready(jobs)

    def _ready(self, jobs: list[_StepJob]) -> None:
        """Partners see the state and choose; whoever waits for the table is told, unless it goes on by itself."""
        for job in jobs:
            self._show_players(job.table)
        alive = [job for job in jobs if not job.table.done and job.table.memory]
        chosen = dict(zip(map(id, alive), self._think([job.table for job in alive]), strict=True))
        for job in jobs:
            table, moves = job.table, chosen.get(id(job), {})
            if job.until_asked and not table.done and not any(table.turn[seat] for seat in table.people):
                actions = np.argmax(table.legal, axis=-1).astype(np.int32)
                for seat, action in moves.items():
                    if table.turn[seat]:
                        actions[seat] = action
                self._following.append(_StepJob(table, actions, (), True, job.result))
                continue
            table.pending |= {seat: Move(action) for seat, action in moves.items()}
            job.result.set_result(table)

    def _show_players(self, table: LiveTable, before: bool = False) -> None:
        """Show players the state. What was played `before` is only shown to those who watch."""
        for seat, player in table.players.items():
            on_turn = bool(table.turn[seat]) and not before
            if not table.done:
                table.pending[seat] = player.ask(table.state, table.t, table.legal[seat], on_turn)

    def _step(self, tables: Sequence[LiveTable], joints: Sequence[np.ndarray]) -> None:
        size = self._size(len(tables))
        facts = self._programs.step(_stacked([table.row for table in tables], size), _stacked(joints, size))
        rows, reward, terminated, done, check, legal, turn = (np.asarray(fact) for fact in facts)
        self.steps, self.batches = self.steps + len(tables), self.batches + 1
        for i, (table, joint) in enumerate(zip(tables, joints, strict=True)):
            before = table.state if table.watch is not None else None
            self._set_row(table, rows[i])
            table.legal, table.turn = legal[i], turn[i]
            assert table.recorder is not None
            table.recorder.record(joint, reward[i], bool(terminated[i]), bool(done[i]), int(check[i]))
            if table.watch is not None:
                table.watch(table, before, table.state, joint)

    def _set_row(self, table: LiveTable, row: np.ndarray) -> None:
        table.row, table.read_state = row, lambda: self._programs.packing.read(row).state

    def _observe(self, tables: Sequence[LiveTable]) -> None:
        """Make what people's seats see, where a table asks for it."""
        for encoding in {table.encoding for table in tables if table.encoding is not None}:
            some = [table for table in tables if table.encoding == encoding]
            rows = _stacked([table.row for table in some], self._size(len(some)))
            seen = tree_map(np.asarray, self._programs.observe(encoding)(rows))
            for i, table in enumerate(some):
                table.observation = tree_map(lambda x, i=i: x[i], seen)
                if table.observed is not None:
                    table.observed(table)

    def _think(self, tables: Sequence[LiveTable]) -> list[dict[int, int]]:
        """Let policies choose, all of one policy at once: by table, what each seat does."""
        places: dict[PartnerId, list[tuple[LiveTable, int]]] = {}
        for table in tables:
            for seat in table.memory:
                places.setdefault(self.registry.at(table, seat), []).append((table, seat))
        chosen: dict[int, dict[int, int]] = {id(table): {} for table in tables}
        for partner, alike in places.items():
            for first in range(0, len(alike), self._sizes[-1]):
                self._think_alike(self._policies[partner], alike[first : first + self._sizes[-1]], chosen)
        return [chosen[id(table)] for table in tables]

    def _think_alike(
        self, policy: _PackedPolicy, places: Sequence[tuple[LiveTable, int]], chosen: dict[int, dict[int, int]]
    ) -> None:
        size = self._size(len(places))
        memory = _stacked([table.memory[seat] for table, seat in places], size)
        rows = _stacked([table.row for table, _ in places], size)
        seats = _stacked([np.array(seat, np.int32) for _, seat in places], size)
        memory, actions, sound = policy.act(memory, rows, seats)
        for i, (table, seat) in enumerate(places):
            if table.turn[seat] and not sound[i]:
                raise PartnerFault(f"a partner in {self.game.id} chose an action that is not legal")
            table.memory[seat] = memory[i]
            chosen[id(table)][seat] = int(actions[i])

    def _size(self, count: int) -> int:
        return next(size for size in self._sizes if size >= count)


def _stacked(rows: Sequence[np.ndarray], size: int) -> np.ndarray:
    """[size, ...]: the rows, and the last one again until the batch is full."""
    return np.stack([*rows, *[rows[-1]] * (size - len(rows))])


class _TableRow(NamedTuple):
    """What a table's row of bytes holds: all that the next step depends on but the actions."""

    state: Any
    chance: Any  # [2] uint32
    t: Any  # steps played


@dataclass(frozen=True)
class _LivePrograms:
    packing: Packing  # of `_TableRow`
    deal: Callable[..., Any]  # chance -> row, start, check, legal, turn
    step: Callable[..., Any]  # rows, actions -> rows, reward, terminated, done, check, legal, turn
    observe: Callable[[str], Callable[..., Any]]  # encoding -> (rows -> what all seats see)


@functools.lru_cache(maxsize=32)
def _programs(game: Game) -> _LivePrograms:
    """The programs of a game, compiled when first used."""
    seats = game.num_seats

    def first(chance: Any) -> _TableRow:
        state = game.init(chance_key(jax.random.wrap_key_data(chance), START, seats))
        return _TableRow(state, chance, jnp.int32(0))

    packing = Packing(jax.eval_shape(first, jnp.zeros(2, jnp.uint32)))

    def deal(chance: Any) -> Any:
        row = first(chance)
        return packing.pack(row), game.start(row.state), checksum(row.state), *_choices(row.state)

    def step(packed: Any, actions: Any) -> Any:
        state, chance, t = packing.unpack(packed)
        after, outcome = game.step(state, actions, chance_key(jax.random.wrap_key_data(chance), t, seats))
        done = outcome.terminated | outcome.truncated | (t + 1 >= game.horizon)
        packed = packing.pack(_TableRow(after, chance, t + 1))
        return packed, outcome.reward, outcome.terminated, done, checksum(after), *_choices(after)

    def _choices(state: Any) -> tuple[Any, Any]:
        return game.legal(state), game.to_move(state)

    @functools.cache
    def observe(encoding: str) -> Callable[..., Any]:
        return jax.jit(jax.vmap(lambda packed: game.observe(packing.unpack(packed).state, encoding)))

    return _LivePrograms(packing, jax.jit(deal), jax.jit(jax.vmap(step)), observe)


class _PackedPolicy:
    """A policy whose memories are rows of bytes."""

    def __init__(self, game: Game, policy: Policy):
        self._arrays, static = eqx.partition(policy, eqx.is_array)
        self._start, self._act = _policy_programs(game, StaticPolicy(static))

    def start(self, chance: tuple[int, int], seat: int) -> np.ndarray:
        """The memory before the first turn of a seat."""
        return np.asarray(self._start(self._arrays, np.array(chance, np.uint32), np.int32(seat)))

    def act(self, memory: np.ndarray, rows: np.ndarray, seats: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """One turn in each of these seats: memories, actions, and whether these are sound."""
        memory, actions, sound = self._act(self._arrays, memory, rows, seats)
        return np.asarray(memory), np.asarray(actions), np.asarray(sound)


@functools.lru_cache(maxsize=256)
def _policy_programs(game: Game, static: StaticPolicy) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The compiled start and turn; policies that differ in numbers only share them."""
    tables = _programs(game).packing

    def first(policy: Policy, chance: Any, seat: Any) -> Any:
        return policy_start(policy, jax.random.wrap_key_data(chance), seat)

    def memories(policy: Policy) -> Packing:
        return Packing(jax.eval_shape(lambda: first(policy, jnp.zeros(2, jnp.uint32), jnp.int32(0))))

    def start(arrays: Any, chance: Any, seat: Any) -> Any:
        policy = eqx.combine(arrays, static.policy)
        return memories(policy).pack(first(policy, chance, seat))

    def act(arrays: Any, memory: Any, packed: Any, seat: Any) -> Any:
        policy = eqx.combine(arrays, static.policy)
        packing = memories(policy)

        def one(memory: Any, packed: Any, seat: Any) -> Any:
            state, chance, t = tables.unpack(packed)
            key = jax.random.wrap_key_data(chance)
            turn = seat_turn(game, policy, packing.unpack(memory), state, seat, key, t)
            return packing.pack(turn.memory), turn.action, turn.sound

        return jax.vmap(one)(memory, packed, seat)

    return jax.jit(start), jax.jit(act)
