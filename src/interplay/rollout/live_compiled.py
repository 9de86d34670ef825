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
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from interplay.agents.api import Agent, Move, Policy
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.games.checksum import checksum
from interplay.rollout.episode import EpisodeRecorder
from interplay.rollout.live import LiveEngine, LiveTable, PartnerFault
from interplay.rollout.seat import START, chance_key, policy_start, seat_turn
from interplay.rollout.worker import PlayerWorker

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
    pending: Mapping[int, Future] = field(default_factory=dict)  # what the policies choose next, the table's


class CompiledEngine(LiveEngine):
    """Plays the tables of one JAX game: policies choose here, players in threads of their own."""

    def __init__(self, game: Game, partners: Mapping[str, Agent | Sequence[Agent]], *, sizes: Sequence[int] = SIZES):
        super().__init__(game, partners)
        self._sizes = sorted(sizes)
        self._programs = _programs(game)
        self._jobs: queue.SimpleQueue[_StepJob | None] = queue.SimpleQueue()
        self._behind: list[_StepJob] = []  # tables that are brought to where they were
        self._following: list[_StepJob] = []  # tables that go on by themselves until somebody is to move
        self._thread = threading.Thread(target=self._run, name=f"live {game.id}", daemon=True)
        self._thread.start()
        self.steps = self.batches = 0  # how well games are joined

    def begin(self, table: LiveTable, before: Sequence[Sequence[int]] = ()) -> Future:
        """Deal, and play again the joint actions that were played before."""
        return self._ask(_StepJob(table, None, before, pending=self._expect(table)))

    def goes_on_alone(self, table: LiveTable) -> bool:
        """Tables whose partners are all policies do."""
        return all(self.is_prompt(table, seat) for seat in table.bots)

    def step(self, table: LiveTable, actions: np.ndarray, *, until_asked: bool = False) -> Future:
        """Play one joint action; with `until_asked`, go on until one of the people is to move or the game is over."""
        return self._ask(_StepJob(table, np.asarray(actions, np.int32), (), until_asked, pending=self._expect(table)))

    def is_prompt(self, table: LiveTable, seat: int) -> bool:
        """Policies compute, and are done in a moment."""
        return self.registry.at(table, seat) in self.registry.policies

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

    def _expect(self, table: LiveTable) -> dict[int, Future]:
        """What every policy will do next; the table's, until its next step."""
        futures = {seat: Future() for seat in table.bots if self.is_prompt(table, seat)}
        table.pending = dict(futures)
        return futures

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
                for future in (job.result, *job.pending.values()):
                    if not future.done():
                        future.set_exception(error)

    def _open(self, job: _StepJob) -> None:
        table = job.table
        state, start, check, legal, turn = tree_map(np.asarray, self._programs.deal(np.array(table.chance, np.uint32)))
        table.state, table.legal, table.turn = state, legal, turn
        table.recorder = EpisodeRecorder(self.game, state, start, int(check))
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
        if partner in self.registry.policies:
            memory = _begin_policy(self.registry.policies[partner], np.array(table.chance, np.uint32), jnp.int32(seat))
            table.memory[seat] = tree_map(np.asarray, memory)
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
                self._following.append(_StepJob(table, actions, (), True, job.result, job.pending))
                continue
            for seat, future in job.pending.items():
                if seat in moves:
                    future.set_result(Move(moves[seat]))
            job.result.set_result(table)

    def _show_players(self, table: LiveTable, before: bool = False) -> None:
        """Show players the state. What was played `before` is only shown to those who watch."""
        for seat, player in table.players.items():
            on_turn = bool(table.turn[seat]) and not before
            if not table.done:
                table.pending[seat] = player.ask(table.state, table.t, table.legal[seat], on_turn)

    def _step(self, tables: Sequence[LiveTable], joints: Sequence[np.ndarray]) -> None:
        filled = self._filled(tables)
        actions = np.stack([*joints, *[joints[-1]] * (len(filled) - len(joints))])
        facts = self._programs.step(_stacked(filled), actions, _chances(filled), _times(filled))
        after, reward, terminated, done, check, legal, turn = tree_map(np.asarray, facts)
        self.steps, self.batches = self.steps + len(tables), self.batches + 1
        for i, (table, joint) in enumerate(zip(tables, joints, strict=True)):
            before, table.state = table.state, tree_map(lambda x, i=i: x[i], after)
            table.legal, table.turn = legal[i], turn[i]
            assert table.recorder is not None
            table.recorder.record(joint, reward[i], bool(terminated[i]), bool(done[i]), int(check[i]))
            if table.watch is not None:
                table.watch(table, before, table.state, joint)

    def _observe(self, tables: Sequence[LiveTable]) -> None:
        """Make what people's seats see, where a table asks for it."""
        for encoding in {table.encoding for table in tables if table.encoding is not None}:
            some = [table for table in tables if table.encoding == encoding]
            filled = self._filled(some)
            seen = tree_map(np.asarray, self._programs.observe(encoding)(_stacked(filled)))
            for i, table in enumerate(some):
                table.observation = tree_map(lambda x, i=i: x[i], seen)
                if table.observed is not None:
                    table.observed(table)

    def _think(self, tables: Sequence[LiveTable]) -> list[dict[int, int]]:
        """Let policies choose, all of one policy at once: by table, what each seat does."""
        places: dict[Any, list[tuple[LiveTable, int]]] = {}
        for table in tables:
            for seat in table.memory:
                places.setdefault(self.registry.at(table, seat), []).append((table, seat))
        chosen: dict[int, dict[int, int]] = {id(table): {} for table in tables}
        for partner, seats in places.items():
            for first in range(0, len(seats), self._sizes[-1]):
                self._think_alike(self.registry.policies[partner], seats[first : first + self._sizes[-1]], chosen)
        return [chosen[id(table)] for table in tables]

    def _think_alike(
        self, policy: Policy, places: Sequence[tuple[LiveTable, int]], chosen: dict[int, dict[int, int]]
    ) -> None:
        size = next(size for size in self._sizes if size >= len(places))
        filled = [*places, *[places[-1]] * (size - len(places))]
        tables, seats = [table for table, _ in filled], np.array([seat for _, seat in filled], np.int32)
        memory = tree_map(lambda *x: np.stack(x), *(table.memory[seat] for table, seat in filled))
        turns = self._programs.act(policy, memory, _stacked(tables), seats, _chances(tables), _times(tables))
        memory, actions, sound = tree_map(np.asarray, turns)
        for i, (table, seat) in enumerate(places):
            if table.turn[seat] and not sound[i]:
                raise PartnerFault(f"a partner in {self.game.id} chose an action that is not legal")
            table.memory[seat] = tree_map(lambda x, i=i: x[i], memory)
            chosen[id(table)][seat] = int(actions[i])

    def _filled(self, tables: Sequence[LiveTable]) -> list[LiveTable]:
        size = next(size for size in self._sizes if size >= len(tables))
        return [*tables, *[tables[-1]] * (size - len(tables))]


