"""Where compiled games are played with partners: one thread for each game, which steps all that wait as one batch and
lets their policies think, so that the event loop never computes and many games cost little more than one."""

from __future__ import annotations

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

from interplay.agents.api import Agent, Identity, Policy
from interplay.errors import InterplayError
from interplay.games.api import Game, is_jax
from interplay.games.checksum import checksum
from interplay.rollout.episode import CHECK_EVERY
from interplay.study.minds import Choice, PlayerSeat
from interplay.study.seats import Cast, Table, Who, seed_of

LOG = logging.getLogger("interplay.study")
SIZES = (1, 8, 64)  # of compiled batches
tree_map = jax.tree_util.tree_map


@dataclass(frozen=True, eq=False)
class _Job:
    table: Table
    joint: np.ndarray | None  # None: begin, and play what was played before
    before: Sequence[Sequence[int]] = ()
    result: Future = field(default_factory=Future)
    pending: Mapping[int, Future] = field(default_factory=dict)  # what the policies choose next; the table's, by seat


class Arena:
    """Plays one game with some partners: policies think here, players in threads of their own."""

    def __init__(
        self, game: Game, partners: Mapping[str, str | Agent | Sequence[Agent]], *, sizes: Sequence[int] = SIZES
    ):
        if not (is_jax(game) and game.replayable):
            raise InterplayError(f"{game.id} cannot be played here: its rules are not compiled")
        self.game, self.cast = game, Cast(game, partners)
        self.cast.try_out(game)
        minds = {who: self.cast.agent(who).policy for who in self.cast.all()}
        self._policies = {who: mind.bind(game) for who, mind in minds.items() if isinstance(mind, Policy)}
        self._sizes = sorted(sizes)
        self._deal, self._step, self._begin, self._act = _programs(game)
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._behind: list[_Job] = []  # games that are brought to where they were
        self._thread = threading.Thread(target=self._run, name=f"arena {game.id}", daemon=True)
        self._thread.start()
        self.steps = self.batches = 0  # how well games are joined

    def begin(self, table: Table, before: Sequence[Sequence[int]] = ()) -> Future:
        """Deal, and play again the joint actions that were played before."""
        return self._ask(_Job(table, None, before, pending=self._expect(table)))

    def step(self, table: Table, joint: np.ndarray) -> Future:
        """Play one joint action; when the result is there the table tells what came of it, and partners think on."""
        return self._ask(_Job(table, np.asarray(joint, np.int32), pending=self._expect(table)))

    def awake(self, table: Table) -> None:
        """All that happened before is known."""

    def settle(self, table: Table) -> None:
        """Everyone else has chosen. Partners here think as soon as they see the state, and need not be asked."""

    def identity(self, table: Table, seat: int) -> Identity:
        return self.cast.identities[self.cast.who(table, seat)]

    def in_time(self, table: Table, seat: int) -> bool:
        """Whether a game in turns can wait for this partner without end: ours compute, and are done in a moment."""
        return self.cast.who(table, seat) in self._policies

    def default(self, table: Table, seat: int) -> int:
        """What a partner does that has not chosen in time."""
        player = table.players.get(seat)
        return int(np.argmax(table.legal[seat])) if player is None else player.default(table.legal[seat])

    def _expect(self, table: Table) -> dict[int, Future]:
        """What every bot will do next; those of the table, until its next step."""
        found = {seat: Future() for seat in table.bots if self.cast.who(table, seat) in self._policies}
        table.pending = dict(found)
        return found

    def warm(self) -> None:
        """Compile everything by playing a step with every partner."""
        for who in self._policies:
            bots = dict.fromkeys(range(1, self.game.num_seats), who.name)
            chance = who.member - 1 + len(self.cast.agents[who.name])  # with which seat 1 gets this member of a panel
            for size in self._sizes:
                tables = [Table((chance, at), bots) for at in range(size)]
                self._open(_Job(tables[0], None))
                for table in tables[1:]:
                    table.__dict__.update(tables[0].__dict__ | {"actions": []})
                joint = np.argmax(tables[0].legal, axis=-1).astype(np.int32)
                self._turn([_Job(table, joint) for table in tables])

    def close(self) -> None:
        self._jobs.put(None)
        self._thread.join(timeout=30)

    def _ask(self, job: _Job) -> Future:
        self._jobs.put(job)
        return job.result

    # What follows runs in the arena's thread.

    def _run(self) -> None:
        while True:
            jobs = [] if self._behind else [self._jobs.get()]
            while len(jobs) < self._sizes[-1]:
                try:
                    jobs.append(self._jobs.get_nowait())
                except queue.Empty:
                    break
            self._guarded(self._turn, [job for job in jobs if job is not None and job.joint is not None])
            for job in jobs:
                if job is not None and job.joint is None:
                    self._guarded(lambda held: self._open(held[0]), [job])
            self._catch_up()
            if None in jobs:
                return

    def _guarded(self, work: Callable[[list[_Job]], None], jobs: list[_Job]) -> None:
        if not jobs:
            return
        try:
            work(jobs)
        except Exception as error:
            LOG.exception("%s: a step failed", self.game.id)
            for job in jobs:
                for told in (job.result, *job.pending.values()):
                    if not told.done():
                        told.set_exception(error)

    def _open(self, job: _Job) -> None:
        table = job.table
        state, start, check, legal, turn = tree_map(np.asarray, self._deal(_chance([table])[0]))
        table.state, table.start, table.legal, table.turn = state, start, legal, turn
        table.check_steps, table.checks, table.rewards = [0], [int(check)], np.zeros(self.game.num_seats)
        table.check = int(check)
        for seat in table.bots:
            self._sit_down(table, seat)
        if any(len(joint) != self.game.num_seats for joint in job.before):
            raise InterplayError(f"{self.game.id}: what was played before is not of this game")
        if job.before:
            self._behind.append(job)
        else:
            self._ready([job])

    def _catch_up(self) -> None:
        """One step of what was played before, for all who came back: after a restart that may be everyone at once, and
        those who are in the middle of a game shall not wait for them."""
        held = self._behind[: self._sizes[-1]]
        self._guarded(self._replay, held)
        caught = [job for job in held if job.table.t == len(job.before) and not job.result.done()]
        self._behind = [job for job in self._behind if job not in caught and not job.result.done()]
        self._guarded(self._ready, caught)

    def _replay(self, jobs: list[_Job]) -> None:
        tables = [job.table for job in jobs]
        self._think(tables)
        for table in tables:
            self._ask_players(table, before=True)
        self._advance(tables, [np.asarray(job.before[job.table.t], np.int32) for job in jobs])

    def _ready(self, jobs: list[_Job]) -> None:
        for job in jobs:
            self._ask_players(job.table)
            job.result.set_result(job.table)
        self._choose(jobs)

    def _sit_down(self, table: Table, seat: int) -> None:
        who = self.cast.who(table, seat)
        if who in self._policies:
            memory = self._begin(self._policies[who], _chance([table])[0], jnp.int32(seat))
            table.memory[seat] = tree_map(np.asarray, memory)
        else:
            seed = seed_of(table.chance, seat)
            table.players[seat] = PlayerSeat(self.game, self.cast.agent(who), seat, seed, table.latched)

    def _turn(self, jobs: list[_Job]) -> None:
        tables = [job.table for job in jobs]
        self._advance(tables, [job.joint for job in jobs if job.joint is not None])
        self._ready(jobs)

    def _choose(self, jobs: Sequence[_Job]) -> None:
        going = [job for job in jobs if not job.table.done and job.table.memory]
        for job, chosen in zip(going, self._think([job.table for job in going]), strict=True):
            for seat, told in job.pending.items():
                told.set_result(Choice(chosen[seat]))

    def _ask_players(self, table: Table, before: bool = False) -> None:
        """Show players the state. What was played `before` is only shown to those who watch."""
        for seat, player in table.players.items():
            turn = bool(table.turn[seat]) and not before
            if not table.done:
                table.pending[seat] = player.ask(table.state, table.t, table.legal[seat], turn)

    def _advance(self, tables: Sequence[Table], joints: Sequence[np.ndarray]) -> None:
        filled = self._filled(tables)
        actions = np.stack([*joints, *[joints[-1]] * (len(filled) - len(joints))])
        told = self._step(_stacked(filled), actions, _chance(filled), _times(filled))
        after, reward, terminated, done, check, legal, turn = tree_map(np.asarray, told)
        self.steps, self.batches = self.steps + len(tables), self.batches + 1
        for i, (table, joint) in enumerate(zip(tables, joints, strict=True)):
            before, table.state = table.state, tree_map(lambda x, i=i: x[i], after)
            table.actions.append(joint.astype(np.int16))
            table.rewards = table.rewards + reward[i].astype(np.float64)
            table.terminated, table.done = bool(terminated[i]), bool(done[i])
            table.legal, table.turn = legal[i], turn[i]
            table.check = int(check[i])
            table.checked(CHECK_EVERY)
            if table.watch is not None:
                table.watch(table, before, table.state, joint)

    def _think(self, tables: Sequence[Table]) -> list[dict[int, int]]:
        """Let partners choose, all of one policy at once: by table, what each seat does."""
        places: dict[Who, list[tuple[Table, int]]] = {}
        for table in tables:
            for seat in table.memory:
                places.setdefault(self.cast.who(table, seat), []).append((table, seat))
        chosen: dict[int, dict[int, int]] = {id(table): {} for table in tables}
        for who, held in places.items():
            for first in range(0, len(held), self._sizes[-1]):
                self._think_alike(self._policies[who], held[first : first + self._sizes[-1]], chosen)
        return [chosen[id(table)] for table in tables]

    def _think_alike(
        self, policy: Policy, held: Sequence[tuple[Table, int]], chosen: dict[int, dict[int, int]]
    ) -> None:
        size = next(size for size in self._sizes if size >= len(held))
        filled = [*held, *[held[-1]] * (size - len(held))]
        tables, seats = [table for table, _ in filled], np.array([seat for _, seat in filled], np.int32)
        memory = tree_map(lambda *x: np.stack(x), *(table.memory[seat] for table, seat in filled))
        told = self._act(policy, memory, _stacked(tables), seats, _chance(tables), _times(tables))
        memory, actions = tree_map(np.asarray, told)
        for i, (table, seat) in enumerate(held):
            table.memory[seat] = tree_map(lambda x, i=i: x[i], memory)
            chosen[id(table)][seat] = int(actions[i])

    def _filled(self, tables: Sequence[Table]) -> list[Table]:
        size = next(size for size in self._sizes if size >= len(tables))
        return [*tables, *[tables[-1]] * (size - len(tables))]


