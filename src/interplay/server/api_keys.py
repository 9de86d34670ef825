"""Keys: shown once, stored as hashes, checked in constant time.

A key reads KIND.PUBLIC.SECRET. The secret has 256 random bits, so a plain SHA-256 is enough to keep it: no dictionary
holds it, and a slow hash would only slow the server down.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

import sqlalchemy as sa

from interplay.server.api_error import ApiError
from interplay.server.clock import Clock
from interplay.server.database import Tx
from interplay.server.schema import keys

LONGEST = 200
_NOBODY = hashlib.sha256(secrets.token_bytes(32)).hexdigest()  # what an unknown key is compared with


class NewKey(NamedTuple):
    """A key that was issued."""

    id: int
    text: str  # shown once; kept nowhere


@dataclass(frozen=True)
class Key:
    """A key that was checked. `name` may be shown and logged."""

    id: int
    public: str
    kind: str
    subject: str

    @property
    def name(self) -> str:
        """The part of the key that may be shown."""
        return f"{self.kind}.{self.public}"


def issue(tx: Tx, clock: Clock, kind: str, subject: str, expires: datetime | None = None) -> NewKey:
    """A new key. Its text cannot be had again."""
    if "." in kind:
        raise ValueError("a kind of key has no dot in its name")
    public, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
    row = {"public": public, "hash": _hash(secret), "kind": kind, "subject": subject, "created": clock.now()}
    key_id = tx.execute(sa.insert(keys).values(**row, expires=expires).returning(keys.c.id)).scalar_one()
    return NewKey(key_id, f"{kind}.{public}.{secret}")


def check(tx: Tx, clock: Clock, text: str, kinds: tuple[str, ...]) -> Key:
    """Return the key of this text if it is good for one of these kinds.

    All that may be wrong with a key is answered by the same sentence, and an unknown key takes as much time as a known
    one with a wrong secret.

    Raises:
        ApiError: It is not.
    """
    kind, public, secret = _parts(text)
    row = tx.execute(sa.select(keys).where(keys.c.public == public)).one_or_none()
    right = hmac.compare_digest(_hash(secret), row.hash if row is not None else _NOBODY)
    now = clock.now()
    good = (
        right
        and row is not None
        and row.kind == kind
        and row.kind in kinds
        and row.revoked is None
        and (row.expires is None or now < row.expires)
    )
    if not good or row is None:
        raise ApiError("unknown_key", "this key is not known here, or not good for this")
    return Key(row.id, row.public, row.kind, row.subject)


def revoke(tx: Tx, clock: Clock, public: str) -> bool:
    """Make a key useless, by the part of it that may be shown; whether there was one."""
    query = sa.update(keys).where(keys.c.public == public, keys.c.revoked.is_(None)).values(revoked=clock.now())
    return tx.execute(query).rowcount == 1


def _parts(text: str) -> tuple[str, str, str]:
    parts = text.split(".") if len(text) <= LONGEST and text.isascii() else []
    kind, public, secret = parts if len(parts) == 3 else ("", "", text[:LONGEST])
    return kind, public if public.isalnum() else "", secret


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
