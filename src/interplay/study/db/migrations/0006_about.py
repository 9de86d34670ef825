"""Store with every answer what it is about; of older answers it is worked out when they are read."""

import sqlalchemy as sa
from alembic import op

revision = "study_0006"
down_revision = "study_0005"


def upgrade() -> None:
    """Add the column."""
    op.add_column("study_answers", sa.Column("about", sa.JSON(none_as_null=True)))
