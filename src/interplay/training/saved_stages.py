"""Read finished stages of training from their folders, so that several methods and seeds share a population."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from interplay.agents import neural
from interplay.errors import InterplayError
from interplay.games.registry import make, make_recorded
from interplay.training import checkpoint, log
from interplay.training.actor_critic import new_member
from interplay.training.config import Experiment
from interplay.training.failed_runs import with_retrained
from interplay.training.loader import build
from interplay.training.run import PolicyMembers, Trained, TrainingSnapshot


class _SavedState(NamedTuple):
    """The part of a checkpoint that is read: the policies as they were at the end."""

    members: PolicyMembers


def load_stage(folder: str | Path, experiment: Experiment | None = None, *, stage: str = "population") -> Trained:
    """Read a finished stage, from its folder or from that of a method whose stage it is.

    Args:
        folder: Of the training run; `FOLDER#3-7` are its runs 3 to 7 alone.
        experiment: If given, the stage has to be of the same game.
        stage: The folder's stage that is meant, where the folder is a method's.

    Raises:
        InterplayError: If there is no finished stage, or if it is of another game.
    """
    folder, runs = parse_run_range(str(folder))
    folder = folder / stage if checkpoint.read_manifest(folder / stage) else folder
    manifest = checkpoint.read_manifest(folder)
    if manifest is None:
        raise InterplayError(f"{folder} holds no training run")
    if not manifest["policies"]:
        raise InterplayError(f"{folder} holds no policies yet: its training has not come to an end")
    if manifest["state"]["file"] is None:  # clones learn from recorded games, and keep no state to go on from
        raise InterplayError(
            f"{folder} holds clones of recorded games, not a population of self-play; name their files as partners"
        )
    theirs = build(Experiment, manifest["experiment"], f"{folder}: experiment")
    game = make_recorded(theirs.game.name, theirs.game.options)
    if experiment is not None:
        ours = make(experiment.game.name, **experiment.game.options)
        if neural.game_key(ours) != neural.game_key(game):
            raise InterplayError(f"{folder} was trained in {neural.game_key(game)}, not in {neural.game_key(ours)}")
    curve = log.read(folder / "log.jsonl")
    shape = (theirs.runs, len(curve[-1]["member_returns"][0]))
    one = jax.eval_shape(lambda: new_member(game, theirs.network, 0, jax.random.key(0)).policy)

    def like(kind: Any) -> PyTree:
        return jax.tree.map(lambda x: jax.ShapeDtypeStruct((*shape, *x.shape), kind), one)

    snapshots = []
    for kept in manifest["snapshots"]:
        path = folder / kept["file"]
        arrays = checkpoint.rebuilt(like(jnp.dtype(theirs.output.precision)), checkpoint.read_arrays(path), str(path))
        snapshots.append(TrainingSnapshot(kept["update"], kept["returns"], jax.tree.map(np.asarray, arrays)))
    path = folder / manifest["state"]["file"]
    if path.exists():
        arrays = checkpoint.read_arrays(path, manifest["state"]["sha256"])
        members = checkpoint.rebuilt(_SavedState(PolicyMembers(like(jnp.float32))), arrays, str(path)).members
    else:  # only what others need was kept of it
        members = PolicyMembers(_from_files(folder, manifest, theirs, like(jnp.float32)))
    record = manifest.get("gate", {"retrained": [], "dead": []})
    dead = tuple(one["run"] for one in record["dead"])
    trained = Trained(theirs, game, curve, members, snapshots, manifest["policies"], dead=dead)
    stages = {name: load_stage(folder / name) for name in dict.fromkeys(one["stage"] for one in record["retrained"])}
    trained = with_retrained(trained, stages, record["retrained"])
    return trained if runs is None else _select_runs(trained, runs, str(folder))


def _from_files(folder: Path, manifest: dict[str, Any], experiment: Experiment, like: PyTree) -> PyTree:
    """Return policies [run, learner, ...] from their files; NaN where there is none."""
    names = list(neural.named_arrays(like))
    leaves, structure = jax.tree_util.tree_flatten(like)
    stacked = [np.full(leaf.shape, np.nan, np.float32) for leaf in leaves]
    of_runs: dict[int, list[str]] = {}
    for one in manifest["policies"]:
        of_runs.setdefault(one["run"], []).append(one["learner"])
    learners = max(of_runs.values(), key=len)  # of a run in which all have finite weights
    for one in manifest["policies"]:
        arrays = neural.read(folder / one["file"])[1]
        place = one["run"] - experiment.first_run, learners.index(one["learner"])
        for name, into in zip(names, stacked, strict=True):
            into[place] = arrays[name]
    return jax.tree.unflatten(structure, stacked)


def parse_run_range(name: str) -> tuple[Path, range | None]:
    """Return the folder and the runs of a name such as `runs/sp#0-19` or `runs/sp#3`; None: all of them."""
    folder, marked, numbers = name.rpartition("#")
    first, _, last = numbers.partition("-")
    if not marked or not first.isdecimal() or not (last or first).isdecimal():
        return Path(name), None
    return Path(folder), range(int(first), int(last or first) + 1)


def _select_runs(trained: Trained, runs: range, where: str) -> Trained:
    """Return some of the runs of a stage."""
    if runs.stop > trained.experiment.runs or not runs:
        raise InterplayError(f"{where} has runs 0 to {trained.experiment.runs - 1}; {runs[0]} to {runs[-1]} were named")

    def arrays(tree: PyTree) -> PyTree:
        return jax.tree.map(lambda x: x[runs.start : runs.stop], tree)

    snapshots = [
        TrainingSnapshot(s.update, s.returns[runs.start : runs.stop], arrays(s.policies)) for s in trained.snapshots
    ]
    per_run = ("returns", "member_returns")
    return replace(
        trained,
        experiment=replace(trained.experiment, runs=len(runs)),
        members=arrays(trained.members),
        snapshots=snapshots,
        curve=[line | {k: line[k][runs.start : runs.stop] for k in per_run} for line in trained.curve],
        policies=[one for one in trained.policies if one["run"] - trained.experiment.first_run in runs],
        dead=tuple(run - runs.start for run in trained.dead if run in runs),
    )
