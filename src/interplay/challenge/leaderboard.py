"""The leaderboard: who may see which result, and who stands where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from interplay.challenge.schema import games, submissions, teams
from interplay.challenge.spec import Challenge
from interplay.server.database import Tx


def visible(challenge: Challenge, phase_name: str, now: datetime, *, owner: bool) -> bool:
    """Whether a result may be shown to its owner, or to anyone."""
    phase = challenge.phase(phase_name)
    if phase is None:
        return owner
    level = phase.results_after if phase.is_over(now) else phase.results
    return level == "public" or (owner and level == "owner")


def entries(tx: Tx, challenge: Challenge, now: datetime) -> list[dict[str, Any]]:
    """Return one entry for each evaluation, ranked.

    All evaluations that were begun are listed, so that none can be left out; those whose result may be seen come with
    it, best first.
    """
    done = (
        sa.select(games.c.submission, sa.func.count().label("done"))
        .where(games.c.status == "DONE")
        .group_by(games.c.submission)
        .subquery()
    )
    columns = [
        submissions.c[c] for c in ("public", "agent", "phase", "created", "plan_hash", "baseline", "status", "result")
    ]
    query = (
        sa.select(*columns, teams.c.name.label("team"), done.c.done)
        .join(teams, teams.c.id == submissions.c.team)
        .outerjoin(done, done.c.submission == submissions.c.id)
        .where(submissions.c.challenge == challenge.name, submissions.c.status != "void")
        .order_by(submissions.c.id)
    )
    total = sum(s.games for s in challenge.settings)
    listed = []
    for row in tx.execute(query):
        result = row.result["content"] if row.result and visible(challenge, row.phase, now, owner=False) else {}
        listed.append(
            {
                "evaluation": row.public,
                "team": row.team,
                "agent": row.agent,
                "baseline": row.baseline,
                "phase": row.phase,
                "registered": row.created.isoformat(),
                "plan_sha256": row.plan_hash,
                "games_done": row.done or 0,
                "games_total": total,
                "status": row.status,
                "result": _result_state(row, bool(result)),
                **{k: result[k] for k in ("finished", "settings", "prediction") if k in result},
            }
        )
    return ranked(challenge, listed)


def _result_state(row: Any, shown: bool) -> str:
    """Say in a few words why a result is to be seen or not."""
    if shown:
        return "final"
    if row.status == "review":
        return "the host reviews the plan"
    if row.status == "playing":
        return "games are being played"
    return "not public now" if row.result else "being computed"


def ranked(challenge: Challenge, listed: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Best mean first, of the games in which the candidate held one seat; baselines take a place but no rank."""
    by = challenge.leaderboard.order_by or challenge.settings[0].name

    def mean(entry: Mapping[str, Any]) -> float | None:
        return next((ranking_mean(s) for s in entry.get("settings", ()) if s["setting"] == by), None)

    order = sorted(listed, key=lambda e: (mean(e) is None, -(mean(e) or 0.0)))
    rank, rows = 0, []
    for entry in order:
        counts = mean(entry) is not None and not entry["baseline"]
        rank += counts
        rows.append({"rank": rank if counts else None, **entry})
    return rows


def ranking_mean(setting: Mapping[str, Any]) -> float:
    """Return the number by which a setting's result is ranked."""
    one_seat = [s["mean"] for s in setting.get("by_seats", ()) if s["seats"] == 1]
    return one_seat[0] if one_seat else setting["mean"]


def open_plan(tx: Tx, challenge: Challenge, public: str, now: datetime) -> str | None:
    """Return the pre-registration of an evaluation once its games are played or its phase is over, else None."""
    row = tx.execute(sa.select(submissions).where(submissions.c.public == public)).one_or_none()
    if row is None:
        return None
    phase = challenge.phase(row.phase)
    over = phase is None or phase.is_over(now)
    return row.plan if over or row.status not in ("review", "playing") else None
