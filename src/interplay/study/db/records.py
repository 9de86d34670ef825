"""The records of a study as plain tables, for researchers' pages, exports and analyses.

    study_records = records.load("small.db")            # a database, or the folder of an export
    study_records.participants, study_records.answers, study_records.games, study_records.traces

Participants are called by their public name everywhere. Times are ISO texts in UTC. `export/columns.py` says what each
table has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from pydantic import ValidationError

from interplay.agents.registry import LAYOUT
from interplay.errors import InterplayError
from interplay.server.database import Database, Tx
from interplay.study.db import schema
from interplay.study.db.game_events import STEP, GameEvents
from interplay.study.db.game_rows import DONE, unpack
from interplay.study.db.participant_pages import ParticipantView, people, people_query, with_slots
from interplay.study.db.participants import OVER, WITHDRAWN
from interplay.study.export.columns import COLUMNS
from interplay.study.protocol.answer_subjects import PlayedGame, about
from interplay.study.protocol.flow import Page
from interplay.study.protocol.model import GameSetting, Protocol
from interplay.table import Row, Table
from interplay.traces import TraceSet

FEW = 20  # participants that a query names one by one; more are selected by their study


@dataclass(frozen=True)
class Records:
    """All records of a study. `events` has steps only if they were asked for; `traces` has their actions."""

    protocol: Protocol
    participants: Table
    answers: Table
    games: Table
    flags: Table
    events: Table
    traces: TraceSet | None

    @property
    def study(self) -> str:
        """The study's name."""
        return self.protocol.name


def load(source: str | Path, study: str | None = None, *, traces: bool = True, steps: bool = False) -> Records:
    """Return the records in a database (a path or an address) or in the folder of an export.

    Args:
        source: The database or folder.
        study: The study's name; may be left out if the database has one only.
        traces: Whether the games' traces are read.
        steps: Whether `events` contains every step.

    Raises:
        InterplayError: There is nothing to read, or not this study.
    """
    folder = Path(source)
    if "://" not in str(source) and folder.is_dir():
        from interplay.study.export.files import read_folder

        exported = read_folder(folder, traces=traces, steps=steps)
        if study is not None and exported.study != study:
            raise InterplayError(f"{folder} is an export of {exported.study!r}, not of {study!r}")
        return exported
    if "://" not in str(source) and not folder.is_file():
        raise InterplayError(f"there is no database and no export at {source}")
    from interplay.study.db.connect import open_study_database

    database = open_study_database(str(source))
    try:
        return read(database, study, traces=traces, steps=steps)
    finally:
        database.close()


def read(database: Database, study: str | None = None, *, traces: bool = True, steps: bool = False) -> Records:
    """Return the records of a study, all read at one moment; for the arguments see `load`."""

    def work(tx: Tx) -> Records:
        snapshot(tx)
        protocol = stored_protocol(tx, study)
        known = people(tx, protocol)
        tables = {name: _table(name, READERS[name](tx, protocol, known)) for name in READERS if name != "events"}
        more = _table("events", events(tx, protocol, known, steps=steps))
        return Records(protocol, **tables, events=more, traces=trace_set(tx, protocol, known) if traces else None)

    return database.read(work)


def _table(name: str, rows: Iterator[Row]) -> Table:
    return Table(tuple(COLUMNS[name]), list(rows), name)


def studies(tx: Tx) -> list[str]:
    """Return the names of the studies in a database, in the order in which they were opened."""
    return list(tx.execute(sa.select(schema.files.c.name).order_by(schema.files.c.opened)).scalars())


def stored_protocol(tx: Tx, study: str | None = None) -> Protocol:
    """Return the protocol as it was when people took part.

    Raises:
        InterplayError: There is no such study, or several and none is named, or another version wrote it.
    """
    names = studies(tx)
    if not names:
        raise InterplayError("this database holds no study yet: it has never been served")
    if study is None and len(names) > 1:
        raise InterplayError(f"this database holds several studies: name one of {', '.join(names)}")
    name = study or names[0]
    if name not in names:
        raise InterplayError(f"this database holds no study {name!r}; it holds {', '.join(names)}")
    stored = tx.execute(sa.select(schema.files.c.protocol).where(schema.files.c.name == name)).scalar_one()
    try:
        return Protocol.model_validate(stored)
    except ValidationError as error:
        raise InterplayError(f"the stored file of {name!r} is from another version of interplay: {error}") from None


