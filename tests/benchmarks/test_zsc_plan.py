"""The plans of the zero-shot benchmarks: every job of a schedule has settings that training and panels accept."""

import argparse
import importlib.util
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from interplay.games.registry import make
from interplay.partners.config import Build
from interplay.training.algorithms import ALGORITHMS
from interplay.training.algorithms.coplay import CoplayOptions
from interplay.training.algorithms.e3t import E3TOptions
from interplay.training.algorithms.gamma import GAMMAOptions
from interplay.training.algorithms.hsp import HSPOptions
from interplay.training.algorithms.mep import MEPOptions
from interplay.training.config import Experiment
from interplay.training.loader import build, method_options
from interplay.training.reward_weights import event_weights

FOLDER = Path(__file__).parents[2] / "benchmarks" / "zsc"
PLAN = json.loads((FOLDER / "pipeline.json").read_text())
OTHERS = {name: json.loads((FOLDER.parent / name / "pipeline.json").read_text()) for name in ("football", "rescue")}
all_plans = pytest.mark.parametrize("plan", [PLAN, *OTHERS.values()], ids=["overcooked", *OTHERS])
OPTIONS = {
    "coplay": CoplayOptions,
    "e3t": E3TOptions,
    "gamma": GAMMAOptions,
    "hsp_pairs": HSPOptions,
    "mep_population": MEPOptions,
}


@pytest.fixture(scope="module")
def pipeline():
    return script("pipeline")


def script(name):
    """A script of the benchmark as a module."""
    spec = importlib.util.spec_from_file_location(f"zsc_{name}", FOLDER / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, spec.name, module)  # dataclasses look their module up
        spec.loader.exec_module(module)
    return module


@all_plans
@pytest.mark.parametrize("scale", [1.0, 0.0002])
def test_every_job_has_settings_that_are_accepted(pipeline, plan, scale, tmp_path):
    given = argparse.Namespace(out=tmp_path, layouts=[], jobs=None, scale=scale, agents=None, panels=None)
    jobs = pipeline.listed(plan, given)
    assert len(jobs) == sum(name != "people" for part in plan["schedule"] for name in part["jobs"])
    for job in jobs:
        if not job.config:
            assert Path(job.command[0]).is_file()
            continue
        kind = Build if "training" in job.config else Experiment
        settings = build(kind, job.config)
        assert settings.game.name == pipeline.game_name(plan, job.layout)
        game = make(settings.game.name, **settings.game.options)
        if kind is Build:
            settings.experiment("br", 1, max(settings.closing_steps, 1e4), 0, {}, closing=True)
            event_weights(game, settings.training.get("rewards", {}).get("shaped_events", {}))
            continue
        assert settings.algorithm.name in ALGORITHMS.names()
        assert settings.steps >= settings.envs * settings.rollout
        event_weights(game, settings.rewards.shaped_events)
        if settings.algorithm.name in OPTIONS:
            method_options(OPTIONS[settings.algorithm.name], settings)


@all_plans
def test_what_a_job_needs_is_in_the_schedule(pipeline, plan, tmp_path):
    given = argparse.Namespace(out=tmp_path, layouts=[], jobs=None, scale=1.0, agents=None, panels=None)
    jobs = pipeline.listed(plan, given)
    every = {job.key for job in jobs}
    for job in jobs:
        missing = {(job.layout, name) for name in job.needs} - every
        assert not missing, (job.key, missing)


