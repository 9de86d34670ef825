"""Scores with oneself, with one's algorithm, and with others."""

import pytest

import interplay
from interplay.agents.api import Identity
from interplay.metrics.crossplay import CrossplaySums, finish
from interplay.metrics.grouping import PAIRING, AgentKey, TeamGroup
from tests.metrics.hanabi.scripted import episode, traces

HANDS = ["R1 Y1 G1 W1 B1", "R2 Y2 G2 W2 B2"]
A1 = Identity("a1", "1", False, {"algorithm": "alpha", "seed": 1})
A2 = Identity("a2", "2", False, {"algorithm": "alpha", "seed": 2})
B = Identity("b", "3", False)


def points(n, who):
    """A game cut short after n points: two seats lay down red 1, red 2, yellow 1, ... in turn."""
    return episode(HANDS, ["play 0"] * n, who)


def row(found, metric, agent):
    (found_row,) = found.where(metric=metric, agent=agent, over="games").rows
    return found_row


def test_relations_by_hand():
    games = [points(2, [A1, A1]), points(4, [A1, A1]), points(3, [A1, A2]), points(1, [A2, A1]), points(5, [A1, B])]
    games.append(points(2, [B, A1]))
    found = interplay.measure(traces(*games), ["crossplay"])
    mine = row(found, "self_play", "a1")
    assert (mine["value"], mine["sd"], mine["games"]) == (3, pytest.approx(2**0.5), 2)
    assert row(found, "intra_xp", "a1")["value"] == 2
    assert row(found, "intra_xp", "a2")["value"] == 2
    assert row(found, "inter_xp", "a1")["value"] == 3.5
    assert row(found, "inter_xp", "b")["value"] == 3.5
    assert row(found, "self_play", "b")["value"] is None
    assert row(found, "intra_xp", "b")["value"] is None
    assert row(found, "inter_xp_length", "b")["value"] == 3.5
    cells = {(r["agent"], r["partner"]): (r["value"], r["games"]) for r in found.where(metric="score", over="pairing")}
    assert cells == {
        ("a1", "a1"): (3, 2), ("a1", "a2"): (2, 2), ("a2", "a1"): (2, 2), ("a1", "b"): (3.5, 2), ("b", "a1"): (3.5, 2),
    }  # fmt: skip


def test_three_seats():
    """One i and two j, in all seatings, are one cell of the matrix; a j there sits with an i and a j."""
    games = interplay.crossplay("hanabi/3p", ["random", "hanabi/blind"], episodes=2, seed=0)
    found = interplay.measure(games, ["crossplay"])
    cell = found.where(metric="score", agent="random", partner="hanabi/blind & hanabi/blind")
    assert cell.column("games") == [6]
    assert cell.column("relation") == ["inter_xp"]
    mixed = found.where(metric="score", agent="random", partner="hanabi/blind & random")
    assert mixed.column("relation") == ["mixed"]
    assert mixed.column("games") == [6]


def test_results_do_not_depend_on_how_the_set_is_cut(monkeypatch):
    games = interplay.crossplay("hanabi/2p", ["random", "hanabi/blind"], episodes=5, seed=0)
    metrics = ["crossplay", "information"]
    before = interplay.measure(games, metrics)
    monkeypatch.setattr("interplay.metrics.api.CHUNK", 3)
    assert interplay.measure(games, metrics).column("value") == pytest.approx(before.column("value"))


def test_rows_come_in_the_order_of_teams_and_seats():
    """Not in that of a set, which differs from process to process."""
    names = [f"agent{i}" for i in range(24)]
    keys = [AgentKey(name, "", name) for name in names]
    teams = {TeamGroup("g", "{}", (a, b)): CrossplaySums(1, 1.0, 1.0, 1.0, 1.0) for a, b in zip(keys[::2], keys[1::2])}
    agents = [row["agent"] for row in finish([teams], {}) if row.get("over") == PAIRING]
    assert list(dict.fromkeys(agents)) == names