def everyone(tx: Tx, study: str | None = None) -> tuple[Protocol, Table]:
    """Return a study's protocol and its participants, and nothing else of it."""
    snapshot(tx)
    protocol = stored_protocol(tx, study)
    return protocol, _table("participants", participants(tx, protocol, people(tx, protocol)))


def participants(tx: Tx, protocol: Protocol, known: Mapping[int, ParticipantView]) -> Iterator[Row]:
    """Yield one row for each participant."""
    consents = {row.person: row for row in _rows_of(tx, schema.consents, protocol, known)}
    paid = {row.person: row for row in _rows_of(tx, schema.paid, protocol, known)}
    recruited = {row.person for row in _rows_of(tx, schema.recruits, protocol, known)}
    for number, view in known.items():
        row, consent, pay = view.row, consents.get(number), paid.get(number)
        over = row.status in OVER or row.status == "erased"
        began = consent is not None or view.person.slots
        met = [page for page in view.pages if began and page.item.kind == "game" and not page.practice]
        yield {
            "participant": row.public,
            "status": row.status,
            "language": row.language,
            "page": None if over else view.pages[row.position].id,
            "stopped_on": view.pages[row.position].id if row.status == WITHDRAWN else None,
            "position": row.position,
            "pages": len(view.pages),
            "created": iso(row.created),
            "consented": iso(consent.at) if consent else None,
            "consent_version": consent.version if consent else None,
            "consent_language": consent.language if consent else None,
            "seen": iso(row.seen),
            "finished": iso(row.finished),
            "cells": dict(view.person.slots),
            "partners": list(dict.fromkeys(p.value(p.item.partner) for p in met))
            if consent or view.person.slots
            else [],
            "recruited": number in recruited,
            "payment": row.payment,
            "code": row.code,
            "paid": iso(pay.at) if pay else None,
            "paid_amount": pay.amount if pay else None,
            "seed": row.seed,
        }


def answers(tx: Tx, protocol: Protocol, known: Mapping[int, ParticipantView]) -> Iterator[Row]:
    """Yield one row for each answered question, with the game or partner that it is about."""
    tries: dict[tuple[int, str], int] = {}
    begun = _begun(tx, protocol, known)
    for row in _rows_of(tx, schema.answers, protocol, known):
        view = known[row.person]
        tries[row.person, row.page] = attempt = tries.get((row.person, row.page), 0) + 1
        page = view.page(row.page)
        subject = row.about
        if subject is None:  # stored by an older version
            before = [game for started, game in begun.get(row.person, []) if started <= row.at]
            subject = about(row.page, before, page.values.get("partner") if page else None)._asdict()
        for question, value in row.answers.items():
            seen = (row._mapping["items"] or {}).get(question, {})
            yield {
                "answer": row.id,
                "participant": view.row.public,
                "page": row.page,
                "item": row.page.rpartition(".")[2],
                "turn": page.turn if page else None,
                **subject,
                "question": question,
                "type": _type(page, question),
                "value": value,
                "attempt": attempt,
                "passed": bool(row.passed),
                "seconds": row.seconds,
                **{name: seen.get(name) for name in ("place", "options", "first_s", "last_s", "changes")},
                "at": iso(row.at),
            }


def _begun(
    tx: Tx, protocol: Protocol, known: Mapping[int, ParticipantView]
) -> dict[int, list[tuple[datetime, PlayedGame]]]:
    """Return the games of each participant and when they were begun, in that order."""
    begun: dict[int, list[tuple[datetime, PlayedGame]]] = {}
    for row in sorted(_games(tx, protocol, known), key=lambda row: (row.started, row.id)):
        game = PlayedGame(row.page, row.setting, row.partner, bool(row.practice))
        begun.setdefault(row.person, []).append((row.started, game))
    return begun


