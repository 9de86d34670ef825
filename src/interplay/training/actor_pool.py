"""Training in games that are plain Python: processes play them, and the one PPO learns from what they played.

A compiled program cannot step such a game. So its environments live in processes, several in each; a policy acts for
all environments at once in this process, every process steps its own, and an update is the compiled one of all games.
What a policy reads is all that comes back: the compiled part sees a game whose states are what is observed.

Episodes begin with keys that depend on the run, the environment and the episode's number alone, so results do not
depend on how many processes there are. What is under way when training is killed is lost: after a resume every
environment begins a new episode.
"""

from __future__ import annotations

import multiprocessing
import os
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray, PyTree

from interplay.errors import InterplayError
from interplay.games.api import Game, Step, is_jax
from interplay.games.records import record
from interplay.games.registry import make
from interplay.training.collect import begin, decide, draw, nothing_yet, settle
from interplay.training.compiled_stage import Program
from interplay.training.learner_observations import members_for_play
from interplay.training.reward_weights import RewardWeights
from interplay.training.sharding import DeviceLayout
from interplay.training.stage_state import RunState, TrainingSetup
from interplay.trust import admit, trust_data

ANSWER_S = 600.0  # a process that has not answered after so long is given up


@record
class ObservedState:
    """A state of a Python game as the compiled part of training sees it."""

    seen: Array  # [seat, ...] in the one encoding that is trained with
    legal: Array  # [seat, action]
    turn: Array  # [seat]


class ObservedGame:
    """A Python game whose states are what policies read. It is stepped by an `ActorPool` alone."""

    pure: ClassVar[bool] = True

    def __init__(self, game: Game, encoding: str):
        if encoding not in game.encodings:
            known = ", ".join(game.encodings)
            raise InterplayError(f"network.encoding: {game.id} has no {encoding!r}; it has {known}")
        if game.encodings[encoding].shape is None:
            raise InterplayError(f"network.encoding: {encoding!r} of {game.id} is no array, so no network can read it")
        self.base, self.encoding = game, encoding

    def __getattr__(self, name: str) -> Any:
        return getattr(self.base, name)

    def init(self, key: PRNGKeyArray, **start: Any) -> ObservedState:
        """Return an empty state, of the right shapes: real ones come from the processes."""
        encoding, seats = self.base.encodings[self.encoding], self.base.num_seats
        assert encoding.shape is not None
        return ObservedState(
            seen=jnp.zeros((seats, *encoding.shape), encoding.dtype),
            legal=jnp.ones((seats, len(self.base.action_names)), bool),
            turn=jnp.ones(seats, bool),
        )

    def step(self, state: ObservedState, actions: Array, key: PRNGKeyArray) -> tuple[ObservedState, Step]:
        """Refuse: a compiled program cannot step a Python game."""
        raise InterplayError(f"{self.base.id} is plain Python: its environments are stepped by processes")

    def observe(self, state: ObservedState, encoding: str) -> Array:
        """Return what every seat sees.

        Raises:
            InterplayError: It is another encoding than the one that is trained with.
        """
        if encoding != self.encoding:
            raise InterplayError(
                f"{self.base.id} is trained with the encoding {self.encoding!r}; a partner reads {encoding!r}"
            )
        return state.seen

    def legal(self, state: ObservedState) -> Array:
        """Return which actions each seat may take."""
        return state.legal

    def to_move(self, state: ObservedState) -> Array:
        """Return which seats are to move."""
        return state.turn


def for_training(game: Game, encoding: str) -> Game:
    """Return a game that training can compile: itself if it is written in JAX, else as policies observe it."""
    return game if is_jax(game) else ObservedGame(game, encoding)  # type: ignore[return-value] - by delegation


class PoolStep(NamedTuple):
    """What one step of all environments gave, [env, ...]."""

    after: ObservedState
    step: Step
    fresh: ObservedState  # where new episodes began: their first states; elsewhere the state after the step


