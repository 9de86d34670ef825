"""The tables of studies."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

from interplay.server.database import MigrationHistory
from interplay.server.schema import UtcTime

METADATA = sa.MetaData()
HISTORY = MigrationHistory("study", Path(__file__).parent / "migrations")

_IS_STEP = sa.text("kind = 'step'")

files = sa.Table(
    "study_files",
    METADATA,
    sa.Column("name", sa.String(40), primary_key=True),
    sa.Column("hash", sa.String(16), nullable=False),
    sa.Column("protocol", sa.JSON, nullable=False),
    sa.Column("opened", UtcTime, nullable=False),
    sa.Column("closed", sa.Boolean, nullable=False, server_default=sa.false()),  # by a researcher: nobody new is taken
)

people = sa.Table(
    "study_people",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("public", sa.String(24), nullable=False, unique=True),
    sa.Column("study", sa.String(40), nullable=False, index=True),
    sa.Column("status", sa.String(12), nullable=False),  # new, active, done, screened, dropped, withdrawn
    sa.Column("language", sa.String(12), nullable=False),
    sa.Column("position", sa.Integer, nullable=False),  # the page that is shown
    sa.Column("tries", sa.Integer, nullable=False),  # used up at the quiz that is shown
    sa.Column("seed", sa.Integer, nullable=False),
    sa.Column("created", UtcTime, nullable=False),
    sa.Column("seen", UtcTime, nullable=False),
    sa.Column("finished", UtcTime),
    sa.Column("payment", sa.Float),
    sa.Column("code", sa.String(40)),
    sa.Column(
        "test", sa.Boolean, nullable=False, server_default=sa.false()
    ),  # came while the study was being tried out
    sa.Column("page_opened", sa.String(80)),  # when the open page was first shown, as `clock.stamp`
)

recruits = sa.Table(
    "study_recruits",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("study", sa.String(40), nullable=False),
    sa.Column("hash", sa.String(64), nullable=False),  # keyed; the recruiter's id itself is not stored
    sa.Column("person", sa.Integer, sa.ForeignKey("study_people.id", name="study_recruits_person"), nullable=False),
    sa.UniqueConstraint("study", "hash", name="study_recruits_once"),
)

slots = sa.Table(
    "study_slots",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("study", sa.String(40), nullable=False),
    sa.Column("key", sa.String(200), nullable=False),  # which use of a design
    sa.Column("number", sa.BigInteger),  # of the sequence; null: drawn for this person
    sa.Column(
        "person", sa.Integer, sa.ForeignKey("study_people.id", name="study_slots_person"), nullable=False, index=True
    ),
    sa.Column("released", sa.Boolean, nullable=False),
    sa.UniqueConstraint("person", "key", name="study_slots_once"),
)

consents = sa.Table(
    "study_consents",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column(
        "person", sa.Integer, sa.ForeignKey("study_people.id", name="study_consents_person"), nullable=False, index=True
    ),
    sa.Column("version", sa.String(40), nullable=False),
    sa.Column("language", sa.String(12), nullable=False),
    sa.Column("protocol", sa.String(16), nullable=False),  # the hash of the file that was agreed to
    sa.Column("at", UtcTime, nullable=False),
)

answers = sa.Table(
    "study_answers",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column(
        "person", sa.Integer, sa.ForeignKey("study_people.id", name="study_answers_person"), nullable=False, index=True
    ),
    sa.Column("page", sa.String(200), nullable=False),
    sa.Column("answers", sa.JSON, nullable=False),
    sa.Column("passed", sa.Boolean, nullable=False),  # false: a try at a quiz that failed
    sa.Column("seconds", sa.Float),
    sa.Column("at", UtcTime, nullable=False),
    sa.Column("about", sa.JSON(none_as_null=True)),  # `protocol.answer_subjects.About`; null: of an older version
    sa.Column("items", sa.JSON(none_as_null=True)),  # by question: its place, drawn options, times of its answer
)

games = sa.Table(
    "study_games",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column(
        "person", sa.Integer, sa.ForeignKey("study_people.id", name="study_games_person"), nullable=False, index=True
    ),
    sa.Column("page", sa.String(200), nullable=False),
    sa.Column("setting", sa.String(40), nullable=False),
    sa.Column("partner", sa.String(40), nullable=False),
    sa.Column("seat", sa.Integer, nullable=False),
    sa.Column("practice", sa.Boolean, nullable=False),
    sa.Column("chance", sa.JSON, nullable=False),  # two numbers that decide what chance decides
    sa.Column("status", sa.String(12), nullable=False),  # playing, done, abandoned
    sa.Column("started", UtcTime, nullable=False),
    sa.Column("finished", UtcTime),
    sa.Column("score", sa.Float),
    sa.Column("length", sa.Integer),
    sa.Column("episode", sa.LargeBinary),  # the trace, as compressed JSON
    # Each participant of a shared game has a row with the trace; all rows but the first have the first one's id here,
    # so that the game is counted once. Events belong to the row of their participant, steps to the first row.
    sa.Column("joint", sa.Integer),
    sa.Column("owner", sa.String(40)),  # the lease of the server that plays it; only that server stores its events
    sa.UniqueConstraint("person", "page", name="study_games_once"),
)

members = sa.Table(
    "study_members",  # the groups formed in waiting rooms; someone who met nobody is a group of one
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("group", sa.String(24), nullable=False, index=True),
    sa.Column(
        "person", sa.Integer, sa.ForeignKey("study_people.id", name="study_members_person"), nullable=False, index=True
    ),
    sa.Column("page", sa.String(200), nullable=False),  # of the waiting room
    sa.Column("place", sa.Integer, nullable=False),  # within the group; 0 is the first
    sa.Column("left", sa.Boolean, nullable=False),  # gone for good: from then on a bot plays instead
    sa.Column("at", UtcTime, nullable=False),
    sa.UniqueConstraint("person", "page", name="study_members_once"),
)

waiting = sa.Table(
    "study_waiting",  # who is in a waiting room now; times are the monotonic clock's of the machine `boot`
    METADATA,
    sa.Column("person", sa.Integer, sa.ForeignKey("study_people.id", name="study_waiting_person"), primary_key=True),
    sa.Column("page", sa.String(200), nullable=False),
    sa.Column("boot", sa.String(40), nullable=False),
    sa.Column("began", sa.Float, nullable=False),
    sa.Column("asked", sa.Float, nullable=False),  # when the browser last polled
)

live = sa.Table(
    "study_live",  # what each process that serves a study plays now, for the researchers' monitor
    METADATA,
    sa.Column("owner", sa.String(40), primary_key=True),  # of its lease
    sa.Column("study", sa.String(40), nullable=False),
    sa.Column("at", UtcTime, nullable=False),
    sa.Column("games", sa.JSON, nullable=False),
)

events = sa.Table(
    "study_events",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column(
        "person", sa.Integer, sa.ForeignKey("study_people.id", name="study_events_person"), nullable=False, index=True
    ),
    sa.Column("game", sa.Integer, sa.ForeignKey("study_games.id", name="study_events_game"), index=True),
    sa.Column("t", sa.Integer),  # steps played when it happened
    sa.Column("kind", sa.String(20), nullable=False),
    sa.Column("at", UtcTime, nullable=False),
    sa.Column("payload", sa.JSON, nullable=False),
    sa.Column("stamp", sa.BigInteger),  # unique: an event that is written twice is stored once
    sa.Index("study_events_stamp", "stamp", unique=True),
    # A step is stored once, whichever server plays the game.
    sa.Index("study_events_step", "game", "t", unique=True, sqlite_where=_IS_STEP, postgresql_where=_IS_STEP),
)

paid = sa.Table(
    "study_paid",  # a row for everyone who was paid
    METADATA,
    sa.Column("person", sa.Integer, sa.ForeignKey("study_people.id", name="study_paid_person"), primary_key=True),
    sa.Column("amount", sa.Float, nullable=False),
    sa.Column("at", UtcTime, nullable=False),
    sa.Column("by", sa.String(200), nullable=False),  # the researcher
)
