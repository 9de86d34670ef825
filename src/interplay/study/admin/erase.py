"""Erasure of a participant: recruiter's id, answers, sessions and, unless they are kept without the person, games."""

from __future__ import annotations

import secrets
import time
from dataclasses import replace
from typing import Any, NamedTuple

import sqlalchemy as sa

from interplay.errors import InterplayError
from interplay.rollout.episode import Episode
from interplay.server import audit
from interplay.server.clock import Clock
from interplay.server.database import Database, Tx
from interplay.server.schema import sessions
from interplay.study.db.game_events import same_game
from interplay.study.db.game_rows import DONE, PLAYING, pack, unpack
from interplay.study.db.participants import DROPPED, OVER, SUBJECT
from interplay.study.db.schema import answers, consents, events, games, members, paid, people, recruits, slots, waiting
from interplay.study.live.game_session import person_identity
from interplay.study.protocol.model import Protocol

ERASED = "erased"
SAID = "message"  # the kind of event that holds a person's words
HEARD = (SAID, "call", "belief")  # the kinds of events in which partners may quote them
PATIENCE_S = 5.0  # how long to wait for others to release the database


class Erased(NamedTuple):
    """How much was erased of a participant."""

    answers: int
    games: int  # erased
    kept: int  # games kept without the person
    name: str | None  # what the person is called from now on, where games were kept


def find(tx: Tx, protocol: Protocol, public: str) -> Any:
    """Return a participant's row by the public name; an `InterplayError` if there is none."""
    query = sa.select(people).where(people.c.study == protocol.name, people.c.public == public)
    row = tx.execute(query).one_or_none() if public.isalnum() else None
    if row is None:
        raise InterplayError(f"there is no participant {public!r} in {protocol.name}")
    return row


def shut(tx: Tx, clock: Clock, protocol: Protocol, public: str) -> int:
    """End a participant's sessions, so that nothing more comes in, and return their number."""
    row = find(tx, protocol, public)
    tx.execute(sa.delete(sessions).where(sessions.c.subject == f"{SUBJECT}{row.id}"))
    if row.status not in OVER and row.status != ERASED:
        values = {"status": DROPPED, "finished": clock.now()}
        tx.execute(sa.update(people).where(people.c.id == row.id).values(**values))
    return row.id


def erase(tx: Tx, clock: Clock, protocol: Protocol, public: str, *, keep_games: bool, by: str) -> Erased:
    """Erase a participant and note it in the audit log, in one transaction; `scrub` afterwards cleans the files.

    Args:
        tx: The transaction.
        clock: Gives the time that is noted.
        protocol: The study.
        public: The participant's public name.
        keep_games: Whether finished games are kept under a new name, without times and events.
        by: Who erases, for the audit log.

    Raises:
        InterplayError: There is no such participant.
    """
    if tx.dialect.name == "sqlite":
        tx.exec_driver_sql("PRAGMA secure_delete = ON")  # what is deleted is overwritten
    number = shut(tx, clock, protocol, public)
    versions = list(tx.execute(sa.select(consents.c.version).where(consents.c.person == number)).scalars())
    for table in (recruits, consents, paid, members, waiting):
        tx.execute(sa.delete(table).where(table.c.person == number))
    gone = tx.execute(sa.delete(answers).where(answers.c.person == number)).rowcount
    kept, name = 0, secrets.token_hex(6)  # how the games that are kept call the person
    rows = tx.execute(sa.select(games).where(games.c.person == number).order_by(games.c.id)).all()
    for row in rows:
        _rewrite_others(tx, row, name)
        if keep_games and row.status == DONE:
            _keep(tx, clock, row, name)
            kept += 1
        else:
            _drop(tx, row)
    if kept:
        _rename(tx, clock, protocol, number, name)
    else:
        tx.execute(sa.delete(events).where(events.c.person == number))
        for table, column in ((slots, slots.c.person), (people, people.c.id)):
            tx.execute(sa.delete(table).where(column == number))
    erased = Erased(gone, len(rows) - kept, kept, name if kept else None)
    detail = {"answers": gone, "games_erased": erased.games, "games_kept": kept, "consent": versions}
    audit.note(tx, clock, by, "erase", public, study=protocol.name, **detail)
    return erased