class ActorPool:
    """Processes that hold the environments of a run."""

    def __init__(self, game: Game, encoding: str, envs: int, seed: int, processes: int = 0):
        """Start the processes.

        Args:
            game: A registered game, which every process makes for itself.
            encoding: What is observed.
            envs: Environments in all.
            seed: Of the episodes.
            processes: How many; 0: as many as this machine has processors. Never more than environments.
        """
        many = min(processes or os.cpu_count() or 1, envs)
        context = multiprocessing.get_context("spawn")
        shares = np.array_split(np.arange(envs), many)
        self._pipes, self._processes = [], []
        for share in shares:
            ours, theirs = context.Pipe()
            options = (game.id, dict(game.options), encoding, share.tolist(), seed)
            process = context.Process(target=_actor, args=(theirs, *options), daemon=True)
            process.start()
            theirs.close()
            self._pipes.append(ours)
            self._processes.append(process)
        self._shares = [len(share) for share in shares]

    def begin(self) -> ObservedState:
        """Begin a new episode in every environment, and return the first states."""
        return _stacked(self._ask([("begin", None)] * len(self._pipes)))

    def step(self, actions: np.ndarray) -> PoolStep:
        """Step every environment by its joint action, [env, seat]; where an episode ends the next one begins."""
        parts = np.split(np.asarray(actions), np.cumsum(self._shares)[:-1])
        return _stacked(self._ask([("step", part) for part in parts]))

    def _ask(self, questions: list[tuple[str, Any]]) -> list[Any]:
        for pipe, question in zip(self._pipes, questions, strict=True):
            pipe.send(question)
        answers = []
        for number, pipe in enumerate(self._pipes):
            try:
                if not pipe.poll(ANSWER_S):
                    raise EOFError
                kind, answer = pipe.recv()
            except (EOFError, ConnectionResetError):
                self.close()
                raise InterplayError(
                    f"actor {number} of {len(self._pipes)} died or hung; the same command goes on from the last "
                    "checkpoint"
                ) from None
            if kind == "error":
                self.close()
                raise InterplayError(f"the game failed in an actor process: {answer}")
            answers.append(answer)
        return answers

    def close(self) -> None:
        """End the processes."""
        for pipe in self._pipes:
            pipe.close()
        for process in self._processes:
            process.terminate()
            process.join(5)


def _stacked(parts: list[PyTree]) -> PyTree:
    return jax.tree.map(lambda *x: np.concatenate(x), *parts)


def _actor(pipe: Any, name: str, options: dict[str, Any], encoding: str, numbers: list[int], seed: int) -> None:
    """Play the environments of these numbers, as the pipe says, until it is closed."""
    os.environ["JAX_PLATFORMS"] = "cpu"
    admit([name])
    trust_data(True)  # the parent process was allowed to make this very game
    try:
        actors = _Environments(make(name, **options), encoding, numbers, seed)
    except Exception as error:
        pipe.send(("error", f"{type(error).__name__}: {error}"))
        return
    while True:
        try:
            what, actions = pipe.recv()
        except (EOFError, OSError, KeyboardInterrupt):
            return
        try:
            answer = actors.begin() if what == "begin" else actors.step(actions)
        except Exception as error:
            pipe.send(("error", f"{type(error).__name__}: {error}"))
            return
        pipe.send(("answer", answer))


class _Environments:
    """Some environments of a run, in one process."""

    def __init__(self, game: Game, encoding: str, numbers: list[int], seed: int):
        self.encoding, self.numbers, self.seed = encoding, numbers, seed
        # An engine that is stepped in place belongs to one environment; games are cached by name, so each gets a copy.
        fresh = getattr(game, "separate", None)
        self.games = [fresh() if fresh is not None else game for _ in numbers]
        self.states: list[Any] = [None] * len(numbers)
        self.times, self.episodes = [0] * len(numbers), [0] * len(numbers)

    def begin(self) -> ObservedState:
        """Begin a new episode everywhere."""
        return _stack_states([self._first(i) for i in range(len(self.numbers))])

    def _first(self, place: int) -> ObservedState:
        self.states[place] = self.games[place].init(self._key(place, 0))
        self.times[place] = 0
        self.episodes[place] += 1
        return self._observed(place)

    def _key(self, place: int, time: int) -> Any:
        fold = jax.random.fold_in
        key = fold(fold(jax.random.key(self.seed), self.numbers[place]), self.episodes[place])
        return fold(key, time)

    def _observed(self, place: int) -> ObservedState:
        game, state = self.games[place], self.states[place]
        return ObservedState(
            seen=np.asarray(game.observe(state, self.encoding)),  # type: ignore[arg-type]
            legal=np.asarray(game.legal(state)),  # type: ignore[arg-type]
            turn=np.asarray(game.to_move(state)),  # type: ignore[arg-type]
        )

    def step(self, actions: np.ndarray) -> PoolStep:
        """Step every environment once."""
        afters, steps, firsts = [], [], []
        for place, joint in enumerate(actions):
            game = self.games[place]
            self.times[place] += 1
            self.states[place], step = game.step(self.states[place], joint, self._key(place, self.times[place]))
            over, late = bool(step.terminated), self.times[place] >= game.horizon
            truncated = np.bool_(not over and (bool(step.truncated) or late))
            steps.append(jax.tree.map(np.asarray, replace(step, truncated=truncated)))
            afters.append(self._observed(place))
            firsts.append(self._first(place) if over or truncated else afters[-1])
        return PoolStep(*(_stack_states(rows) for rows in (afters, steps, firsts)))


def _stack_states(rows: list[Any]) -> PyTree:
    return jax.tree.map(lambda *x: np.stack(x), *rows)


