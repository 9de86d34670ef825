"""Leases: one owner at a time for what a server serves, with fencing.

A lease is a row in the database. Its owner raises the row's counter every few seconds. Another process may take the
lease when the counter has stood still for `EXPIRES_S` seconds on that process's own monotonic clock, so no two clocks
are ever compared, or at once when the owner's process is known to have ended on this machine. Every write of an owner
checks in the same transaction that the lease is still its own: an owner that was suspended and has lost the lease can
write nothing more.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import sqlalchemy as sa

from interplay.errors import InterplayError
from interplay.server.api_error import ApiError
from interplay.server.database import Database, Tx, insert, is_away
from interplay.server.schema import leases

LOG = logging.getLogger("interplay.server")
BEAT_S = 1.0  # how often an owner raises its counter
EXPIRES_S = 8.0  # how long a counter stands still before the lease may be taken
IDLE_S = 8.0  # after which PostgreSQL ends a transaction whose process does nothing, and frees what it had locked


class LeaseLost(ApiError):
    """Another process has taken the lease: this one may not write any more."""

    def __init__(self, name: str):
        super().__init__("unavailable", f"another server has taken over {name}: nothing is lost, try again soon")


class LeaseRow(NamedTuple):
    """A lease as it is stored."""

    name: str
    owner: str  # of one process start; empty: released
    fence: int  # raised whenever the lease changes hands
    beats: int  # raised by the owner while it lives
    process: str  # who the owner is, as JSON

    @property
    def described(self) -> str:
        """The owner in words, for people."""
        who = json.loads(self.process)
        return f"process {who.get('pid', '?')} on {who.get('host') or 'another machine'}"

    @property
    def ended(self) -> bool:
        """Whether the owner is known to be gone: it released the lease, or its process on this machine has ended."""
        if not self.owner:
            return True
        who, here = json.loads(self.process), _this_process()
        if not who.get("machine") or who["machine"] != here["machine"]:
            return False
        return _started(who["pid"]) != who["started"]


class Lease:
    """A lease that this process owns, from `acquire` to `release`.

    Args:
        database: The database that the lease guards: all writes through it fail once the lease is lost.
        row: The lease as it was taken.
    """

    def __init__(self, database: Database, row: LeaseRow):
        self.name, self.owner, self.fence = row.name, row.owner, row.fence
        self.lost = False
        self.on_lost: Callable[[], None] = lambda: None  # called once, from another thread, if the lease is lost
        self._database = database
        mine = sa.select(leases.c.fence).where(leases.c.name == row.name, leases.c.owner == row.owner)
        self._mine = mine.with_for_update(read=True)  # made once: it is asked with every commit
        self._over = threading.Event()
        database.guards.append(self.check)
        self._thread = threading.Thread(target=self._beat, name="lease", daemon=True)
        self._thread.start()

    def check(self, tx: Tx) -> None:
        """Make a transaction fail unless the lease is still owned, and keep it owned until the transaction ends.

        Raises:
            LeaseLost: Another process has taken the lease.
        """
        if tx.dialect.name == "postgresql":  # or a process that is stopped within a transaction keeps the lease locked
            tx.exec_driver_sql(f"SET LOCAL idle_in_transaction_session_timeout = {int(1000 * IDLE_S)}")
        if tx.execute(self._mine).one_or_none() is None:
            raise LeaseLost(self.name)

    def release(self) -> None:
        """Give the lease back, so that another process may take it at once."""
        if self._over.is_set():
            return
        self._over.set()
        self._thread.join(5)
        try:
            self._database.submit(_release, self.name, self.owner).result(5)
        except Exception as error:
            LOG.warning("the lease of %s could not be given back: %s", self.name, type(error).__name__)
        self._database.guards.remove(self.check)

    def _beat(self) -> None:
        while not self._over.wait(BEAT_S):
            try:
                self._database.submit(_beat, self.name, self.owner).result()
            except LeaseLost:
                self.lost = True
                LOG.critical("another server has taken over %s: this one can write nothing more", self.name)
                self.on_lost()
                return
            except Exception as error:
                if not is_away(error):
                    LOG.exception("the lease of %s could not be renewed", self.name)


def acquire(database: Database, name: str) -> Lease:
    """Take a lease, as soon as it is certain that nobody owns it.

    Args:
        database: Where the lease is; its writes are guarded by it from now on.
        name: What is owned, such as `study small`.

    Raises:
        InterplayError: Another process owns it and is alive.
    """
    owner = secrets.token_hex(12)
    first, since = database.read(find, name), time.monotonic()
    while True:
        row = database.read(find, name)
        if row is not None and (first is None or row.owner != first.owner):
            first, since = row, time.monotonic()
        if row is None or row.ended or time.monotonic() - since > EXPIRES_S:
            taken = database.write(_take, name, owner, row)
            if taken is not None:
                return Lease(database, taken)
        elif first is not None and row.beats != first.beats:
            raise InterplayError(
                f"{name} is served from this database already, by {row.described}: stop that server first, or give "
                "another database"
            )
        time.sleep(BEAT_S / 5)


def find(tx: Tx, name: str) -> LeaseRow | None:
    """Return a lease; None if it was never taken."""
    row = tx.execute(sa.select(leases).where(leases.c.name == name)).one_or_none()
    return None if row is None else LeaseRow(*row)


def _take(tx: Tx, name: str, owner: str, seen: LeaseRow | None) -> LeaseRow | None:
    """Take a lease that is still exactly as it was seen; None if it is not."""
    row = LeaseRow(name, owner, seen.fence + 1 if seen else 1, 0, json.dumps(_this_process()))
    if seen is None:
        work = insert(tx, leases).values(**row._asdict()).on_conflict_do_nothing()
    else:
        same = (leases.c.name == name) & (leases.c.owner == seen.owner) & (leases.c.beats == seen.beats)
        work = sa.update(leases).where(same).values(**row._asdict())
    return row if tx.execute(work.returning(leases.c.name)).first() is not None else None


def _beat(tx: Tx, name: str, owner: str) -> None:
    mine = (leases.c.name == name) & (leases.c.owner == owner)
    if tx.execute(sa.update(leases).where(mine).values(beats=leases.c.beats + 1)).rowcount != 1:
        raise LeaseLost(name)


def with_prefix(tx: Tx, prefix: str) -> list[LeaseRow]:
    """Return the leases that have an owner and whose names begin like this."""
    query = sa.select(leases).where(leases.c.name.startswith(prefix, autoescape=True), leases.c.owner != "")
    return [LeaseRow(*row) for row in tx.execute(query.order_by(leases.c.name))]


def of_owner(tx: Tx, owner: str) -> LeaseRow | None:
    """Return the lease of an owner; None if it was released or taken."""
    row = tx.execute(sa.select(leases).where(leases.c.owner == owner)).first()
    return None if row is None else LeaseRow(*row)


def expire(tx: Tx, row: LeaseRow) -> bool:
    """Take a lease away from an owner that is gone; False if it was renewed or taken since it was read."""
    same = (leases.c.name == row.name) & (leases.c.owner == row.owner) & (leases.c.beats == row.beats)
    return tx.execute(sa.update(leases).where(same).values(owner="", fence=leases.c.fence + 1)).rowcount == 1


class LeaseWatch:
    """Takes the leases of other processes away once these have ended or stand still.

    Args:
        database: Where the leases are.
        prefix: How the names of the leases begin.
    """

    def __init__(self, database: Database, prefix: str):
        self._database, self._prefix = database, prefix
        self._seen: dict[str, tuple[LeaseRow, float]] = {}  # by name: as it last changed, and when that was

    async def look(self, own: str) -> list[LeaseRow]:
        """Look at all leases once, and return those that were taken away.

        Args:
            own: The owner of this process's lease, which is left alone.
        """
        rows, now, gone = await self._database.aread(with_prefix, self._prefix), time.monotonic(), []
        for row in rows:
            known, since = self._seen.get(row.name, (row, now))
            if (known.owner, known.beats) != (row.owner, row.beats):
                known, since = row, now
            self._seen[row.name] = known, since
            dead = row.ended or now - since > EXPIRES_S
            if row.owner != own and dead and await self._database.awrite(expire, row):
                LOG.warning("%s of %s is gone: its games are free", row.name, row.described)
                gone.append(row)
        return gone


def _release(tx: Tx, name: str, owner: str) -> None:
    tx.execute(sa.update(leases).where(leases.c.name == name, leases.c.owner == owner).values(owner=""))


def _this_process() -> dict[str, Any]:
    """Return what tells this process from all others, where the system says it."""
    pid = os.getpid()
    try:
        # Process numbers mean something only on the same running machine, and in the same container.
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        machine = f"{boot}/{os.readlink('/proc/self/ns/pid')}"
    except OSError:
        machine = ""
    return {"host": socket.gethostname(), "machine": machine, "pid": pid, "started": _started(pid)}


def _started(pid: int) -> str | None:
    """Return when a process of this machine began; None if it has ended."""
    try:
        state, *fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if state in "ZX" else fields[18]
