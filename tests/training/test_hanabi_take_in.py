"""From what run.py leaves behind to curves, shipped policies and numbers: each step is one command."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import tarfile
from pathlib import Path

import numpy as np
import pytest

from interplay.training.checkpoint import file_hash

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "benchmarks" / "hanabi_learning"


@pytest.fixture(scope="module")
def scripts():
    sys.path.insert(0, str(FOLDER))
    names = ("roster", "take_in", "foreseen", "evaluate", "crossplay")
    yield argparse.Namespace(**{name: importlib.import_module(name) for name in names})
    sys.path.remove(str(FOLDER))


def policy(path: Path, precision: str = "float16", players: int = 2, **training) -> bytes:
    """A tiny network as a policy's file."""
    import jax

    from interplay.agents import neural
    from interplay.agents.networks import Core
    from interplay.games.registry import make
    from interplay.training.actor_critic import policy_shape
    from interplay.training.config import Network

    game = make(f"hanabi/{players}p")
    shape = policy_shape(game, Network(encoding="belief", widths=(4,)))
    core = Core(shape, 1.0, jax.random.key(training.get("run", 0)))
    neural.save(path, core, game, "belief", training={"algorithm": "sp", **training}, precision=precision)
    return path.read_bytes()


def line(steps: float, **more) -> dict:
    return {"update": int(steps), "steps": steps, "returns": [1.0], **more}


@pytest.fixture
def left_behind(tmp_path):
    """A folder as run.py writes it: two stages that were trained and one that was not."""
    out = tmp_path / "out"
    out.mkdir()
    for stage, notes in (("hdr_2p", [{"hold": 0.0}, {"hold": 0.2}]), ("ippo_ff_2p", [{}])):
        with tarfile.open(out / f"{stage}.tar", "w") as tar:
            for run, note in enumerate(notes):
                file = tmp_path / f"run{run}.safetensors"
                policy(file, run=run, clone="run1", steps=100, **note)
                tar.add(file, arcname=f"{stage}/{file.name}")
    options = {"clone": "/far/work/bc_2p", "hold": [0, 0.2]}
    config = {"runs": 2, "game": {"name": "hanabi/2p"}, "algorithm": {"name": "hdr", "options": options}}
    config["output"] = {"folder": "/far/work/hdr_2p"}
    plain = {"runs": 1, "algorithm": {"options": {"games": "/else/humans.npz"}}, "output": {"folder": "/far/work/x"}}
    told = {
        "hdr_2p": {"config": config, "device": "chip", "wall_s": 3.0, "curve": [line(50), line(100)]},
        "ippo_ff_2p": {"config": plain, "curve": [line(100)]},
        "fcp_2p": {"config": plain, "error": "the clock had run out", "curve": []},
    }
    (out / "results.json").write_text(json.dumps(told))
    return out


def test_a_folder_is_taken_in_without_paths_and_nothing_is_lost(scripts, left_behind, tmp_path):
    results, work = tmp_path / "results", tmp_path / "work"
    assert scripts.take_in.take_in(left_behind, results, work) == ["hdr_2p", "ippo_ff_2p"]
    text = (results / "stages" / "hdr_2p.json").read_text()
    assert "/far" not in text
    (attempt,) = json.loads(text)["attempts"]
    assert attempt["config"]["algorithm"]["options"]["clone"] == "bc_2p"
    assert [p["hold"] for p in attempt["policies"]] == [0.0, 0.2]
    assert len(attempt["curve"]) == 2
    held = json.loads((results / "stages" / "ippo_ff_2p.json").read_text())["attempts"][0]
    assert held["config"]["algorithm"]["options"]["games"] == "humans.npz"
    assert sorted(f.name for f in (work / "hdr_2p").iterdir()) == ["run0.safetensors", "run1.safetensors"]
    assert not (results / "stages" / "fcp_2p.json").exists()

    told = json.loads((left_behind / "results.json").read_text())
    told["hdr_2p"]["curve"].append(line(150))  # the same configuration, further on
    (left_behind / "results.json").write_text(json.dumps(told))
    scripts.take_in.take_in(left_behind, results, work)
    (attempt,) = json.loads((results / "stages" / "hdr_2p.json").read_text())["attempts"]
    assert attempt["curve"][-1]["steps"] == 150

    told["hdr_2p"]["config"]["runs"] = 1  # another configuration, shorter: it is kept, behind the longer one
    told["hdr_2p"]["curve"] = [line(20)]
    (left_behind / "results.json").write_text(json.dumps(told))
    before = (work / "hdr_2p" / "run0.safetensors").stat().st_mtime_ns
    scripts.take_in.take_in(left_behind, results, work)
    attempts = json.loads((results / "stages" / "hdr_2p.json").read_text())["attempts"]
    assert [a["curve"][-1]["steps"] for a in attempts] == [150, 20]
    assert (work / "hdr_2p" / "run0.safetensors").stat().st_mtime_ns == before  # policies are those of the longer


