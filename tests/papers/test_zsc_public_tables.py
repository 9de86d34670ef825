"""The page of BR-Prox: its claim about whose best responses the public tables hold is checked, not believed."""

import os
from pathlib import Path

import pytest

from interplay.papers import page_formatting
from interplay.papers.zsc import public_tables

needs_data = pytest.mark.skipif(
    "INTERPLAY_DATA" not in os.environ, reason="INTERPLAY_DATA is not set: it names the folder with zsc_eval/*.csv.gz"
)


@needs_data
def test_the_given_best_responses_are_those_of_the_selected_candidates():
    folder = Path(os.environ["INTERPLAY_DATA"]) / "zsc_eval"
    for layout in public_tables.LAYOUTS:
        cells, returns = public_tables.read_table(folder / f"{layout}.csv.gz"), public_tables.events_of(folder, layout)
        right, mixed = public_tables.first_candidates(cells, returns, layout)
        assert len(right) == len(mixed) == len(cells.table) // 2
        assert right.column("compatible") != mixed.column("compatible")
        shifted = {candidate: value + 1 for candidate, value in returns.items()}
        with pytest.raises(SystemExit, match="is that of the selected candidate"):
            public_tables.first_candidates(cells, shifted, layout)


def test_numbers_for_the_page():
    assert page_formatting.number(0.1234, 0.1, 0.2) == "0.123 [0.100, 0.200]"
    assert page_formatting.number(None) == "–"
    assert page_formatting.grid(["a", "b"], [["x", "1"]]) == ["| a | b |", "| --- | ---: |", "| x | 1 |", ""]
