"""The database: SQLite in a file by default, PostgreSQL by address. What `write` has returned from is on disk.

Work is given as functions of a connection, `def f(tx, ...)`, which touch nothing but the database. They may be run
again after a deadlock, and the writer joins those that wait into one commit.
"""

from __future__ import annotations

import asyncio
import logging
import os
import queue
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnection

from interplay.errors import InterplayError
from interplay.server.api_error import ApiError

Tx = sa.Connection
P = ParamSpec("P")
T = TypeVar("T")

LOG = logging.getLogger("interplay.server")
HERE = Path(__file__).parent
MOST_JOINED = 64  # pieces of work in one commit
TRIES = 5  # of work that met a lock
RETRY_S = 0.5  # between two tries to write while the database is away or full


class DatabaseUnavailable(ApiError):
    """The database does not answer, or not in time.

    Whether the work was done is not known: it may be asked for again, and must then have the effect of being done once.
    """

    def __init__(self):
        super().__init__("unavailable", "the server cannot reach its books just now: nothing is lost, try again soon")


@dataclass(frozen=True)
class MigrationHistory:
    """The migrations of one package, counted in a table of its own."""

    name: str
    folder: Path


SERVER = MigrationHistory("server", HERE / "migrations" / "versions")


class Database:
    """One database, opened once a process; `close` it when done.

    `patience_s` is how long `aread` and `awrite` wait before they raise DatabaseUnavailable; None: for ever.
    """

    def __init__(self, address: str = "sqlite://", *, patience_s: float | None = None):
        self.address, self.patience_s = normal_address(address), patience_s
        self.engine = _engine(self.address)
        self.guards: list[Callable[[Tx], None]] = []  # each is asked in every writing transaction, before the work
        self._jobs: queue.SimpleQueue[_WriteJob | None] = queue.SimpleQueue()
        self._writer = threading.Thread(target=self._write_jobs, name="database-writer", daemon=True)
        self._writer.start()
        self._readers = ThreadPoolExecutor(max_workers=2, thread_name_prefix="database-reader")
        self._closed = False

    @property
    def is_sqlite(self) -> bool:
        """Whether this is SQLite rather than PostgreSQL."""
        return self.engine.dialect.name == "sqlite"

    def write(self, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do work in a transaction of its own, here and now; committed when this returns."""

        def once() -> T:
            with self._begin() as tx:
                return work(tx, *args, **kwargs)

        return _retried(once)

    @contextmanager
    def _begin(self) -> Iterator[Tx]:
        """Begin a transaction that may write: it fails if a guard says so."""
        with self.engine.begin() as tx:
            for guard in self.guards:
                guard(tx)
            yield tx

    def read(self, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Look something up without locking anyone out."""
        with self.engine.connect().execution_options(reading=True) as tx, tx.begin():
            return work(tx, *args, **kwargs)

    def submit(self, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """As `write`, later, in its turn. Pieces of work that wait at the same time share a commit."""
        job = _WriteJob(lambda tx: work(tx, *args, **kwargs), Future())
        self._jobs.put(job)
        return job.result

    async def awrite(self, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """As `submit`, off the event loop.

        Raises:
            DatabaseUnavailable: The database does not answer. Work that has not begun by then is not done.
        """
        return await self._in_time(asyncio.wrap_future(self.submit(work, *args, **kwargs)))

    async def aread(self, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """As `read`, off the event loop; `DatabaseUnavailable` if the database is."""
        loop = asyncio.get_running_loop()
        return await self._in_time(loop.run_in_executor(self._readers, lambda: self.read(work, *args, **kwargs)))

    async def awrite_patiently(self, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """As `awrite`, again and again while the database is away or its disk is full."""
        while True:
            try:
                return await self.awrite(work, *args, **kwargs)
            except DatabaseUnavailable:
                LOG.warning("the database is away: %s waits", work.__name__)
                await asyncio.sleep(RETRY_S)

    async def _in_time(self, answer: asyncio.Future[T]) -> T:
        try:
            async with asyncio.timeout(self.patience_s):
                return await answer
        except TimeoutError as error:
            raise DatabaseUnavailable from error
        except Exception as error:
            if is_away(error):
                raise DatabaseUnavailable from error
            raise

    def close(self) -> None:
        """Finish the work that waits and close all connections."""
        if not self._closed:
            self._closed = True
            self._jobs.put(None)
            self._writer.join()
            self._readers.shutdown()
            self.engine.dispose()

    def _write_jobs(self) -> None:
        while (first := self._jobs.get()) is not None:
            jobs, last = [first], False
            while len(jobs) < MOST_JOINED:
                try:
                    more = self._jobs.get_nowait()
                except queue.Empty:
                    break
                if more is None:
                    last = True
                    break
                jobs.append(more)
            self._commit_together(jobs)
            if last:
                return

    def _commit_together(self, jobs: Sequence[_WriteJob]) -> None:
        """All in one commit, each in its own savepoint; if that fails as a whole, one by one."""
        jobs = [job for job in jobs if job.result.set_running_or_notify_cancel()]  # some no longer wait
        if len(jobs) == 1:
            self._commit_alone(jobs[0])
            return
        outcomes: list[Any] = []
        try:
            with self._begin() as tx:
                for job in jobs:
                    try:
                        with tx.begin_nested():
                            outcomes.append((job.work(tx), None))
                    except DBAPIError:
                        raise
                    except Exception as error:
                        outcomes.append((None, error))
        except Exception:
            self._commit_one_by_one(jobs)
            return
        for job, (value, error) in zip(jobs, outcomes, strict=True):
            _settle(job.result, value, error)

    def _commit_one_by_one(self, jobs: Sequence[_WriteJob]) -> None:
        for at, job in enumerate(jobs):
            error = self._commit_alone(job)
            if error is not None and is_away(error):  # all would wait in vain, one after the other
                for other in jobs[at + 1 :]:
                    _settle(other.result, None, error)
                return

    def _commit_alone(self, job: _WriteJob) -> Exception | None:
        try:
            value = self.write(job.work)
        except Exception as error:
            _settle(job.result, None, error)
            return error
        _settle(job.result, value, None)
        return None


@dataclass(frozen=True)
class _WriteJob:
    work: Callable[[Tx], Any]
    result: Future


def _settle(result: Future, value: Any, error: Exception | None) -> None:
    if error is None:
        result.set_result(value)
    else:
        result.set_exception(error)


async def repeat(every_s: float, look: Callable[[], Awaitable[None]], what: str, log: logging.Logger) -> None:
    """Do `look` every so many seconds until this is cancelled; `what` it does stands in the log if it fails."""
    while True:
        await asyncio.sleep(every_s)
        try:
            await look()
        except DatabaseUnavailable:
            log.warning("the database is away")
        except Exception:
            log.exception("%s failed", what)


def normal_address(address: str) -> str:
    """An address as SQLAlchemy reads it: a path is a SQLite file, `postgres://` means psycopg."""
    if "://" not in address:
        return f"sqlite:///{address}"
    scheme, _, rest = address.partition("://")
    if scheme in ("postgres", "postgresql"):
        return f"postgresql+psycopg://{rest}"
    if scheme.partition("+")[0] not in ("sqlite", "postgresql"):
        raise InterplayError(f"the database {address!r} is neither a path, sqlite:// nor postgresql://")
    return address


def _engine(address: str) -> sa.Engine:
    try:
        url = sa.make_url(address)
    except ArgumentError as error:
        raise InterplayError(f"cannot read the database address: {error}") from None
    if url.get_backend_name() != "sqlite":
        try:
            # A server that is gone without a word is noticed after some seconds, not after the system's minutes.
            options = {"connect_timeout": 5, "keepalives_idle": 5, "tcp_user_timeout": 10_000}
            known = {name: value for name, value in options.items() if name not in url.query}
            return sa.create_engine(url, pool_pre_ping=True, pool_size=8, connect_args=known)
        except ImportError as error:
            raise InterplayError(f"PostgreSQL needs psycopg: pip install 'interplay[server]' ({error})") from None
    memory = url.database in (None, "", ":memory:")
    if not memory:
        _make_private(Path(str(url.database)))
    # A database in memory lives in its one connection, which all threads then share, one at a time.
    options: dict[str, Any] = {"poolclass": sa.pool.QueuePool, "pool_size": 1, "max_overflow": 0} if memory else {}
    engine = sa.create_engine(url, connect_args={"check_same_thread": False, "timeout": 30}, **options)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _make_private(path: Path) -> None:
    """A new file that only its owner can read: it will hold the server's secrets."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise InterplayError(f"cannot open the database {path}: {error.strerror}") from None


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # transactions are begun by `_begin_sqlite`, not by the driver
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "busy_timeout=30000"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_sqlite(tx: sa.Connection) -> None:
    reading = tx.get_execution_options().get("reading")
    # A writer takes the lock at once: two that read first and write later would deadlock.
    tx.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")


def insert(tx: Tx, table: sa.Table) -> sqlite.Insert | postgresql.Insert:
    """Return an insert into a table that knows `on_conflict_do_nothing` and `on_conflict_do_update`."""
    return sqlite.insert(table) if tx.dialect.name == "sqlite" else postgresql.insert(table)


def is_away(error: BaseException) -> bool:
    """Whether an error says that the database cannot be reached or is locked, rather than that the work is wrong."""
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return True
    return isinstance(error, OperationalError | InterfaceError | NoConnection)


def _retried(once: Callable[[], T]) -> T:
    for attempt in range(TRIES):
        try:
            return once()
        except DBAPIError as error:
            # Deadlocks, failed serialisations and lost connections; anything else would fail again.
            words = ("deadlock", "serialize", "locked", "busy") if isinstance(error, OperationalError) else ()
            passing = error.connection_invalidated or any(word in str(error.orig).lower() for word in words)
            if not passing or attempt == TRIES - 1:
                raise
            time.sleep(0.05 * 2**attempt)
    raise AssertionError("unreachable")


def migrate(database: Database, histories: Sequence[MigrationHistory] = (SERVER,)) -> None:
    """Bring the tables of these packages up to date, each in one transaction."""
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    for history in histories:
        config = Config()
        config.set_main_option("script_location", str(HERE / "migrations"))
        config.set_main_option("version_locations", str(history.folder))
        config.set_main_option("path_separator", "os")
        with database.engine.begin() as tx:
            if not database.is_sqlite:
                tx.execute(sa.text("SELECT pg_advisory_xact_lock(7261951)"))  # one process at a time
            config.attributes["connection"] = tx
            config.attributes["version_table"] = f"{history.name}_version"
            try:
                command.upgrade(config, "head")
            except CommandError as error:
                raise InterplayError(
                    f"the tables of {history.name} are from another version of interplay ({error}): install the "
                    "newer one, or give another database"
                ) from None


def open_database(
    address: str, histories: Sequence[MigrationHistory] = (SERVER,), *, patience_s: float | None = None
) -> Database:
    """A database whose tables are up to date."""
    database = Database(address, patience_s=patience_s)
    try:
        migrate(database, histories)
    except DBAPIError as error:  # it is away, is no database, or lets us make no tables
        database.close()
        raise InterplayError(f"cannot open the database {database.engine.url}: {error.orig}") from error
    except BaseException:
        database.close()
        raise
    return database