def test_an_attempt_with_more_points_is_the_first_though_it_had_fewer_steps(scripts, left_behind, tmp_path):
    results, work, out = tmp_path / "results", tmp_path / "work", left_behind / "results.json"
    told = json.loads(out.read_text())
    told["hdr_2p"]["curve"] = [line(100, **{"return": 5.0})]
    out.write_text(json.dumps(told))
    scripts.take_in.take_in(left_behind, results, work)
    before = (work / "hdr_2p" / "run0.safetensors").stat().st_mtime_ns
    told["hdr_2p"] |= {"config": told["hdr_2p"]["config"] | {"envs": 8}, "curve": [line(60, **{"return": 7.0})]}
    out.write_text(json.dumps(told))
    scripts.take_in.take_in(left_behind, results, work)
    attempts = json.loads((results / "stages" / "hdr_2p.json").read_text())["attempts"]
    assert [a["last"]["return"] for a in attempts] == [7.0, 5.0]
    assert (work / "hdr_2p" / "run0.safetensors").stat().st_mtime_ns > before


def test_an_attempt_that_continues_another_takes_over_its_curve(scripts, left_behind, tmp_path):
    results, out = tmp_path / "results", tmp_path / "on"
    scripts.take_in.take_in(left_behind, results, tmp_path / "work")
    (attempt,) = json.loads((results / "stages" / "hdr_2p.json").read_text())["attempts"]
    told = json.loads((left_behind / "results.json").read_text())["hdr_2p"]
    told["config"]["continue_from"] = ["/far/work/hdr_2p-100/policies/run0.safetensors"]
    told |= {"continues": [p["sha256"] for p in attempt["policies"]], "curve": [line(160), line(220)], "wall_s": 4.0}
    out.mkdir()
    (out / "results.json").write_text(json.dumps({"hdr_2p": told}))
    for _ in range(2):  # again, while it grows
        scripts.take_in.take_in(out, results, tmp_path / "work")
        (whole,) = json.loads((results / "stages" / "hdr_2p.json").read_text())["attempts"]
        assert [x["steps"] for x in whole["curve"]] == [50, 100, 160, 220]
        assert whole["wall_s"] == 7.0


def test_speeds_are_replaced_by_newer_ones_and_never_by_faults(scripts, tmp_path):
    new = tmp_path / "new"
    new.mkdir()
    row = {"configuration": "ff", "flags": "plain", "steps_per_s": 5}
    (tmp_path / "speed.json").write_text(json.dumps({"jaxmarl": {}, "rows": [row, row | {"configuration": "lstm"}]}))
    rows = [row | {"steps_per_s": 6}, {"configuration": "lstm", "flags": "plain", "error": "late"}]
    (new / "speed.json").write_text(json.dumps({"jaxmarl": {}, "rows": rows}))
    scripts.take_in.take_in(new, tmp_path, None)
    held = json.loads((tmp_path / "speed.json").read_text())["rows"]
    assert [r.get("steps_per_s") for r in held] == [6, 5]


def test_a_folder_of_something_else_is_refused(scripts, tmp_path):
    with pytest.raises(SystemExit, match="is it what run"):
        scripts.take_in.take_in(tmp_path, tmp_path, None)


def roster(**policies) -> dict:
    empty = {"people": "", "bots": [], "proxies": [], "policies": {}}
    return {"limit_mb": 100, "not_played": [], "2p": empty | {"policies": policies}, "3p": empty}


