"""The audit log: who did what, when, written in the same transaction as the action.

Refusals are written too, a limited number a minute.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import sqlalchemy as sa

from interplay.server.clock import Clock
from interplay.server.database import Database, Tx
from interplay.server.rate_limits import Buckets
from interplay.server.schema import audit
from interplay.table import Table, plain

LOG = logging.getLogger("interplay.server")


def note(tx: Tx, clock: Clock, actor: str, action: str, subject: str = "", **detail: Any) -> None:
    """Write a line of the audit log."""
    row = {"at": clock.now(), "actor": actor[:200], "action": action[:80], "subject": subject[:200]}
    tx.execute(sa.insert(audit).values(**row, detail=plain(detail)))


def read(tx: Tx, *, action: str | None = None, actor: str | None = None, most: int = 1000) -> Table:
    """The newest lines, newest first."""
    query = sa.select(audit).order_by(audit.c.id.desc()).limit(most)
    if action is not None:
        query = query.where(audit.c.action == action)
    if actor is not None:
        query = query.where(audit.c.actor == actor)
    rows = [dict(row._mapping) | {"at": row.at.isoformat()} for row in tx.execute(query)]
    return Table.of(rows, "Audit log", columns=["id", "at", "actor", "action", "subject", "detail"])


class Refusals:
    """Notes refusals, a few a minute of each kind and actor; the rest are counted and told with the next one."""

    def __init__(self, database: Database, clock: Clock, per_minute: float = 6, burst: int = 20):
        self._database, self._clock = database, clock
        self._buckets = Buckets(clock, per_minute / 60, burst)
        self._left_out: dict[tuple[str, str], int] = {}
        self._waiting: set[asyncio.Task] = set()

    def note(self, actor: str, code: str, message: str, **detail: Any) -> None:
        """Note a refusal.

        Args:
            actor: The name of the key or of the visitor.
            code: The code of the refusal.
            message: Its message.
            detail: Further columns of the line.
        """
        LOG.info("refused %s: %s (%s)", actor, code, message)
        if not self._buckets.take(f"{actor}|{code}"):
            if len(self._left_out) < 10_000:
                self._left_out[actor, code] = self._left_out.get((actor, code), 0) + 1
            return
        more = self._left_out.pop((actor, code), 0)
        work = self._database.awrite(
            note, self._clock, actor, f"refused:{code}", "", message=message, left_out=more, **detail
        )
        task = asyncio.ensure_future(work)
        self._waiting.add(task)
        task.add_done_callback(self._noted)

    def _noted(self, task: asyncio.Task) -> None:
        self._waiting.discard(task)
        if not task.cancelled() and task.exception() is not None:
            LOG.warning("a refusal could not be noted in the audit log: %s", task.exception())

    async def settle(self) -> None:
        """Wait until all that was noted is on disk."""
        await asyncio.gather(*self._waiting, return_exceptions=True)
