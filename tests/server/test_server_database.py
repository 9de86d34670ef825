"""What was written stays, what failed leaves no trace, and both databases do the same."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import UTC, datetime, timedelta, timezone

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from interplay.errors import InterplayError
from interplay.server import database as databases
from interplay.server.audit import note, read
from interplay.server.clock import SystemClock
from interplay.server.database import Database, DatabaseUnavailable, normal_address, open_database
from interplay.server.schema import METADATA, audit, secrets
from interplay.server.signatures import secret
from tests.server.conftest import fresh


def count(tx):
    return tx.execute(sa.select(sa.func.count()).select_from(secrets)).scalar_one()


def put(tx, name, value=b"x"):
    tx.execute(sa.insert(secrets).values(name=name, value=value, created=datetime.now(UTC)))
    return name


def test_migrations_give_the_tables_that_the_code_declares(database):
    with database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": "server_version"})
        found = [d for d in compare_metadata(context, METADATA) if "version" not in str(d)]
    assert found == []


def test_migrating_twice_changes_nothing(database):
    database.write(put, "kept")
    databases.migrate(database)
    assert database.read(count) == 1


def test_a_database_of_a_newer_version_is_refused(database):
    with database.engine.begin() as tx:
        tx.execute(sa.text("UPDATE server_version SET version_num = 'server_9999'"))
    with pytest.raises(InterplayError, match="another version of interplay"):
        databases.migrate(database)


def test_times_come_back_in_utc(database, clock):
    clock.at = datetime(2026, 3, 1, 12, tzinfo=timezone(timedelta(hours=5)))
    database.write(note, clock, "me", "test")
    at = database.read(lambda tx: tx.execute(sa.select(audit.c.at)).scalar_one())
    assert at == clock.at
    assert at.utcoffset() == timedelta(0)


def test_work_that_waits_together_is_committed_together_and_fails_alone(database):
    """One piece of bad work does not take its neighbours with it."""

    def bad(tx):
        put(tx, "never")
        raise KeyError("bad work")

    async def many():
        jobs = [database.awrite(put, f"n{i}") for i in range(30)]
        jobs.insert(7, database.awrite(bad))
        jobs.insert(9, database.awrite(put, "n3"))  # a duplicate: the database itself says no
        return await asyncio.gather(*jobs, return_exceptions=True)

    results = asyncio.run(many())
    assert isinstance(results[7], KeyError)
    assert isinstance(results[9], sa.exc.IntegrityError)
    assert sum(isinstance(r, str) for r in results) == 30
    assert database.read(count) == 30


def test_many_threads_write_without_losing_anything(database):
    def add(tx, name):
        before = tx.execute(sa.select(secrets.c.value).where(secrets.c.name == "sum").with_for_update()).scalar_one()
        tx.execute(sa.update(secrets).where(secrets.c.name == "sum").values(value=str(int(before) + 1).encode()))

    database.write(put, "sum", b"0")
    threads = [threading.Thread(target=lambda: [database.write(add, "sum") for _ in range(10)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    value = database.read(lambda tx: tx.execute(sa.select(secrets.c.value)).scalar_one())
    assert int(value) == 80


KILLED = """
import sys, asyncio
sys.path.insert(0, {tests!r})
from tests.server.test_server_database import put
from interplay.server.database import open_database
database = open_database({address!r})
async def main():
    n = 0
    while True:
        for name in await asyncio.gather(*(database.awrite(put, f"k{{n + i}}") for i in range(5))):
            print(name, flush=True)
        n += 5
asyncio.run(main())
"""


def test_kill_9_loses_nothing_that_was_acknowledged(database, tmp_path):
    root = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    code = KILLED.format(tests=root, address=database.address)
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=root)
    assert process.stdout is not None
    acknowledged = [process.stdout.readline().strip() for _ in range(60)]
    os.kill(process.pid, signal.SIGKILL)
    acknowledged += [line.strip() for line in process.stdout if line.endswith("\n")]
    process.wait()
    held = {row.name for row in database.read(lambda tx: tx.execute(sa.select(secrets.c.name)).all())}
    assert set(acknowledged) <= held
    assert len(acknowledged) >= 60


def test_addresses(tmp_path):
    assert normal_address("a/b.db") == "sqlite:///a/b.db"
    assert normal_address("postgres://u@h/d") == "postgresql+psycopg://u@h/d"
    with pytest.raises(InterplayError, match="neither a path"):
        normal_address("mysql://h/d")
    with pytest.raises(InterplayError, match="cannot open the database"):
        open_database("postgresql://nobody@127.0.0.1:1/none")
    assert Database("sqlite://").is_sqlite
    open_database(str(tmp_path / "new" / "private.db")).close()
    assert (tmp_path / "new" / "private.db").stat().st_mode & 0o077 == 0  # it holds secrets
    with pytest.raises(InterplayError, match="cannot open the database"):
        open_database(str(tmp_path / "new"))
    (tmp_path / "letter.txt").write_text("Dear Ada, this is a letter. " * 10)
    with pytest.raises(InterplayError, match="not a database"):
        open_database(str(tmp_path / "letter.txt"))


def test_the_audit_log_is_read_newest_first(database):
    clock = SystemClock()
    database.write(note, clock, "host", "first", "a", n=1)
    database.write(note, clock, "host", "second", "b", n=float("nan"))
    rows = database.read(read).rows
    assert [r["action"] for r in rows] == ["second", "first"]
    assert rows[0]["detail"] == {"n": None}
    assert len(database.read(read, action="first")) == 1


def test_a_locked_database_is_away_and_work_that_gave_up_waiting_is_not_done(tmp_path):
    address = str(tmp_path / "locked.db")
    database = open_database(address, patience_s=0.3)
    other = sqlite3.connect(address, isolation_level=None, check_same_thread=False)

    async def meanwhile():
        other.execute("BEGIN IMMEDIATE")
        surely = asyncio.wrap_future(database.submit(put, "surely"))  # has all the time in the world
        await asyncio.sleep(0.1)
        for name in ("a", "b"):
            with pytest.raises(DatabaseUnavailable, match="nothing is lost"):
                await database.awrite(put, name)
        assert await database.aread(count) == 0  # reading goes on
        assert not surely.done()
        other.execute("ROLLBACK")
        assert await surely == "surely"
        assert await database.awrite(put, "after") == "after"
        return await database.aread(count)

    assert asyncio.run(meanwhile()) == 2
    other.close()
    database.close()


def test_a_database_that_cannot_be_reached_is_away():
    database = Database("postgresql://nobody@127.0.0.1:1/none")

    async def ask():
        jobs = [database.awrite(count), database.awrite(count), database.aread(count)]
        return await asyncio.gather(*jobs, return_exceptions=True)

    found = asyncio.run(ask())
    assert [type(error) for error in found] == [DatabaseUnavailable] * 3
    assert found[0].status == 503
    database.close()


def test_two_processes_that_need_a_secret_at_once_get_the_same(postgres, clock):
    """Workers begin together: the one that comes second waits for the first and takes its secret."""
    one = fresh(postgres)
    two = open_database(one.address)
    with ThreadPoolExecutor() as pool:
        with one.engine.begin() as tx:
            first = secret(tx, clock, "x")
            second = pool.submit(two.write, secret, clock, "x")
            wait([second], 0.3)  # it is about to insert its own; whether it is, or comes later, is all the same
        assert second.result(60) == first
    one.close()
    two.close()
