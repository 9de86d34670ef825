"""Create groups of participants who play together, and link the rows of a shared game."""

import sqlalchemy as sa
from alembic import op

from interplay.server.schema import UtcTime

revision = "study_0003"
down_revision = "study_0002"


def upgrade() -> None:
    """Add the column and the table."""
    op.add_column("study_games", sa.Column("joint", sa.Integer))
    op.create_table(
        "study_members",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("group", sa.String(24), nullable=False, index=True),
        sa.Column(
            "person",
            sa.Integer,
            sa.ForeignKey("study_people.id", name="study_members_person"),
            nullable=False,
            index=True,
        ),
        sa.Column("page", sa.String(200), nullable=False),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("left", sa.Boolean, nullable=False),
        sa.Column("at", UtcTime, nullable=False),
        sa.UniqueConstraint("person", "page", name="study_members_once"),
    )
