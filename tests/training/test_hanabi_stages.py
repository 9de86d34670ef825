"""The benchmark's stages are experiments that can be built; nothing is trained here."""

import argparse
import json
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks" / "hanabi_learning"


@pytest.fixture
def driver(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.delitem(sys.modules, "run", raising=False)
    import run

    return run


def session(driver, tmp_path, **changes):
    given = {
        "out": str(tmp_path),
        "work": str(tmp_path / "work"),
        "minutes": 9.0,
        "share": 1.0,
        "rates": None,
        "scale": 1.0,
    }
    plan = json.loads((FOLDER / "stages.json").read_text())
    return driver.Session(argparse.Namespace(**given | {"games": "humans.npz"} | changes), plan)


def test_every_stage_is_an_experiment(driver, tmp_path):
    from interplay.games.registry import make
    from interplay.training.config import Experiment
    from interplay.training.loader import build
    from interplay.training.members import policy_shape

    run = session(driver, tmp_path)
    for name, stage in run.plan["stages"].items():
        if "play" in stage:
            continue
        experiment = build(Experiment, run.config(name))
        game = make(experiment.game.name, **experiment.game.options)
        if experiment.algorithm.name != "hdr":
            assert policy_shape(game, experiment.network).outputs == len(game.action_names)
        assert experiment.output.folder == str(tmp_path / "work" / name)


def test_a_stage_trains_as_many_steps_as_its_time_allows(driver, tmp_path):
    """A rate that was measured counts; the session's clock bounds every stage."""
    (tmp_path / "rates.json").write_text('{"ippo_ff_2p": 1e6}')
    run = session(driver, tmp_path, rates=str(tmp_path / "rates.json"))
    seconds = run.plan["stages"]["ippo_ff_2p"]["seconds"]
    assert run.config("ippo_ff_2p")["steps"] == pytest.approx(1e6 * seconds)
    short = session(driver, tmp_path, rates=str(tmp_path / "rates.json"), minutes=2.0)
    assert short.config("ippo_ff_2p")["steps"] < 1e6 * 120


def test_the_speed_runs_are_experiments():
    from interplay.training.config import Experiment
    from interplay.training.loader import build

    plan = json.loads((FOLDER / "speed.json").read_text())
    for changes in plan["configurations"].values():
        config = plan["common"] | changes
        hold = config.pop("hold", [0])
        assert build(Experiment, config).runs in (1, len(hold))


def test_a_policy_is_judged_on_games_that_its_clone_never_saw(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    import foreseen

    assert foreseen.held_out_by("bc_2p/3", {"run": 3}) == 3
    assert foreseen.held_out_by("hdr_2p/0.1", {"clone": "run2", "run": 0}) == 2
    assert foreseen.held_out_by("hdr_2p/0.1", {"clone": "trained/hanabi/2p/bc-4", "run": 0}) == 3
    assert foreseen.held_out_by("ippo_ff_2p/0", {"run": 0}) is None