def _stacked(tables: Sequence[LiveTable]) -> Any:
    return tree_map(lambda *x: np.stack(x), *(table.state for table in tables))


def _chances(tables: Sequence[LiveTable]) -> np.ndarray:
    return np.array([table.chance for table in tables], np.uint32)


def _times(tables: Sequence[LiveTable]) -> np.ndarray:
    return np.array([table.t for table in tables], np.int32)


@dataclass(frozen=True)
class _LivePrograms:
    deal: Callable[..., Any]  # chance -> state, start, check, legal, turn
    step: Callable[..., Any]  # states, actions, chances, times -> states, reward, terminated, done, check, legal, turn
    act: Callable[..., Any]  # policy, memories, states, seats, chances, times -> memories, actions, sound
    observe: Callable[[str], Callable[..., Any]]  # encoding -> (states -> what all seats see)


@eqx.filter_jit
def _begin_policy(policy: Policy, chance: Any, seat: Any) -> Any:
    return policy_start(policy, jax.random.wrap_key_data(chance), seat)


@functools.lru_cache(maxsize=32)
def _programs(game: Game) -> _LivePrograms:
    """The programs of a game, compiled when first used; policies that differ in numbers only share theirs."""
    seats = game.num_seats

    def deal(chance: Any) -> Any:
        state = game.init(chance_key(jax.random.wrap_key_data(chance), START, seats))
        return state, game.start(state), checksum(state), game.legal(state), game.to_move(state)

    def step(state: Any, actions: Any, chance: Any, t: Any) -> Any:
        after, outcome = game.step(state, actions, chance_key(jax.random.wrap_key_data(chance), t, seats))
        done = outcome.terminated | outcome.truncated | (t + 1 >= game.horizon)
        return after, outcome.reward, outcome.terminated, done, checksum(after), game.legal(after), game.to_move(after)

    def act(policy: Policy, memory: Any, state: Any, seat: Any, chance: Any, t: Any) -> Any:
        def one(memory: Any, state: Any, seat: Any, chance: Any, t: Any) -> Any:
            return seat_turn(game, policy, memory, state, seat, jax.random.wrap_key_data(chance), t)[:3]

        return jax.vmap(one)(memory, state, seat, chance, t)

    @functools.cache
    def observe(encoding: str) -> Callable[..., Any]:
        return jax.jit(jax.vmap(lambda state: game.observe(state, encoding)))

    return _LivePrograms(jax.jit(deal), jax.jit(jax.vmap(step)), eqx.filter_jit(act), observe)
