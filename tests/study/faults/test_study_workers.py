"""Several processes that serve a study together: a game has one owner, and whoever falls silent is replaced."""

import asyncio
import contextlib

import pytest

from interplay.server import lease
from interplay.server.app import Base
from interplay.server.rate_limits import SharedBuckets
from interplay.study.db.connect import open_study_database
from interplay.study.http.app import build
from interplay.study.protocol.reading import parse
from tests.server.conftest import fresh_address, postgres  # noqa: F401
from tests.study.conftest import serving, within_a_minute
from tests.study.faults import audit
from tests.study.texts import FIVE_EUROS, game, study
from tests.study.visitor import Visitor

STEPS, LONG = 30, 84
TEXT = study(
    "faulty",
    game("soup", "long", "still"),
    "{kind: wait, id: lobby, title: Waiting, patience_s: 120, otherwise: still}",
    game("together", "kitchen", "lobby"),
    games=f"""
  kitchen: {{game: overcooked/cramped_room, options: {{horizon: {STEPS}}}, tick_hz: 12, countdown_s: 0}}
  long: {{game: overcooked/cramped_room, options: {{horizon: {LONG}}}, tick_hz: 12, countdown_s: 0}}""",
    partners="{still: stay}",
    after={"payment": FIVE_EUROS},
)


@contextlib.contextmanager
def two_processes(address):
    """Two applications on one database, as two processes have them."""
    bases = [Base(open_study_database(address)) for _ in range(2)]
    apps = [build(parse(TEXT), base, sizes=(1,), slot=slot) for slot, base in enumerate(bases, start=1)]
    with serving(apps[0], bases[0]) as first, serving(apps[1], bases[1]) as second:
        yield first, second
    for base in bases:
        base.database.close()


def through(visitor, place):
    """The same person, whose requests this process answers."""
    other = Visitor(place.url, "faulty")
    other.client, other.state = visitor.client, visitor.state
    return other


async def consented(place):
    visitor = Visitor(place.url, "faulty")
    await visitor.look()
    await visitor.answer(agree=True)
    return visitor


async def to_the_end(line):
    seq = (await line.until("start"))["seq"]
    while not line.of("end"):
        seq += 1
        await line.send(type="act", seq=seq, action="west")
        await asyncio.sleep(0.05)


def test_two_processes_share_games_waiting_rooms_and_limits(postgres, monkeypatch):  # noqa: F811
    monkeypatch.setattr(lease, "EXPIRES_S", 2.0)
    address = fresh_address(postgres)

    async def go(first, second):
        one = await consented(first)
        slot = int(one.page["socket"].rpartition("/worker/")[2].partition("/")[0])
        owner, other = (first, second) if slot == 1 else (second, first)
        async with through(one, owner).game() as line:
            await line.until(lambda m: m["type"] == "tick" and m["t"] == 8)
            page = await through(one, other).look()  # the other process says where the game is
            assert page["socket"] == f"/api/study/faulty/worker/{slot}/play"
            async with through(one, other).game() as stray:
                moved = await stray.until("moved")
                assert moved["socket"] == page["socket"]
            # Its counter stands still, as if the process were stopped: the other one takes the game over.
            for own in owner.base.leases.values():
                own._over.set()
                own._thread.join()
            while (await through(one, other).look())["socket"] == page["socket"]:
                await asyncio.sleep(0.2)
            async with through(one, other).game() as taken:
                assert (await taken.until("tick"))["t"] >= 8
                await to_the_end(taken)
        again = through(one, other)
        assert (await again.look())["kind"] == "wait"
        return again, other

    async def pair(again, other):
        """Two people meet in a waiting room although different processes answer them."""
        two = await consented(other)
        async with two.game() as line:
            await to_the_end(line)
        await two.look()
        assert (await again.look())["id"] == "together"
        assert two.page["id"] == "together" or (await two.look())["id"] == "together"
        async with again.game() as left, two.game() as right:
            await asyncio.gather(to_the_end(left), to_the_end(right))
        assert (await again.look())["kind"] == "done"

    async def both(first, second):
        await pair(*await go(first, second))

    with two_processes(address) as (first, second):
        asyncio.run(asyncio.wait_for(both(first, second), 120))
    rows = audit.held(address)
    steps = [(e["game"], e["t"]) for e in rows["study_events"] if e["kind"] == "step"]
    assert len(steps) == len(set(steps)) == 2 * LONG + STEPS
    audit.replayed(rows)


def test_people_who_wait_at_two_processes_meet(postgres):  # noqa: F811
    address = fresh_address(postgres)
    text = TEXT.replace(f"  - {game('soup', 'long', 'still')}\n", "")

    async def go(first, second):
        one, two = await consented(first), await consented(second)
        assert two.page["id"] == "together"
        assert (await one.look())["id"] == "together"
        # Those who are too many at one process are too many at the other.
        here, there = (SharedBuckets(place.base.database, place.base.clock, "x", 0.01, 2) for place in (first, second))
        await here.note("ana")
        await there.note("ana")
        assert await here.exhausted("ana")
        assert await there.exhausted("ana")
        assert not await there.exhausted("bob")

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(globals(), "TEXT", text)
        with two_processes(address) as (first, second):
            within_a_minute(go(first, second))
