"""Rate limits: token buckets, one per name, in memory or in the database.

Visitors without a name are known by a keyed hash of their address, which is forgotten with the process: no address is
stored.
"""

from __future__ import annotations

import functools
import hmac
import math
import secrets
from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from interplay.server.api_error import ApiError
from interplay.server.clock import Clock
from interplay.server.database import Database, Tx
from interplay.server.schema import buckets

MOST_NAMES = 50_000
_LEVEL = sa.select(buckets).where(buckets.c.name == sa.bindparam("bucket"))


def too_many(what: str, seconds: float) -> ApiError:
    """The refusal of whoever comes too often, with how long to wait."""
    wait_s = max(1, math.ceil(seconds))
    return ApiError("too_many", f"too many {what}: wait {wait_s} s", wait_s=wait_s)


class Buckets:
    """Each name may do `burst` things at once and `per_second` in the long run."""

    def __init__(self, clock: Clock, per_second: float, burst: float):
        self._clock, self._rate, self._burst = clock, per_second, float(burst)
        self._level: dict[str, tuple[float, float]] = {}  # name -> what is left, and when that was so

    def take(self, name: str, cost: float = 1.0) -> bool:
        """Take tokens of a name; return whether there were enough."""
        now = self._clock.monotonic()
        left = self._left(name, now)
        if left < cost:
            self._level[name] = (left, now)
            return False
        self._level[name] = (left - cost, now)
        if len(self._level) > MOST_NAMES:
            self._forget(now)
        return True

    def require(self, name: str, what: str, cost: float = 1.0) -> None:
        """Take tokens of a name.

        Args:
            name: The name.
            what: What there is too much of, for the message.
            cost: The number of tokens.

        Raises:
            ApiError: The name has too few left; the message says how long to wait.
        """
        if not self.take(name, cost):
            raise too_many(what, (cost - self._left(name, self._clock.monotonic())) / self._rate)

    def exhausted(self, name: str) -> bool:
        """Whether the name has nothing left; asking costs nothing."""
        return self._left(name, self._clock.monotonic()) < 1.0

    def _left(self, name: str, now: float) -> float:
        left, since = self._level.get(name, (self._burst, now))
        return min(self._burst, left + (now - since) * self._rate)

    def _forget(self, now: float) -> None:
        """Full buckets say nothing, so they need not be kept."""
        self._level = {n: v for n, v in self._level.items() if self._left(n, now) < self._burst}


class SharedBuckets:
    """As `Buckets`, in the database: several processes that serve together count together.

    Args:
        database: Where the levels are.
        clock: The clock.
        what: What is limited; part of the names in the database.
        per_second: How much each name may do in the long run.
        burst: How much at once.
    """

    def __init__(self, database: Database, clock: Clock, what: str, per_second: float, burst: float):
        self._database, self._clock, self._what = database, clock, what
        self._rate, self._burst = per_second, float(burst)

    def left(self, tx: Tx, name: str) -> float:
        """Return what a name has left."""
        row = tx.execute(_LEVEL, {"bucket": self._name(name)}).one_or_none()
        if row is None:
            return self._burst
        passed = max(0.0, (self._clock.now() - row.at).total_seconds())  # the clock may have been set back
        return min(self._burst, row.level + passed * self._rate)

    def take(self, tx: Tx, name: str) -> bool:
        """Take one token of a name within a transaction; return whether there was one."""
        left = self.left(tx, name)
        if left < 1.0:
            return False
        row = {"name": self._name(name), "level": left - 1.0, "at": self._clock.now()}
        tx.execute(_set_level(tx.dialect.name), row)
        if secrets.randbelow(200) == 0:  # full buckets say nothing, so they need not be kept
            full = self._clock.now() - timedelta(seconds=self._burst / self._rate)
            tx.execute(sa.delete(buckets).where(buckets.c.name.startswith(f"{self._what}/"), buckets.c.at < full))
        return True

    def require(self, tx: Tx, name: str, what: str) -> None:
        """Take one token of a name within a transaction.

        Raises:
            ApiError: The name has none left; the message says how long to wait.
        """
        if not self.take(tx, name):
            raise too_many(what, (1.0 - self.left(tx, name)) / self._rate)

    async def exhausted(self, name: str) -> bool:
        """Whether the name has nothing left; asking costs nothing."""
        return await self._database.aread(self.left, name) < 1.0

    async def note(self, name: str) -> None:
        """Take one token of a name, in a transaction of its own."""
        await self._database.awrite(self.take, name)

    def _name(self, name: str) -> str:
        return f"{self._what}/{name}"[:200]


@functools.cache
def _set_level(dialect: str) -> sa.Executable:
    row = (sqlite.insert if dialect == "sqlite" else postgresql.insert)(buckets)
    new = {"level": row.excluded.level, "at": row.excluded["at"]}
    return row.on_conflict_do_update(index_elements=["name"], set_=new)


class Addresses:
    """Addresses as anonymous names: a keyed hash whose key is never written down.

    Args:
        key: The key; processes that serve together share one. None: a key of this process's own.
    """

    def __init__(self, key: bytes | None = None):
        self._key = key or secrets.token_bytes(32)

    def name(self, address: str | None) -> str:
        """Return the name of an address."""
        digest = hmac.digest(self._key, (address or "nowhere").encode(), "sha256").hex()
        return f"address:{digest[:16]}"
