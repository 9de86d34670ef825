"""Run a stage of training: log, write checkpoints and snapshots, resume after a kill, write the policies."""

from __future__ import annotations

import time
from bisect import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from interplay.agents import neural
from interplay.agents.api import Agent
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.games.registry import make
from interplay.training import checkpoint, log, warm_start
from interplay.training import failed_runs as gate
from interplay.training.actor_pool import for_training, program_for
from interplay.training.compiled_stage import Program
from interplay.training.config import Experiment, Gate
from interplay.training.frozen_partners import FrozenPartners
from interplay.training.method import Method
from interplay.training.reward_weights import RewardWeights
from interplay.training.stage_state import RunState, TrainingSetup
from interplay.training.time_schedule import TimeSchedule


class PolicyMembers(NamedTuple):
    """Networks of members that have no values, in the place of `Trained.members`."""

    policy: Any  # [run, learner, ...]


@dataclass(frozen=True)
class TrainingSnapshot:
    """The policies of all runs at one time."""

    update: int
    returns: list[list[float | None]]  # [run][learner] in the log line of that time
    policies: PyTree  # networks with arrays [run, learner, ...]


@dataclass(frozen=True)
class Trained:
    """The result of a stage of training."""

    experiment: Experiment
    game: Game
    curve: list[dict[str, Any]]  # the log lines
    members: PyTree  # [run, learner, ...] as they were at the end
    snapshots: list[TrainingSnapshot]
    policies: list[dict[str, Any]] = field(default_factory=list)  # the files, as the manifest names them
    program: Any = None  # compiled, for further stages like this one
    dead: tuple[int, ...] = ()  # runs that did not pass the experiment's gate; they have no policies

    def returns(self, last: int = 5) -> np.ndarray:
        """Return the mean of the last returns that were logged, [run, learner]; NaN without a finished episode."""
        known = np.array([line["member_returns"] for line in self.curve[-last:]], float)  # None becomes NaN
        counts = np.sum(~np.isnan(known), axis=0)
        return np.where(counts > 0, np.nansum(known, axis=0) / np.maximum(counts, 1), np.nan)

    def agent(self, run: int, learner: int = 0, *, snapshot: int | None = None, greedy: bool = False) -> Agent:
        """Return a trained member as an agent, at the end of training or at one of the `snapshots`."""
        policies = self.members.policy if snapshot is None else self.snapshots[snapshot].policies
        core = jax.tree.map(lambda x: jnp.asarray(x[run, learner], jnp.float32), policies)
        key = neural.game_key(self.game)
        policy = neural.NeuralPolicy(core, self.experiment.network.encoding, trained_for=key, greedy=greedy)
        return Agent(f"run{run}.{learner}", policy, {"run": run, "learner": learner})


def train_stage(
    experiment: Experiment,
    method: Method,
    *,
    partners: FrozenPartners | None = None,
    weights: RewardWeights | None = None,
    members: PyTree = None,
    stage: str = "",
    notes: Sequence[Mapping[str, Any]] | None = None,
    like: Trained | None = None,
    quiet: bool = False,
) -> Trained:
    """Train one stage. With an output folder it resumes where an earlier call with the same settings was killed.

    Args:
        experiment: The settings.
        method: What the algorithm decides.
        partners: The frozen partners, where the method's plan has places for them.
        weights: What each learner of each run is rewarded for; None: as the method says.
        members: Networks to begin with, [run, learner, ...]; None: random ones.
        stage: Folder of the stage below the experiment's own.
        notes: Plain values about each run, for the manifest.
        like: An earlier stage that differs in partners and members alone, whose compiled program is used again.
        quiet: No progress on standard error.

    Raises:
        InterplayError: If the settings do not fit together, or if the folder holds another training run.
    """
    game = make(experiment.game.name, **experiment.game.options)
    if weights is None:
        weights = method.reward_weights(game, experiment)
    pays_events = bool(np.any(np.asarray(weights.events)))
    playable = for_training(method.wrap_game(game), experiment.network.encoding)
    setup = TrainingSetup.create(experiment, playable, method, partners, pays_events)
    program = program_for(setup) if like is None or like.program is None else like.program.with_setup(setup)
    try:
        trained = _Stage(program, weights, members, stage, notes, quiet).train()
    finally:
        program.close()
    trained = replace(trained, game=game)  # not the wrapped one
    if experiment.gate.least_return is None:
        return trained

    def retry(smaller: Experiment, runs: list[int], name: str) -> Trained:
        """Train some of the runs from another seed, with the same partners and rewards."""

        def select(tree: PyTree) -> Any:
            return jax.tree.map(lambda x: x[np.asarray(runs)], tree)

        return train_stage(
            replace(smaller, gate=Gate()),
            method.select_runs(runs),
            partners=None if partners is None else partners.select_runs(runs),
            weights=select(weights),
            members=None if members is None else select(members),
            stage="/".join(filter(None, (stage, name))),
            notes=None if notes is None else [notes[run] for run in runs],
            quiet=quiet,
        )

    folder = None if experiment.output.folder is None else Path(experiment.output.folder) / stage
    return _gated(trained, folder, retry, has_partners=partners is not None)


