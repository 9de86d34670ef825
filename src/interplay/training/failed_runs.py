"""Runs that failed to reach a score: detected after training, trained again from another seed, and recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from interplay.agents.neural import NeuralPolicy
from interplay.training.config import Experiment
from interplay.training.evaluation_pairs import play_pair

if TYPE_CHECKING:
    from interplay.training.run import Trained

ANOTHER_SEED = 1_000_003  # added to the seed for every retry


@dataclass(frozen=True)
class GateResult:
    """The scores of the runs of a stage, [run]."""

    in_training: np.ndarray  # the lowest of a run's learners, in its last log lines
    with_itself: np.ndarray | None  # of an ego that learnt with others; None where training was with itself

    def dead(self, least: float) -> list[int]:
        """Return the runs that score less than this, or of which no score is known."""
        scores = [s for s in (self.in_training, self.with_itself) if s is not None]
        return [int(run) for run in np.flatnonzero(~np.all([s >= least for s in scores], axis=0))]


def judge(trained: Trained, *, has_partners: bool) -> GateResult:
    """Return the scores by which runs pass; with frozen partners an ego also plays with itself."""
    experiment = trained.experiment
    with_itself = None
    if has_partners and trained.returns().shape[1] == 1:
        with_itself = self_play(trained, experiment.gate.rounds, experiment.seed)
    return GateResult(np.min(trained.returns(), axis=1), with_itself)


def self_play(trained: Trained, rounds: int, seed: int) -> np.ndarray:
    """Return the mean score of each run's first learner in all seats, [run]."""

    def one(core: PyTree, key: Any) -> Any:
        policy = NeuralPolicy(core, trained.experiment.network.encoding)
        return play_pair(trained.game, policy, policy, key, rounds).score  # type: ignore[arg-type]

    cores = jax.tree.map(lambda x: jnp.asarray(x[:, 0], jnp.float32), trained.members.policy)
    keys = jax.random.split(jax.random.key(seed), trained.experiment.runs)
    return np.asarray(jax.jit(jax.vmap(one))(cores, keys))


def retried(
    trained: Trained, train: Callable[[Experiment, list[int], str], Trained], *, has_partners: bool
) -> tuple[Trained, dict[str, Any], dict[str, Trained]]:
    """Train dead runs again until all are alive or no retry is left.

    Args:
        trained: The stage as it was trained first.
        train: (experiment, numbers of the runs in `trained`, name of the retry) -> these runs, trained again.
        has_partners: Whether the stage's learners played with frozen partners.

    Returns:
        The stage with the runs that came alive in their places; a record for its manifest, `retrained` and `dead`; and
        the retries by name.
    """
    gate, first = trained.experiment.gate, trained.experiment
    assert gate.least_return is not None
    judged = judge(trained, has_partners=has_partners)
    record: dict[str, Any] = {"retrained": [], "dead": []}
    dead, scores, stages = judged.dead(gate.least_return), _scores(judged), {}
    for number in range(1, gate.retries + 1):
        if not dead:
            break
        name, runs = f"retry{number}", dead
        retried = stages[name] = train(retry_of(first, len(runs), name), runs, name)
        judged = judge(retried, has_partners=has_partners)
        still, dead = judged.dead(gate.least_return), []
        for row, run in enumerate(runs):
            record["retrained"].append(
                {"run": run, "stage": name, "row": row, "before": scores[run], "alive": row not in still}
            )
            scores[run] = _scores(judged)[row]
            if row in still:
                dead.append(run)
        trained = with_retrained(trained, stages, record["retrained"][-len(runs) :])
    record["dead"] = [{"run": run} | scores[run] for run in dead]
    return trained, record, stages


def retry_of(experiment: Experiment, runs: int, name: str) -> Experiment:
    """Return the experiment of a retry of so many runs, such as `retry2`."""
    seed = experiment.seed + int(name.removeprefix("retry")) * ANOTHER_SEED
    return replace(experiment, runs=runs, first_run=0, seed=seed)


def policies_alive(trained: Trained, record: Mapping[str, Any], stages: Mapping[str, Trained]) -> list[dict[str, Any]]:
    """Return the files of policies that count: of runs that passed, and of retries in the places of the others."""
    first_run = trained.experiment.first_run
    dead = {first_run + one["run"] for one in record["dead"]}
    alive = {first_run + one["run"]: one for one in record["retrained"] if one["alive"]}
    policies = [one for one in trained.policies if one["run"] not in dead and one["run"] not in alive]
    for run, one in alive.items():
        for file in stages[one["stage"]].policies:
            if file["run"] == one["row"]:
                policies.append(file | {"file": f"{one['stage']}/{file['file']}", "run": run, "retry": one["stage"]})
    return sorted(policies, key=lambda one: one["run"])


def _scores(judged: GateResult) -> list[dict[str, float | None]]:
    """Of each run, as plain values."""

    def plain(values: np.ndarray | None) -> list[float | None]:
        if values is None:
            return [None] * len(judged.in_training)
        return [None if np.isnan(v) else round(float(v), 3) for v in values]

    both = zip(plain(judged.in_training), plain(judged.with_itself), strict=True)
    return [{"in_training": a, "with_itself": b} for a, b in both]


def with_retrained(trained: Trained, stages: Mapping[str, Trained], retrained: Sequence[Mapping[str, Any]]) -> Trained:
    """Return a stage in which runs that passed in a retry replace those that failed: policies, snapshots, curves."""
    for one in retrained:
        if one["alive"]:
            trained = _put(trained, one["run"], stages[one["stage"]], one["row"])
    return trained


def _put(trained: Trained, run: int, retried: Trained, row: int) -> Trained:
    def array(old: Any, new: Any) -> np.ndarray:
        changed = np.array(old)
        changed[run] = np.asarray(new)[row]
        return changed

    def listed(old: list, new: list) -> list:
        return [*old[:run], new[row], *old[run + 1 :]]

    snapshots = [
        replace(
            mine,
            returns=listed(mine.returns, theirs.returns),
            policies=jax.tree.map(array, mine.policies, theirs.policies),
        )
        for mine, theirs in zip(trained.snapshots, retried.snapshots, strict=False)
    ]
    curve = [
        mine | {name: listed(mine[name], theirs[name]) for name in ("returns", "member_returns")}
        for mine, theirs in zip(trained.curve, retried.curve, strict=False)
    ]
    policies = jax.tree.map(array, trained.members.policy, retried.members.policy)
    members = eqx.tree_at(lambda m: m.policy, trained.members, policies)  # of the values nothing is asked any more
    return replace(trained, members=members, snapshots=snapshots, curve=curve)
