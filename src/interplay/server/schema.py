"""The tables that every host has. Tenants add their own to the same database, each with its own history."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

METADATA = sa.MetaData()


class UtcTime(sa.types.TypeDecorator[datetime]):
    """A time in UTC. SQLite keeps no time zones, so they are taken off on the way in and put back on the way out."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Any) -> datetime | None:
        """Return a time as the database stores it.

        Raises:
            ValueError: It has no time zone.
        """
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a time without a time zone cannot be stored")
        utc = value.astimezone(UTC)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: datetime | None, dialect: Any) -> datetime | None:
        """Return a stored time with its time zone."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


accounts = sa.Table(
    "accounts",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.String(200), nullable=False, unique=True),
    sa.Column("role", sa.String(40), nullable=False),  # what it may do is the tenant's business
    sa.Column("password", sa.String(300)),  # Argon2; null: logs in by key only
    sa.Column("created", UtcTime, nullable=False),
    sa.Column("disabled", sa.Boolean, nullable=False, default=False),
)

keys = sa.Table(
    "keys",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("public", sa.String(24), nullable=False, unique=True),  # the part of the key that may be shown
    sa.Column("hash", sa.String(64), nullable=False),  # SHA-256 of the secret part; the secret itself is kept nowhere
    sa.Column("kind", sa.String(40), nullable=False),
    sa.Column("subject", sa.String(200), nullable=False),  # whom or what it opens, such as "team:7"
    sa.Column("created", UtcTime, nullable=False),
    sa.Column("expires", UtcTime),
    sa.Column("revoked", UtcTime),
)

sessions = sa.Table(
    "sessions",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("hash", sa.String(64), nullable=False, unique=True),  # SHA-256 of the cookie
    sa.Column("subject", sa.String(200), nullable=False, index=True),
    sa.Column("created", UtcTime, nullable=False),
    sa.Column("expires", UtcTime, nullable=False),
    sa.Column("data", sa.JSON, nullable=False),
)

audit = sa.Table(
    "audit",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("at", UtcTime, nullable=False),
    sa.Column("actor", sa.String(200), nullable=False),
    sa.Column("action", sa.String(80), nullable=False, index=True),
    sa.Column("subject", sa.String(200), nullable=False),
    sa.Column("detail", sa.JSON, nullable=False),
)

secrets = sa.Table(
    "secrets",  # the server's own: the signing key, the key of keyed hashes
    METADATA,
    sa.Column("name", sa.String(80), primary_key=True),
    sa.Column("value", sa.LargeBinary, nullable=False),
    sa.Column("created", UtcTime, nullable=False),
)

buckets = sa.Table(
    "buckets",  # rate limits that several processes share (`limits.SharedBuckets`)
    METADATA,
    sa.Column("name", sa.String(200), primary_key=True),
    sa.Column("level", sa.Float, nullable=False),  # what was left
    sa.Column("at", UtcTime, nullable=False),  # when that was so
)

leases = sa.Table(
    "leases",  # who serves what (`lease.py`)
    METADATA,
    sa.Column("name", sa.String(120), primary_key=True),
    sa.Column("owner", sa.String(40), nullable=False),  # one start of one process; empty: nobody
    sa.Column("fence", sa.BigInteger, nullable=False),  # rises whenever the lease changes hands
    sa.Column("beats", sa.BigInteger, nullable=False),  # rises while the owner lives
    sa.Column("process", sa.Text, nullable=False),  # host, process number and start of the owner, as JSON
)
