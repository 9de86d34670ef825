"""Events of games, stored as they happen: all that wait are written in one commit, in order, then acknowledged."""

from __future__ import annotations

import asyncio
import logging
import secrets
from typing import Any

from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError

from interplay.server.clock import Clock
from interplay.server.database import Database, Tx, is_away
from interplay.study.db.schema import events

LOG = logging.getLogger("interplay.study")
PATIENCE_S = 2.0  # a commit that takes longer than this pauses the games
AGAIN_S = 0.5  # between two tries while the database is away
LAST_S = 10.0  # a server that stops waits so long for a database that is away
Waiting = tuple[dict[str, Any], asyncio.Future[None]]


class GameEventLog:
    """One for a server. While the server lives nothing that was added is lost: it waits for a database that is away.

    A commit whose answer got lost is tried again. Every event has a stamp that no other has, so that one which was
    stored after all is not stored twice."""

    def __init__(self, database: Database, clock: Clock):
        self._database, self._clock = database, clock
        self._waiting: list[Waiting] = []
        self._since: float | None = None  # when the oldest event that is not on disk was added
        self._wake, self._idle = asyncio.Event(), asyncio.Event()
        self._idle.set()
        self._task: asyncio.Task | None = None
        self._stamp = secrets.randbits(62)
        self.written = self.commits = 0

    def open(self) -> None:
        self._task = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Wait until all is on disk, though not for ever."""
        if self._task is None:
            return
        try:
            await asyncio.wait_for(self._idle.wait(), LAST_S)
        except TimeoutError:
            LOG.error("the database is away: the last events of the games in play are lost; none was acknowledged")
        self._task.cancel()

    async def settled(self) -> None:
        """Wait until all that was added is on disk."""
        await self._idle.wait()

    def add(self, person: int, game: int | None, t: int | None, kind: str, **payload: Any) -> asyncio.Future[None]:
        """Note an event; what is returned is done when it is on disk."""
        stored: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._stamp += 1
        row = {"person": person, "game": game, "t": t, "kind": kind, "at": self._clock.now(), "payload": payload}
        self._waiting.append((row | {"stamp": self._stamp}, stored))
        if self._since is None:
            self._since = self._clock.monotonic()
        self._idle.clear()
        self._wake.set()
        return stored

    @property
    def behind(self) -> bool:
        """Whether the database has not kept up, so that games had better wait."""
        return self._since is not None and self._clock.monotonic() - self._since > PATIENCE_S

    async def _run(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            batch, self._waiting = self._waiting, []
            started = self._clock.monotonic()
            await self._write(batch)
            self._since = started if self._waiting else None
            if not self._waiting:
                self._idle.set()

    async def _write(self, batch: list[Waiting]) -> None:
        try:
            await self._insert([row for row, _ in batch])
        except DBAPIError as error:
            if len(batch) > 1:  # one of them cannot be stored; the others can
                for one in batch:
                    await self._write([one])
                return
            row, stored = batch[0]
            LOG.error("an event of person %s cannot be stored: %s", row["person"], type(error).__name__)
            _settle(stored, error)
            return
        self.written, self.commits = self.written + len(batch), self.commits + 1
        for _, stored in batch:
            _settle(stored, None)

    async def _insert(self, rows: list[dict[str, Any]]) -> None:
        """Until it is done; an error says that these rows can never be stored."""
        while True:
            try:
                return await asyncio.wrap_future(self._database.submit(_insert, rows))
            except Exception as error:
                if not is_away(error):
                    raise
                LOG.warning("the database is away (%s); %d events wait", type(error).__name__, len(rows))
                await asyncio.sleep(AGAIN_S)


def _settle(stored: asyncio.Future[None], error: Exception | None) -> None:
    if stored.done():
        return
    if error is None:
        stored.set_result(None)
    else:
        stored.set_exception(error)
        stored.exception()  # whoever still waits for it is told; it need not be anyone


def _insert(tx: Tx, rows: list[dict[str, Any]]) -> None:
    made = sqlite.insert(events) if tx.dialect.name == "sqlite" else postgresql.insert(events)
    tx.execute(made.on_conflict_do_nothing(index_elements=["stamp"]), rows)
