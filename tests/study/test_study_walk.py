"""Whole ways through a study, by HTTP and sockets, with stand-ins for people."""

import asyncio

import pytest

from interplay.study.db import game_rows
from interplay.study.db.schema import answers, events, games, people, slots
from interplay.study.simulation.run import SimulatedParticipant, SimulatedWorlds
from interplay.traces import TraceSet
from interplay.traces.replay import game_of, replay
from tests.study.visitor import Visitor


@pytest.fixture(scope="module")
def walked(served, small):
    """Four people, two at a time."""
    worlds = SimulatedWorlds(small)

    async def all_of_them():
        found = []
        for pair in ((0, 1), (2, 3)):
            found += await asyncio.gather(*(SimulatedParticipant(small, served.url, n, 5, worlds).go() for n in pair))
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
    rows = [row for row in served.rows(games) if row["status"] == "done"][:12]
    assert len(rows) == 12
    episodes = [game_rows.unpack(row["episode"]) for row in rows]
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
        episode = game_rows.unpack(row["episode"])
        assert [t for t, _ in stored[row["id"]]] == list(range(episode.length))
        assert [joint for _, joint in stored[row["id"]]] == episode.actions.tolist()


def test_answers_are_stored_by_page_with_partners_names(walked, served):
    held = [row for row in served.rows(answers) if row["page"] == "rounds.2.rank"]
    assert len(held) == 4
    assert all(sorted(row["answers"]["order"]) == ["still", "wild"] for row in held)
    assert {row["status"] for row in served.rows(people)} == {"done"}


class Unlucky(SimulatedParticipant):
    """Every line to a game is cut twice before it may last."""

    def __init__(self, *given):
        super().__init__(*given)
        self.cuts = 0

    async def _connect(self, page, cookie, seat):
        self.cuts += 1
        if self.cuts % 3 == 0:
            return await super()._connect(page, cookie, seat)
        async with asyncio.timeout(0.25):  # an OSError, as that of a line that breaks
            return await super()._connect(page, cookie, seat)


def test_a_game_whose_line_is_cut_still_ends_with_its_stored_score(served, small, walked):
    walker = Unlucky(small, served.url, 9, 5, SimulatedWorlds(small))
    walk = asyncio.run(walker.go())
    assert walk.status == "done"
    assert walker.cuts > 3
    stored = [row["score"] for row in served.rows(games)][-3:]
    assert walk.scores == stored


def test_an_end_that_got_lost_is_told_again_and_the_next_game_stays_on_its_own_page(served, walked):
    async def someone():
        async with Visitor(served.url, "small") as me:
            await me.answer(agree=True)
            await me.answer(sum="2")
            first = me.page
            async with me.game() as line:
                score = (await line.until("end"))["score"]
            async with me.game() as line:  # the browser has not heard it, and still shows the page
                told = await line.until("end")
                assert line.of("start") == []
            assert told == {"type": "end", "score": score, "next": True}
            await me.look()
            assert me.page["id"] == "rounds.1.after"
            await me.answer(liked=3, why=None)
            await me.answer(order=[item["id"] for item in me.page["items"]])
            second, me.state["page"] = me.page, first
            async with me.game() as line:  # however late: the second game is not dealt to the page of the first
                assert (await line.until("end"))["score"] == score
            me.state["page"] = {**second, "id": "rounds.1.after"}
            async with me.game() as line:
                refused = await line.until("error")
            assert "load the page again" in refused["message"] or "load it again" in refused["message"]

    asyncio.run(someone())


def test_a_finished_browser_begins_anew_only_where_asked_to(served, small, walked):
    async def someone():
        async with Visitor(served.url, "small") as me:
            await me.answer(agree=True)
            await me.look("?new")
            assert me.page["id"] == "quiz"  # not before the visit is over
            for _ in range(2):
                await me.answer(sum="3")
            assert me.page["code"] == "NOFIT"
            await me.look()
            assert me.page["code"] == "NOFIT"
            await me.look("?new")
            assert me.page["id"] == "consent"

    asyncio.run(someone())
