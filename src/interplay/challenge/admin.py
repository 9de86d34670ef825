"""What the host does with the books while the server runs or rests: keys, baselines, traces, the audit log."""

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


def open_books(address: str) -> Database:
    return open_database(address, HISTORIES)


def default_address(challenge: Challenge) -> str:
    return f"{challenge.name}.db"


def choices(challenge: Challenge) -> dict[str, list[Seats]]:
    """The line-ups of every setting, without making its partners."""
    found = {}
    for setting in challenge.settings:
        game = make_recorded(setting.game, setting.options)
        count = len(setting.partners) if setting.panel is None else len(panel(game, setting.panel).partners)
        found[setting.name] = line_ups(game.num_seats, count, setting.several_seats)
    return found


def looked_over(challenge: Challenge) -> Table:
    """A row for every setting, whose game and partners are made to see that they can be. Partners are not named: what
    is printed may be shown around."""
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
    """Keys from the host's own hand: a team if it is new, and an evaluation, for a baseline beyond all quotas."""
    clock: Clock = SystemClock()
    held = choices(challenge)

    def work(tx: Tx) -> dict[str, Any]:
        query = sa.select(teams.c.id).where(teams.c.challenge == challenge.name, teams.c.name == team)
        found = tx.execute(query).scalar_one_or_none()
        made = {}
        if found is None:
            made = repository.register(tx, clock, challenge, team, contact)
            found = tx.execute(query).scalar_one()
        return made | repository.enter(tx, clock, challenge, held, found, agent, plan, baseline=baseline)

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
    filed = database.read(results.file, row)
    if not filed.games:
        raise InterplayError(f"no game of evaluation {public!r} is played yet")
    found = TraceSet.create(out, {"challenge": challenge.name, "evaluation": public})
    found.append(from_record(played.record) for played in filed.games)
    return found
