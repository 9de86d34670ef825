"""Store with every answer where the question stood on its page and when it was answered."""

import sqlalchemy as sa
from alembic import op

revision = "study_0008"
down_revision = "study_0007"


def upgrade() -> None:
    """Add the column."""
    op.add_column("study_answers", sa.Column("items", sa.JSON(none_as_null=True)))
