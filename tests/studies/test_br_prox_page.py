"""The page of BR-Prox: its claim about whose best responses the public tables hold is checked, not believed."""

import importlib.util
import os
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "studies" / "br_prox.py"
needs_data = pytest.mark.skipif(
    "INTERPLAY_DATA" not in os.environ, reason="INTERPLAY_DATA is not set: it names the folder with zsc_eval/*.csv.gz"
)


@pytest.fixture(scope="module")
def study():
    spec = importlib.util.spec_from_file_location("br_prox_page", SCRIPT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@needs_data
def test_the_given_best_responses_are_those_of_the_selected_candidates(study):
    folder = Path(os.environ["INTERPLAY_DATA"]) / "zsc_eval"
    for layout in study.LAYOUTS:
        cells, returns = study.read_table(folder / f"{layout}.csv.gz"), study.events_of(folder, layout)
        right, mixed = study.first_candidates(cells, returns, layout)
        assert len(right) == len(mixed) == len(cells.table) // 2
        assert right.column("compatible") != mixed.column("compatible")
        shifted = {candidate: value + 1 for candidate, value in returns.items()}
        with pytest.raises(SystemExit, match="is that of the selected candidate"):
            study.first_candidates(cells, shifted, layout)


def test_numbers_for_the_page(study):
    assert study.number(0.1234, 0.1, 0.2) == "0.123 [0.100, 0.200]"
    assert study.number(None) == "–"
    assert study.grid(["a", "b"], [["x", "1"]]) == ["| a | b |", "| --- | ---: |", "| x | 1 |", ""]