class PoolProgram(Program):
    """The program of a stage in a Python game: rollouts by processes, updates compiled; runs one after the other."""

    def __init__(self, setup: TrainingSetup):
        super().__init__(setup)
        self._pools: list[ActorPool] | None = None
        self._playing = jax.jit(partial(members_for_play, setup))
        self._draw = jax.jit(partial(draw, setup))
        self._decide = jax.jit(partial(decide, setup))
        self._settle = jax.jit(partial(settle, setup))
        self._nothing = jax.jit(partial(nothing_yet, setup))
        self._improve = jax.jit(self._learn_from)

    @cached_property
    def layout(self) -> DeviceLayout:
        """Where arrays lie: on one device, since the rollouts come from processes."""
        return DeviceLayout(self.experiment, jax.devices()[:1])

    @cached_property
    def chunk(self) -> Any:  # type: ignore[override]
        """Function (runs, weights, partners, first, number, pace) -> runs, logs, as that of compiled games."""
        return self._chunk

    def _chunk(
        self, runs: RunState, weights: RewardWeights, partners: PyTree, first: Array, number: Array, pace: Any = None
    ) -> tuple[RunState, dict[str, np.ndarray]]:
        runs = self._with_pools(runs)
        lines = []
        for i in range(int(number)):
            progress = (int(first) + i) / self.experiment.updates if pace is None else float(pace[0] + i * pace[1])
            new, logs = [], []
            for run in range(self.experiment.runs):
                mine, paid = _of_run(runs, run), _of_run(weights, run)
                beside = partners if self._partner_axis is None else _of_run(partners, run)
                state, line = self._one_update(run, mine, paid, beside, int(first) + i, progress)
                new.append(state)
                logs.append(jax.tree.map(np.asarray, line))
            runs = jax.tree.map(lambda *x: jnp.stack(x), *new)
            lines.append(_stack_states(logs))
        empty = jax.tree.map(np.zeros_like, lines[0])
        return runs, _stack_states(lines + [empty] * (self.chunk_size - len(lines)))

    def _with_pools(self, runs: RunState) -> RunState:
        """Start the processes before the first update of this call; every environment begins an episode."""
        if self._pools is not None:
            return runs
        experiment, game = self.experiment, self.setup.game
        base: Game = game.base  # type: ignore[attr-defined]
        self._pools = [
            ActorPool(base, experiment.network.encoding, experiment.envs, seed, experiment.actors)
            for seed in _pool_seeds(runs, experiment.runs)
        ]
        states = _stack_states([pool.begin() for pool in self._pools])
        state = jax.tree.map(jnp.asarray, states)
        world = replace(
            runs.world, state=state, start=jnp.ones_like(runs.world.start), score=jnp.zeros_like(runs.world.score)
        )
        return replace(runs, world=world)

    def _one_update(
        self, run_number: int, run: RunState, weights: RewardWeights, partners: PyTree, number: int, progress: float
    ) -> tuple[RunState, dict[str, Array]]:
        assert self._pools is not None
        setup, method, pool = self.setup, self.setup.method, self._pools[run_number]
        partners = run.partners if method.changes_partners else partners
        key, for_world, for_rollout = jax.random.split(run.key, 3)
        world = run.world
        if method.redraws_partners and number > 0 and number % setup.redraw_every == 0:
            one = jax.tree.map(lambda x: x[0], run.members)
            state = jax.tree.map(jnp.asarray, pool.begin())
            world = replace(begin(setup, one, run.stats, partners, for_world), state=state)
        weights, shaping = self._rewards(weights, jnp.float32(progress))
        draws = self._draw(for_rollout, jnp.float32(progress))
        draws.pop("reset")
        carry, played, playing = (world, *self._nothing(world)), [], self._playing(run.members)
        for t in range(self.experiment.rollout):
            now = jax.tree.map(lambda x, t=t: x[t], draws)
            decision = self._decide(playing, partners, carry[0], now)
            stepped = jax.tree.map(jnp.asarray, pool.step(np.asarray(decision.joint)))
            outcome, now = (stepped.after, stepped.step), now | {"fresh": stepped.fresh}
            carry, rows = self._settle(run.members, weights, shaping, carry, decision, outcome, now)
            played.append(rows)
        rollout = jax.tree.map(lambda *x: jnp.stack(x), *played)
        after, cuts, finished = carry
        before = replace(run, key=key, world=world)
        return self._improve(
            before, weights, (after, rollout, cuts, finished), jnp.int32(number), jnp.float32(progress)
        )

    def _learn_from(
        self, run: RunState, weights: RewardWeights, played: Any, number: Array, progress: Array
    ) -> tuple[RunState, dict[str, Array]]:
        return self._learn(run, weights, played, self._orders(number), progress)

    def close(self) -> None:
        """End the processes."""
        for pool in self._pools or ():
            pool.close()
        self._pools = None


def _of_run(tree: PyTree, run: int) -> PyTree:
    return jax.tree.map(lambda x: x[run], tree)


def _pool_seeds(runs: RunState, many: int) -> list[int]:
    """Return a seed for each run's episodes: after a resume another one, so that no episode is played twice."""
    data = np.asarray(jax.random.key_data(runs.key)).reshape(many, -1)
    return [int(row[-1]) for row in data]


def program_for(setup: TrainingSetup) -> Program:
    """Return the program of a stage: compiled as a whole, or with processes that play."""
    return PoolProgram(setup) if isinstance(setup.game, ObservedGame) else Program(setup)
