"""Rate limits that several processes share."""

import sqlalchemy as sa
from alembic import op

from interplay.server.schema import UtcTime

revision = "server_0003"
down_revision = "server_0002"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "buckets",
        sa.Column("name", sa.String(200), primary_key=True),
        sa.Column("level", sa.Float, nullable=False),
        sa.Column("at", UtcTime, nullable=False),
    )