def test_the_table_says_what_is_shipped(scripts, left_behind, tmp_path, capsys):
    results, work, data = tmp_path / "results", tmp_path / "work", tmp_path / "data"
    scripts.take_in.take_in(left_behind, results, work)
    (data / "2p").mkdir(parents=True)
    (data / "2p" / "old-1.safetensors").write_bytes(b"")
    wide = work / "op_2p" / "run0.safetensors"
    policy(wide, "float32", run=0)
    table = roster(
        **{
            "hdr-1": {"stage": "hdr_2p", "hold": 0.2},
            "hdr-0": {"stage": "hdr_2p", "hold": 0, "ship": False},
            "op-1": {"stage": "op_2p", "run": 0},
            "never-1": {"stage": "fcp_2p", "run": 0},
        }
    )
    manifest = scripts.take_in.ship(table, work, data, results)
    assert sorted(manifest) == ["2p/hdr-1", "2p/op-1"]
    assert manifest["2p/hdr-1"]["hold"] == 0.2
    assert manifest["2p/hdr-1"]["device"] == "chip"
    assert sorted(f.name for f in (data / "2p").iterdir()) == ["hdr-1.safetensors", "op-1.safetensors"]
    for name, told in manifest.items():
        assert file_hash(data / f"{name}.safetensors") == told["sha256"]
        assert scripts.roster.sha256(data / f"{name}.safetensors") == told["from_sha256"]
    assert manifest["2p/op-1"]["from_sha256"] == file_hash(wide)
    assert (data / "2p" / "op-1.safetensors").stat().st_size < wide.stat().st_size  # as int8
    assert "fcp_2p has not been trained" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="ship fewer"):
        scripts.take_in.ship(table | {"limit_mb": 1}, work, data, results)
    policy(work / "op_2p" / "run0.safetensors", players=3, run=0)
    with pytest.raises(SystemExit, match="no policy of hanabi/2p"):
        scripts.take_in.ship(table, work, data, results)
    with pytest.raises(SystemExit, match="name a run or a hold"):
        scripts.roster.listed(roster(a={"stage": "op_2p"}), 2)


def test_what_is_shipped_is_what_the_manifest_and_the_table_say(scripts):
    data = scripts.roster.DATA
    manifest = json.loads((data / "manifest.json").read_text())
    files = {f.relative_to(data).with_suffix("").as_posix(): f for f in data.glob("*/*.safetensors")}
    assert set(files) == set(manifest)
    listed = {one.shipped_at: one for p in (2, 3) for one in scripts.roster.listed(scripts.roster.read(), p)}
    for name, file in files.items():
        assert file_hash(file) == manifest[name]["sha256"]
        assert scripts.roster.sha256(file) == manifest[name].get("from_sha256", manifest[name]["sha256"])
        assert listed[name].ship
        assert manifest[name]["stage"] == listed[name].stage
    scripts.take_in.check_size(scripts.roster.read()["limit_mb"], data, sum(f.stat().st_size for f in files.values()))


def cast(folder: Path) -> argparse.Namespace:
    """Three clones and two policies held near the second, tiny ones, and how they are to be judged."""
    work = folder / "work"
    for number in range(3):
        policy(work / "bc_2p" / f"run{number}.safetensors", run=number)
    for number, hold in enumerate((0.0, 0.5)):
        policy(work / "hdr_2p" / f"run{number}.safetensors", run=number, hold=hold, clone="run1")
    names = {f"clone{n}": {"stage": "bc_2p", "run": n} for n in range(2)}  # no names that the package has, too
    (folder / "roster.json").write_text(json.dumps(roster(**names, held={"stage": "hdr_2p", "hold": 0.5})))
    return argparse.Namespace(
        players=2, work=work, stages=None, games=None, most_games=None, self_play=8, cross_play=8,
        roster=folder / "roster.json", out=folder,
    )  # fmt: skip


@pytest.fixture
def stage_play(monkeypatch, scripts):
    """Games that end as soon as they begin, with points that tell who sat where."""
    import interplay.rollout.engine as engine

    played = []

    def run(game, teams, *, episodes, **_):
        for team in teams:
            played.append(team)
            yield from (argparse.Namespace(score=(team.number + e) % 26) for e in range(episodes))

    monkeypatch.setattr(engine, "run", run)
    monkeypatch.setattr(scripts.crossplay, "play", run)
    return played


def test_an_evaluation_plays_only_what_it_has_not_played(scripts, stage_play, tmp_path):
    given = cast(tmp_path)
    found = scripts.evaluate.evaluate(given)
    assert sorted(found["self_play"]) == ["bc_2p/0", "bc_2p/1", "bc_2p/2", "hdr_2p/0", "hdr_2p/0.5"]
    assert {"mean", "se", "median", "perfect", "zero", "min", "games"} <= set(found["self_play"]["bc_2p/0"])
    crossed = found["ablation"]["hdr_2p"]
    assert crossed["agents"] == ["bc_2p/1", "hdr_2p/0", "hdr_2p/0.5"]
    np.testing.assert_allclose(crossed["mean"], np.transpose(crossed["mean"]))  # two players: both seatings of a pair
    assert len(stage_play) == 5 + 9
    assert scripts.evaluate.evaluate(given) == found
    assert len(stage_play) == 5 + 9
    (tmp_path / "stages").mkdir()
    config = {"algorithm": {"options": {"clone": "bc_turns_2p/policies/run1.safetensors"}}}
    (tmp_path / "stages" / "hdr_2p.json").write_text(json.dumps({"attempts": [{"config": config}]}))
    policy(given.work / "bc_turns_2p" / "run1.safetensors", run=1)
    again = scripts.evaluate.evaluate(given)  # the clone of another stage
    assert again["ablation"]["hdr_2p"]["agents"] == ["bc_turns_2p/1", "hdr_2p/0", "hdr_2p/0.5"]
    without = argparse.Namespace(**vars(given) | {"work": tmp_path / "nowhere"})
    with pytest.raises(SystemExit, match="no policies of any stage"):
        scripts.evaluate.evaluate(without)
    other = tmp_path / "other"
    policy(other / "hdr_2p" / "run0.safetensors", run=5, hold=0.3, clone="run1")
    after = scripts.evaluate.evaluate(argparse.Namespace(**vars(given) | {"work": other}))
    assert [name for name in after["self_play"] if name.startswith("hdr")] == ["hdr_2p/0.3"]  # the rest is superseded
    assert after["self_play"]["bc_2p/0"] == found["self_play"]["bc_2p/0"]  # not there now, but true


