"""Two servers on one database: the second is refused, and one whose lease was taken over stores nothing more."""

import asyncio
import os
import signal
import sqlite3
import time

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from interplay.errors import InterplayError
from interplay.server import lease
from interplay.server.app import Base
from interplay.server.clock import SystemClock
from interplay.server.database import SERVER, migrate
from interplay.study.db.connect import open_study_database
from interplay.study.db.schema import HISTORY, events, games, people
from interplay.study.http.app import build
from interplay.study.protocol.reading import parse
from tests.server.conftest import fresh_address, postgres  # noqa: F401
from tests.study.conftest import serving, within_a_minute
from tests.study.faults.audit import held
from tests.study.faults.process import Process
from tests.study.texts import game, study
from tests.study.visitor import Visitor

STEPS = 60
TEXT = study(
    "faulty",
    game("soup", "kitchen", "still"),
    games=f"\n  kitchen: {{game: overcooked/cramped_room, options: {{horizon: {STEPS}}}, tick_hz: 12, countdown_s: 0}}",
    partners="{still: stay}",
)


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request, tmp_path):
    if request.param == "postgresql":
        return fresh_address(request.getfixturevalue("postgres"))
    return str(tmp_path / "study.db")


def server(address):
    base = Base(open_study_database(address))
    return build(parse(TEXT), base, sizes=(1,)), base


def steps(address):
    return [(row["game"], row["t"]) for row in held(address)["study_events"] if row["kind"] == "step"]


def elsewhere(visitor, url):
    """The same person, by the address of another server."""
    other = Visitor(url, "faulty")
    other.client, other.state = visitor.client, visitor.state
    return other


async def to_the_end(line, seq):
    """Press keys until the game is over; the numbers that were acknowledged."""
    while not line.of("end") and not line.of("closed"):
        seq += 1
        await line.send(type="act", seq=seq, action="west")
        await asyncio.sleep(0.05)
    return {message["seq"] for message in line.of("ack")}


def test_a_second_server_on_the_same_database_is_refused(address):
    app, base = server(address)
    with serving(app, base):
        other, other_base = server(address)
        with pytest.raises(InterplayError, match="study faulty is served from this database already"):
            asyncio.run(other.state.study.open())
        other_base.database.close()
    app, base = server(address)  # the first has stopped: the next one may serve
    with serving(app, base):
        pass
    base.database.close()


def test_a_server_that_was_suspended_and_replaced_forks_no_game(address, monkeypatch):
    """The fault: 219 steps of a game of 120 were stored, and the participant could not come back to it."""
    monkeypatch.setattr(lease, "EXPIRES_S", 1.0)
    app, base = server(address)
    other, other_base = server(address)

    async def go(url):
        async with Visitor(url, "faulty") as one:
            await one.answer(agree=True)
            async with one.game() as line:
                await line.until(lambda m: m["type"] == "tick" and m["t"] == 10)
                next(
                    iter(base.leases.values())
                )._over.set()  # its counter stands still, as if the process were stopped, but the game goes on
                next(iter(base.leases.values()))._thread.join()
                with_next = await asyncio.to_thread(serving, other, other_base)
                second = await asyncio.to_thread(with_next.__enter__)
                try:
                    again = elsewhere(one, second.url)
                    async with again.game() as other_line:
                        start = await other_line.until("start")
                        assert (await other_line.until("tick"))["t"] >= 10
                        acked = await to_the_end(other_line, start["seq"])
                        end = await other_line.until("end")
                    assert line.of("error")[-1]["message"].startswith("the server had to stop this game")
                    assert not line.of("end")
                    refused = await one.client.post(
                        f"{one.api}/language", json={"language": "en"}, headers={"x-csrf": one.state["csrf"]}
                    )
                    assert refused.status_code == 503
                    assert "another server has taken over" in refused.json()["message"]
                    assert (await again.look())["kind"] == "done"
                finally:
                    await asyncio.to_thread(with_next.__exit__, None, None, None)
        return acked, end

    with serving(app, base) as first:
        acked, end = within_a_minute(go(first.url))
        next(iter(base.leases.values()))._over.clear()
    stored = steps(address)
    assert [t for _, t in stored] == list(range(STEPS)), "a step was stored twice, or not at all"
    rows = held(address)
    (row,) = rows["study_games"]
    assert (row["status"], row["score"], row["length"]) == ("done", end["score"], STEPS)
    taken = [seq for event in rows["study_events"] for seq in event["payload"].get("seqs", ())]
    assert acked <= set(taken)
    assert len(taken) == len(set(taken))
    base.database.close()
    other_base.database.close()


def a_game(database, owner=None):
    now = SystemClock().now()
    who = {"id": 1, "public": "p", "study": "s", "status": "active", "language": "en", "position": 0, "tries": 0}
    row = {"id": 1, "person": 1, "page": "soup", "setting": "kitchen", "partner": "still", "seat": 0}
    row |= {"practice": False, "chance": [1, 2], "status": "playing", "started": now, "owner": owner}
    database.write(lambda tx: tx.execute(sa.insert(people).values(**who, seed=1, created=now, seen=now)))
    database.write(lambda tx: tx.execute(sa.insert(games).values(**row)))


def add(database, t, kind="step", **payload):
    row = {"person": 1, "game": 1, "t": t, "kind": kind, "at": SystemClock().now(), "payload": payload}
    database.write(lambda tx: tx.execute(sa.insert(events).values(**row)))


def test_the_database_itself_stores_a_step_once(address):
    database = open_study_database(address)
    a_game(database)
    add(database, 0)
    add(database, 0, "flag")
    add(database, 0, "flag")
    with pytest.raises(IntegrityError):
        add(database, 0)
    database.close()


