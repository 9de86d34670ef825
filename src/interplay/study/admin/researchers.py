"""Researchers' accounts: who may look into a study.

An account is created with an invitation, with which its password can be chosen once.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import sqlalchemy as sa

from interplay.errors import InterplayError
from interplay.server import accounts, audit
from interplay.server import api_keys as keys
from interplay.server.accounts import Account
from interplay.server.api_error import ApiError
from interplay.server.clock import Clock
from interplay.server.database import Tx
from interplay.server.schema import accounts as account_rows
from interplay.server.schema import keys as key_rows
from interplay.server.schema import sessions as session_rows

ROLE = "researcher"  # of every study in the database; `researcher:NAME` of one
INVITE = "invite"  # the kind of key
INVITED = timedelta(days=7)
FIRST = "researcher"  # the account that a new study begins with
LONGEST = 80  # characters of a name


def subject(account: int) -> str:
    """Return the subject under which an account's sessions and invitations are stored."""
    return f"account:{account}"


def role(study: str | None) -> str:
    """Return the role of a researcher of one study, or of all studies for None."""
    return ROLE if study is None else f"{ROLE}:{study}"


def may(account_role: str, study: str) -> bool:
    """Return whether an account of this role may look into a study."""
    return account_role in (ROLE, role(study))


def add(
    tx: Tx, clock: Clock, name: str, *, study: str | None = None, password: str | None = None, by: str = "command line"
) -> Account:
    """Create the account of a researcher of one study, or of all studies for None.

    Without a password, an invitation is needed to log in.

    Raises:
        InterplayError: The name is empty, too long, not printable, or taken.
    """
    if not 0 < len(name) <= LONGEST or not name.isprintable() or name != name.strip():
        raise InterplayError(f"a researcher's name has 1 to {LONGEST} visible characters, not {name!r}")
    account = accounts.create(tx, clock, name, role(study), password)
    audit.note(tx, clock, by, "researcher:add", name, study=study)
    return account


def invite(tx: Tx, clock: Clock, name: str, *, by: str = "command line") -> str:
    """Return the key of a new invitation, which is shown once; older invitations are revoked."""
    account = find(tx, name)
    ours = key_rows.c.kind == INVITE, key_rows.c.subject == subject(account.id), key_rows.c.revoked.is_(None)
    tx.execute(sa.update(key_rows).where(*ours).values(revoked=clock.now()))
    audit.note(tx, clock, by, "researcher:invite", name)
    return keys.issue(tx, clock, INVITE, subject(account.id), expires=clock.now() + INVITED).text


def accept(tx: Tx, clock: Clock, text: str, password: str) -> Account:
    """Set the password that was chosen with an invitation, use the invitation up, and end all open sessions."""
    key = keys.check(tx, clock, text, (INVITE,))
    account = account_of_subject(tx, key.subject)
    if account is None:
        raise ApiError("unknown_key", "this invitation is not good any more")
    accounts.set_password(tx, account.name, password)
    keys.revoke(tx, clock, key.public)
    tx.execute(sa.delete(session_rows).where(session_rows.c.subject == key.subject))
    audit.note(tx, clock, account.name, "researcher:password", account.name)
    return account


def invited(tx: Tx, clock: Clock, text: str) -> Account:
    """Return the account that an invitation belongs to; an `ApiError` if it is used up, too old or unknown."""
    account = account_of_subject(tx, keys.check(tx, clock, text, (INVITE,)).subject)
    if account is None:
        raise ApiError("unknown_key", "this invitation is not good any more")
    return account


def disable(tx: Tx, clock: Clock, name: str, *, by: str = "command line") -> None:
    """Disable a researcher's account, and end its sessions and invitations at once."""
    account = find(tx, name)
    tx.execute(sa.update(account_rows).where(account_rows.c.id == account.id).values(disabled=True))
    tx.execute(sa.delete(session_rows).where(session_rows.c.subject == subject(account.id)))
    open_keys = key_rows.c.subject == subject(account.id), key_rows.c.revoked.is_(None)
    tx.execute(sa.update(key_rows).where(*open_keys).values(revoked=clock.now()))
    audit.note(tx, clock, by, "researcher:disable", name)


def find(tx: Tx, name: str) -> Account:
    """Return a researcher's account by name; an `InterplayError` if there is none."""
    row = tx.execute(sa.select(account_rows).where(account_rows.c.name == name)).one_or_none()
    if row is None or row.role.partition(":")[0] != ROLE:
        raise InterplayError(f"there is no researcher called {name!r}")
    return Account(row.id, row.name, row.role)


def account_of_subject(tx: Tx, text: str) -> Account | None:
    """Return the account of a session or invitation; None if it is disabled or not a researcher's."""
    number = text.removeprefix("account:")
    if not text.startswith("account:") or not number.isdigit():
        return None
    row = tx.execute(sa.select(account_rows).where(account_rows.c.id == int(number))).one_or_none()
    if row is None or row.disabled or row.role.partition(":")[0] != ROLE:
        return None
    return Account(row.id, row.name, row.role)


def listing(tx: Tx) -> list[dict[str, Any]]:
    """List all researchers, with the study that they are limited to; None for all studies."""
    query = sa.select(account_rows).where(account_rows.c.role.startswith(ROLE)).order_by(account_rows.c.id)
    return [
        {
            "researcher": row.name,
            "study": row.role.partition(":")[2] or None,
            "created": row.created.isoformat(),
            "password": "set" if row.password else "not yet chosen",
            "disabled": bool(row.disabled),
        }
        for row in tx.execute(query)
    ]


def first_invitation(tx: Tx, clock: Clock, study: str) -> str | None:
    """Return an invitation to the first account of a study that no one can look into yet; None if someone can."""
    for row in tx.execute(sa.select(account_rows)):
        if row.password and not row.disabled and may(row.role, study):
            return None
    name = FIRST
    if not tx.execute(sa.select(account_rows.c.id).where(account_rows.c.name == name)).first():
        add(tx, clock, name, by="server")
    elif not may(find(tx, name).role, study):
        name = f"{FIRST}-{study}"
        if not tx.execute(sa.select(account_rows.c.id).where(account_rows.c.name == name)).first():
            add(tx, clock, name, study=study, by="server")
    return invite(tx, clock, name, by="server")
