"""Events of games, stored as they happen: all that wait are written in one commit, in order, then acknowledged."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from interplay.server.clock import Clock
from interplay.server.database import Database, Tx
from interplay.study.tables import events

LOG = logging.getLogger("interplay.study")
PATIENCE_S = 2.0  # a commit that takes longer than this pauses the games
AGAIN_S = 0.5  # between two tries while the database is away


class Journal:
    """One for a server. While the server lives nothing that was added is lost: it waits for a database that is away."""

    def __init__(self, database: Database, clock: Clock):
        self._database, self._clock = database, clock
        self._waiting: list[tuple[dict[str, Any], asyncio.Future[None]]] = []
        self._since: float | None = None  # when the oldest event that is not on disk was added
        self._wake = asyncio.Event()
        self._task: asyncio.Task | None = None
        self.written = 0

    def open(self) -> None:
        self._task = asyncio.create_task(self._run())

    async def close(self) -> None:
        if self._task is None:
            return
        while self._waiting and not self._task.done():
            await asyncio.sleep(0.01)
        self._task.cancel()

    def add(self, person: int, game: int | None, t: int | None, kind: str, **payload: Any) -> asyncio.Future[None]:
        """Note an event; what is returned is done when it is on disk."""
        stored: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        row = {"person": person, "game": game, "t": t, "kind": kind, "at": self._clock.now(), "payload": payload}
        self._waiting.append((row, stored))
        if self._since is None:
            self._since = self._clock.monotonic()
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
            while batch:
                try:
                    await self._database.awrite(_insert, [row for row, _ in batch])
                    break
                except DBAPIError as error:
                    LOG.warning("the database is away (%s); %d events wait", type(error).__name__, len(batch))
                    await asyncio.sleep(AGAIN_S)
            self.written += len(batch)
            self._since = started if self._waiting else None
            for _, stored in batch:
                if not stored.done():
                    stored.set_result(None)


def _insert(tx: Tx, rows: list[dict[str, Any]]) -> None:
    tx.execute(sa.insert(events), rows)