def test_what_unfinished_jobs_made_is_packed(pipeline, tmp_path):
    """A failed job's candidates come back; its states do, too, if there is room, with the manifests that name them."""
    given = argparse.Namespace(
        out=tmp_path / "runs", layouts=["counter_circuit_multi"], jobs=["draft"], scale=1.0, agents=None, panels=None
    )
    jobs = pipeline.listed(PLAN, given)
    candidates = given.out / "counter_circuit_multi" / "draft" / "candidates"
    made = ["policies/run0-biased.safetensors", "snapshots/0.safetensors", "state-1.safetensors", "manifest.json"]
    for name in (*made, "../build.json", "log.jsonl"):
        path = candidates / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    pipeline.pack(given.out, tmp_path / "packed", PLAN, jobs, set())
    parts = sorted((tmp_path / "packed").iterdir())
    kinds = [
        f"{kind}.tar.gz.00" for kind in ("runs", "states-counter_circuit_multi", "unfinished-counter_circuit_multi")
    ]
    assert [part.name for part in parts] == kinds
    pipeline.restore(tmp_path / "small", [part for part in parts if not part.name.startswith("states")])
    there = {p.name for p in (tmp_path / "small").rglob("*") if p.is_file()}
    assert there == {"run0-biased.safetensors", "build.json", "log.jsonl"}
    pipeline.restore(tmp_path / "whole", parts)
    assert {p.name for p in (tmp_path / "whole").rglob("*") if p.is_file()} == {
        p.name for p in candidates.rglob("*") if p.is_file()
    } | {"build.json"}


def test_new_egos_on_the_panel_of_before_stand_beside_earlier_methods(tmp_path, monkeypatch):
    """Rows of methods that were trained anew are replaced, others stay; best responses are those of the panel now."""
    monkeypatch.syspath_prepend(FOLDER)
    install = script("install")
    runs, results = tmp_path / "runs", tmp_path / "results"
    cell = {"population": "", "partner": "3", "skill": "mid", "ego_seat": 0}
    worth = {"best_response_return": 50, "best_response_low": 45, "best_response_high": 55, "self_play_return": 0}
    about = {"prefers": "hoards dishes", "return_se": 0.5, "self_play_return": 3}

    def row(method, seed, value):
        return {"algorithm": method, "seed": seed} | cell | {"return": value} | worth

    def met(a, b, value):
        return {"algorithm": a, "seed": 1, "partner": b, "partner_seed": 1, "ego_seat": 0, "return": value}

    for folder in (runs, results):
        folder.mkdir()
    install.write_rows(results / "returns.csv", [row("hsp", 1, 5), row("hsp", 2, 6), row("cole", 1, 7)])
    install.write_rows(runs / "returns_generated.csv", [row("hsp", 1, 40) | about, row("cole", 1, 8) | about])
    install.write_rows(results / "crossplay.csv", [met("cole", "cole", 1), met("cole", "hsp", 2), met("hsp", "hsp", 3)])
    install.write_rows(runs / "crossplay.csv", [met("cole", "cole", 9), met("cole", "hsp", 4), met("hsp", "hsp", 5)])
    best = SimpleNamespace(seat=0, worth=SimpleNamespace(mean=60.0, low=58.0, high=62.0))
    panel = SimpleNamespace(members=[SimpleNamespace(candidate=3, skill="mid", responses=[best])])
    install.keep_earlier_rows(runs, results, panel, {"cole"})
    rows = install.read_rows(results / "returns.csv")
    assert [(r["algorithm"], r["seed"], r["return"]) for r in rows] == [("hsp", "1", "40"), ("cole", "1", "7")]
    now = {(r["best_response_return"], r["prefers"], r["self_play_return"]) for r in rows}
    assert now == {("60.0", "hoards dishes", "3")}
    assert [r["return"] for r in install.read_rows(results / "crossplay.csv")] == ["1", "4", "5"]


def test_tomatoes_cost_nothing_in_training():
    """Several recipes are learnt as in the paper: no price on an ingredient that orders ask for."""
    for variant in PLAN["variants"]:
        for settings in variant["jobs"].values():
            assert "potting_tomato" not in settings.get("rewards.shaped_events", {})


def test_every_ego_has_a_population_of_its_own():
    for name in ("egos", "egos_gru"):
        for settings in PLAN["jobs"][name]["options"]["methods"].values():
            assert not settings.get("shared", False)
    assert PLAN["training"]["runs"] == 5
    assert PLAN["training"]["gate"]["least_return"] == 20
