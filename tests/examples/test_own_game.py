"""A game in a package of its own, installed for real, gets all that ours get."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
PACKAGE = EXAMPLES / "own_game"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The package, installed into a folder that interplay's processes look into."""
    target = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "--target", str(target), str(PACKAGE)], check=True, capture_output=True)
    return target


@pytest.fixture(scope="module")
def run(installed, tmp_path_factory):
    folder = tmp_path_factory.mktemp("relay")
    paths = [str(installed), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}

    def command(*words, code=0):
        call = [sys.executable, "-m", "interplay.cli.main", *words]
        done = subprocess.run(call, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr[-2000:]
        return json.loads(done.stdout) if "--json" in words else done.stdout

    command.folder, command.environment = folder, environment
    return command


@pytest.fixture(scope="module")
def traces(run):
    agents = ["relay/runner", "relay/slow", "stay"]
    made = run("crossplay", "--game", "relay/line", "--agents", *agents, "--episodes", "3", "--out", "traces",
               "--report", "report.html", "--json")  # fmt: skip
    return {row["agents"]: row["mean"] for row in made["rows"]}


def test_it_plays_and_is_reported(run, traces):
    assert traces["relay/runner | relay/runner"] == 9
    assert traces["relay/runner | stay"] == 0
    page = (run.folder / "report.html").read_text()
    assert "Who helps whom" in page
    assert "Replays" in page
    assert run("replay", "traces", "--verify", "--json")["rows"] == []


def test_who_helps_whom_is_counted(run, traces):
    rows = run("measure", "traces", "--metrics", "interdependence", "--mean", "--json")["rows"]
    given = {
        (row["agents"], row["giver"], row["receiver"]): row["value"]
        for row in rows
        if row["metric"] == "constructive" and row["window"] == "unlimited"
    }
    assert given["relay/runner | relay/runner", 0, 1] == 9  # every parcel that was delivered changed hands once
    assert given["relay/runner | relay/runner", 1, 0] is None  # nothing can be handed back


def test_hand_overs_and_partners_have_a_worth(run, traces):
    call = (
        "measure",
        "traces",
        "--metrics",
        "counterfactual",
        "--options",
        "policies=registered",
        "samples=2",
        "most=2",
    )
    rows = run(*call, "--json")["rows"]
    partner = [r["value"] for r in rows if r["agents"] == "relay/runner | relay/runner" and r["way"] == "partner"]
    assert partner
    assert all(value == pytest.approx(9, abs=1) for value in partner)  # alone, nobody delivers anything


def test_it_is_graded_compared_and_certified(run):
    graded = run("grade", "--game", "relay/line", "--agent", "relay/runner", "--out", "grade", "--json")
    assert {row["partner"] for row in graded["rows"]} == {"relay/runner", "relay/slow", "random", "stay"}
    compared = run("compare", "relay/runner", "relay/slow", "--game", "relay/line", "--episodes", "3", "--json")
    assert compared["rows"][0]["difference"] > 0
    certified = run("certify", "relay/line", "--json")["rows"]
    verdicts = {row["verdict"] for row in certified if row.get("verdict")}
    assert verdicts == {"required"}


def test_a_language_model_plays_it_from_its_text(run):
    run(
        "play",
        "--game",
        "relay/line",
        "--agents",
        "llm:scripted/first",
        "relay/runner",
        "--episodes",
        "1",
        "--out",
        "llm",
    )
    rows = run("sql", "llm", "select kind, count(*) as n from events group by kind", "--json")["rows"]
    assert {row["kind"]: row["n"] for row in rows}["call"] == 60


def test_people_play_it_in_the_browser(run):
    run("study", "simulate", str(PACKAGE / "study.yaml"), "--participants", "1", "--out", "study", "--json")
    rows = run("measure", "study/traces", "--metrics", "score", "--json")["rows"]
    assert {row["agents"] for row in rows} == {"person | relay/runner"}


def test_it_keeps_every_contract(run):
    code = """
import interplay
from pettingzoo.test import parallel_api_test
from gymnasium.utils.env_checker import check_env
game = interplay.make("relay/line", horizon=12)
interplay.check_game(game)
interplay.check_agent("relay/slow", game)
parallel_api_test(interplay.to_pettingzoo(game), num_cycles=30)
check_env(interplay.to_gymnasium(game, "relay/runner"), skip_render_check=True)
assert interplay.make("relay/line", reach=5).reach == 5
try:
    interplay.make("relay/line", reach="far")
except interplay.InterplayError as error:
    assert "whole number" in str(error)
else:
    raise AssertionError("an option of another type was taken")
"""
    done = subprocess.run(
        [sys.executable, "-c", code], env=run.environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]


def test_a_learner_that_knows_gymnasium_alone_learns_it(run):
    call = [sys.executable, str(EXAMPLES / "gymnasium_learner.py"), "--episodes", "100"]
    done = subprocess.run(call, env=run.environment, capture_output=True, text=True, check=True)
    scores = {partner: float(score) for partner, score in re.findall(r"with (\S+): ([\d.]+)", done.stdout)}
    assert scores["relay/runner"] >= 4  # the scripted runner makes 9, an untrained learner 0
    assert scores["relay/slow"] >= 2
