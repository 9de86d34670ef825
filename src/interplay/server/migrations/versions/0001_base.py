"""Accounts, keys, sessions, audit log, secrets."""

import sqlalchemy as sa
from alembic import op

from interplay.server.schema import UtcTime

revision = "server_0001"
down_revision = None


def upgrade() -> None:
    """Create the tables that every server has."""
    op.create_table(
        "accounts",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.String(200), nullable=False, unique=True),
        sa.Column("role", sa.String(40), nullable=False),
        sa.Column("password", sa.String(300)),
        sa.Column("created", UtcTime, nullable=False),
        sa.Column("disabled", sa.Boolean, nullable=False),
    )
    op.create_table(
        "keys",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("public", sa.String(24), nullable=False, unique=True),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("kind", sa.String(40), nullable=False),
        sa.Column("subject", sa.String(200), nullable=False),
        sa.Column("created", UtcTime, nullable=False),
        sa.Column("expires", UtcTime),
        sa.Column("revoked", UtcTime),
    )
    op.create_table(
        "sessions",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("hash", sa.String(64), nullable=False, unique=True),
        sa.Column("subject", sa.String(200), nullable=False, index=True),
        sa.Column("created", UtcTime, nullable=False),
        sa.Column("expires", UtcTime, nullable=False),
        sa.Column("data", sa.JSON, nullable=False),
    )
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("at", UtcTime, nullable=False),
        sa.Column("actor", sa.String(200), nullable=False),
        sa.Column("action", sa.String(80), nullable=False, index=True),
        sa.Column("subject", sa.String(200), nullable=False),
        sa.Column("detail", sa.JSON, nullable=False),
    )
    op.create_table(
        "secrets",
        sa.Column("name", sa.String(80), primary_key=True),
        sa.Column("value", sa.LargeBinary, nullable=False),
        sa.Column("created", UtcTime, nullable=False),
    )
