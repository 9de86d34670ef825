"""Payments: who is owed what, who was paid, and the lists that recruiters take.

Recruiters' ids are never stored. Whoever pays brings the recruiter's own list, and each id on it is looked up by its
keyed hash.
"""

from __future__ import annotations

import csv
import hashlib
import hmac
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from interplay.errors import InterplayError
from interplay.server import audit
from interplay.server.clock import Clock
from interplay.server.database import Tx
from interplay.server.signatures import secret
from interplay.study.admin.erase import find
from interplay.study.db.schema import paid, people, recruits
from interplay.study.protocol.model import Protocol

REASON = "Thank you for taking part in our study."
COLUMNS: tuple[str, ...] = (
    "participant",
    "status",
    "finished",
    "code",
    "payment",
    "currency",
    "paid",
    "paid_amount",
    "paid_by",
)
LONGEST_ID = 200
MOST_IDS = 20_000
_ID_COLUMNS = ("participant id", "participant_id", "prolific_pid", "workerid", "worker id")  # of recruiters' own lists


def rows(tx: Tx, protocol: Protocol) -> list[dict[str, Any]]:
    """List everyone who has an amount or a completion code, in the order of finishing."""
    query = (
        sa.select(people, paid.c.at.label("paid"), paid.c.amount.label("paid_amount"), paid.c.by.label("paid_by"))
        .outerjoin(paid, paid.c.person == people.c.id)
        .where(people.c.study == protocol.name, sa.or_(people.c.payment.is_not(None), people.c.code.is_not(None)))
        .order_by(people.c.finished, people.c.id)
    )
    return [
        {
            "participant": row.public,
            "status": row.status,
            "finished": row.finished.isoformat() if row.finished else None,
            "code": row.code,
            "payment": row.payment,
            "currency": protocol.payment.currency,
            "paid": row.paid.isoformat() if row.paid else None,
            "paid_amount": row.paid_amount,
            "paid_by": row.paid_by,
        }
        for row in tx.execute(query)
    ]


def mark(tx: Tx, clock: Clock, protocol: Protocol, publics: Sequence[str], *, by: str) -> int:
    """Note that these participants were paid what they are owed.

    Args:
        tx: The transaction.
        clock: Gives the time that is noted.
        protocol: The study.
        publics: The participants' public names.
        by: Who marks them, for the audit log.

    Returns:
        How many of them were not marked before.

    Raises:
        InterplayError: A participant is unknown or is owed nothing.
    """
    count = 0
    for public in dict.fromkeys(publics):
        row = _owed(tx, protocol, public)
        if tx.execute(sa.select(paid.c.person).where(paid.c.person == row.id)).first():
            continue
        values = {"person": row.id, "amount": row.payment, "at": clock.now(), "by": by}
        tx.execute(sa.insert(paid).values(**values))
        audit.note(tx, clock, by, "paid", public, amount=row.payment, currency=protocol.payment.currency)
        count += 1
    return count


def unmark(tx: Tx, clock: Clock, protocol: Protocol, public: str, *, by: str) -> None:
    """Take back the note that a participant was paid."""
    row = _owed(tx, protocol, public)
    if tx.execute(sa.delete(paid).where(paid.c.person == row.id)).rowcount:
        audit.note(tx, clock, by, "not paid", public)


def _owed(tx: Tx, protocol: Protocol, public: str) -> Any:
    row = find(tx, protocol, public)
    if row.payment is None:
        raise InterplayError(f"participant {public} is owed nothing: their study is {row.status}")
    return row


@dataclass(frozen=True)
class Bulk:
    """The lines of a bulk payment, and what became of the ids that were given."""

    text: str  # what the recruiter takes
    participants: tuple[str, ...]  # who is on it
    total: float
    unknown: tuple[str, ...]  # ids that never came here
    unfinished: int  # came, and are owed nothing
    settled: int  # were paid before, and are left out


def hashed(key: bytes, recruiter_id: str) -> str:
    """Return the keyed hash under which a recruiter's id is stored."""
    return hmac.new(key, recruiter_id[:LONGEST_ID].encode(), hashlib.sha256).hexdigest()


def bulk(tx: Tx, clock: Clock, protocol: Protocol, text: str, *, already: float = 0.0) -> Bulk:
    """Return the lines of a bulk payment for the ids in a recruiter's list: one id a line, or the recruiter's CSV.

    Prolific takes lines `id,amount`; for MTurk the lines have the columns of its bonus call.

    Args:
        tx: The transaction.
        clock: Gives the time at which a new key is created.
        protocol: The study.
        text: The recruiter's list.
        already: What the recruiter pays everyone anyway; the rest is the bonus.

    Raises:
        InterplayError: The list cannot be read, or `already` is not an amount.
    """
    if not 0 <= already < 1e6:
        raise InterplayError("already paid: an amount from 0")
    mturk = protocol.completion.recruiter == "mturk"
    key = secret(tx, clock, "recruits")
    query = (
        sa.select(recruits.c.hash, people.c.public, people.c.payment, paid.c.at)
        .join(people, people.c.id == recruits.c.person)
        .outerjoin(paid, paid.c.person == people.c.id)
        .where(recruits.c.study == protocol.name)
    )
    known = {row.hash: row for row in tx.execute(query)}
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    if mturk:
        writer.writerow(["WorkerId", "AssignmentId", "BonusAmount", "Reason"])
    participants: list[str] = []
    unknown: list[str] = []
    total, unfinished, settled = 0.0, 0, 0
    for recruiter_id, assignment in read_ids(text):
        row = known.get(hashed(key, recruiter_id))
        if row is None:
            unknown.append(recruiter_id)
        elif row.payment is None:
            unfinished += 1
        elif row.at is not None:
            settled += 1
        elif row.public not in participants:
            amount = round(max(0.0, row.payment - already), 2)
            participants.append(row.public)
            total += amount
            if amount > 0:
                line = [recruiter_id, f"{amount:.2f}"]
                writer.writerow([recruiter_id, assignment, f"{amount:.2f}", REASON] if mturk else line)
    return Bulk(out.getvalue(), tuple(participants), round(total, 2), tuple(unknown), unfinished, settled)


def read_ids(text: str) -> list[tuple[str, str]]:
    """Return the ids of a recruiter's list, each with MTurk's assignment id where the list has them.

    Args:
        text: One id a line, or a CSV with a header that names its column of ids.

    Raises:
        InterplayError: The list is empty, too long, or has several columns of which none is known to hold ids.
    """
    lines = [row for row in csv.reader(io.StringIO(text.lstrip("\ufeff"))) if any(cell.strip() for cell in row)]
    if len(lines) > MOST_IDS:
        raise InterplayError(f"at most {MOST_IDS} ids at once")
    if not lines:
        raise InterplayError("there is no id in this list")
    names = [cell.strip().lower() for cell in lines[0]]
    at = next((names.index(name) for name in _ID_COLUMNS if name in names), None)
    if at is None and max(map(len, lines)) > 1:
        raise InterplayError(
            "this list has several columns, and none of them is called Participant id, PROLIFIC_PID or WorkerId"
        )
    assignment = names.index("assignmentid") if "assignmentid" in names else None
    body = lines if at is None else lines[1:]
    return [(_at(row, at or 0), _at(row, assignment)) for row in body if _at(row, at or 0)]


def _at(row: Sequence[str], at: int | None) -> str:
    return row[at].strip() if at is not None and at < len(row) else ""
