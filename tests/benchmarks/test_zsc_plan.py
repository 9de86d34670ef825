"""The plans of the zero-shot benchmarks: every job of a schedule has settings that training and panels accept."""

import argparse
import importlib.util
import json
import sys
from pathlib import Path

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
    spec = importlib.util.spec_from_file_location("zsc_pipeline", FOLDER / "pipeline.py")
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
