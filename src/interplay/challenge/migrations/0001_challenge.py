"""Teams, submissions, games, predictions."""

import sqlalchemy as sa
from alembic import op

from interplay.server.schema import UtcTime

revision = "challenge_0001"
down_revision = None


def upgrade() -> None:
    """Create the tables of a challenge."""
    op.create_table(
        "teams",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("challenge", sa.String(40), nullable=False),
        sa.Column("name", sa.String(80), nullable=False),
        sa.Column("contact", sa.String(200), nullable=False),
        sa.Column("created", UtcTime, nullable=False),
        sa.UniqueConstraint("challenge", "name", name="teams_name"),
    )
    op.create_table(
        "submissions",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("public", sa.String(24), nullable=False, unique=True),
        sa.Column("team", sa.Integer, sa.ForeignKey("teams.id", name="submissions_team"), nullable=False, index=True),
        sa.Column("challenge", sa.String(40), nullable=False),
        sa.Column("phase", sa.String(40), nullable=False),
        sa.Column("agent", sa.String(80), nullable=False),
        sa.Column("plan", sa.Text, nullable=False),
        sa.Column("plan_hash", sa.String(64), nullable=False),
        sa.Column("created", UtcTime, nullable=False),
        sa.Column("secret", sa.LargeBinary, nullable=False),
        sa.Column("baseline", sa.Boolean, nullable=False),
        sa.Column("status", sa.String(20), nullable=False),
        sa.Column("finished", UtcTime),
        sa.Column("result", sa.JSON),
    )
    op.create_table(
        "games",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("submission", sa.Integer, sa.ForeignKey("submissions.id", name="games_submission"), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("setting", sa.String(40), nullable=False),
        sa.Column("line_up", sa.Integer, nullable=False),
        sa.Column("seats", sa.JSON, nullable=False),
        sa.Column("status", sa.String(10), nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("voids", sa.Integer, nullable=False),
        sa.Column("forfeit", sa.Boolean, nullable=False),
        sa.Column("score", sa.Float),
        sa.Column("length", sa.Integer),
        sa.Column("episode", sa.LargeBinary),
        sa.Column("started", UtcTime),
        sa.Column("finished", UtcTime),
        sa.UniqueConstraint("submission", "number", name="games_number"),
    )
    op.create_index("games_status", "games", ["submission", "status", "number"])
    op.create_table(
        "predictions",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column(
            "submission", sa.Integer, sa.ForeignKey("submissions.id", name="predictions_submission"), nullable=False
        ),
        sa.Column("setting", sa.String(40), nullable=False),
        sa.Column("game", sa.Integer, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("loss", sa.Float, nullable=False),
        sa.Column("ruled_out", sa.Boolean, nullable=False),
        sa.Column("hit", sa.Float, nullable=False),
        sa.UniqueConstraint("submission", "setting", "game", "position", name="predictions_once"),
    )
