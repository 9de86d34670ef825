"""Agents on one panel with common chance: paired differences, by partner, with wins."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import interplay
from interplay.cli.main import main
from interplay.errors import InterplayError
from tests.glossary import all_columns_explained  # noqa: F401

GAME = "overcooked/cramped_room"


@pytest.fixture(scope="module")
def comparison():
    game = interplay.make(GAME, horizon=60)
    return interplay.compare(["overcooked/greedy", "stay", "random"], game, partners=["overcooked/greedy", "random"],
                             episodes=3, seed=1)  # fmt: skip


def test_differences_are_those_of_the_paired_episodes(comparison):
    scores = {(r["agent"], r["partner"], r["seat_of_agent"], r["index"]): r["score"] for r in comparison.episodes.rows}
    paired = [score - scores["stay", *key[1:]] for key, score in scores.items() if key[0] == "overcooked/greedy"]
    row = next(r for r in comparison.differences.rows if (r["agent"], r["against"]) == ("overcooked/greedy", "stay"))
    assert row["difference"] == pytest.approx(np.mean(paired))
    assert row["low"] <= row["difference"] <= row["high"]
    assert row["wins"] == sum(d > 0 for d in paired)
    assert len(paired) == 12


def test_every_agent_meets_every_partner_with_the_same_chance(comparison):
    rows = comparison.episodes.rows
    met = {name: sorted((r["partner"], r["seat_of_agent"], r["index"]) for r in rows if r["agent"] == name)
           for name in {r["agent"] for r in rows}}  # fmt: skip
    assert len(met) == 3
    assert len({json.dumps(pairs) for pairs in met.values()}) == 1


def test_an_agent_does_not_differ_from_its_twin():
    game = interplay.make(GAME, horizon=30)
    twin = replace(interplay.agent("overcooked/greedy"), name="twin")
    row = interplay.compare(["overcooked/greedy", twin], game, partners=["random"], episodes=4).differences.rows[0]
    assert row["difference"] == row["low"] == row["high"] == 0


@pytest.mark.parametrize("agents", [["stay"], ["stay", "stay"]])
def test_fewer_than_two_agents_are_refused(agents):
    with pytest.raises(InterplayError, match="at least two agents"):
        interplay.compare(agents, GAME, partners=["random"], episodes=1)


def test_the_command_prints_and_reports(tmp_path, capsys):
    words = ["compare", "overcooked/greedy", "stay", "--game", GAME, "--options", "horizon=30"]
    with pytest.raises(SystemExit) as ended:
        main([*words, "--partners", "random", "overcooked/greedy", "--episodes", "2", "--out", str(tmp_path), "--json"])
    assert ended.value.code == 0
    assert json.loads(capsys.readouterr().out)
    assert "overcooked/greedy" in (tmp_path / "report.html").read_text()
