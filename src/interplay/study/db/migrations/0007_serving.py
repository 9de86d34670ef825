"""Create waiting rooms and lists of live games that several processes share; tests, closed studies, page times."""

import sqlalchemy as sa
from alembic import op

from interplay.server.schema import UtcTime

revision = "study_0007"
down_revision = "study_0006"


def upgrade() -> None:
    """Add the columns and the tables."""
    no = sa.false()
    op.add_column("study_people", sa.Column("test", sa.Boolean, nullable=False, server_default=no))
    op.add_column("study_people", sa.Column("page_opened", sa.String(80)))
    op.add_column("study_files", sa.Column("closed", sa.Boolean, nullable=False, server_default=no))
    op.create_table(
        "study_waiting",
        sa.Column(
            "person", sa.Integer, sa.ForeignKey("study_people.id", name="study_waiting_person"), primary_key=True
        ),
        sa.Column("page", sa.String(200), nullable=False),
        sa.Column("boot", sa.String(40), nullable=False),
        sa.Column("began", sa.Float, nullable=False),
        sa.Column("asked", sa.Float, nullable=False),
    )
    op.create_table(
        "study_live",
        sa.Column("owner", sa.String(40), primary_key=True),
        sa.Column("study", sa.String(40), nullable=False),
        sa.Column("at", UtcTime, nullable=False),
        sa.Column("games", sa.JSON, nullable=False),
    )
