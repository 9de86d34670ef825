"""The pages about trained agents say what the data say, and refuse to say anything else."""

import dataclasses
import re
from pathlib import Path

import pytest

from interplay.papers.zsc import data, rankings_page, results_page

STUDIES = Path(__file__).parents[2] / "studies"
DOCS = Path(__file__).parents[2] / "docs" / "results"


@pytest.fixture(scope="module")
def layouts():
    return {found.layout: found for found in data.load_all()}


def test_the_page_of_the_benchmark_is_what_its_script_writes(tmp_path):
    written = tmp_path / "zsc.md"
    results_page.main(["--out", str(written), "--figure", str(tmp_path / "figure.png")])
    assert written.read_text() == (DOCS / "zsc.md").read_text()
    assert (tmp_path / "figure.png").stat().st_size > 1000


def test_a_claim_that_does_not_hold_ends_the_script(layouts):
    ring, page = layouts["coordination_ring"], results_page
    page.check_layout(ring)
    weak = [row | {"return": "100"} for row in ring.crossplay]
    with pytest.raises(SystemExit, match="self-play's floor is kept in coordination_ring"):
        page.check_layout(dataclasses.replace(ring, crossplay=weak))
    high = [row | {"return": str(1.5 * float(row["best_response_return"]))} for row in ring.returns]
    with pytest.raises(SystemExit, match="trimmed mean"):
        page.check_layout(dataclasses.replace(ring, returns=high))
    assert len(dataclasses.replace(ring, returns=high).above(beyond_noise=True)) == len(high)
    able = ring.stages | {"features": ring.stages["features"] | {"able_share": 0.5}}
    with pytest.raises(SystemExit, match="too few candidates"):
        page.check_claims(layouts | {"coordination_ring": dataclasses.replace(ring, stages=able)})


def test_published_values_are_those_of_the_page_about_them(layouts):
    """Best and SP of the layouts whose public tables are recomputed there."""
    text = (DOCS / "br_prox.md").read_text()
    for layout in ("forced_coordination", "coordination_ring", "counter_circuit"):
        reference = layouts[layout].reference
        row = re.search(rf"^\| {reference.title} \|(.*)\|$", text, flags=re.MULTILINE)
        assert row
        cells = [cell.strip() for cell in row[1].split("|")]
        assert (f"{reference.best:.3f}", f"{reference.sp:.3f}") == (cells[4], cells[6])


def test_ranges_of_published_values_are_read_from_the_page_about_them():
    ring = data.published("coordination_ring")
    assert set(ring) == set(data.METHODS)
    assert (max(ring["mep"]), min(ring["cole"]), ring["sp"]) == (0.751, 0.475, [0.268])
    forced = data.published("forced_coordination")
    assert max(forced["hsp"]) == 0.764  # without the cells in which nobody can score


def test_the_rankings_of_the_page_are_those_of_the_data(layouts):
    page = rankings_page
    made = {name: page.agreement(found, replicates=100) for name, found in layouts.items()}
    page.check_claims(list(layouts.values()), made)
    text = (DOCS / "zsc_rankings.md").read_text()
    for line in page.correlations(list(layouts.values()), made)[2:]:
        estimates = re.sub(r" \[[^]]*\]", "", line)  # intervals depend on the number of draws
        assert estimates in re.sub(r" \[[^]]*\]", "", text)


def test_cross_play_leaves_self_play_out_and_null_stays_null(layouts):
    page = rankings_page
    rows = page.tidy(layouts["asymmetric_advantages"])
    own = [r for r in rows if r["measure"] == "self-play"]
    assert len(own) == 2 * 23
    assert {r["partner"] for r in own} == {None}
    assert sum(r["measure"] == "cross-play" for r in rows) == 2 * 23 * 22
    assert {r["value"] for r in rows if r["measure"] in ("gives", "gets", "acceptance")} == {None}
