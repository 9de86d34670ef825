"""Storage of game events: all pending events are written in one commit, in order, and then acknowledged."""

from __future__ import annotations

import asyncio
import functools
import logging
import secrets
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError

from interplay.server.clock import Clock
from interplay.server.database import Database, Tx, is_away
from interplay.server.lease import LeaseLost
from interplay.study.db.game_rows import GameElsewhere, check_owner
from interplay.study.db.schema import events

LOG = logging.getLogger("interplay.study")
PATIENCE_S = 2.0  # a commit that takes longer than this pauses the games
RETRY_S = 0.5  # between two tries while the database is unavailable
LAST_S = 10.0  # how long a stopping server waits for an unavailable database
Waiting = tuple[dict[str, Any], asyncio.Future[None]]


class GameEventLog:
    """The event log of a server, which loses nothing while the server runs: events wait for an unavailable database.

    A commit whose answer got lost is repeated. Every event has a unique stamp, so that one which was stored after all
    is not stored twice. Events of games that this server no longer owns are not stored.

    Args:
        database: Where events are stored.
        clock: Gives the time of each event.
        owner: The owner of the server's lease; None: games have no owner.
    """

    def __init__(self, database: Database, clock: Clock, owner: str | None = None):
        self._database, self._clock, self._owner = database, clock, owner
        self._waiting: list[Waiting] = []
        self._since: float | None = None  # when the oldest pending event was added
        self._wake, self._idle = asyncio.Event(), asyncio.Event()
        self._idle.set()
        self._task: asyncio.Task | None = None
        self._stamp = secrets.randbits(62)
        self.written = self.commits = 0

    def open(self) -> None:
        """Start writing."""
        self._task = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Wait until all events are stored, at most `LAST_S` seconds, and stop writing."""
        if self._task is None:
            return
        try:
            await asyncio.wait_for(self._idle.wait(), LAST_S)
        except TimeoutError:
            LOG.error("the database is away: the last events of the games in play are lost; none was acknowledged")
        self._task.cancel()

    async def settled(self) -> None:
        """Wait until all events that were added are stored."""
        await self._idle.wait()

    def add(self, person: int, game: int | None, t: int | None, kind: str, **payload: Any) -> asyncio.Future[None]:
        """Add an event.

        Args:
            person: The participant.
            game: The row of the participant's game; None outside of games.
            t: The number of steps played; None outside of games.
            kind: The kind of event.
            **payload: What is stored with it.

        Returns:
            A future that is done when the event is stored.
        """
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
        """Whether the database has fallen behind, so that games should pause."""
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
        except LeaseLost as error:
            for _, stored in batch:
                _settle(stored, error)
            return
        except (DBAPIError, GameElsewhere) as error:
            if len(batch) > 1:  # one of them cannot be stored: write them one by one
                for waiting in batch:
                    await self._write([waiting])
                return
            row, stored = batch[0]
            LOG.error("an event of person %s cannot be stored: %s", row["person"], type(error).__name__)
            _settle(stored, error)
            return
        self.written, self.commits = self.written + len(batch), self.commits + 1
        for _, stored in batch:
            _settle(stored, None)

    async def _insert(self, rows: list[dict[str, Any]]) -> None:
        """Insert rows, retrying while the database is unavailable; any other error means that they cannot be stored."""
        while True:
            try:
                return await asyncio.wrap_future(self._database.submit(_insert, rows, self._owner))
            except Exception as error:
                if not is_away(error):
                    raise
                LOG.warning("the database is away (%s); %d events wait", type(error).__name__, len(rows))
                await asyncio.sleep(RETRY_S)


def _settle(stored: asyncio.Future[None], error: Exception | None) -> None:
    if stored.done():
        return
    if error is None:
        stored.set_result(None)
    else:
        stored.set_exception(error)
        stored.exception()  # mark it as retrieved: nobody may be waiting for it


def _insert(tx: Tx, rows: list[dict[str, Any]], owner: str | None) -> None:
    if owner is not None:
        check_owner(tx, {row["game"] for row in rows} - {None}, owner)
    tx.execute(_inserted_once(tx.dialect.name), rows)


@functools.cache
def _inserted_once(dialect: str) -> sa.Executable:
    insert = sqlite.insert if dialect == "sqlite" else postgresql.insert
    return insert(events).on_conflict_do_nothing(index_elements=["stamp"])
