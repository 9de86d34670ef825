"""Dead runs are trained again from another seed, counted, and never stand among the policies."""

import json

import numpy as np
import pytest

from interplay.errors import InterplayError
from interplay.training import failed_runs as gates
from interplay.training.algorithms import train
from interplay.training.algorithms.br import load_partners
from interplay.training.config import Algorithm, Gate
from interplay.training.failed_runs import GateResult
from interplay.training.saved_stages import load_stage

LONG = 16 * 8 * 36


def test_who_is_dead():
    judged = GateResult(np.array([30.0, 5.0, 30.0, np.nan]), np.array([40.0, 40.0, 3.0, 40.0]))
    assert judged.dead(20.0) == [1, 2, 3]  # of the last nothing is known
    assert GateResult(np.array([30.0, 5.0]), None).dead(20.0) == [1]


@pytest.fixture
def first_dies(monkeypatch):
    """Run 1 is said to be dead in the first judgement, and nobody later."""
    judged = []

    def judge(trained, *, has_partners):
        judged.append(trained.experiment.runs)
        scores = np.full(trained.experiment.runs, 8.0)
        if len(judged) == 1:
            scores[1] = 0.0
        return GateResult(scores, None)

    monkeypatch.setattr(gates, "judge", judge)
    return judged


def test_a_dead_run_is_trained_again(experiment, tmp_path, first_dies):
    folder = tmp_path / "sp"
    given = experiment(
        runs=3, steps=LONG // 3, gate=Gate(least_return=5.0), output={"folder": str(folder), "snapshots": 2}
    )
    trained = train(given, quiet=True)
    assert first_dies == [3, 1]
    manifest = json.loads((folder / "manifest.json").read_text())
    (again,) = manifest["gate"]["retrained"]
    assert (again["run"], again["stage"], again["alive"]) == (1, "retry1", True)
    assert again["before"]["in_training"] == 0.0
    assert manifest["gate"]["dead"] == []
    assert [(p["run"], p["file"]) for p in trained.policies] == [
        (0, "policies/run0.safetensors"),
        (1, "retry1/policies/run0.safetensors"),
        (2, "policies/run2.safetensors"),
    ]
    # Wherever the population is asked for, the retrained one is in the dead one's place.
    retry, files = load_stage(folder / "retry1"), load_partners(str(folder))
    weights = [np.asarray(a.policy.core.head.weight) for a in files]
    for found in (trained, load_stage(folder), train(given, quiet=True)):
        for run in range(3):
            mine = np.asarray(found.agent(run).policy.core.head.weight)
            np.testing.assert_allclose(mine, weights[run], rtol=1e-2, atol=1e-3)
        assert found.snapshots[1].returns[1] == retry.snapshots[1].returns[0]
        assert found.curve[-1]["returns"][1] == retry.curve[-1]["returns"][0]
    assert len(first_dies) == 2  # what was judged is not judged again
    # Without the state of the run, which only going on needs, its population can still be opened; and parts of it.
    for file in folder.rglob("state-*.safetensors"):
        file.unlink()
    found = load_stage(f"{folder}#1-2")
    assert found.experiment.runs == 2
    for row in range(2):
        np.testing.assert_array_equal(np.asarray(found.agent(row).policy.core.head.weight), weights[1 + row])
    assert [p["run"] for p in found.policies] == [1, 2]
    assert found.snapshots[1].returns[0] == retry.snapshots[1].returns[0]
    assert [a.name for a in load_partners(f"{folder}#0-1")] == ["run0", "run0"]
    with pytest.raises(InterplayError, match="has runs 0 to 2; 2 to 5 were named"):
        load_stage(f"{folder}#2-5")


def test_who_stays_dead_has_no_policy(experiment, tmp_path, monkeypatch):
    def judge(trained, *, has_partners):
        scores = np.full(trained.experiment.runs, 8.0)
        scores[-1] = 0.0
        return GateResult(scores, None)

    monkeypatch.setattr(gates, "judge", judge)
    folder = tmp_path / "sp"
    given = experiment(runs=2, steps=LONG // 3, gate=Gate(least_return=5.0, retries=1), output={"folder": str(folder)})
    trained = train(given, quiet=True)
    assert [p["run"] for p in trained.policies] == [0]
    manifest = json.loads((folder / "manifest.json").read_text())
    assert [one["alive"] for one in manifest["gate"]["retrained"]] == [False]
    assert manifest["gate"]["dead"] == [{"run": 1, "in_training": 0.0, "with_itself": None}]


@pytest.mark.slow
def test_an_ego_plays_with_itself_before_it_counts(experiment, tmp_path):
    """Nobody reaches 9 of 8 points; everybody reaches 1."""
    options = {"partners": ["random"]}
    common = {"algorithm": Algorithm("br", options), "steps": LONG // 3, "rollout": 4}
    too_much = experiment(gate=Gate(least_return=9.0, retries=1), output={"folder": str(tmp_path / "a")}, **common)
    with pytest.raises(InterplayError, match="br: no run scores 9 or more with itself and its partners, not even"):
        train(too_much, quiet=True)
    given = experiment(gate=Gate(least_return=1.0), output={"folder": str(tmp_path / "b")}, **common)
    assert len(train(given, quiet=True).policies) == 2
    assert json.loads((tmp_path / "b" / "manifest.json").read_text())["gate"] == {"retrained": [], "dead": []}


def test_gates_that_cannot_be():
    with pytest.raises(InterplayError, match="at least 0 and 1"):
        Gate(retries=-1)
