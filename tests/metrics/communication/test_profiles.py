"""The same transcripts under the three named profiles of judging."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from interplay.cli.main import run
from interplay.errors import InterplayError
from interplay.metrics.communication import AuditSettings, judge
from interplay.metrics.communication.metric import settings_of
from interplay.metrics.communication.profiles import PROFILES, profile_name, with_profile
from tests.metrics.communication.scripts import lines, transcript

CUT = "does cut potato chopping_board potato#1"
GET = "does pickup potato ingredient_dispenser potato#1"


def judged(script: str, window: int | None = 10) -> dict[str, list[str]]:
    """What each profile says of each request."""
    settings = {name: with_profile(AuditSettings(window=window), name) for name in PROFILES}
    return {
        name: [f"{j.category}/{j.reason}" for j in judge(transcript(script), one)] for name, one in settings.items()
    }


def test_a_repeat_is_judged_apart_redundant_or_ineffective():
    found = judged(f"0 chef: Cut the potato.\n 4 chef: Cut the potato!\n 6 assistant {CUT}")
    assert found["paper"] == ["effective/followed", "effective/followed"]
    assert found["authors"] == ["effective/followed", "redundant/repeat"]
    assert found["ours"] == ["effective/followed", "ineffective/repeat"]


def test_any_refusal_of_the_partner_assists_by_the_authors_scripts_only():
    found = judged(f"0 chef: Cut the potato.\n 3 assistant fails stir blender utensil_empty\n 5 assistant {CUT}")
    assert found == {
        "paper": ["effective/followed"], "authors": ["assisted/corrected"], "ours": ["effective/followed"],
    }  # fmt: skip


def test_a_refusal_in_the_step_of_the_message_is_none_to_the_authors():
    found = judged(f"0 chef: Cut the potato.\n 0 assistant fails cut chopping_board utensil_empty\n 5 assistant {CUT}")
    assert found["authors"] == ["effective/followed"]
    assert found["paper"] == found["ours"] == ["assisted/corrected"]


def test_what_the_speaker_did_before_is_done_to_the_paper_only():
    found = judged(f"0 chef {GET}\n 2 chef: Pick up the potato from the ingredient dispenser.\n 5 assistant {GET}2")
    assert found["paper"] == ["redundant/done before"]
    assert found["authors"] == found["ours"] == ["effective/followed"]


def test_what_the_recipe_does_not_need_is_followed_by_the_authors():
    found = judged("0 chef: Cut the carrot.\n 3 assistant does cut carrot chopping_board carrot#1")
    assert found["authors"] == ["effective/followed"]
    assert found["paper"] == found["ours"] == ["ineffective/irrelevant"]


def test_reach_is_checked_by_ours_only():
    found = judged("0 chef: Put the potato slices into the pot.\n")
    assert found["ours"] == ["ineffective/infeasible"]
    assert found["paper"] == ["ineffective/ignored"]


def test_names_and_windows():
    assert with_profile(AuditSettings(), "authors").steps(100) == 15
    assert with_profile(AuditSettings(window=7), "authors").steps(100) == 7
    assert [profile_name(with_profile(AuditSettings(), name)) for name in PROFILES] == list(PROFILES)
    assert profile_name(AuditSettings(claims="many")) == "custom"
    assert settings_of({"judging": "paper", "window": 20}).claims == "many"
    with pytest.raises(InterplayError, match="profile of judging"):
        with_profile(AuditSettings(), "autors")
    with pytest.raises(InterplayError, match="claims: 'two'; write one or many"):
        AuditSettings(claims="two")  # type: ignore[arg-type]


def test_the_command_shows_them_side_by_side(tmp_path, capsys):
    path = tmp_path / "events.jsonl"
    path.write_text("\n".join(lines(f"0 chef: Cut the potato.\n 4 chef: Cut the potato!\n 6 assistant {CUT}")))
    run(["llm", "audit", str(path), "--judging", "paper", "authors", "ours", "--by", "all", "--json"])
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [(r["judging"], r["effective"], r["redundant"], r["ineffective"]) for r in rows] == [
        ("paper", 1, 0, 0), ("authors", 0.5, 0.5, 0), ("ours", 0.5, 0, 0.5),
    ]  # fmt: skip
    assert [r["follow_rate"] for r in rows] == [1, 0.5, 0.5]


@pytest.mark.skipif("INTERPLAY_DATA" not in os.environ, reason="needs the shared logs")
def test_the_table_in_the_documentation(capsys):
    logs = Path(os.environ["INTERPLAY_DATA"]) / "collab_logs" / "episodes.jsonl"
    run(["llm", "audit", str(logs), "--judging", "paper", "authors", "ours", "--by", "all", "--json"])
    rows = {r["judging"]: r for r in json.loads(capsys.readouterr().out)["rows"]}
    text = (Path(__file__).parents[3] / "docs" / "metrics" / "communication.md").read_text()
    for name, row in rows.items():
        cells = [f"{row[c]:.3f}".lstrip("0") for c in ("effective", "assisted", "redundant", "ineffective")]
        assert f"| all 21 | `{name}` | {row['requests']} | {' | '.join(cells)} |" in text
