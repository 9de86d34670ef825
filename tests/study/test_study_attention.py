"""Fair play in real time: games begin with a countdown or a press, and stand still when a picture is not seen."""

import asyncio
import contextlib
import time

import pytest

from interplay.study.db import records
from interplay.study.db.game_events import fold
from interplay.study.db.game_rows import unpack
from interplay.study.db.schema import events, games
from interplay.study.protocol.reading import parse
from tests.study.conftest import opened, within_a_minute
from tests.study.texts import game, study
from tests.study.visitor import Visitor

STUDY = study(
    "small",
    game("alone", "soups", "bot"),
    game("pressed", "pressed", "bot"),
    "{kind: wait, id: lobby, title: Waiting, patience_s: 300, otherwise: bot}",
    game("together", "soups", "lobby"),
    games="""
  soups: {game: overcooked/cramped_room, options: {horizon: 30}, tick_hz: 12, countdown_s: 1}
  pressed: {game: overcooked/cramped_room, options: {horizon: 30}, tick_hz: 12, begin: press, countdown_s: 0.2}""",
    partners="{bot: stay}",
)


@pytest.fixture(scope="module")
def attended(tmp_path_factory):
    with opened(parse(STUDY), tmp_path_factory.mktemp("attention")) as study:
        yield study


@contextlib.asynccontextmanager
async def browser(visitor, seeing):
    """A line that acknowledges ticks while `seeing` is set, as a browser does, and notes when messages came."""
    async with visitor.game(acknowledges=True) as line:
        line.times = []

        async def acknowledge():
            last = -1
            while True:
                await seeing.wait()
                drawn = max((message["t"] for message in line.of("tick")), default=-1)
                if drawn > last:  # one that is sent again after a pause says nothing new
                    last = drawn
                    await line.send(type="seen", t=last)
                await asyncio.sleep(0.05)

        task = asyncio.create_task(acknowledge())
        try:
            yield line
        finally:
            task.cancel()


def seen():
    event = asyncio.Event()
    event.set()
    return event


def kinds(line):
    return [message["type"] for message in line.heard if message["type"] in ("tick", "countdown", "pause", "ready")]


def is_tick(t):
    return lambda message: message["type"] == "tick" and message["t"] >= t


async def to_page(visitor, wanted):
    if visitor.page["id"] == "consent":
        await visitor.answer(agree=True)
    while visitor.page["id"] != wanted:
        if visitor.page["kind"] == "wait":
            await asyncio.sleep(0.05)
        else:
            async with visitor.game() as line:
                await line.until("start")
                await line.send(type="ready")
                await line.until("end")
        await visitor.look()


def test_a_game_begins_with_a_countdown_and_a_silent_line_stops_it(attended):
    async def go():
        async with Visitor(attended.url, "small") as one:
            await to_page(one, "alone")
            eyes = seen()
            async with browser(one, eyes) as line:
                count = await line.until("countdown")
                assert 0.8 < count["seconds"] <= 1  # longer than a line may be silent
                assert all(message["t"] == 0 for message in line.of("tick"))
                began = time.monotonic()
                await line.until(is_tick(1))
                assert time.monotonic() - began > 0.8
                await line.until(is_tick(10))
                eyes.clear()  # from here on nothing is drawn
                pause = await line.until("pause")
                assert pause["reason"] == "line"
                last = line.of("tick")[-1]["t"]
                await asyncio.sleep(0.6)
                assert line.of("tick")[-1]["t"] == last, "the game went on without its participant"
                before = len(line.heard)
                eyes.set()
                again = await line.until("countdown", since=before)
                assert all(m["t"] <= last for m in line.of("tick")), "a pause ends with a countdown"
                assert again["seconds"] > 0.8
                await line.until("end")
            return last

    last = within_a_minute(go())
    row = max((row for row in attended.rows(games) if row["page"] == "alone"), key=lambda row: row["id"])
    own = [e for e in attended.rows(events) if e["game"] == row["id"]]
    story = fold(((e["game"], e["kind"], e["t"], e["payload"]) for e in own), {row["id"]: row["seat"]})
    (span,) = story.unattended_spans(row["seat"])
    since, until, why = span
    assert (until, why) == (last, "line")
    assert 1 <= until - since <= 14
    marks = [event for event in unpack(row["episode"]).events if event.kind == "unattended"]
    assert [(e.t, e.seat, e.payload["until"]) for e in marks] == [(since, row["seat"], until)]
    exported = records.load(attended.base.database.address.removeprefix("sqlite:///"))
    assert {g["game"]: g["unattended"] for g in exported.games}[row["id"]] == until - since


def test_another_tab_in_front_is_noted(attended):
    async def go():
        async with Visitor(attended.url, "small") as one:
            await to_page(one, "alone")
            async with browser(one, seen()) as line:
                await line.until(is_tick(5))
                await line.send(type="visibility", hidden=True)
                await line.until(is_tick(12))
                await line.send(type="visibility", hidden=False)
                await line.until("end")

    within_a_minute(go())
    row = max((row for row in attended.rows(games) if row["page"] == "alone"), key=lambda row: row["id"])
    (mark,) = [event for event in unpack(row["episode"]).events if event.kind == "unattended"]
    assert mark.payload["why"] == "hidden"
    assert mark.t >= 5
    assert 6 <= mark.payload["until"] - mark.t <= 9


def test_a_game_may_wait_for_a_press(attended):
    async def go():
        async with Visitor(attended.url, "small") as one:
            await to_page(one, "pressed")
            async with browser(one, seen()) as line:
                assert (await line.until("ready"))["pressed"] is False
                await asyncio.sleep(0.5)
                assert all(message["t"] == 0 for message in line.of("tick"))
                await line.send(type="ready")
                await line.until("countdown")
                await line.until("end")

    within_a_minute(go())


def test_both_sides_are_told_whose_line_is_silent(attended):
    async def go():
        async with Visitor(attended.url, "small") as one, Visitor(attended.url, "small") as two:
            await asyncio.gather(to_page(one, "together"), to_page(two, "together"))
            eyes = seen()
            async with browser(one, eyes) as first, browser(two, seen()) as second:
                await second.until(is_tick(8))
                eyes.clear()
                assert (await first.until(lambda m: m["type"] == "pause" and m["reason"] == "line"))["grace_s"] > 0
                await second.until(lambda m: m["type"] == "pause" and m["reason"] == "partner_line")
                before = len(second.heard)
                eyes.set()
                await second.until("countdown", since=before)
                await asyncio.gather(first.until("end"), second.until("end"))

    within_a_minute(go())
    rows = {r["id"]: r for r in attended.rows(games) if r["page"] == "together"}
    silent = [e for e in attended.rows(events) if e["kind"] == "silent" and e["game"] in rows]
    one, two = sorted({r["person"] for r in rows.values()})[-2:]
    assert one in {e["person"] for e in silent}, "the line that acknowledged nothing is the one that is noted"
    heard = {e["person"] for e in attended.rows(events) if e["kind"] == "heard" and e["game"] in rows}
    assert {e["person"] for e in silent} <= heard <= {one, two}, "whoever is silent for a moment is heard again"
