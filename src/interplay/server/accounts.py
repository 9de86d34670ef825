"""People who log in: hosts and researchers. Passwords are kept as scrypt hashes."""

from __future__ import annotations

import base64
import functools
import hashlib
import hmac
import secrets
from dataclasses import dataclass

import sqlalchemy as sa

from interplay.errors import InterplayError
from interplay.server.api_error import ApiError
from interplay.server.clock import Clock
from interplay.server.database import Tx
from interplay.server.schema import accounts

SHORTEST = 10  # characters of a password
_N, _R, _P = 2**14, 8, 1  # 16 MiB and some 30 ms a guess


@dataclass(frozen=True)
class Account:
    """An account that was created or has logged in."""

    id: int
    name: str
    role: str


def create(tx: Tx, clock: Clock, name: str, role: str, password: str | None) -> Account:
    """A new account; without a password it can log in by key only."""
    if password is not None and len(password) < SHORTEST:
        raise InterplayError(f"a password has at least {SHORTEST} characters")
    if tx.execute(sa.select(accounts.c.id).where(accounts.c.name == name)).first():
        raise InterplayError(f"there is an account called {name!r} already")
    row = {"name": name, "role": role, "created": clock.now(), "disabled": False}
    query = sa.insert(accounts).values(**row, password=hashed(password) if password else None)
    return Account(tx.execute(query.returning(accounts.c.id)).scalar_one(), name, role)


def log_in(tx: Tx, name: str, password: str) -> Account:
    """The account; a wrong name and a wrong password are told alike and take the same time."""
    row = tx.execute(sa.select(accounts).where(accounts.c.name == name)).one_or_none()
    known = row is not None and row.password is not None and not row.disabled
    right = matches(password, str(row.password) if row is not None and known else _nobody())
    if not (known and right) or row is None:
        raise ApiError("unknown_key", "name or password is wrong", status=401)
    return Account(row.id, row.name, row.role)


def set_password(tx: Tx, name: str, password: str) -> None:
    """Set the password of an account.

    Raises:
        InterplayError: The password is too short, or there is no such account.
    """
    if len(password) < SHORTEST:
        raise InterplayError(f"a password has at least {SHORTEST} characters")
    done = tx.execute(sa.update(accounts).where(accounts.c.name == name).values(password=hashed(password)))
    if done.rowcount != 1:
        raise InterplayError(f"there is no account called {name!r}")


def hashed(password: str) -> str:
    """Return a salted scrypt hash of a password, as it is stored."""
    salt = secrets.token_bytes(16)
    return f"scrypt${base64.b64encode(salt).decode()}${base64.b64encode(_scrypt(password, salt)).decode()}"


def matches(password: str, stored: str) -> bool:
    """Return whether a password is the one that was stored as a hash."""
    _, salt, digest = stored.split("$")
    return hmac.compare_digest(_scrypt(password, base64.b64decode(salt)), base64.b64decode(digest))


def _scrypt(password: str, salt: bytes) -> bytes:
    return hashlib.scrypt(password.encode(), salt=salt, n=_N, r=_R, p=_P, maxmem=64 * 2**20)


@functools.cache
def _nobody() -> str:
    """The password that no one has: an unknown name is compared with it."""
    return hashed(secrets.token_hex(16))
