"""A real server, killed without warning while people wait for one another, play together and cook with a model."""

import asyncio

import httpx
import pytest

from interplay.study.db import game_rows
from interplay.traces.replay import game_of, replay
from tests.study.faults.audit import held
from tests.study.faults.process import Process
from tests.study.texts import game, study
from tests.study.visitor import Visitor

pytestmark = pytest.mark.slow

STUDY = study(
    "faulty",
    "{kind: wait, id: lobby, title: Waiting, patience_s: 300, otherwise: bot}",
    game("together", "soups", "lobby"),
    game("dish", "dish", "model"),
    title="Together",
    games="""
  soups: {game: overcooked/cramped_room, options: {horizon: 40}, tick_hz: 10, countdown_s: 0}
  dish: {game: kitchen/nrc, options: {horizon: 30}, partner_delay_s: 0.1}""",
    partners='{bot: stay, model: "llm:scripted/reference"}',
)


def test_nothing_that_two_people_were_told_is_lost(tmp_path):
    address = str(tmp_path / "together.db")
    server = Process(tmp_path, address, STUDY)

    async def restart():
        server.kill()
        await asyncio.to_thread(server.start)

    async def press(line, seqs):
        """Keys until the line is lost; the numbers that were acknowledged."""
        start = await line.until("start")
        for seq in range(start["seq"] + 1, start["seq"] + 400):
            try:
                await line.send(type="act", seq=seq, action=("north", "west", "interact")[seq % 3])
            except Exception:
                break
            await asyncio.sleep(0.05)
            if line.of("end") or line.of("closed"):
                break
        seqs |= {message["seq"] for message in line.of("ack")}

    async def go():
        one, two = Visitor(server.url, "faulty"), Visitor(server.url, "faulty")
        await one.look()
        await one.answer(agree=True)
        before = one.page["until_s"]
        await restart()
        one.client = httpx.AsyncClient(timeout=30, cookies=one.client.cookies)
        page = await one.look()
        assert page["kind"] == "wait"
        assert page["until_s"] < before, "the time in the waiting room counts on"
        await two.look()
        await two.answer(agree=True)
        await one.look()
        await two.look()
        assert one.page["id"] == two.page["id"] == "together"
        acked = [set(), set()]
        async with one.game() as first, two.game() as second:
            pressing = [
                asyncio.create_task(press(line, seqs)) for line, seqs in zip((first, second), acked, strict=True)
            ]
            await first.until(lambda m: m["type"] == "tick" and m["t"] == 12)
            await restart()
            await asyncio.gather(*pressing)
        assert all(acked)
        async with one.game() as first, two.game() as second:
            resumed = await first.until("tick")
            assert resumed["t"] >= 11
            await asyncio.gather(*(press(line, seqs) for line, seqs in zip((first, second), acked, strict=True)))
            ends = [await line.until("end") for line in (first, second)]
        one.client = httpx.AsyncClient(timeout=30, cookies=one.client.cookies)
        await one.look()
        async with one.game() as line:
            seq = (await line.until("start"))["seq"]
            await line.send(type="chat", seq=seq + 1, text="request('pickup(egg, ingredient_dispenser)')")
            await line.send(type="act", seq=seq + 2, action="wait(20)")
            await line.until(lambda m: m["type"] == "ack" and m["seq"] == seq + 2)
            await line.until(lambda m: m["type"] == "tick" and m["t"] == 5)
            await restart()
        async with one.game() as line:  # the act under way is still under way, and what was said is known
            view = (await line.until("tick"))["view"]
            assert view["doing"].startswith("Wait")
            assert len(view["messages"]) == 1
            await line.until(lambda m: m["type"] == "tick" and m["t"] >= 20, timeout=40)
            await line.send(type="act", seq=seq + 3, action="wait(20)")
            await line.until("end", timeout=40)
        return acked, ends

    try:
        acked, ends = asyncio.run(asyncio.wait_for(go(), 240))
    finally:
        server.stop()
    assert not server.failures()
    rows = held(address)
    games = [row for row in rows["study_games"] if row["page"] == "together"]
    assert [row["score"] for row in games] == [end["score"] for end in ends]
    for row, seqs in zip(games, acked, strict=True):
        own = [e for e in rows["study_events"] if e["game"] == row["id"]]
        stored = [seq for e in own for seq in e["payload"].get("seqs", ())]
        assert len(stored) == len(set(stored))
        assert seqs <= set(stored)
    for row in rows["study_games"]:
        episode = game_rows.unpack(row["episode"])
        assert float(replay(game_of(episode), episode).steps.reward.sum()) == row["score"] == episode.score
    together = game_rows.unpack(games[0]["episode"])
    assert together.length == 40
    assert [agent.name for agent in together.agents] == ["person", "person"]
