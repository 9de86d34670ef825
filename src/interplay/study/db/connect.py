"""What researchers do with the books of a study: open them, and take the games out as traces."""

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

PATIENCE_S = 5.0  # after which people are told that the database is away


def open_study_database(address: str) -> Database:
    return open_database(address, (SERVER, HISTORY), patience_s=PATIENCE_S)


def make_base(database: Database) -> Base:
    return Base(database, requests_per_second=100, burst=600)  # from one address, which a class of people may share


def write_traces(database: Database, protocol: Protocol, out: str | Path) -> TraceSet:
    """All games that were played to their end, as a trace set; the seat of whoever took part is called `person`."""
    query = (
        sa.select(games.c.episode)
        .join(people, people.c.id == games.c.person)
        .where(people.c.study == protocol.name, games.c.status == DONE, games.c.joint.is_(None))
        .order_by(games.c.id)
    )
    episodes = database.read(lambda tx: [unpack(row.episode) for row in tx.execute(query)])
    if not episodes:
        raise InterplayError(f"no game of {protocol.name} is played yet")
    found = TraceSet.create(out, {"study": protocol.name, "protocol": protocol.hash})
    found.append(episodes)
    return found
