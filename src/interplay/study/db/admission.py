"""Who may take part: whether the study takes new participants, and re-entry links for those who are out."""

from __future__ import annotations

from datetime import timedelta
from typing import NamedTuple

import sqlalchemy as sa

from interplay.errors import InterplayError
from interplay.server import api_keys as keys
from interplay.server import audit, sessions
from interplay.server.api_error import ApiError
from interplay.server.clock import Clock
from interplay.server.database import Tx
from interplay.server.schema import keys as key_rows
from interplay.study.db.participants import ACTIVE, DONE, NEW, OVER, SUBJECT, Person, TurnedAway, person
from interplay.study.db.schema import consents, files, games, paid, people, slots
from interplay.study.protocol.model import Protocol

REENTRY = "reentry"  # the kind of key in a re-entry link
REENTRY_LIFE = timedelta(days=7)
# Asked for everyone who comes, so they are made once.
_FILE = sa.select(files.c.hash, files.c.closed).where(files.c.name == sa.bindparam("name"))
_LOCKED_FILE = _FILE.with_for_update()


def closed(tx: Tx, clock: Clock, protocol: Protocol, *, test: bool = False) -> bool:
    """Return whether no new participants are taken: closed by a researcher, after the last day, or full.

    Participants who try the study out are always taken.
    """
    file = tx.execute(_FILE, {"name": protocol.name}).one_or_none()
    return not test and _closed(tx, clock, protocol, by_hand=file is not None and file.closed)


def _closed(tx: Tx, clock: Clock, protocol: Protocol, *, by_hand: bool) -> bool:
    rule = protocol.recruitment
    if by_hand or (rule.closes is not None and clock.now() >= rule.closes):
        return True
    return rule.participants is not None and taking_part(tx, protocol) >= rule.participants


def taking_part(tx: Tx, protocol: Protocol) -> int:
    """Count who takes part now or has finished; those who left, were screened out or tried it out are not counted."""
    mine = people.c.study == protocol.name, people.c.status.in_((ACTIVE, DONE)), people.c.test.is_(False)
    return tx.execute(sa.select(sa.func.count()).select_from(people).where(*mine)).scalar_one()


def require_open(tx: Tx, clock: Clock, protocol: Protocol, who: Person) -> str:
    """Return the hash of the file to which a participant is about to consent.

    Raises:
        ApiError: The study takes no more participants.
    """
    # Two people who consent at the same time must not both get the last place.
    file = tx.execute(_LOCKED_FILE, {"name": protocol.name}).one()
    if not who.test and _closed(tx, clock, protocol, by_hand=file.closed):
        raise ApiError("conflict", "this study takes no more participants")
    return file.hash


def set_closed(tx: Tx, clock: Clock, protocol: Protocol, value: bool, *, by: str) -> None:
    """Close a study for new participants, or open it again; it is noted in the audit log."""
    tx.execute(sa.update(files).where(files.c.name == protocol.name).values(closed=value))
    audit.note(tx, clock, by, "close" if value else "open", protocol.name)


class ReentryLink(NamedTuple):
    """A link by which one participant can come back, once."""

    key: str
    status: str  # the participant's before


def readmit(tx: Tx, clock: Clock, protocol: Protocol, public: str, *, by: str) -> ReentryLink:
    """Let a participant go on where they were, and return the key of a link that opens a session for them.

    Their sessions so far end with the first use of the link. Older links of theirs are revoked.

    Args:
        tx: The transaction.
        clock: The clock.
        protocol: The study.
        public: The participant's public name.
        by: Who does it, for the audit log.

    Raises:
        InterplayError: There is no such participant, or they have finished or were paid.
    """
    row = tx.execute(
        sa.select(people.c.id, people.c.status).where(people.c.public == public, people.c.study == protocol.name)
    ).one_or_none()
    if row is None:
        raise InterplayError(f"there is no participant {public!r} in {protocol.name}")
    before = person(tx, row.id, lock=True)
    if before.status == DONE:
        raise InterplayError(f"participant {public} has finished: there is nothing to come back to")
    if tx.execute(sa.select(paid.c.person).where(paid.c.person == row.id)).first():
        raise InterplayError(f"participant {public} was paid already: take that note back first")
    if before.status in OVER:
        began = tx.execute(sa.select(consents.c.person).where(consents.c.person == row.id)).first() is not None
        values = {"status": ACTIVE if began else NEW, "finished": None, "payment": None, "code": None, "tries": 0}
        tx.execute(sa.update(people).where(people.c.id == row.id).values(**values, seen=clock.now()))
        tx.execute(sa.update(slots).where(slots.c.person == row.id).values(released=before.test))
        _reopen_game(tx, row.id, before.pages(protocol)[before.position].id)
    subject = f"{SUBJECT}{row.id}"
    ours = key_rows.c.kind == REENTRY, key_rows.c.subject == subject, key_rows.c.revoked.is_(None)
    tx.execute(sa.update(key_rows).where(*ours).values(revoked=clock.now()))
    audit.note(tx, clock, by, "readmit", public, study=protocol.name, status=before.status)
    key = keys.issue(tx, clock, REENTRY, subject, expires=clock.now() + REENTRY_LIFE)
    return ReentryLink(key.text, before.status)


def _reopen_game(tx: Tx, number: int, page: str) -> None:
    """A game that someone had left for good, and that nobody else was in, goes on where it stood."""
    mine = (games.c.person == number) & (games.c.page == page) & games.c.joint.is_(None) & games.c.score.is_(None)
    tx.execute(sa.update(games).where(mine).values(status="playing", finished=None))


def reenter(tx: Tx, clock: Clock, protocol: Protocol, key: str) -> tuple[Person, sessions.LoginSession, str]:
    """Use a re-entry link up, and return the participant with a new session and its cookie.

    Raises:
        TurnedAway: The link is used up, too old, unknown, or of another study.
    """
    try:
        known = keys.check(tx, clock, key, (REENTRY,))
    except ApiError:
        raise TurnedAway("not_allowed", "used_link") from None
    number = int(known.subject.removeprefix(SUBJECT))
    row = tx.execute(sa.select(people.c.study).where(people.c.id == number)).one_or_none()
    if row is None or row.study != protocol.name:
        raise TurnedAway("not_allowed", "other_link")
    keys.revoke(tx, clock, known.public)
    sessions.end_all(tx, known.subject)
    session, token = sessions.begin(tx, clock, known.subject, {"study": protocol.name})
    tx.execute(sa.update(people).where(people.c.id == number).values(seen=clock.now()))
    return person(tx, number), session, token
