"""Hanabi's metrics in a report: every number as `measure` and the record give it."""

import numpy as np
import pytest

import interplay
from interplay.metrics.hanabi.agent_pool import wide
from tests.reports.report_helpers import bundle_tables


@pytest.fixture(scope="module")
def games():
    return interplay.crossplay("hanabi/2p", ["random", "hanabi/smart"], episodes=3, seed=2)


@pytest.fixture(scope="module")
def tables(games, tmp_path_factory):
    return bundle_tables(games, tmp_path_factory.mktemp("bundle"))


def test_teams_are_counted_as_they_played(games, tables):
    rows = {row["agents"]: row for row in tables["hanabi-teams"]}
    assert len(rows) == 4
    for agents, row in rows.items():
        part = [e for e in games if " | ".join(i.name for i in e.agents) == agents]
        assert row["games"] == len(part) == 3
        assert row["points lost"] == pytest.approx(np.mean([e.score for e in part]))  # as these were played
        assert row["points kept"] >= row["points lost"]
        assert row["turns"] == pytest.approx(np.mean([e.length for e in part]))
        assert row["hints"] + row["plays"] + row["discards"] == pytest.approx(row["turns"])
        assert row["plays"] - row["misplays"] == pytest.approx(row["points kept"])
    assert rows["random | random"]["bombs"] == 1.0
    assert rows["random | random"]["points lost"] == 0 < rows["random | random"]["points kept"]


def test_agents_have_the_objective_metrics(games, tables):
    expected = {row["agent"]: row for row in wide(interplay.measure(games, ["hanabi/pool"]))}
    for row in tables["hanabi-agents"]:
        mine = expected[row["agent"]]
        for column in ("self_play", "inter_xp", "ad_entropy", "ci", "g1", "g2", "g3", "ipp", "communicativeness"):
            assert row[column] == pytest.approx(mine[column])
        assert row["ic"] == pytest.approx(mine["ic_corrected"])
        assert row["games"] == 9
        assert 0 < row["adherence"] < 1
    assert {row["agent"] for row in tables["hanabi-agents"]} == {"random", "hanabi/smart"}


def test_other_games_have_no_such_tables(tmp_path):
    kitchen = interplay.make("overcooked/cramped_room", horizon=10)
    html = interplay.report(interplay.play(kitchen, ["stay", "random"], episodes=1)).html
    assert "How Hanabi was played" not in html
