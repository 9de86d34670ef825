"""The method that the guide shows is a whole one: it runs as it stands."""

import re
from pathlib import Path

import numpy as np
import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "training.md"


@pytest.mark.slow
def test_the_method_of_the_guide_runs(tmp_path, monkeypatch):
    section = GUIDE.read_text().split("## A new method is one short file")[1]
    method, run = re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)
    (tmp_path / "shy.py").write_text(method)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    for there, here in (
        ('GameChoice("overcooked/cramped_room")', 'GameChoice("tests.training.toys:Match")'),
        ('Network(encoding="planes_first", trunk="cnn")', 'Network(encoding="vector", widths=(16,))'),
        ("steps=2e6", "steps=16 * 8 * 24, envs=16, rollout=8"),
    ):
        assert there in run
        run = run.replace(there, here)
    found = {}
    exec(compile(run.replace("train(experiment)", "train(experiment, quiet=True)"), str(GUIDE), "exec"), found)
    assert found["trained"].returns().shape == (2, 1)
    assert np.all(np.isfinite(found["trained"].returns()))
    assert len(list((tmp_path / "runs" / "shy" / "policies").glob("*.safetensors"))) == 2
