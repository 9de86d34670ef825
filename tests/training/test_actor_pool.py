"""Processes play a game in plain Python, and the one PPO learns from it."""

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from interplay.errors import InterplayError
from interplay.games.registry import make
from interplay.training.actor_pool import ActorPool
from interplay.training.algorithms import br, sp
from interplay.training.loader import as_json

GAME = {"game": "Trio", "runs": 1, "actors": 2}


def test_a_team_of_three_learns_a_python_game(experiment, tmp_path):
    """By chance half of the 12 points of an episode."""
    trained = sp.train(experiment(**GAME, steps=16 * 8 * 30, output={"folder": str(tmp_path)}), quiet=True)
    assert trained.curve[0]["return"] < 8 < 11 < trained.curve[-1]["return"]
    assert [p["file"] for p in trained.policies] == ["policies/run0.safetensors"]
    partner = str(tmp_path / "policies/run0.safetensors")
    options = experiment(**GAME, steps=16 * 8 * 4)
    response = br.best_response(options, br.load_partners(partner), quiet=True)
    assert response.curve[-1]["return"] > 8  # two of three seats know the game already


def test_results_do_not_depend_on_the_number_of_processes():
    game = make("tests.training.toys:Trio", horizon=4)
    actions = np.random.default_rng(0).integers(0, 2, (6, 5, 3))
    seen = []
    for processes in (1, 2):
        pool = ActorPool(game, "vector", 5, 3, processes)
        try:
            seen.append([pool.begin().seen, *(pool.step(a).fresh.seen for a in actions)])
        finally:
            pool.close()
    assert np.array_equal(np.stack(seen[0]), np.stack(seen[1]))


def test_a_failing_game_and_a_dead_process_are_named():
    game = make("tests.training.toys:Trio", horizon=4)
    pool = ActorPool(game, "vector", 2, 0, 1)
    pool.begin()
    with pytest.raises(InterplayError, match="failed in an actor process: ValueError: no such action"):
        pool.step(np.full((2, 3), -1))
    pool = ActorPool(game, "vector", 2, 0, 1)
    pool.begin()
    pool._processes[0].kill()
    with pytest.raises(InterplayError, match="goes on from the last checkpoint"):
        pool.step(np.zeros((2, 3), int))


@pytest.mark.slow
def test_a_killed_run_goes_on_from_its_checkpoint(experiment, tmp_path):
    """SIGKILL after the first checkpoint; the same command then ends as if nothing had happened."""
    settings = experiment(**GAME, steps=16 * 8 * 400, output={"folder": str(tmp_path / "run"), "logs": 40})
    config = tmp_path / "config.json"
    config.write_text(json.dumps(as_json(settings) | {"output": {"logs": 40, "checkpoints": 40}}))
    command = [sys.executable, "-m", "interplay.training", str(config), "--out", str(tmp_path / "run"), "--quiet"]
    manifest = tmp_path / "run" / "manifest.json"
    process = subprocess.Popen([*command, "--trust"])
    deadline = time.monotonic() + 480
    while not manifest.exists() or json.loads(manifest.read_text())["state"]["update"] == 0:
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    reached = json.loads(manifest.read_text())["state"]["update"]
    assert 0 < reached < 400
    assert not json.loads(manifest.read_text())["policies"]
    subprocess.run([*command, "--trust", "steps=7680"], check=False, capture_output=True)  # other settings: refused
    assert json.loads(manifest.read_text())["state"]["update"] == reached
    trained = sp.train(settings, quiet=True)
    updates = [line["update"] for line in trained.curve]
    assert updates == sorted(set(updates))
    assert updates[-1] == 400
    assert trained.curve[-1]["return"] > 11
