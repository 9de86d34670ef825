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
        "resume": False,
    }
    plan = json.loads((FOLDER / "stages.json").read_text())
    return driver.Session(argparse.Namespace(**given | {"games": "humans.npz"} | changes), plan)


def test_every_stage_is_an_experiment(driver, tmp_path):
    from interplay.games.registry import make
    from interplay.training.actor_critic import policy_shape
    from interplay.training.config import Experiment
    from interplay.training.loader import build

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


def test_a_stage_continues_from_its_policies_by_one_flag(driver, tmp_path, monkeypatch):
    from interplay.training.config import Experiment
    from interplay.training.loader import build
    from tests.training.test_hanabi_take_in import policy

    run = session(driver, tmp_path, resume=True)
    monkeypatch.setattr(driver.roster, "DATA", tmp_path / "data")
    with pytest.raises(SystemExit, match="ippo_rnn_2p: 0 policies to continue from; the stage has 1 runs"):
        run.config("ippo_rnn_2p")
    shipped = tmp_path / "data" / "2p" / "ippo-1.safetensors"
    policy(shipped, run=0, steps=2_000_000_000)
    assert run.config("ippo_rnn_2p")["continue_from"] == [str(shipped)]
    policy(tmp_path / "work" / "ippo_rnn_2p" / "policies" / "run0.safetensors", run=0, steps=4_000_000_000)
    experiment = build(Experiment, run.config("ippo_rnn_2p"))
    aside = tmp_path / "work" / "ippo_rnn_2p-4000000000" / "policies" / "run0.safetensors"
    assert experiment.continue_from == (str(aside),)  # what was trained here last goes before what is shipped
    assert aside.is_file()
    shares, rates = zip(*experiment.ppo.learning_rate, strict=True)
    assert shares == (0, driver.WARM_UP, 1)
    assert rates == pytest.approx((1e-5, 5e-4 * 0.6, 1e-5))  # 4e9 of 1e10 steps are done


def test_a_continued_schedule_ends_where_it_began(driver):
    rate = driver.continued_rate({"learning_rate": [[0, 1e-3], [1, 1e-5]]}, 2e10, 1e10)
    assert rate == [[0, 1e-5], [driver.WARM_UP, 1e-5], [1, 1e-5]]
    assert driver.continued_rate({"learning_rate": 1e-3}, 5e9, 1e10)[1] == [driver.WARM_UP, 1e-3]


def test_bots_play_in_all_teams_for_a_file_of_games(driver, tmp_path):
    from interplay.rollout.recorded_games import load

    run = session(driver, tmp_path, scale=0.1)
    run.plan = {"stages": {}}
    agents = [{"name": "hanabi/simple"}, {"name": "hanabi/hgroup-regular", "options": {"scale": 0.5}}]
    run.play("some", "hanabi/2p", agents, episodes=10)
    games = load(tmp_path / "work" / "some.npz")
    assert len(games) == 4  # one of each team, in a small try
    assert len({one.actions.tobytes() for one in games}) == 4
    assert run.told["some"]["games"] == 4


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
