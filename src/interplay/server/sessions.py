"""Browser sessions: a random cookie stored as a hash, tokens against forged requests, checks of a request's origin."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import sqlalchemy as sa
from starlette.requests import HTTPConnection

from interplay.server.api_error import ApiError
from interplay.server.clock import Clock
from interplay.server.database import Tx
from interplay.server.schema import sessions

LIFE = timedelta(days=14)
CSRF_FIELD, CSRF_HEADER = "csrf", "x-csrf-token"
_NEW = sa.insert(sessions).returning(sessions.c.id)
_BY_COOKIE = sa.select(sessions).where(sessions.c.hash == sa.bindparam("cookie"))  # asked with every request


@dataclass(frozen=True)
class LoginSession:
    """The session of a browser. `csrf` goes into forms and script requests and must come back with them."""

    id: int
    subject: str
    csrf: str
    data: Mapping[str, Any] = field(default_factory=dict)


def begin(tx: Tx, clock: Clock, subject: str, data: Mapping[str, Any] | None = None) -> tuple[LoginSession, str]:
    """A new session and its cookie, which is kept nowhere else."""
    token = secrets.token_urlsafe(24)  # 192 bits
    now = clock.now()
    row = {"hash": _hash(token), "subject": subject, "created": now, "expires": now + LIFE, "data": dict(data or {})}
    session_id = tx.execute(_NEW, row).scalar_one()
    return LoginSession(session_id, subject, csrf_token(token), row["data"]), token


def find(tx: Tx, clock: Clock, token: str | None) -> LoginSession | None:
    """The session of a cookie, if it is still good."""
    if not token or len(token) > 100:
        return None
    row = tx.execute(_BY_COOKIE, {"cookie": _hash(token)}).one_or_none()
    if row is None or row.expires <= clock.now():
        return None
    return LoginSession(row.id, row.subject, csrf_token(token), row.data)


def end(tx: Tx, session: LoginSession) -> None:
    """Delete a session."""
    tx.execute(sa.delete(sessions).where(sessions.c.id == session.id))


def end_all(tx: Tx, subject: str) -> None:
    """Delete all sessions of a subject."""
    tx.execute(sa.delete(sessions).where(sessions.c.subject == subject))


def csrf_token(token: str) -> str:
    """Return the CSRF token of a session's cookie; other sites cannot read the cookie, and nothing need be stored."""
    return hmac.new(token.encode(), b"csrf", hashlib.sha256).hexdigest()


def check_csrf(session: LoginSession, token: str | None) -> None:
    """Check the token that came with a form.

    Raises:
        ApiError: It is not the session's.
    """
    if not hmac.compare_digest(session.csrf.encode(), (token or "").encode("utf-8", "replace")):
        raise ApiError("not_allowed", "this form is out of date: load the page again and send it once more")


def check_origin(connection: HTTPConnection, allowed: tuple[str, ...] = ()) -> None:
    """A browser says which site a socket or a form comes from: it must be ours. Programs send no Origin."""
    origin, host = connection.headers.get("origin"), connection.headers.get("host")
    if origin is None:
        # Pictures and links of other sites come without an origin, but browsers say that they are another site's.
        if connection.headers.get("sec-fetch-site") != "cross-site":
            return
    elif origin in allowed or (host and _place(origin) == host):
        return
    raise ApiError("not_allowed", "requests from other sites are not taken")


def _place(origin: str) -> str:
    """Host and port of an origin; nothing where it is none."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
