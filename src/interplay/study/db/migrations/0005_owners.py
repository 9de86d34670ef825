"""Give every game an owner, and store every step of a game once."""

import sqlalchemy as sa
from alembic import op

revision = "study_0005"
down_revision = "study_0004"

# Two servers on one database could store a step twice. The first one counts; the others are kept under another name.
REPEATED = """
UPDATE study_events SET kind = 'repeated_step' WHERE kind = 'step' AND id NOT IN (
    SELECT MIN(id) FROM study_events WHERE kind = 'step' GROUP BY game, t
)
"""


def upgrade() -> None:
    """Add the column and the index."""
    op.add_column("study_games", sa.Column("owner", sa.String(40)))
    op.execute(REPEATED)
    step = sa.text("kind = 'step'")
    op.create_index(
        "study_events_step", "study_events", ["game", "t"], unique=True, sqlite_where=step, postgresql_where=step
    )
