"""The page of learned Hanabi agents, from files as the benchmark's scripts write them."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def study():
    sys.path.insert(0, str(ROOT / "studies"))
    return importlib.import_module("hanabi_learning")


@pytest.fixture
def results(tmp_path):
    line = {"update": 5, "steps": 2e8, "returns": [12.5, 13.0], "steps_per_s": 1_000_000}
    measures = {f"{m}s": [0.1, 0.2, 0.3, None] for m in ("g1", "g2", "g3", "ad_entropy", "ard_entropy", "ic")}
    paid = {"seeds": 2, "variants": {"score only": {}, "dominant": {"g3": 0.2}}}
    stages = {
        "op_2p": {"config": {"runs": 2}, "curve": [line], "wall_s": 90.0},
        "hdr_2p": {"config": {"runs": 2}, "curve": [line], "wall_s": 90.0},
        "metric_rewards_2p": {
            "config": {"runs": 4, "algorithm": {"options": paid}},
            "curve": [line | {"returns": [1.0, 2.0, 3.0, 5.0]} | measures],
        },
        "fcp_2p": {"config": {}, "error": "the clock had run out", "curve": []},
    }
    (tmp_path / "one.json").write_text(json.dumps(stages))
    shorter = stages["op_2p"] | {"curve": [line | {"steps": 1e6, "returns": [1.0]}]}
    (tmp_path / "two.json").write_text(json.dumps({"op_2p": shorter}))
    names = ["op_2p/0", "bc_2p/0", "bc_2p/1"]
    crossed = {"agents": names, "mean": [[10.0, 4.0, 6.0], [5.0, 9.0, 7.0], [6.0, 7.5, 9.5]], "games": 500}
    alone = {"mean": 9.0, "se": 0.1, "median": 9.0, "perfect": 0.01, "zero": 0.2, "min": 0.0, "games": 5000}
    held = {"game": "hanabi/2p", "self_play": dict.fromkeys(names, alone), "cross_play": crossed}
    (tmp_path / "evaluation_2p.json").write_text(json.dumps(held))
    return tmp_path


def test_the_page_tells_budgets_matrices_and_published_rows(study, results):
    text = study.page(study.load(results))
    assert "| hdr_2p | 2 | 2e+08 | 1e10 | 1/50 | 1,000,000 | 90 |" in text
    assert "| op_2p | 12.50, 13.00 | – | 13.91 | AH2AC2 |" in text  # the longer of two runs
    assert "fcp_2p" not in text  # it was not trained, so nothing is said of it
    assert "| op_2p/0 | **10.0** | 4.0 | 6.0 |" in text
    assert "| dominant | g3 +0.2 | 4.000 ± 1.414 |" in text
    assert "| OP | 5.00 | 13.91 | 19 | 7.81 |" in text  # with both clones
    assert "| BC | 7.25 | 2.12 | 0 | 0.86 |" in text  # clones with each other, not with themselves
    assert "| OBL (L4) | – | 21.04 | 22 | 1.33 |" in text


def test_without_results_nothing_is_claimed(study, tmp_path):
    assert "Nothing has been trained yet" in study.page(study.load(tmp_path))


def test_clones_stand_beside_people_and_the_published_ones(study, tmp_path):
    share = {"mean": 1.9, "low": 1.8, "high": 2.0}
    fit = {"cross_entropy": share, "accuracy": {"mean": 0.4, "low": 0.3, "high": 0.5}}
    stage = {"config": {"runs": 3}, "curve": [{"update": 9}], "last": {"held_out": fit, "chance": fit}}
    (tmp_path / "bc.json").write_text(json.dumps({"bc_2p": stage}))
    people = {"ipp": 0.592, "communicativeness": 0.568}
    alike = {"kind": "likeness", "people": people, "clones": {"bc0": people | {"points_kept": 3.2}}}
    (tmp_path / "alike.json").write_text(json.dumps(alike))
    lines = study.clones(study.load(tmp_path))
    assert "| bc_2p | 1.900 [1.800, 2.000] | 0.400 [0.300, 0.500] | 1.90 | 0.40 | 1.74 | 0.46 |" in lines
    assert "| people | 0.59 | 0.57 | – |" in lines
    assert "| bc0 | 0.59 | 0.57 | 3.20 |" in lines