def _stacked(tables: Sequence[Table]) -> Any:
    return tree_map(lambda *x: np.stack(x), *(table.state for table in tables))


def _chance(tables: Sequence[Table]) -> np.ndarray:
    return np.array([table.chance for table in tables], np.uint32)


def _times(tables: Sequence[Table]) -> np.ndarray:
    return np.array([table.t for table in tables], np.int32)


def _programs(game: Game) -> tuple[Any, Any, Any, Any]:
    """Deal one game, step many, sit a partner down, let many partners act: compiled when first used."""

    def deal(chance: Any) -> Any:
        state = game.init(jax.random.fold_in(jax.random.wrap_key_data(chance), 0))
        return state, game.start(state), checksum(state), game.legal(state), game.to_move(state)

    def step(state: Any, joint: Any, chance: Any, t: Any) -> Any:
        key = jax.random.fold_in(jax.random.wrap_key_data(chance), 2 * t + 1)
        after, told = game.step(state, joint, key)
        done = told.terminated | told.truncated | (t + 1 >= game.horizon)
        seen = game.legal(after), game.to_move(after)
        return after, told.reward, told.terminated, done, checksum(after), *seen

    def begin(policy: Policy, chance: Any, seat: Any) -> Any:
        key = jax.random.fold_in(jax.random.wrap_key_data(chance), 1_000_000)
        return policy.init(jax.random.fold_in(key, seat), seat)

    def act(policy: Policy, memory: Any, state: Any, seat: Any, chance: Any, t: Any) -> Any:
        def one(memory: Any, state: Any, seat: Any, chance: Any, t: Any) -> Any:
            key = jax.random.fold_in(jax.random.wrap_key_data(chance), 2 * t + 2)
            seen = tree_map(lambda x: x[seat], game.observe(state, policy.encoding))
            memory, action, _ = policy.act(memory, seen, game.legal(state)[seat], jax.random.fold_in(key, seat))
            return memory, action

        return jax.vmap(one)(memory, state, seat, chance, t)

    # Partners that differ in numbers only share their programs.
    return jax.jit(deal), jax.jit(jax.vmap(step)), eqx.filter_jit(begin), eqx.filter_jit(act)
