"""The reference team and its degraded versions: each moves the numbers that it should, and no others."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from interplay.llm import RunPlan, run
from interplay.reports.communication import audit

PAGE = Path(__file__).parents[3] / "docs" / "metrics" / "communication.md"
PANEL = (
    "parsed_messages", "redundancy", "delayed_rate", "assisted_rate", "verifier_burden", "follow_rate_needed", "uptake",
    "adr", "tes", "success",
)  # fmt: skip
MOVED = {
    ("chatty", "reference"): {"parsed_messages"},
    ("redundant", "reference"): {"redundancy"},
    ("reference", "forgetful"): {"delayed_rate", "follow_rate_needed", "uptake"},
    ("reference", "clumsy"): {"assisted_rate", "verifier_burden"},
    ("reference", "deaf"): {"follow_rate_needed", "uptake", "adr", "tes", "success"},
}
REFERENCE = ("reference", "reference")


def numbers(team: tuple[str, str], levels: tuple[int, ...], episodes: int) -> dict[str, float | None]:
    chef, assistant = (f"scripted/{name}" for name in team)
    traces = run(RunPlan(chefs=(chef,), assistants=(assistant,), levels=levels, episodes=episodes)).traces
    return {row["metric"]: row["mean"] for row in audit(traces).summary("all", PANEL)}


@pytest.fixture(scope="module")
def reference() -> dict[str, float | None]:
    return numbers(REFERENCE, (1, 2), 1)


def test_the_reference_team_talks_exactly_as_needed(reference):
    ideal = {"redundancy": 0, "delayed_rate": 0, "assisted_rate": 0, "verifier_burden": 0}
    assert reference == pytest.approx({name: ideal.get(name, 1) for name in PANEL})


@pytest.mark.parametrize("team", MOVED, ids=" with ".join)
def test_each_degradation_moves_its_own_numbers_and_no_others(team, reference):
    found = numbers(team, (1, 2), 1)
    moved = {name for name in PANEL if found[name] is None or found[name] != pytest.approx(reference[name], abs=0.01)}
    assert moved == MOVED[team]


@pytest.mark.slow
def test_the_table_of_the_docs():
    shown = {}
    for line in PAGE.read_text().splitlines():
        row = re.match(r"\| (\w+), (\w+)(?::[^|]*)? \|(.*)\|$", line)
        if row and (row[1], row[2]) in {REFERENCE, *MOVED}:
            shown[row[1], row[2]] = [cell.strip().strip("*") for cell in row[3].split("|")]
    assert set(shown) == {REFERENCE, *MOVED}
    for team, cells in shown.items():
        found = numbers(team, (1, 2, 3), 5)
        assert cells == ["–" if found[name] is None else f"{found[name]:.2f}" for name in PANEL], team
