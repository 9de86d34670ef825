"""A sweep trains every combination of settings once, and a cluster gives the results of one machine."""

import json

import pytest

from interplay.config import as_json
from interplay.errors import InterplayError
from interplay.training.sweep import train_all, variants
from tests.training.conftest import small


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(as_json(small(steps=16 * 8 * 2, runs=1))))
    return path


def test_every_combination_has_its_own_folder(config, tmp_path):
    made = variants(config, ["seed=1,2", "ppo.epochs=1,2,2", "rollout=8"], tmp_path / "out")
    assert [v.settings for v in made] == [
        {"seed": 1, "ppo.epochs": 1},
        {"seed": 1, "ppo.epochs": 2},
        {"seed": 2, "ppo.epochs": 1},
        {"seed": 2, "ppo.epochs": 2},
    ]
    assert {v.config["rollout"] for v in made} == {8}
    assert len({v.config["output"]["folder"] for v in made}) == 4
    assert made[1].config["output"]["folder"] == str(tmp_path / "out" / "seed=1,ppo.epochs=2")


@pytest.mark.parametrize("changes", [["seed"], ["=1"], ["seed="], ["seed=1,2", "seed=3"], ["seed=0", "envs=0,16"]])
def test_bad_settings_are_refused_before_anything_is_trained(config, tmp_path, changes):
    with pytest.raises(InterplayError):
        variants(config, changes, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_sweep_trains_all_and_not_again(config, tmp_path):
    made = variants(config, ["seed=1,2"], tmp_path / "out")
    rows = list(train_all(made, quiet=True))
    assert [row["seed"] for row in rows] == [1, 2]
    files = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*.safetensors")}
    assert len([path for path in files if path.parent.name == "policies"]) == 2
    assert list(train_all(made, quiet=True)) == rows
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*.safetensors")} == files