def test_an_old_database_with_steps_stored_twice_is_upgraded(address):
    database = open_study_database(address)
    a_game(database)
    with database.engine.begin() as tx:  # as the version before it was
        tx.exec_driver_sql("DROP INDEX study_events_step")
        tx.exec_driver_sql("ALTER TABLE study_games DROP COLUMN owner")
        tx.exec_driver_sql("ALTER TABLE study_answers DROP COLUMN about")
        tx.exec_driver_sql("ALTER TABLE study_answers DROP COLUMN items")
        tx.exec_driver_sql("UPDATE study_version SET version_num = 'study_0004'")
        for table, columns in {"study_people": ("test", "page_opened"), "study_files": ("closed",)}.items():
            for column in columns:
                tx.exec_driver_sql(f"ALTER TABLE {table} DROP COLUMN {column}")
        for table in ("study_waiting", "study_live", "buckets"):
            tx.exec_driver_sql(f"DROP TABLE {table}")
        tx.exec_driver_sql("DROP TABLE leases")
        tx.exec_driver_sql("UPDATE server_version SET version_num = 'server_0001'")
    for t, who in ((0, "a"), (1, "a"), (1, "b"), (2, "b"), (2, "a"), (3, "a")):
        add(database, t, who=who)
    migrate(database, (SERVER, HISTORY))
    query = sa.select(events.c.kind, events.c.t, events.c.payload).order_by(events.c.id)
    rows = database.read(lambda tx: tx.execute(query).all())
    kept = [(t, payload["who"]) for kind, t, payload in rows if kind == "step"]
    assert kept == [(0, "a"), (1, "a"), (2, "b"), (3, "a")]
    assert [t for kind, t, _ in rows if kind == "repeated_step"] == [1, 2]
    database.close()


def stop_outside_a_commit(pid, address):
    """Stop a process while it holds no lock: nobody can write to a SQLite file that a stopped process has locked."""
    for _ in range(50):
        os.kill(pid, signal.SIGSTOP)
        if "://" in address:
            return
        try:
            held = sqlite3.connect(address, timeout=0, isolation_level=None)
            held.execute("BEGIN IMMEDIATE")
            held.execute("ROLLBACK")
            held.close()
            return
        except sqlite3.OperationalError:
            os.kill(pid, signal.SIGCONT)
            time.sleep(0.05)
    raise AssertionError("the database is always locked")


@pytest.mark.slow
def test_a_stopped_process_is_replaced_and_ends_when_it_wakes_up(address, tmp_path):
    (tmp_path / "next").mkdir()
    first, second = Process(tmp_path, address, TEXT), None

    async def go():
        nonlocal second
        async with Visitor(first.url, "faulty") as one:
            await one.answer(agree=True)
            async with one.game() as line:
                await line.until(lambda m: m["type"] == "tick" and m["t"] == 10)
                await asyncio.to_thread(stop_outside_a_commit, first.process.pid, address)
                second = await asyncio.to_thread(Process, tmp_path / "next", address, TEXT)
                os.kill(first.process.pid, signal.SIGCONT)
                async with elsewhere(one, second.url).game() as other:
                    start = await other.until("start")
                    await to_the_end(other, start["seq"])
                    await other.until("end")

    try:
        asyncio.run(asyncio.wait_for(go(), 600))
        assert first.process.wait(30) == 0  # it noticed, and stopped by itself
        assert "another server has taken over study faulty" in first.log.read_text()
        assert [t for _, t in steps(address)] == list(range(STEPS))
        with pytest.raises(AssertionError, match="is served from this database already, by process"):
            first.start()
    finally:
        for one in (first, second):
            if one is not None and one.process.poll() is None:
                one.stop()


@pytest.mark.slow
def test_a_killed_process_is_replaced_at_once_twenty_times(address, tmp_path):
    """A participant goes from each server to the next one, and plays one game all the way."""
    folders = [tmp_path / str(n) for n in range(21)]
    for folder in folders:
        folder.mkdir()
    long = TEXT.replace(f"horizon: {STEPS}", "horizon: 400")
    servers, waits = [Process(folders[0], address, long)], []
    (tmp_path / "compiled").mkdir(exist_ok=True)

    async def go():
        seqs = set()
        async with Visitor(servers[0].url, "faulty") as one:
            await one.answer(agree=True)
            for folder in folders[1:]:
                async with elsewhere(one, servers[-1].url).game() as line:
                    start = await line.until("start")
                    assert start["seq"] >= max(seqs, default=-1)
                    began = (await line.until("tick"))["t"]
                    for seq in range(start["seq"] + 1, start["seq"] + 8):
                        await line.send(type="act", seq=seq, action="west")
                        await asyncio.sleep(0.1)
                    await line.until(lambda m, began=began: m["type"] == "tick" and m["t"] >= began + 8)
                    servers[-1].kill()
                    seqs |= {message["seq"] for message in line.of("ack")}
                at = time.monotonic()
                servers.append(await asyncio.to_thread(Process, folder, address, long))
                waits.append(time.monotonic() - at)
        return seqs

    try:
        acked = asyncio.run(asyncio.wait_for(go(), 3000))
    finally:
        servers[-1].stop()
    rows = held(address)
    taken = [seq for event in rows["study_events"] for seq in event["payload"].get("seqs", ())]
    assert len(taken) == len(set(taken))
    assert acked <= set(taken)
    stored = [t for _, t in steps(address)]
    assert stored == list(range(len(stored)))
    assert len(acked) >= 100
    print(f"{len(acked)} keys acknowledged, 0 lost, {len(stored)} steps; slowest start {max(waits):.1f} s")
