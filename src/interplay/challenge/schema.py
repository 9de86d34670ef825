"""Teams, submissions, games and predictions."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

from interplay.server.database import MigrationHistory
from interplay.server.schema import UtcTime

METADATA = sa.MetaData()
HISTORY = MigrationHistory("challenge", Path(__file__).parent / "migrations")

teams = sa.Table(
    "teams",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("challenge", sa.String(40), nullable=False),
    sa.Column("name", sa.String(80), nullable=False),
    sa.Column("contact", sa.String(200), nullable=False),
    sa.Column("created", UtcTime, nullable=False),
    sa.UniqueConstraint("challenge", "name", name="teams_name"),
)

submissions = sa.Table(
    "submissions",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("public", sa.String(24), nullable=False, unique=True),
    sa.Column("team", sa.Integer, sa.ForeignKey("teams.id", name="submissions_team"), nullable=False, index=True),
    sa.Column("challenge", sa.String(40), nullable=False),
    sa.Column("phase", sa.String(40), nullable=False),
    sa.Column("agent", sa.String(80), nullable=False),
    sa.Column("plan", sa.Text, nullable=False),  # the pre-registration
    sa.Column("plan_hash", sa.String(64), nullable=False),
    sa.Column("created", UtcTime, nullable=False),
    sa.Column("secret", sa.LargeBinary, nullable=False),  # decides schedule, decks and partners' chances
    sa.Column("baseline", sa.Boolean, nullable=False),
    sa.Column("status", sa.String(20), nullable=False),  # playing, played, done, void
    sa.Column("finished", UtcTime),  # part 1
    sa.Column("result", sa.JSON),  # signed
)

games = sa.Table(
    "games",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("submission", sa.Integer, sa.ForeignKey("submissions.id", name="games_submission"), nullable=False),
    sa.Column("number", sa.Integer, nullable=False),  # within the submission
    sa.Column("setting", sa.String(40), nullable=False),
    sa.Column("line_up", sa.Integer, nullable=False),
    sa.Column("seats", sa.JSON, nullable=False),  # by seat: a partner's number, or null for the candidate
    sa.Column("status", sa.String(10), nullable=False),  # TODO, ACTIVE, DONE
    sa.Column("attempt", sa.Integer, nullable=False),  # rises whenever it is dealt
    sa.Column("voids", sa.Integer, nullable=False),  # times it was abandoned and dealt anew
    sa.Column("forfeit", sa.Boolean, nullable=False),
    sa.Column("score", sa.Float),
    sa.Column("length", sa.Integer),
    sa.Column("episode", sa.LargeBinary),  # the trace, as compressed JSON
    sa.Column("started", UtcTime),
    sa.Column("finished", UtcTime),
    sa.UniqueConstraint("submission", "number", name="games_number"),
    sa.Index("games_status", "submission", "status", "number"),
)

predictions = sa.Table(
    "predictions",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("submission", sa.Integer, sa.ForeignKey("submissions.id", name="predictions_submission"), nullable=False),
    sa.Column("setting", sa.String(40), nullable=False),
    sa.Column("game", sa.Integer, nullable=False),
    sa.Column("position", sa.Integer, nullable=False),  # which decision of the game
    sa.Column("loss", sa.Float, nullable=False),
    sa.Column("ruled_out", sa.Boolean, nullable=False),
    sa.Column("hit", sa.Float, nullable=False),  # the chance that the likeliest action is the recorded one
    sa.UniqueConstraint("submission", "setting", "game", "position", name="predictions_once"),
)
