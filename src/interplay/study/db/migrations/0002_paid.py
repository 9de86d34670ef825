"""Create the table of payments that were made."""

import sqlalchemy as sa
from alembic import op

from interplay.server.schema import UtcTime

revision = "study_0002"
down_revision = "study_0001"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "study_paid",
        sa.Column("person", sa.Integer, sa.ForeignKey("study_people.id", name="study_paid_person"), primary_key=True),
        sa.Column("amount", sa.Float, nullable=False),
        sa.Column("at", UtcTime, nullable=False),
        sa.Column("by", sa.String(200), nullable=False),
    )
