"""The journal: in order, each event once, none held up by another that cannot be stored, on both databases."""

import asyncio
import time
from concurrent.futures import Future

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError, OperationalError

from interplay.server.clock import SystemClock
from interplay.study.db.connect import open_study_database
from interplay.study.db.schema import METADATA, events, people
from interplay.study.live import event_log as journals
from interplay.study.live.event_log import GameEventLog
from tests.server.conftest import fresh_address, postgres  # noqa: F401


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request, tmp_path):
    address = str(tmp_path / "journal.db")
    if request.param == "postgresql":
        address = fresh_address(request.getfixturevalue("postgres"))
    made = open_study_database(address)
    now = SystemClock().now()
    row = {"id": 1, "public": "p", "study": "s", "status": "active", "language": "en", "position": 0, "tries": 0}
    made.write(lambda tx: tx.execute(sa.insert(people).values(**row, seed=1, created=now, seen=now)))
    yield made
    made.close()


def stored(database):
    query = sa.select(events.c.payload).order_by(events.c.id)
    return [row.payload["n"] for row in database.read(lambda tx: tx.execute(query).all())]


def with_journal(database, work):
    async def run():
        made = GameEventLog(database, SystemClock())
        made.open()
        try:
            return await work(made)
        finally:
            await made.close()

    return asyncio.run(run())


def test_events_are_stored_in_order_and_many_in_one_commit(database):
    async def work(made):
        await asyncio.gather(*(made.add(1, None, n, "step", n=n) for n in range(500)))
        return made.commits

    assert with_journal(database, work) < 10
    assert stored(database) == list(range(500))


def test_an_event_that_cannot_be_stored_holds_up_no_other(database):
    """Someone was erased while they played: their events have no one to belong to any more."""

    async def work(made):
        added = [made.add(1 if n % 5 else 99, None, n, "step", n=n) for n in range(20)]
        return await asyncio.gather(*added, return_exceptions=True)

    told = with_journal(database, work)
    assert [type(one) for one in told] == [type(None) if n % 5 else IntegrityError for n in range(20)]
    assert stored(database) == [n for n in range(20) if n % 5]


def test_a_commit_whose_answer_got_lost_is_stored_once(database, monkeypatch):
    """The line breaks after the commit and before its answer: the journal cannot know, and tries again."""
    monkeypatch.setattr(journals, "RETRY_S", 0.01)
    real, broken = database.submit, []

    def submit(work, *args):
        told = real(work, *args)
        if len(broken) < 3:
            told.result()
            broken.append(1)
            told = Future()
            told.set_exception(OperationalError("COMMIT", {}, Exception("server closed the connection")))
        return told

    monkeypatch.setattr(database, "submit", submit)

    async def work(made):
        await asyncio.gather(*(made.add(1, None, n, "step", n=n) for n in range(10)))

    with_journal(database, work)
    assert len(broken) == 3
    assert stored(database) == list(range(10))


def test_games_are_told_when_the_database_falls_behind(database, monkeypatch):
    monkeypatch.setattr(journals, "PATIENCE_S", 0.2)

    async def work(made):
        held = asyncio.wrap_future(database.submit(lambda tx: time.sleep(0.6)))
        await asyncio.sleep(0.05)
        added = made.add(1, None, 0, "step", n=0)
        assert not made.behind
        await asyncio.sleep(0.3)
        assert made.behind
        await asyncio.gather(held, added)
        await asyncio.sleep(0)
        assert not made.behind

    with_journal(database, work)
    assert stored(database) == [0]


def test_migrations_give_the_tables_that_the_code_declares(database):
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    with database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": "study_version"})
        found = [d for d in compare_metadata(context, METADATA) if d[0] not in ("remove_table", "remove_index")]
    assert found == []