def _type(page: Page | None, question: str) -> str | None:
    if page is None:
        return None
    if page.item.kind not in ("form", "quiz"):
        return page.item.kind
    return next((asked.type for asked in page.item.questions if asked.id == question), None)


def games(
    tx: Tx, protocol: Protocol, known: Mapping[int, ParticipantView], chosen: Sequence[int] | None = None
) -> Iterator[Row]:
    """Yield one row for each game of these participants, or for the chosen ones; episodes are numbered among those."""
    folded = _folded(tx, protocol, known, chosen)
    numbers: dict[int, int] = {}  # by game: the number of its episode; the rows of a shared game have the same
    for row in _games(tx, protocol, known, chosen):
        lead = row.joint or row.id
        view, story = known[row.person], folded.get(lead) or GameEvents()
        # A connection that ends after the game is not a lost one.
        lost = [t for t in story.leaves.get(row.id, ()) if row.length is None or t < row.length]
        if row.status == DONE:
            numbers.setdefault(lead, len(numbers))
        page = view.page(row.page)
        setting = protocol.games.get(row.setting)
        yield {
            "game": row.id,
            "participant": view.row.public,
            "page": row.page,
            "item": row.page.rpartition(".")[2],
            "turn": page.turn if page else None,
            "setting": row.setting,
            "world": setting.game if setting else None,
            "partner": row.partner,
            "agent": _agent(protocol, row.partner, setting),
            "seat": row.seat,
            "practice": bool(row.practice),
            "status": row.status,
            "started": iso(row.started),
            "finished": iso(row.finished),
            "score": row.score,
            "length": row.length,
            "flags": story.flags.get(row.id, 0),
            "leaves": len(lost),
            "missed": story.missed,
            "late_ms": story.late_ms,
            "unattended": len(story.unattended.get(row.seat, ())),
            "joint": lead,
            "episode": numbers.get(lead),
        }


def _agent(protocol: Protocol, partner: str, setting: GameSetting | None) -> str | None:
    """Return the agent that a partner is in a game, whose variant stands for `{layout}` in the name."""
    name = protocol.partners.get(partner)
    return name.replace(LAYOUT, setting.game.partition("/")[2]) if name is not None and setting is not None else name


def some_games(tx: Tx, protocol: Protocol, setting: str, partner: str, first: int, most: int) -> tuple[list[Row], int]:
    """Return a page of games, newest first, and how many there are in all.

    Args:
        tx: The transaction.
        protocol: The study.
        setting: Only games of this setting; empty for all.
        partner: Only games with this partner; empty for all.
        first: How many of the newest are left out.
        most: How many are returned at most.
    """
    snapshot(tx)
    table, members = schema.games, schema.people
    wanted = [members.c.study == protocol.name]
    wanted += [table.c.setting == setting] if setting else []
    wanted += [table.c.partner == partner] if partner else []
    query = sa.select(table.c.id, table.c.person).join(members, members.c.id == table.c.person).where(*wanted)
    page = tx.execute(query.order_by(table.c.id.desc()).offset(first).limit(most)).all()
    who = with_slots(tx, protocol, people_query(protocol).where(members.c.id.in_({row.person for row in page})))
    rows = list(games(tx, protocol, who, [row.id for row in page]))[::-1] if page else []
    return rows, tx.execute(sa.select(sa.func.count()).select_from(query.subquery())).scalar_one()


def _folded(
    tx: Tx, protocol: Protocol, known: Mapping[int, ParticipantView], chosen: Sequence[int] | None = None
) -> dict[int, GameEvents]:
    """Return by the first row of each game what its stored events say."""
    events, rows = schema.events, schema.games
    lead = sa.func.coalesce(rows.c.joint, rows.c.id)
    if chosen is None:
        wanted = _ours(rows, protocol, known)
    else:
        leads = sa.select(lead).where(rows.c.id.in_(chosen))
        wanted = lead.in_(leads.scalar_subquery())
    query = (
        sa.select(lead, events.c.game, rows.c.seat, events.c.kind, events.c.t, events.c.payload)
        .join(rows, rows.c.id == events.c.game)
        .where(wanted, events.c.kind.not_in(("rtt", "repeated_step")))
    )
    folded: dict[int, GameEvents] = {}
    for first, game, seat, kind, t, payload in tx.execute(
        query.order_by(events.c.id).execution_options(yield_per=5000)
    ):
        folded.setdefault(first, GameEvents()).add(game, seat, kind, t, payload)
    return folded