def _gated(trained: Trained, folder: Path | None, retry: Any, *, has_partners: bool) -> Trained:
    """Return the stage with failed runs trained again, as its manifest then says."""
    manifest = None if folder is None else checkpoint.read_manifest(folder)
    if manifest is not None and "gate" in manifest:
        stages: dict[str, Trained] = {}
        for name in dict.fromkeys(one["stage"] for one in manifest["gate"]["retrained"]):
            runs = [one["run"] for one in manifest["gate"]["retrained"] if one["stage"] == name]
            stages[name] = retry(gate.retry_of(trained.experiment, len(runs), name), runs, name)
        trained = gate.with_retrained(trained, stages, manifest["gate"]["retrained"])
        dead = tuple(one["run"] for one in manifest["gate"]["dead"])
        return replace(trained, policies=manifest["policies"], dead=dead)
    trained, record, stages = gate.retried(trained, retry, has_partners=has_partners)
    policies = gate.policies_alive(trained, record, stages)
    if not policies and trained.policies:
        least = trained.experiment.gate.least_return
        raise InterplayError(
            f"{trained.experiment.algorithm.name}: no run scores {least:g} or more with itself and its partners, "
            f"not even after {trained.experiment.gate.retries} retries; train longer"
        )
    if folder is not None and manifest is not None:
        checkpoint.write_manifest(folder, manifest | {"policies": policies, "gate": record})
    return replace(trained, policies=policies, dead=tuple(one["run"] for one in record["dead"]))


train = train_stage  # the name that methods of other packages import


