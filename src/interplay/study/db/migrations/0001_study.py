"""Create participants, their places in designs, consents, answers, games and events."""

import sqlalchemy as sa
from alembic import op

from interplay.server.schema import UtcTime

revision = "study_0001"
down_revision = None


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "study_files",
        sa.Column("name", sa.String(40), primary_key=True),
        sa.Column("hash", sa.String(16), nullable=False),
        sa.Column("protocol", sa.JSON, nullable=False),
        sa.Column("opened", UtcTime, nullable=False),
    )
    op.create_table(
        "study_people",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("public", sa.String(24), nullable=False, unique=True),
        sa.Column("study", sa.String(40), nullable=False, index=True),
        sa.Column("status", sa.String(12), nullable=False),
        sa.Column("language", sa.String(12), nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.Column("seed", sa.Integer, nullable=False),
        sa.Column("created", UtcTime, nullable=False),
        sa.Column("seen", UtcTime, nullable=False),
        sa.Column("finished", UtcTime),
        sa.Column("payment", sa.Float),
        sa.Column("code", sa.String(40)),
    )
    op.create_table(
        "study_recruits",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("study", sa.String(40), nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("person", sa.Integer, sa.ForeignKey("study_people.id", name="study_recruits_person"), nullable=False),
        sa.UniqueConstraint("study", "hash", name="study_recruits_once"),
    )
    op.create_table(
        "study_slots",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("study", sa.String(40), nullable=False),
        sa.Column("key", sa.String(200), nullable=False),
        sa.Column("number", sa.BigInteger),
        sa.Column(
            "person",
            sa.Integer,
            sa.ForeignKey("study_people.id", name="study_slots_person"),
            nullable=False,
            index=True,
        ),
        sa.Column("released", sa.Boolean, nullable=False),
        sa.UniqueConstraint("person", "key", name="study_slots_once"),
    )
    op.create_table(
        "study_consents",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column(
            "person",
            sa.Integer,
            sa.ForeignKey("study_people.id", name="study_consents_person"),
            nullable=False,
            index=True,
        ),
        sa.Column("version", sa.String(40), nullable=False),
        sa.Column("language", sa.String(12), nullable=False),
        sa.Column("protocol", sa.String(16), nullable=False),
        sa.Column("at", UtcTime, nullable=False),
    )
    op.create_table(
        "study_answers",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column(
            "person",
            sa.Integer,
            sa.ForeignKey("study_people.id", name="study_answers_person"),
            nullable=False,
            index=True,
        ),
        sa.Column("page", sa.String(200), nullable=False),
        sa.Column("answers", sa.JSON, nullable=False),
        sa.Column("passed", sa.Boolean, nullable=False),
        sa.Column("seconds", sa.Float),
        sa.Column("at", UtcTime, nullable=False),
    )
    op.create_table(
        "study_games",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column(
            "person",
            sa.Integer,
            sa.ForeignKey("study_people.id", name="study_games_person"),
            nullable=False,
            index=True,
        ),
        sa.Column("page", sa.String(200), nullable=False),
        sa.Column("setting", sa.String(40), nullable=False),
        sa.Column("partner", sa.String(40), nullable=False),
        sa.Column("seat", sa.Integer, nullable=False),
        sa.Column("practice", sa.Boolean, nullable=False),
        sa.Column("chance", sa.JSON, nullable=False),
        sa.Column("status", sa.String(12), nullable=False),
        sa.Column("started", UtcTime, nullable=False),
        sa.Column("finished", UtcTime),
        sa.Column("score", sa.Float),
        sa.Column("length", sa.Integer),
        sa.Column("episode", sa.LargeBinary),
        sa.UniqueConstraint("person", "page", name="study_games_once"),
    )
    op.create_table(
        "study_events",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column(
            "person",
            sa.Integer,
            sa.ForeignKey("study_people.id", name="study_events_person"),
            nullable=False,
            index=True,
        ),
        sa.Column("game", sa.Integer, sa.ForeignKey("study_games.id", name="study_events_game"), index=True),
        sa.Column("t", sa.Integer),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("at", UtcTime, nullable=False),
        sa.Column("payload", sa.JSON, nullable=False),
    )
