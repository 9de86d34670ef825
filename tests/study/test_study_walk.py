"""Whole ways through a study, by HTTP and sockets, with stand-ins for people."""

import asyncio

import pytest

from interplay.study import play_books
from interplay.study.simulate import Walker, chefs_of
from interplay.study.tables import answers, events, games, people, slots
from interplay.traces import TraceSet
from interplay.traces.replay import game_of, replay

pytestmark = pytest.mark.slow  # games in real time, which a busy machine cannot keep up with


@pytest.fixture(scope="module")
def walked(served, small):
    """Four people, two at a time."""
    chefs = chefs_of(small)

    async def all_of_them():
        found = []
        for pair in ((0, 1), (2, 3)):
            found += await asyncio.gather(*(Walker(small, served.url, n, 5, chefs).go() for n in pair))
        return found

    return asyncio.run(all_of_them())


def test_people_reach_the_end_and_get_a_code_and_their_pay(walked, served):
    assert [walk.status for walk in walked] == ["done"] * 4
    assert len({walk.code for walk in walked}) == 4
    for walk in walked:
        assert len(walk.pages) == 10
        paid = 5 + sum(walk.scores) / len(walk.scores)
        assert walk.payment == f"EUR {paid:.2f}"


def test_orders_are_balanced(walked, served):
    held = [row["number"] for row in served.rows(slots) if row["key"] == "rounds"]
    assert sorted(held) == [0, 0, 1, 1]


def test_the_score_shown_is_the_score_replayed_and_games_are_ordinary_traces(walked, served, tmp_path):
    rows = [row for row in served.rows(games) if row["status"] == "done"]
    assert len(rows) == 12
    episodes = [play_books.unpack(row["episode"]) for row in rows]
    for row, episode in zip(rows, episodes, strict=True):
        again = replay(game_of(episode), episode)
        assert float(again.steps.reward.sum()) == row["score"] == episode.score
        assert episode.agents[row["seat"]].name == "person"
    shown = sorted(score for walk in walked for score in walk.scores)
    assert shown == sorted(row["score"] for row in rows)
    traces = TraceSet.create(tmp_path / "traces", {})
    traces.append(episodes)
    assert len(traces) == 12


def test_every_step_is_in_the_journal(walked, served):
    stored = {}
    for row in served.rows(events):
        if row["kind"] == "step":
            stored.setdefault(row["game"], []).append((row["t"], row["payload"]["joint"]))
    for row in served.rows(games):
        episode = play_books.unpack(row["episode"])
        assert [t for t, _ in stored[row["id"]]] == list(range(episode.length))
        assert [joint for _, joint in stored[row["id"]]] == episode.actions.tolist()


def test_answers_are_stored_by_page_with_partners_names(walked, served):
    held = [row for row in served.rows(answers) if row["page"] == "rounds.2.rank"]
    assert len(held) == 4
    assert all(sorted(row["answers"]["order"]) == ["still", "wild"] for row in held)
    assert {row["status"] for row in served.rows(people)} == {"done"}
