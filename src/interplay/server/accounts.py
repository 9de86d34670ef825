"""People who log in: hosts and researchers. Passwords are kept as Argon2 hashes."""

from __future__ import annotations

import base64
import functools
import hashlib
import hmac
import secrets
from dataclasses import dataclass

import sqlalchemy as sa
from argon2 import PasswordHasher
from argon2.exceptions import VerificationError

from interplay.errors import InterplayError
from interplay.server.api_error import ApiError
from interplay.server.clock import Clock
from interplay.server.database import Tx
from interplay.server.schema import accounts

SHORTEST = 10  # characters of a password
_HASHER = PasswordHasher(memory_cost=19 * 1024, time_cost=2, parallelism=1)  # 19 MiB a guess, as OWASP advises


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
    """Return a salted Argon2id hash of a password, as it is stored."""
    return _HASHER.hash(password)


def matches(password: str, stored: str) -> bool:
    """Return whether a password is the one that was stored as a hash; databases of 0.1.0 hold scrypt."""
    if stored.startswith("scrypt$"):
        salt, digest = map(base64.b64decode, stored.split("$")[1:])
        guess = hashlib.scrypt(password.encode(), salt=salt, n=2**14, r=8, p=1, maxmem=64 * 2**20)
        return hmac.compare_digest(guess, digest)
    try:
        return _HASHER.verify(stored, password)
    except VerificationError:
        return False


@functools.cache
def _nobody() -> str:
    """The password that no one has: an unknown name is compared with it."""
    return hashed(secrets.token_hex(16))