def flags(tx: Tx, protocol: Protocol, known: Mapping[int, ParticipantView]) -> Iterator[Row]:
    """Yield one row for each button press, with the step that was on the screen."""
    by_id = {row.id: row for row in _games(tx, protocol, known)}
    for row in _rows_of(tx, schema.events, protocol, known, schema.events.c.kind == "flag"):
        game = by_id[row.game]
        yield {
            "participant": known[row.person].row.public,
            "game": row.game,
            "page": game.page,
            "setting": game.setting,
            "partner": game.partner,
            "seat": game.seat,
            "flag": row.payload.get("id"),
            "t": row._mapping["t"],  # `row.t` is an attribute of SQLAlchemy's rows
            "seen": row.payload.get("seen"),
            "at": iso(row.at),
        }


def events(tx: Tx, protocol: Protocol, known: Mapping[int, ParticipantView], *, steps: bool = True) -> Iterator[Row]:
    """Yield one row for each event; without `steps`, those of steps are left out."""
    wanted = () if steps else (schema.events.c.kind != STEP,)
    for row in _rows_of(tx, schema.events, protocol, known, *wanted):
        yield {
            "event": row.id,
            "participant": known[row.person].row.public,
            "game": row.game,
            "t": row._mapping["t"],  # `row.t` is an attribute of SQLAlchemy's rows
            "kind": row.kind,
            "at": iso(row.at),
            "payload": row.payload,
        }


READERS = {"participants": participants, "answers": answers, "games": games, "flags": flags, "events": events}


def trace_set(tx: Tx, protocol: Protocol, known: Mapping[int, ParticipantView]) -> TraceSet:
    """Return the finished games as a trace set; `episode` of a row of `games` is the number here."""
    packed: dict[int, bytes] = {}
    for row in _games(tx, protocol, known, traces=True):
        if row.status == DONE:
            packed.setdefault(row.joint or row.id, row.episode)
    return TraceSet.in_memory(map(unpack, packed.values()), {"study": protocol.name, "protocol": protocol.hash})


def snapshot(tx: Tx) -> None:
    """Make the transaction see one moment from here on; on SQLite it does anyway."""
    if tx.dialect.name == "postgresql":
        tx.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")


def _games(
    tx: Tx,
    protocol: Protocol,
    known: Mapping[int, ParticipantView],
    chosen: Sequence[int] | None = None,
    *,
    traces: bool = False,
) -> Sequence[Any]:
    columns = [column for column in schema.games.c if traces or column.name != "episode"]
    query = sa.select(*columns).where(_ours(schema.games, protocol, known))
    if chosen is not None:
        query = query.where(schema.games.c.id.in_(chosen))
    return tx.execute(query.order_by(schema.games.c.id)).all()


def _rows_of(tx: Tx, table: sa.Table, protocol: Protocol, known: Mapping[int, ParticipantView], *wanted: Any) -> Any:
    """Return the rows of a table that belong to these participants, fetched a few at a time."""
    query = sa.select(table).where(_ours(table, protocol, known), *wanted)
    return tx.execute(query.order_by(*table.primary_key.columns).execution_options(yield_per=5000))


def _ours(table: sa.Table, protocol: Protocol, known: Mapping[int, ParticipantView]) -> Any:
    if len(known) <= FEW:
        return table.c.person.in_(list(known))
    mine = schema.people.c.study == protocol.name, schema.people.c.test.is_(False)
    everyone = sa.select(schema.people.c.id).where(*mine)
    return table.c.person.in_(everyone.scalar_subquery())


def iso(time: datetime | None) -> str | None:
    """Return a time as an ISO text; None stays None."""
    return time.isoformat() if time is not None else None
