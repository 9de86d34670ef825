"""Leases: who serves what."""

import sqlalchemy as sa
from alembic import op

revision = "server_0002"
down_revision = "server_0001"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "leases",
        sa.Column("name", sa.String(120), primary_key=True),
        sa.Column("owner", sa.String(40), nullable=False),
        sa.Column("fence", sa.BigInteger, nullable=False),
        sa.Column("beats", sa.BigInteger, nullable=False),
        sa.Column("process", sa.Text, nullable=False),
    )
