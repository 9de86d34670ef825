"""What the host does with a challenge's database: issue keys, enter baselines, export traces, read the audit log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import sqlalchemy as sa

from interplay.challenge import repository, results
from interplay.challenge.schedule import Seats, line_ups
from interplay.challenge.schema import HISTORY, submissions, teams
from interplay.challenge.spec import Challenge
from interplay.errors import InterplayError
from interplay.games.registry import make_recorded
from interplay.partners.panels import panel
from interplay.server.clock import Clock, SystemClock
from interplay.server.database import SERVER, Database, Tx, open_database
from interplay.table import Table
from interplay.traces import TraceSet
from interplay.traces.export import from_record

HISTORIES = (SERVER, HISTORY)


def open_challenge_database(address: str) -> Database:
    """Open the database of a challenge and migrate it."""
    return open_database(address, HISTORIES)


def default_address(challenge: Challenge) -> str:
    """Return the database that is used where none is named: a file beside the challenge."""
    return f"{challenge.name}.db"


def choices(challenge: Challenge) -> dict[str, list[Seats]]:
    """The line-ups of every setting, without making its partners."""
    by_setting = {}
    for setting in challenge.settings:
        game = make_recorded(setting.game, setting.options)
        count = len(setting.partners) if setting.panel is None else len(panel(game, setting.panel).partners)
        by_setting[setting.name] = line_ups(game.num_seats, count, setting.several_seats)
    return by_setting


def describe_settings(challenge: Challenge) -> Table:
    """Make the game and the partners of every setting, and return a row for each.

    Partners are not named, since the table may be shown to others.

    Raises:
        InterplayError: A game or a partner cannot be made.
    """
    from interplay.challenge.app_state import make_stage

    rows = []
    for setting in challenge.settings:
        stage = make_stage(setting)
        least, rest = divmod(setting.games, len(stage.choices))
        counts = {
            "line_ups": len(stage.choices),
            "games": setting.games,
            "games_per_line_up": [least, least + (rest > 0)],
        }
        rows.append({"setting": setting.name, "game": setting.game, "partners": len(stage.partners), **counts})
    return Table.of(rows, f"{challenge.title} ({challenge.hash})")


def issue(
    database: Database, challenge: Challenge, team: str, contact: str, agent: str, plan: str, *, baseline: bool
) -> dict[str, Any]:
    """Issue keys as the host: enter a team if it is new, and an evaluation of it.

    Args:
        database: The challenge's database.
        challenge: The challenge.
        team: The team's name.
        contact: Where the team can be reached, if it is new.
        agent: The name of the agent that is evaluated.
        plan: The pre-registration.
        baseline: Whether the evaluation is a baseline, which no quota limits.

    Returns:
        The keys, which are shown this once, and the evaluation.
    """
    clock: Clock = SystemClock()
    line_ups_by_setting = choices(challenge)

    def work(tx: Tx) -> dict[str, Any]:
        query = sa.select(teams.c.id).where(teams.c.challenge == challenge.name, teams.c.name == team)
        team_id = tx.execute(query).scalar_one_or_none()
        keys = {}
        if team_id is None:
            keys = repository.register(tx, clock, challenge, team, contact)
            team_id = tx.execute(query).scalar_one()
        return keys | repository.enter(
            tx, clock, challenge, line_ups_by_setting, team_id, agent, plan, baseline=baseline
        )

    return database.write(work)


def traces(database: Database, challenge: Challenge, public: str, out: str | Path) -> TraceSet:
    """The games of an evaluation as a trace set, hidden partners named: for the host."""
    row = database.read(
        lambda tx: tx.execute(
            sa.select(submissions.c.id).where(submissions.c.public == public, submissions.c.challenge == challenge.name)
        ).scalar_one_or_none()
    )
    if row is None:
        raise InterplayError(f"there is no evaluation {public!r} of {challenge.name}")
    filed = database.read(results.submission_record, row)
    if not filed.games:
        raise InterplayError(f"no game of evaluation {public!r} is played yet")
    exported = TraceSet.create(out, {"challenge": challenge.name, "evaluation": public})
    exported.append(from_record(played.record) for played in filed.games)
    return exported
