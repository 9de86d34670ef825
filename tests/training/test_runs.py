"""Runs side by side, killed and gone on with, and what they leave on disk."""

import dataclasses
import importlib.util
import json
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import jax
import numpy as np
import pytest

import interplay
from interplay.agents.neural import load
from interplay.errors import InterplayError
from interplay.games.registry import make
from interplay.hub.store import CHECKOUT
from interplay.partners.config import Build
from interplay.rollout.check_agent import check_agent
from interplay.training import log
from interplay.training.__main__ import main
from interplay.training.algorithms import ALGORITHMS, sp
from interplay.training.compiled_stage import Program
from interplay.training.config import Experiment
from interplay.training.loader import as_json, build
from interplay.training.loader import load as load_config

TIMES = ("wall_s", "steps_per_s")


def curve(lines):
    return [{k: v for k, v in line.items() if k not in TIMES} for line in lines]


def moved(experiment, folder):
    output = dataclasses.replace(experiment.output, folder=None if folder is None else str(folder))
    return dataclasses.replace(experiment, output=output)


def leaves(tree):
    return [np.asarray(x) for x in jax.tree_util.tree_leaves(tree)]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A run that was left alone, with its folder."""
    from tests.training.conftest import small

    folder = tmp_path_factory.mktemp("runs") / "alone"
    given = small(output={"folder": str(folder), "snapshots": 2, "save_critic": True})
    return sp.train(given, quiet=True), folder


def test_self_play_learns_to_name_the_cue(finished):
    trained, _ = finished
    assert trained.curve[0]["return"] < 6  # by chance half of 8
    assert trained.curve[-1]["return"] > 7.3


@pytest.mark.slow
def test_runs_do_not_know_of_each_other(finished):
    """Run 1 of two, trained alone, is the same run."""
    both, _ = finished
    alone = dataclasses.replace(moved(both.experiment, None), runs=1, first_run=1)
    one = sp.train(alone, quiet=True)
    for together, by_itself in zip(leaves(both.members), leaves(one.members), strict=True):
        np.testing.assert_allclose(together[1], by_itself[0], atol=2e-5)
    assert not np.allclose(both.members.policy.head.weight[0], both.members.policy.head.weight[1])
    assert [line["returns"][1] for line in both.curve] == pytest.approx([line["returns"][0] for line in one.curve])


def test_a_killed_run_goes_on_as_if_it_had_not_been(finished, tmp_path, monkeypatch):
    whole, _ = finished
    given = moved(whole.experiment, tmp_path)
    write = log.Log.add

    def killed(self, line):
        write(self, line)
        if line["update"] == 30:  # after the checkpoint at 24, with a log line beyond it
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(log.Log, "add", killed)
        with pytest.raises(KeyboardInterrupt):
            sp.train(given, quiet=True)
    assert [line["update"] for line in log.read(tmp_path / "log.jsonl")] == [6, 12, 18, 24, 30]
    assert not json.loads((tmp_path / "manifest.json").read_text())["policies"]
    with (tmp_path / "log.jsonl").open("a") as file:
        file.write('{"update": 999, "half a li')
    again = sp.train(given, quiet=True)
    assert curve(again.curve) == curve(whole.curve)
    assert curve(log.read(tmp_path / "log.jsonl")) == curve(whole.curve)
    for one, other in zip(leaves(again.members), leaves(whole.members), strict=True):
        np.testing.assert_array_equal(one, other)
    assert [s.update for s in again.snapshots] == [s.update for s in whole.snapshots] == [0, 12, 24, 36]
    assert len(list(tmp_path.glob("state-*"))) == 1


def test_training_continues_from_the_files_of_policies(finished, tmp_path):
    """Weights, critic and steps come from the files; the return begins where it was, not where learning began."""
    whole, folder = finished
    files = tuple(str(folder / policy["file"]) for policy in whole.policies)
    ppo = dataclasses.replace(whole.experiment.ppo, learning_rate=((0.0, 0.0), (0.5, 1e-2), (1.0, 0.0)))
    given = dataclasses.replace(moved(whole.experiment, tmp_path / "on"), ppo=ppo, continue_from=files)
    continued = sp.train(given, quiet=True)
    assert [line["update"] for line in continued.curve] == [6, 12, 18, 24, 30, 36]
    steps = 16 * 8 * 36
    assert [line["steps"] for line in continued.curve] == [steps + 16 * 8 * n for n in (6, 12, 18, 24, 30, 36)]
    assert [policy["steps"] for policy in continued.policies] == [2 * steps, 2 * steps]
    assert continued.curve[0]["return"] > 7.3  # by chance half of 8
    assert continued.curve[0]["explained"] > 0.8 * whole.curve[-1]["explained"]  # the critic is there too
    assert sp.train(given, quiet=True).policies == continued.policies

    still = dataclasses.replace(given, ppo=dataclasses.replace(ppo, learning_rate=((0.0, 0.0),)), steps=16 * 8 * 2)
    unmoved = sp.train(moved(still, tmp_path / "still"), quiet=True)
    for trained, kept in zip(leaves(whole.members), leaves(unmoved.members), strict=True):
        np.testing.assert_allclose(trained, kept, atol=2e-3)  # kept as float16

    with pytest.raises(InterplayError, match="1 files for 2 runs of 1 learners"):
        sp.train(dataclasses.replace(moved(given, None), continue_from=files[:1]), quiet=True)
    wide = dataclasses.replace(given.network, widths=(8,))
    with pytest.raises(InterplayError, match=r"run0.safetensors has other layers than `network` says"):
        sp.train(dataclasses.replace(moved(given, None), network=wide), quiet=True)
    other = dataclasses.replace(given.game, name="tests.training.toys:Recall")
    with pytest.raises(InterplayError, match=r"trained for .*:Match .*, not for .*:Recall"):
        sp.train(dataclasses.replace(moved(given, None), game=other), quiet=True)
    bare = continued.experiment.output.__class__(folder=str(tmp_path / "bare"), logs=1, checkpoints=1)
    without = sp.train(dataclasses.replace(still, output=bare), quiet=True)
    named = tuple(str(tmp_path / "bare" / policy["file"]) for policy in without.policies)
    with pytest.raises(InterplayError, match=r"has no critic: train it with output\.save_critic"):
        sp.train(dataclasses.replace(moved(given, None), continue_from=named), quiet=True)


def test_a_finished_run_is_not_trained_again(finished, monkeypatch):
    whole, folder = finished
    before = (folder / "manifest.json").read_bytes()
    monkeypatch.setattr(Program, "chunk", property(lambda self: pytest.fail("it trained again")))
    again = sp.train(whole.experiment, quiet=True)
    assert again.policies == whole.policies
    assert (folder / "manifest.json").read_bytes() == before


def test_another_run_does_not_overwrite(finished):
    whole, folder = finished
    other = dataclasses.replace(whole.experiment, seed=7)
    with pytest.raises(InterplayError, match=r"experiment.seed is 0 there and 7 here.*nothing was changed"):
        sp.train(other, quiet=True)
    (folder / "kept").write_text("")


def test_damaged_and_foreign_checkpoints_are_refused(finished, tmp_path):
    import shutil

    whole, folder = finished
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    given = moved(whole.experiment, copy)
    state = next(copy.glob("state-*"))
    state.write_bytes(state.read_bytes()[:-1] + b"\x07")
    with pytest.raises(InterplayError, match="its hash is another"):
        sp.train(given, quiet=True)
    state.unlink()
    with pytest.raises(InterplayError, match="is missing, though the manifest"):
        sp.train(given, quiet=True)
    (copy / "manifest.json").write_text('{"format": "interplay-traces"}')
    with pytest.raises(InterplayError, match="something else than a training run; nothing was overwritten"):
        sp.train(given, quiet=True)


def test_a_checkpoint_is_an_agent(finished):
    whole, folder = finished
    game = make(whole.experiment.game.name, **whole.experiment.game.options)
    file = folder / whole.policies[1]["file"]
    agent = interplay.agent(str(file))
    check_agent(agent, game, steps=4)
    trained = whole.agent(1).policy.core
    for mine, kept in zip(leaves(trained), leaves(agent.policy.core), strict=True):
        np.testing.assert_allclose(mine, kept, atol=2e-3)  # kept as float16
    assert interplay.agent(str(folder), member=1).identity(game).hash == agent.identity(game).hash
    assert interplay.agent(str(folder), member=0).identity(game).hash != agent.identity(game).hash
    with pytest.raises(InterplayError, match="holds 2 policies; choose one"):
        interplay.agent(str(folder))
    with pytest.raises(InterplayError, match="unknown option of a checkpoint 'greed'"):
        interplay.agent(str(file), greed=True)
    noisy = interplay.agent(f"{file}+0.2")
    assert float(noisy.policy.epsilon) == pytest.approx(0.2)


def test_a_policy_knows_its_game(finished):
    whole, folder = finished
    agent = load(folder / whole.policies[0]["file"])
    with pytest.raises(InterplayError, match=r"trained for tests.training.toys:Match .* the game is .*:Recall"):
        agent.policy.bind(make("tests.training.toys:Recall"))
    tried = load(folder / whole.policies[0]["file"], any_game=True)
    assert tried.policy.bind(make("tests.training.toys:Recall")) is tried.policy
    with pytest.raises(InterplayError, match="reads the encoding 'vector'"):
        tried.policy.bind(make("overcooked/cramped_room"))


def test_files_that_do_not_hold_their_network(finished, tmp_path):
    from safetensors import safe_open
    from safetensors.numpy import save_file

    whole, folder = finished
    file = folder / whole.policies[0]["file"]
    with safe_open(file, framework="numpy") as opened:
        header, arrays = opened.metadata(), {k: opened.get_tensor(k) for k in opened.keys()}  # noqa: SIM118
    bad = tmp_path / "bad.safetensors"
    save_file({k: v for k, v in arrays.items() if k != "head.bias"}, bad, metadata=header)
    with pytest.raises(InterplayError, match=r"bad.safetensors lacks head.bias"):
        load(bad)
    save_file(arrays | {"head.bias": np.zeros(7, np.float16)}, bad, metadata=header)
    with pytest.raises(InterplayError, match=r"head.bias has shape \(7,\); its network needs \(3,\)"):
        load(bad)
    save_file(arrays, bad)
    with pytest.raises(InterplayError, match="holds no policy of interplay"):
        load(bad)
    bad.write_text("hello")
    with pytest.raises(InterplayError, match="damaged or no safetensors file"):
        load(bad)
    with pytest.raises(InterplayError, match="there is no checkpoint"):
        load(tmp_path / "nobody.safetensors")


def test_the_command(finished, tmp_path, capsys):
    whole, _ = finished
    config = tmp_path / "config.json"
    values = as_json(whole.experiment)
    values["output"]["folder"] = None
    config.write_text(json.dumps(values))
    assert main([str(config), "--out", str(tmp_path / "out"), "--quiet"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["returns"] == pytest.approx(whole.curve[-1]["returns"])
    assert main([str(config), "ppo.epoch=8"]) == 2
    assert "option 'ppo.epoch', as 'epoch'; did you mean epochs" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ('ppo.clip="far"', "ppo.clip: 'far'; expected a number"),
        ("runs=1.5", "runs: 1.5; expected a whole number"),
        ("network.widths=64", "network.widths: 64; expected a list"),
        ("ppo.entropy=[[1, 0.1], [0, 0.2]]", "have to rise from 0 to 1"),
        ("steps=10", "steps: 10 is less than one update"),
        ('game="overcooked"', "game: expected an object with the fields of GameChoice"),
        ('algorithm.name="spp"', "unknown algorithm 'spp'; did you mean sp"),
        ('rewards.events={"dance": 1}', "unknown event of tests.training.toys:Match 'dance'"),
    ],
)
def test_settings_that_cannot_be(experiment, tmp_path, capsys, change, message):
    config = tmp_path / "config.json"
    config.write_text(json.dumps(as_json(experiment())))
    assert main([str(config), change, "--quiet"]) == 2
    assert message in capsys.readouterr().err


def test_what_is_written_is_read_again(experiment):
    from interplay.training.config import Experiment
    from interplay.training.loader import build

    given = experiment(ppo={"entropy": ((0.0, 0.2), (1.0, 0.01)), "huber": None})
    assert build(Experiment, as_json(given)) == given


def test_a_bare_machine_is_enough():
    """Training imports none of what only analysis needs."""
    import subprocess

    code = (
        "import sys\n"
        "blocked = {'pydantic', 'duckdb', 'tyro', 'scipy.stats', 'pandas', 'jinja2', 'wandb'}\n"
        "class Refuse:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name in blocked: raise ImportError('not on a bare machine: ' + name)\n"
        "sys.meta_path.insert(0, Refuse())\n"
        "import interplay.training.__main__, interplay.training.algorithms as a\n"
        "for name in a.ALGORITHMS.names(): a.ALGORITHMS.load(name)\n"
        "import interplay.rollout.engine\n"
        "from interplay.games.registry import make\n"
        "make('overcooked/coordination_ring'); make('hanabi/2p')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


ZSC = Path(__file__).parents[2] / "benchmarks" / "zsc"
PLANS = ("pipeline.json",)  # many configurations in one
RESULTS = ("bc.json",)


def test_shipped_configurations_can_be_read():
    files = sorted(f for f in ZSC.glob("*.json") if f.name not in PLANS + RESULTS)
    assert files
    for file in files:
        given = load_config(file, Experiment)
        game = make(given.game.name, **given.game.options)
        assert game.horizon % given.rollout == 0 or given.algorithm.name == "sp", file.name


@pytest.fixture(scope="module")
def pipeline():
    found = importlib.util.spec_from_file_location("pipeline", ZSC / "pipeline.py")
    module = importlib.util.module_from_spec(found)
    sys.modules["pipeline"] = module
    found.loader.exec_module(module)
    yield module
    del sys.modules["pipeline"]


def arguments(pipeline, plan, **changes):
    panels = CHECKOUT / "panels" / "overcooked"
    common = {"layouts": [], "jobs": None, "out": Path("runs"), "scale": 1.0, "agents": None, "panels": panels}
    return json.loads((ZSC / plan).read_text()), SimpleNamespace(**common | changes)


@pytest.mark.parametrize("plan", PLANS)
def test_every_job_of_a_plan_is_a_configuration(plan, pipeline):
    told, given = arguments(pipeline, plan)
    for layout in ("counter_circuit", "blocked_corridor", "forced_coordination_multi", "asymmetric_coordination"):
        for name, job in told["jobs"].items():
            made = pipeline.job_of(told, given, layout, name, set(told["jobs"]))
            assert made.needs <= set(told["jobs"])
            if "partners" in job:
                build(Build, made.config, name)
            elif "script" in job:
                assert (ZSC / job["script"]).is_file()
            else:
                experiment = build(Experiment, made.config, name)
                assert make(experiment.game.name).horizon % experiment.rollout == 0
                assert experiment.algorithm.name in ALGORITHMS.names()
    assert set(told["egos"]) <= set(told["jobs"])


def test_the_schedule_is_in_an_order_that_works(pipeline):
    """Whatever a job needs stands before it, and what a panel knows are the egos that are made by then."""
    told, given = arguments(pipeline, "pipeline.json")
    jobs, done = pipeline.listed(told, given), set()
    for job in jobs:
        assert {(job.layout, name) for name in job.needs} <= done, job.key
        done.add(job.key)
    (panel,) = [job for job in jobs if job.key == ("blocked_corridor", "panel")]
    known = ("sp={}/sp#20-24", "{}/egos", "trajedi={}/trajedi", "e3t={}/e3t", "{}/egos_states")
    assert panel.config["known"] == [name.format("runs/blocked_corridor") for name in known]
    assert panel.config["partners"] == ["runs/blocked_corridor/draft/panel"]
    sp = next(job for job in jobs if job.name == "sp")
    # Populations of five egos, five egos, ten partners that no method trains with.
    assert sp.config["runs"] == 35
    egos = next(job for job in jobs if job.name == "egos").config["algorithm"]["options"]["methods"]
    assert egos["fcp"]["population_from"].endswith("/sp#0-19")
    partners = next(job for job in jobs if job.name == "self_play").config["partners"]
    assert partners == ["runs/blocked_corridor/sp#25-34"]
    # Without the panels of clones nothing is made of nobody.
    _, without = arguments(pipeline, "pipeline.json", panels=None)
    assert "people" in {job.name for job in jobs}
    assert "people" not in {job.name for job in pipeline.listed(told, without)}


def test_jobs_that_are_done_need_not_be_listed(pipeline, tmp_path, capsys, monkeypatch):
    """`--jobs panel` works where what panels need was done by an earlier call."""
    for name in ("draft", "egos", "e3t", "sp"):
        at = pipeline.marker(tmp_path, ("coordination_ring", name))
        at.parent.mkdir(parents=True, exist_ok=True)
        at.write_text("{}")
    monkeypatch.setattr(sys, "argv", ["pipeline.py", "coordination_ring", "--jobs", "panel", "--out", str(tmp_path)])
    monkeypatch.setattr(pipeline, "work", lambda jobs, progress, given: progress.done.add(jobs[0].key))
    assert pipeline.main() == 0
    assert json.loads(capsys.readouterr().out)["done"] == 5


def test_a_pipeline_goes_on_where_it_was_cut(pipeline, tmp_path):
    """Jobs that say what they do: one is cut, one fails, what they need comes first, and an archive restores it all."""
    script = (
        "import sys, time, pathlib; p = pathlib.Path(sys.argv[1]); time.sleep(float(sys.argv[2])); p.write_text('x')"
    )

    def job(name, sleeps, *needs):
        at = tmp_path / "out" / "a" / name / "log.jsonl"
        at.parent.mkdir(parents=True, exist_ok=True)
        return pipeline.Job("a", name, ["-c", script, str(at), sleeps], {}, frozenset(needs), 9.0, 0.0)

    jobs = [job("quick", "0"), job("slow", "9", "quick"), job("broken", "oops"), job("last", "0", "broken")]
    given = SimpleNamespace(out=tmp_path / "out", minutes=4 / 60, beside=2, last=False, began=time.time())
    progress = pipeline.Progress()
    pipeline.work(jobs, progress, given)
    assert progress.done == {("a", "quick")}
    assert progress.failed == {("a", "broken"), ("a", "last")}
    assert not (tmp_path / "out" / "a" / "slow" / "log.jsonl").exists()
    lines = [json.loads(line) for line in (tmp_path / "out" / "timeline.json").read_text().splitlines()]
    assert [line["job"] for line in lines if "cut_after" in line] == ["slow"]
    assert "oops" in next(line for line in lines if line["job"] == "broken")["said"]
    (tmp_path / "out" / "a" / "quick" / "policies").mkdir()
    (tmp_path / "out" / "a" / "quick" / "policies" / "run0.safetensors").write_bytes(b"weights")
    pipeline.pack(tmp_path / "out", tmp_path / "pack", {}, jobs, progress.done)
    assert sorted(p.name for p in (tmp_path / "pack").iterdir()) == ["population-a.tar.gz.00", "runs.tar.gz.00"]
    pipeline.restore(tmp_path / "again", sorted((tmp_path / "pack").iterdir()))
    assert (tmp_path / "again" / "a" / "quick.done.json").exists()
    # Its policies are packed, since an unfinished job needs them.
    assert (tmp_path / "again" / "a" / "quick" / "policies" / "run0.safetensors").read_bytes() == b"weights"
    told = {"experiment": {"steps": 1000.0, "envs": 5, "rollout": 20}, "state": {"update": 5}}
    (tmp_path / "again" / "a" / "slow").mkdir()
    (tmp_path / "again" / "a" / "slow" / "manifest.json").write_text(json.dumps(told))
    assert pipeline.still_needed(jobs[1], tmp_path / "again") == pipeline.COMPILING + 4.5  # half is done
    began = time.time()
    soon = SimpleNamespace(out=tmp_path / "again", minutes=3 / 60, beside=2, last=True, began=began)
    pipeline.work(jobs[:2], pipeline.Progress(done={("a", "quick")}), soon)
    assert time.time() - began < 2  # nothing is begun that will not be done


def test_teaming_is_an_option_of_every_method(monkeypatch):
    from interplay.cli.main import run
    from interplay.training import algorithms

    seen = []

    def stop(experiment, *, quiet):
        seen.append(experiment)
        raise InterplayError("seen")

    monkeypatch.setattr(algorithms, "train", stop)
    config = str(ZSC / "mep_coordination_ring.json")
    assert run(["train", config, "steps=1e6", "--teaming", "0.3", "--quiet"]) == 2
    assert main([config, "--teaming", "0.3"]) == 2
    assert [e.rewards.teaming for e in seen] == [0.3, 0.3]
    assert seen[0].steps == 1e6


def test_the_logged_speed_is_the_mean_since_the_process_began(finished):
    """Chunks can arrive together, so a speed of the time between two lines would be wrong."""
    experiment = finished[0].experiment
    numbers = {"score": np.zeros((6, experiment.runs, 1)), "episodes": np.zeros((6, experiment.runs, 1))}
    line = log.row(experiment, numbers, 24, 6, 0.001, since=12, elapsed_s=9.0)
    steps = (24 + 6 - 12) * experiment.envs * experiment.rollout * experiment.runs
    assert line["steps_per_s"] == round(steps / 9.0)
    assert line["steps"] == 30 * experiment.envs * experiment.rollout
