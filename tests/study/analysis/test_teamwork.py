"""Who offered and who accepted, from the rows of the count; and what changed over a session, where that is known."""

from dataclasses import replace

import numpy as np
import pytest

from interplay.study.analysis.analysis_list import InterdependenceAnalysis
from interplay.study.analysis.data import gather
from interplay.study.analysis.interdependence import help_in_teams
from interplay.study.analysis.measures import _team_row
from interplay.traces import TraceSet
from tests.study.analysis.synthetic import Truth, synthetic

GAME = {"number": 7, "person": "p", "partner": "b", "game": "one", "turn": 3, "score": 40.0, "seat": 1}


def count(seats, links):
    """Rows as the metric gives them: of seats (triggers, subtasks, adr), and of links by giver, receiver and class."""
    rows = []
    for seat, (triggers, subtasks, adr) in enumerate(seats):
        for metric, value in (("triggers", triggers), ("subtasks", subtasks), ("adr", adr)):
            rows.append({"seat": seat, "giver": None, "receiver": None, "metric": metric, "value": value})
    for (giver, receiver, metric), value in links.items():
        rows.append({"seat": None, "giver": giver, "receiver": receiver, "metric": metric, "value": value})
    return rows


def test_offers_and_acceptance_are_told_from_the_persons_seat():
    links = {(0, 1, "constructive"): 2, (1, 0, "constructive"): 1, (0, 1, "looping"): 1, (1, 0, "looping"): 0}
    links |= {(0, 1, "irrelevant"): 0, (1, 0, "irrelevant"): 3}
    row = _team_row(GAME, count([(2, 4, 1.0), (4, 10, 0.25)], links))  # the person sits in seat 1
    assert (row["person_triggers"], row["person_triggered"], row["partner_accepted"]) == (4, 40, 25)
    assert (row["partner_triggers"], row["partner_triggered"], row["person_accepted"]) == (2, 50, 100)
    assert (row["constructive"], row["non_constructive"]) == (3, 4)
    assert (row["constructive_from_person"], row["constructive_from_partner"]) == (1, 2)


def test_nothing_to_hand_over_is_null_and_no_offers_have_no_acceptance():
    links = {(0, 1, c): None for c in ("constructive", "looping", "irrelevant")}
    row = _team_row(GAME, count([(None, 3, None), (None, 3, None)], links))
    assert {row[name] for name in row if name not in GAME} == {None}
    row = _team_row(GAME, count([(0, 3, None), (2, 0, 0.5)], {}))
    assert (row["partner_triggers"], row["person_accepted"]) == (0, None)
    assert (row["person_triggered"], row["partner_accepted"]) == (None, 50)  # no sub-task to divide by


class Planted:
    """Games in which people offer more from game to game (2 % each), and partner a accepts more than b."""

    def __init__(self, data, seed=0):
        rng = np.random.default_rng(seed)
        own = {person: rng.normal(0, 5) for person in {row["person"] for row in data.games}}
        self.rows = [
            {
                **{name: row[name] for name in ("number", "person", "partner", "game", "turn")},
                "score": 10 * hand + 5 * rng.normal(),
                "constructive": float(hand),
                "non_constructive": 1.0,
                "constructive_from_person": float(hand),
                "constructive_from_partner": 0.0,
                "person_triggered": 20 + 2 * row["turn"] + own[row["person"]] + rng.normal(0, 2),
                "partner_triggered": 30 + rng.normal(0, 2),
                "partner_accepted": 60.0 + rng.normal() if row["partner"] == "a" else 20.0 + rng.normal(),
                "person_accepted": None,
            }
            for row in data.counted()
            for hand in [rng.integers(0, 5)]
        ]

    def team(self):
        return self.rows


def test_what_was_planted_in_a_session_is_found(tiny):
    data = replace(gather(synthetic(tiny, 20, Truth({}), seed=0)), traces=TraceSet.in_memory())
    found = help_in_teams(data, InterdependenceAnalysis(kind="interdependence", id="i"), Planted(data))
    change = {row["measure"]: row for row in found.tables["session"]}
    assert change["person_triggered"]["per_game_low"] < 2 < change["person_triggered"]["per_game_high"]
    assert change["person_triggered"]["p"] < 0.001
    assert change["partner_triggered"]["per_game_low"] < 0 < change["partner_triggered"]["per_game_high"]
    assert "note" in found.tables["session"].columns  # nobody's offers were there to accept
    teams = {(row["game"], row["partner"]): row for row in found.tables["teams"]}
    assert teams["one", "a"]["partner_accepted"] == pytest.approx(60, abs=2)
    assert teams["two", "b"]["partner_accepted"] == pytest.approx(20, abs=2)
    score = {row["game"]: row for row in found.tables["score"]}
    assert score["one"]["r_low"] > 0.8
    assert score["two"]["p_within"] < 0.001
    turns = found.tables["turns"]
    assert turns.column("turn") == list(range(1, 11))  # practice does not count
    assert turns.rows[-1]["person_triggered"] > turns.rows[0]["person_triggered"] + 10
    assert len(found.figures) > 1