def test_an_agent_more_costs_its_own_games_alone(scripts, stage_play, tmp_path):
    given = cast(tmp_path)
    asked = argparse.Namespace(
        agents=[], only=False, players=2, work=given.work, roster=given.roster, games=8, seed=0, search=[],
        out=tmp_path / "crossplay_2p.json",
    )  # fmt: skip
    scripts.crossplay.crossed(asked)
    first = json.loads(asked.out.read_text())["rows"]
    assert len(first) == 3 + 6 * 2
    cells = {(r["agent"], r["partner"], r["seat"]): r for r in first}
    assert cells["clone0", "held", 0]["counts"] == cells["held", "clone0", 1]["counts"]  # one team
    assert cells["clone0", "held", 0]["mean"] != cells["clone0", "held", 1]["mean"]  # another one
    assert sum(cells["clone0", "clone1", 1]["counts"]) == 8
    stage_play.clear()
    asked.agents = [f"new+={given.work / 'bc_2p' / 'run2.safetensors'}"]
    scripts.crossplay.crossed(asked)
    assert len(stage_play) == 1 + 3 * 2  # with itself, and both seatings with each of three
    again = json.loads(asked.out.read_text())["rows"]
    assert [r for r in again if "new+" not in (r["agent"], r["partner"])] == first
    asked.agents, asked.work = [], tmp_path / "nowhere"
    stage_play.clear()
    scripts.crossplay.crossed(asked)  # their files are not here, but what they played is true
    assert json.loads(asked.out.read_text())["rows"] == first
    assert stage_play == []
    asked.agents = ["lost=nowhere.safetensors"]
    with pytest.raises(Exception, match=r"nowhere.safetensors"):
        scripts.crossplay.crossed(asked)


def test_shares_are_of_decisions_and_their_intervals_of_games(scripts):
    sums = np.array([[2.0, 1, 2, 2, 2], [6.0, 0, 1, 2, 2], [4.0, 1, 1, 4, 4]])  # nats, three ranks, decisions
    merged = scripts.foreseen.by_game(sums, np.array([7, 7, 9]))
    np.testing.assert_allclose(merged, [[8, 1, 3, 4, 4], [4, 1, 1, 4, 4]])
    found = scripts.foreseen.shares(merged)
    assert (found["decisions"], found["games"]) == (8, 2)
    assert found["cross_entropy"] == {"mean": 1.5, "low": 1.0, "high": 2.0}
    assert found["accuracy"]["mean"] == 0.25
    assert found["top_20_percent"] == {"mean": 1.0, "low": 1.0, "high": 1.0}


@pytest.mark.slow
def test_policies_are_asked_about_games_that_their_clone_never_saw(scripts, tmp_path):
    """Real games: a policy foresees its own likeliest moves."""
    from interplay.agents.neural import load
    from interplay.games.registry import make
    from interplay.rollout.engine import run
    from interplay.rollout.recorded_games import Recorded, save
    from interplay.rollout.teams import Team

    given = cast(tmp_path)
    game, one = make("hanabi/2p"), load(given.work / "bc_2p" / "run0.safetensors", greedy=True)
    played = run(game, [Team.of(game, [one, one])], episodes=8, seed=1, batch=64)
    given.games = tmp_path / "games.npz"
    save(given.games, [Recorded("", e.actions, e.start, e.score, e.game_id, dict(e.options)) for e in played])
    found = scripts.evaluate.evaluate(given)
    people = found["foreseen"]["hdr_2p/0.5"]
    assert people["split"] == 1  # its clone's
    assert people["accuracy"]["mean"] <= people["top_10_percent"]["mean"] <= people["top_20_percent"]["mean"]
    assert sum(found["foreseen"][f"bc_2p/{n}"]["games"] for n in range(3)) == 8  # every game is held out by one clone
    assert found["foreseen"]["bc_2p/0"]["accuracy"]["mean"] == 1
