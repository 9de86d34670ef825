"""Give every event a unique stamp, so that none is stored twice."""

import sqlalchemy as sa
from alembic import op

revision = "study_0004"
down_revision = "study_0003"


def upgrade() -> None:
    """Add the column and its index."""
    op.add_column("study_events", sa.Column("stamp", sa.BigInteger))
    op.create_index("study_events_stamp", "study_events", ["stamp"], unique=True)
