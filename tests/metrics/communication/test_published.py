"""Where the paper's tables contradict each other: what the docs say of them is what the tables say."""

from __future__ import annotations

import csv
import math
import os
from pathlib import Path

import pytest

from interplay.games.collab_kitchen.dishes import HORIZONS
from interplay.metrics.communication import AuditSettings

DATA = os.environ.get("INTERPLAY_DATA")
pytestmark = pytest.mark.skipif(not DATA, reason="set INTERPLAY_DATA to the folder of published tables")


def table(name: str) -> list[dict[str, str]]:
    with (Path(DATA or "") / "published" / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_no_weighting_of_the_levels_gives_the_totals_of_four_of_the_six_teams():
    totals = {(r["model"], r["framework"], r["metric"]): float(r["value"]) for r in table("s3_table3")}
    levels: dict[tuple[str, str, str], list[float]] = {}
    for r in table("s3_table4"):
        levels.setdefault((r["model"], r["framework"], r["metric"]), []).append(float(r["value"]))
    beyond = {key[:2] for key, total in totals.items() if key in levels and total > max(levels[key])}
    assert beyond == {(m, f) for m in ("GPT-4o", "Claude Sonnet 4") for f in ("Pro-Agent", "AToM")}


def test_the_shares_of_outcomes_leave_no_room_for_the_follow_rates():
    told = {
        (r["subject"], r["quantity"]): float(r["value"])
        for r in table("s3_text_numbers")
        if r["section"] == "5 Results"
    }
    redundant = told["all settings", "redundant_request_units"] / 100
    ineffective = told["all settings", "ineffective_or_delayed_request_units"] / 100
    followed = 1 - redundant - ineffective
    lowest = told["pairings", "follow_rate_min"]
    assert math.isclose(followed, 0.21)
    assert followed < lowest
    assert followed / (1 - redundant) < lowest  # even with redundant requests out of the denominator


def test_the_mean_over_pairings_is_above_every_model_and_scaffold_at_level_one():
    by_level = {r["level"]: float(r["value"]) for r in table("s3_table5") if r["metric"] == "level_normalized_adr"}
    found: dict[str, list[float]] = {}
    for r in table("s3_table4"):
        if r["metric"] == "adr" and r["level"] == "1":
            found.setdefault(r["framework"], []).append(float(r["value"]))
    assert all(sum(values) / len(values) < by_level["1"] for values in found.values())


def test_our_horizons_put_the_window_below_at_and_above_twenty_steps_as_the_robustness_check_implies():
    adr = {(r["level"], r["metric"]): float(r["value"]) for r in table("s3_table5")}
    for level in ("1", "2", "3"):
        window = AuditSettings().steps(HORIZONS[int(level)])
        difference = adr[level, "level_normalized_adr"] - adr[level, "fixed_window_adr"]
        assert (window > 20) - (window < 20) == (difference > 0) - (difference < 0)
