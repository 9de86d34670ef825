"""Open the database of a study, and write its games as traces."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

from interplay.errors import InterplayError
from interplay.server.app import Base
from interplay.server.database import SERVER, Database, open_database
from interplay.study.db.game_rows import DONE, unpack
from interplay.study.db.schema import HISTORY, games, people
from interplay.study.protocol.model import Protocol
from interplay.traces import TraceSet

PATIENCE_S = 5.0  # after which requests are answered with "database unavailable"


def open_study_database(address: str) -> Database:
    """Open the database at a path or address, and bring its schema up to date."""
    return open_database(address, (SERVER, HISTORY), patience_s=PATIENCE_S)


def make_base(database: Database, prefix: str = "", address_key: bytes | None = None) -> Base:
    """Return the server's base for a database, with request limits that suit a class of people behind one address."""
    return Base(database, requests_per_second=100, burst=600, prefix=prefix, address_key=address_key)


def write_traces(database: Database, protocol: Protocol, out: str | Path) -> TraceSet:
    """Write all finished games of a study as a trace set, in which participants' seats are called `person`.

    Raises:
        InterplayError: No game is finished yet.
    """
    query = (
        sa.select(games.c.episode)
        .join(people, people.c.id == games.c.person)
        .where(people.c.study == protocol.name, games.c.status == DONE, games.c.joint.is_(None))
        .where(people.c.test.is_(False))
        .order_by(games.c.id)
    )
    episodes = database.read(lambda tx: [unpack(row.episode) for row in tx.execute(query)])
    if not episodes:
        raise InterplayError(f"no game of {protocol.name} is played yet")
    traces = TraceSet.create(out, {"study": protocol.name, "protocol": protocol.hash})
    traces.append(episodes)
    return traces
