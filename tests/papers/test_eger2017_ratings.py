"""The study of the human-AI Hanabi games: what it counts, on games played by hand, and the numbers of its page."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from interplay import stats
from interplay.papers.preference.eger2017_ratings import AIS, ai_of, lost_cards, people, survey_of
from interplay.table import Table
from interplay.traces import TraceSet
from interplay.traces.importers.hanabi_data import import_hanabi_data
from interplay.traces.importers.registry import sort_out
from tests.traces.hanabi_by_hand import COPIES, game
from tests.traces.hanabi_by_hand import Table as HandTable
from tests.traces.test_importers_hanabi import human_record, write_games


def losses_by_hand(table: HandTable) -> np.ndarray:
    """[seat, 2] discards of playable cards and of needed last copies, counted while playing the game again."""
    again, found, gone = HandTable(table.deck, lax=True), np.zeros((2, 2)), {}
    for turn, move in enumerate(table.moves):
        seat = turn % 2
        if move < 5:
            colour, rank = again.hands[seat][move]
            height = again.fireworks[colour]
            found[seat, 0] += rank == height
            left = {r: COPIES[r] - gone.get((colour, r), 0) for r in range(5)}
            reachable = all(left[r] > 0 for r in range(height, rank))
            found[seat, 1] += rank >= height and left[rank] == 1 and reachable
        if move < 10:
            card = again.hands[seat][move % 5]
            if move < 5 or again.fireworks[card[0]] != card[1]:
                gone[card] = gone.get(card, 0) + 1
        again.play(move)
    return found


def test_lost_cards_are_counted_as_by_hand(tmp_path):
    tables = [game(seed, lax=True, careful=seed % 2 == 0) for seed in range(12)]
    episodes, _ = sort_out(
        import_hanabi_data(write_games(tmp_path, [human_record(t, i) for i, t in enumerate(tables)]))
    )
    counted, by_hand = lost_cards(TraceSet.in_memory(episodes)), np.array([losses_by_hand(t) for t in tables])
    assert by_hand.sum() > 20
    np.testing.assert_array_equal(counted, by_hand)


@pytest.fixture(scope="module")
def games():
    data = os.environ.get("INTERPLAY_DATA")
    if not data:
        pytest.skip("INTERPLAY_DATA is not set: the folder that holds hanabi_humans/games.jsonl.gz")
    return sort_out(import_hanabi_data(Path(data) / "hanabi_humans"))[0]


def test_the_page_tells_the_numbers_of_the_data(games):
    rated = [e for e in games if ai_of(e) in AIS and survey_of(e)]
    rows = [{"agent": ai_of(e), "score": e.score, **(survey_of(e) or {})} for e in rated]
    assert len(rows) == 239
    table = Table.of([row | {"points": e.score} for row, e in zip(rows, rated, strict=True)])
    found = {
        rating: stats.relations(table, ["points", "hanabiexp"], rating=rating).rows for rating in ("like", "skill")
    }
    assert [round(found[r][0]["r"], 3) for r in ("like", "skill")] == [0.125, 0.213]
    assert [round(found[r][1]["r"], 3) for r in ("like", "skill")] == [-0.297, -0.384]
    made = stats.predict_ratings(table, ["points"], rating="like", shuffles=99, missing="drop")
    assert made.r_squared.estimate < 0  # the score does not carry over to another AI


def test_people_are_told_apart(games):
    person = people(games)
    assert len(person) == 2040
    assert len(set(person.values())) == 240
    assert all(survey_of(e) for e in games if e.events[0].payload["id"] in set(person.values()))