def _keep(tx: Tx, clock: Clock, row: Any, name: str) -> None:
    """Anonymise a game: no times, and of its events only the button presses, which analyses join to moves."""
    now, trace = clock.now(), pack(anonymous(unpack(row.episode), row.seat, name))
    tx.execute(sa.delete(events).where(events.c.game == row.id, events.c.kind != "flag"))
    tx.execute(sa.update(events).where(events.c.game == row.id).values(at=now))
    tx.execute(sa.update(games).where(games.c.id == row.id).values(started=now, finished=now, episode=trace))


def _drop(tx: Tx, row: Any) -> None:
    """Delete a game. Those who played along keep theirs; an unfinished one starts again for them."""
    tx.execute(sa.delete(events).where(events.c.game == row.id))
    others = list(tx.execute(_others(row)).all())
    tx.execute(sa.delete(games).where(games.c.id == row.id))
    if row.status == PLAYING:
        for other in others:
            tx.execute(sa.delete(events).where(events.c.game == other.id))
            tx.execute(sa.delete(games).where(games.c.id == other.id))
    elif row.joint is None and others:
        lead = others[0].id
        rest = [other.id for other in others[1:]]
        tx.execute(sa.update(games).where(games.c.id == lead).values(joint=None))
        tx.execute(sa.update(games).where(games.c.id.in_(rest)).values(joint=lead))


def _rewrite_others(tx: Tx, row: Any, name: str) -> None:
    """Anonymise the person in the traces of those who played along."""
    for other in tx.execute(_others(row)).all():
        quoted = events.c.payload["what"].as_string().in_(HEARD)
        tx.execute(sa.delete(events).where(events.c.game == other.id, events.c.kind == "remark", quoted))
        if other.episode is not None:
            trace = pack(anonymous(unpack(other.episode), row.seat, name))
            tx.execute(sa.update(games).where(games.c.id == other.id).values(episode=trace))


def _others(row: Any) -> Any:
    return sa.select(games).where(same_game(row.joint or row.id), games.c.id != row.id).order_by(games.c.id)


def _rename(tx: Tx, clock: Clock, protocol: Protocol, number: int, name: str) -> None:
    """Give the person of the games that are kept a new name, and delete everything else of them."""
    now = clock.now()
    tx.execute(sa.delete(events).where(events.c.person == number, events.c.game.is_(None)))
    values = {"public": name, "status": ERASED, "language": protocol.languages[0], "payment": None, "code": None}
    values |= {"created": now, "seen": now, "finished": now}
    tx.execute(sa.update(people).where(people.c.id == number).values(**values))


def anonymous(episode: Episode, seat: int, name: str) -> Episode:
    """Return an episode in which the person of a seat has another name.

    If they wrote messages, all messages and model calls are left out, since partners' prompts quote them.
    """
    agents = list(episode.agents)
    agents[seat] = person_identity(name)
    spoke = any(event.kind == SAID and event.seat == seat for event in episode.events)
    events = tuple(event for event in episode.events if not (spoke and event.kind in HEARD))
    return replace(episode, agents=tuple(agents), events=events)


def scrub(database: Database, *, vacuum: bool = True) -> bool:
    """Overwrite what deleting leaves behind in the database's files.

    Args:
        database: The study's database.
        vacuum: Whether a SQLite database is rewritten, which blocks writers for a moment.

    Returns:
        Whether all of it could be cleaned; not, if others kept reading.
    """
    if not database.is_sqlite:
        with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as tx:
            names = ", ".join(table.name for table in (answers, recruits, consents, members, games, events, people))
            tx.exec_driver_sql(f"VACUUM {names}")
        return True
    connection = database.engine.raw_connection()
    try:
        cursor = connection.cursor()
        if vacuum:
            cursor.execute("VACUUM")
        # The write-ahead log still holds old pages; it can be truncated as soon as no one reads from it.
        cursor.execute("PRAGMA busy_timeout = 0")
        until = time.monotonic() + PATIENCE_S
        while cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
            if time.monotonic() > until:
                return False
            time.sleep(0.05)
        return True
    finally:
        connection.invalidate()  # together with its pragmas
        connection.close()