class _Stage:
    """One call of `train`."""

    def __init__(
        self, program: Program, weights: RewardWeights, members: PyTree, stage: str, notes: PyTree, quiet: bool
    ):
        self.program, self.members, self.stage, self.quiet = program, members, stage, quiet
        self.weights = program.layout.place_inputs(weights, per_run=True)
        self.experiment, self.setup = program.experiment, program.setup
        output = self.experiment.output
        self.folder = None if output.folder is None else Path(output.folder) / stage
        self.notes = notes or [{}] * self.experiment.runs
        self.curve: list[dict[str, Any]] = []
        self.snapshots: list[TrainingSnapshot] = []
        self.state: dict[str, Any] = {"file": None, "sha256": None, "update": 0}
        self.policies: list[dict[str, Any]] = []
        self.failed: list[dict[str, Any]] = []
        self.reached = self.experiment.updates  # fewer if the clock ran out
        self.continued: warm_start.Continued | None = None
        if self.experiment.continue_from:
            self.continued = warm_start.load(program)

    @property
    def _steps_before(self) -> int:
        return 0 if self.continued is None else self.continued.steps

    def _start(self) -> RunState:
        runs = self.program.start(self.members, self.program.partners)
        if self.continued is None:
            return runs
        # Copies, since a chunk donates its arrays to the next one.
        return replace(runs, members=jax.tree.map(jnp.array, self.continued.members))

    def train(self) -> Trained:
        runs, update = self._begin()
        lines = log.Log(self.experiment, self.folder, self._name, start=update, quiet=self.quiet or self._finished)
        try:
            runs = runs if self._finished else self._loop(self.program.layout.place(runs), update, lines)
        finally:
            lines.close()
        if self.folder is not None and not self._finished:
            self.policies = self._write_policies(runs)
            self._write_manifest()
        game = self.setup.game
        return Trained(self.experiment, game, self.curve, runs.members, self.snapshots, self.policies, self.program)

    @property
    def _name(self) -> str:
        return "/".join(filter(None, (self.experiment.algorithm.name, self.stage)))

    @property
    def _finished(self) -> bool:
        return bool(self.policies)

    def _begin(self) -> tuple[RunState, int]:
        manifest = None if self.folder is None else checkpoint.read_manifest(self.folder)
        if manifest is None:
            runs = self._start()
            self._snap(runs, 0, [[None] * self.setup.plan.learners] * self.experiment.runs)
            return runs, 0
        assert self.folder is not None
        checkpoint.refuse_other(self.folder, manifest, self._identity())
        self.state, self.policies = manifest["state"], manifest["policies"]
        update = self.state["update"]
        self.curve = [line for line in log.read(self.folder / "log.jsonl") if line["update"] <= update]
        like = jax.eval_shape(self.program.start, self.members, self.program.partners)
        self._read_snapshots(like, manifest["snapshots"])
        if self.state["file"] is None:
            return self._start(), 0
        path = self.folder / self.state["file"]
        arrays = dict(checkpoint.read_arrays(path, self.state["sha256"]))
        if "stats.priority" not in arrays:  # version 0.1.0 had none
            arrays["stats.priority"] = np.zeros(like.stats.priority.shape, np.float32)
        return checkpoint.rebuilt(like, arrays, str(path)), update

    def _loop(self, runs: RunState, update: int, lines: log.Log) -> RunState:
        """Run chunk after chunk. The next one is started before the last one's logs are read."""
        method, total = self.setup.method, self.experiment.updates
        ends = _ends(total, self.program.chunk_size, method.interval)
        keep = _due(total, ends, max(1, self.experiment.output.checkpoints))
        snap = _due(total, ends, self.experiment.output.snapshots + 1)
        pending: tuple[Any, int, int] | None = None
        began, minutes = time.perf_counter(), self.experiment.output.minutes
        since, opened = update, began
        pace = None if minutes is None else TimeSchedule(total, minutes, update)

        def add_line(pending: tuple[Any, int, int], more: Mapping[str, Any] | None = None) -> None:
            nonlocal began
            numbers = jax.tree.map(np.asarray, pending[0])
            now = time.perf_counter()
            seen = {"since": since, "elapsed_s": now - opened, "steps_before": self._steps_before}
            line = log.row(self.experiment, numbers, pending[1], pending[2], now - began, **seen)
            line |= dict(more or {})
            if pace is not None:
                pace.record(pending[1] + pending[2])
            began = now
            self.curve.append(line)
            lines.add(line)

        for end in ends[bisect(ends, update) :]:
            late, many = pace is not None and pace.expired, end - update
            ahead = None if pace is None else jnp.asarray(pace.plan_chunk(update, many), jnp.float32)
            runs, numbers = self.program.chunk(
                runs, self.weights, self.program.partners, jnp.int32(update), jnp.int32(many), ahead
            )
            if pending is not None:
                add_line(pending)
            pending, update = (numbers, update, many), end
            due = method.interval > 0 and update % method.interval == 0
            if due or late or update in keep or update in snap or update == total:
                runs, more = method.on_interval(runs, update) if due else (runs, {})
                runs = self.program.layout.place(runs)
                add_line(pending, more)
                pending = None
                if update in snap or late:  # the last snapshot is the end, whenever that comes
                    self._snap(runs, update, self.curve[-1]["member_returns"])
                if update in keep or late:
                    self._keep(runs, update)
            self.reached = update
            if late:
                break
        return runs

    def _identity(self) -> dict[str, Any]:
        inputs = {"traits": self.weights, "members": self.members, "guests": self.program.partners}  # names of 0.1.0
        if self.continued is not None:
            inputs["continued"] = self.continued.members
        hashes = {name: checkpoint.tree_hash(tree) for name, tree in inputs.items()}
        return checkpoint.identity(self.experiment, self.setup.game, hashes, self.stage)

    def _write_manifest(self) -> None:
        assert self.folder is not None
        snapshots = [
            {"update": s.update, "returns": s.returns, "file": _snapshot_file(s.update)} for s in self.snapshots
        ]
        manifest = self._identity() | {"state": self.state, "snapshots": snapshots, "policies": self.policies}
        manifest["failed"] = self.failed
        checkpoint.write_manifest(self.folder, manifest)

    def _keep(self, runs: RunState, update: int) -> None:
        """Write the whole state, then the manifest that names it, then remove the state before."""
        if self.folder is None:
            return
        file, before = f"state-{update:08d}.safetensors", self.state["file"]
        digest = checkpoint.write_arrays(self.folder / file, runs)
        self.state = {"file": file, "sha256": digest, "update": update}
        self._write_manifest()
        if before not in (None, file):
            (self.folder / before).unlink(missing_ok=True)

    def _snap(self, runs: RunState, update: int, returns: list[list[float | None]]) -> None:
        if not self.experiment.output.snapshots:
            return
        # A chunk donates its arrays to the next one, so these are copies.
        kind = self.experiment.output.precision
        half = jax.tree.map(lambda x: np.array(x.astype(kind)), runs.members.policy)
        self.snapshots.append(TrainingSnapshot(update, returns, half))
        if self.folder is not None:
            checkpoint.write_arrays(self.folder / _snapshot_file(update), half)

    def _read_snapshots(self, like: RunState, listed: list[dict[str, Any]]) -> None:
        assert self.folder is not None
        kind = jnp.dtype(self.experiment.output.precision)
        policies = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, kind), like.members.policy)
        for one in listed:
            path = self.folder / one["file"]
            arrays = checkpoint.rebuilt(policies, checkpoint.read_arrays(path), str(path))
            self.snapshots.append(TrainingSnapshot(one["update"], one["returns"], jax.tree.map(np.asarray, arrays)))

    def _write_policies(self, runs: RunState) -> list[dict[str, Any]]:
        assert self.folder is not None
        method, output, files = self.setup.method, self.experiment.output, []
        trained = Trained(self.experiment, self.setup.game, self.curve, runs.members, [])
        last = [[None if np.isnan(r) else float(r) for r in of_run] for of_run in trained.returns()]
        members = jax.tree.map(np.asarray, runs.members)
        for run in range(self.experiment.runs):
            for learner in range(self.setup.plan.learners):
                name = method.learner_name(learner)
                file = f"policies/run{self.experiment.first_run + run}{'-' + name if name else ''}.safetensors"
                about = {
                    "algorithm": self._name,
                    "seed": self.experiment.seed,
                    "run": self.experiment.first_run + run,
                    "learner": name,
                    "steps": self._steps_before + self.reached * self.experiment.envs * self.experiment.rollout,
                    "return": last[run][learner],
                    **self.notes[run],
                }
                member = jax.tree.map(lambda x, r=run, m=learner: x[r, m], members)
                if not all(np.all(np.isfinite(x)) for x in jax.tree.leaves(member.policy)):
                    self.failed.append(about)  # its weights are no longer finite
                    continue
                neural.save(
                    self.folder / file,
                    method.exported_policy(member.policy),
                    self.setup.game,
                    self.experiment.network.encoding,
                    training=about,
                    precision=output.precision,
                    critic=member.critic if output.save_critic else None,
                )
                files.append({"file": file, "sha256": checkpoint.file_hash(self.folder / file), **about})
        if not files:
            raise InterplayError(f"{self._name}: the weights of no run are numbers; lower the learning rate or prices")
        return files


def _snapshot_file(update: int) -> str:
    return f"snapshots/{update:08d}.safetensors"


def _ends(total: int, size: int, every: int) -> list[int]:
    """Return the updates after which the compiled program stops: at the ends of chunks, and every so many."""
    return sorted({*range(size, total, size), *(range(every, total, every) if every else ()), total})


def _due(total: int, ends: list[int], times: int) -> set[int]:
    """Return the ends of chunks at which something is done so many times, the last time at the end."""
    return {min(ends, key=lambda e: abs(e - total * (i + 1) / times)) for i in range(times)}
