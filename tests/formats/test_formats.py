"""Files that version 0.1.0 wrote are opened by this one: traces, training runs, policies, configurations.

The files in `files/` were written before modules and classes got their present names; they are never written again.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import interplay
from interplay.traces import verify
from interplay.training.__main__ import main as train

FILES = Path(__file__).parent / "files"


@pytest.mark.parametrize("name", ["traces", "hanabi_traces"])
def test_traces_replay_exactly(name):
    traces = interplay.read_traces(FILES / name)
    report = verify(traces)
    assert report.ok
    assert report.episodes == len(traces) > 0


def test_traces_are_measured():
    rows = interplay.measure(interplay.read_traces(FILES / "traces"), ["score", "events"]).rows
    assert {row["agents"] for row in rows} == {"overcooked/greedy | random"}


def test_a_policy_is_an_agent():
    path = FILES / "run" / "policies" / "run0.safetensors"
    game = interplay.make("overcooked/cramped_room", horizon=20)
    (episode,) = interplay.play(game, [str(path), "stay"], episodes=1, seed=0)
    assert episode.length == 20


def test_a_training_run_goes_on(tmp_path, capsys):
    shutil.copytree(FILES / "run", tmp_path / "same")
    assert train([str(FILES / "training.json"), "--out", str(tmp_path / "same"), "--quiet"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["steps"] == 160  # it was done already
    assert np.isfinite(said["return"])
