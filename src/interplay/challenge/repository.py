"""The database of a challenge: who may play what, what was played. Every function is one piece of a transaction.

A game is TODO, ACTIVE or DONE, and each change names the state and the attempt it starts from: whatever two clients,
two servers or a crash do, a game is played to its end exactly once.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import sqlalchemy as sa

from interplay.challenge.schedule import Seats, chance, schedule
from interplay.challenge.schema import games, submissions, teams
from interplay.challenge.spec import Challenge
from interplay.server import api_keys as keys
from interplay.server.api_error import ApiError
from interplay.server.audit import note
from interplay.server.clock import Clock
from interplay.server.database import Tx

TEAM, TEST, EVALUATION = "team", "test", "evaluation"  # kinds of keys
TODO, ACTIVE, DONE = "TODO", "ACTIVE", "DONE"
# Of a submission; a plan that waits for the host is under review.
REVIEW, PLAYING, PLAYED, FINISHED, VOID = "review", "playing", "played", "done", "void"

# What every finished game asks, made once: the game at the attempt that was played, its evaluation, games left in it.
_BOOK = sa.update(games).where(
    games.c.id == sa.bindparam("of"), games.c.status == ACTIVE, games.c.attempt == sa.bindparam("played")
)
_EVALUATION = sa.select(submissions.c.id).where(submissions.c.id == sa.bindparam("of")).with_for_update()
_LEFT = (
    sa.select(games.c.id).where(games.c.submission == sa.bindparam("of"), games.c.status.in_((TODO, ACTIVE))).limit(1)
)


@dataclass(frozen=True)
class Submission:
    """One evaluation: a key, a plan, a schedule."""

    id: int
    public: str
    team: int
    phase: str
    agent: str
    status: str
    secret: bytes


@dataclass(frozen=True)
class Claim:
    """A game that was dealt to a client: all that is needed to play it."""

    id: int
    number: int
    setting: str
    seats: Seats
    attempt: int
    chance: tuple[int, int]


def register(tx: Tx, clock: Clock, challenge: Challenge, name: str, contact: str) -> dict[str, Any]:
    """A new team with its key and a key for tests, both shown this once."""
    same = sa.select(teams.c.id).where(teams.c.challenge == challenge.name, teams.c.name == name)
    if tx.execute(same).first():
        raise ApiError("conflict", f"there is a team called {name!r} already")
    row = {"challenge": challenge.name, "name": name, "contact": contact, "created": clock.now()}
    team = tx.execute(sa.insert(teams).values(**row).returning(teams.c.id)).scalar_one()
    own = keys.issue(tx, clock, TEAM, f"team:{team}")
    test = keys.issue(tx, clock, TEST, f"team:{team}")
    note(tx, clock, f"team:{team}", "register", name)
    return {"team": name, "team_key": own.text, "test_key": test.text}


def enter(
    tx: Tx,
    clock: Clock,
    challenge: Challenge,
    choices: Mapping[str, Sequence[Seats]],
    team: int,
    agent: str,
    plan: str,
    *,
    baseline: bool = False,
) -> dict[str, Any]:
    """A new evaluation of a team: the plan is stored, the schedule is fixed, and a key is shown this once."""
    now = clock.now()
    phase = challenge.open_phase(now)
    if phase is None:
        raise ApiError("not_allowed", "no phase of this challenge is open now")
    if not baseline:
        _check_quota(tx, challenge, team, now)
    secret = secrets.token_bytes(32)
    row = {
        "public": secrets.token_hex(6),
        "team": team,
        "challenge": challenge.name,
        "phase": phase.name,
        "agent": agent,
        "plan": plan,
        "plan_hash": hashlib.sha256(plan.encode()).hexdigest(),
        "created": now,
        "secret": secret,
        "baseline": baseline,
        "status": REVIEW if challenge.plans == "reviewed" and not baseline else PLAYING,
    }
    submission_id = tx.execute(sa.insert(submissions).values(**row).returning(submissions.c.id)).scalar_one()
    tx.execute(sa.insert(games), _rows(challenge, choices, submission_id, secret))
    key = keys.issue(tx, clock, EVALUATION, f"submission:{submission_id}")
    note(tx, clock, f"team:{team}", "enter", row["public"], agent=agent, plan=row["plan_hash"], phase=phase.name)
    return {
        "evaluation": row["public"],
        "evaluation_key": key.text,
        "plan_sha256": row["plan_hash"],
        "registered": now.isoformat(),
        "phase": phase.name,
        "games": sum(s.games for s in challenge.settings),
        "status": row["status"],
    }


def _check_quota(tx: Tx, challenge: Challenge, team: int, now: Any) -> None:
    """Counted under a lock on the team, so that two requests at once cannot both be the last."""
    tx.execute(sa.select(teams.c.id).where(teams.c.id == team).with_for_update()).one()
    phase = challenge.open_phase(now)
    assert phase is not None
    mine = sa.and_(submissions.c.team == team, submissions.c.phase == phase.name, submissions.c.status != VOID)
    count = sa.select(sa.func.count()).select_from(submissions)
    if tx.execute(count.where(mine)).scalar_one() >= phase.evaluations.total:
        raise ApiError("not_allowed", f"this phase allows {phase.evaluations.total} evaluations a team; all are begun")
    today = tx.execute(count.where(mine, submissions.c.created > now - timedelta(days=1))).scalar_one()
    if today >= phase.evaluations.per_day:
        raise ApiError("too_many", f"a team may begin {phase.evaluations.per_day} evaluations a day; come back later")


def _rows(
    challenge: Challenge, choices: Mapping[str, Sequence[Seats]], submission: int, secret: bytes
) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    common = {"status": TODO, "attempt": 0, "voids": 0, "forfeit": False}
    for setting in challenge.settings:
        line_ups = choices[setting.name]
        for line_up in schedule(line_ups, setting.games, secret + setting.name.encode()):
            place = {"submission": submission, "number": len(rows), "setting": setting.name, "line_up": line_up}
            rows.append({**place, "seats": list(line_ups[line_up]), **common})
    return rows


def submission_of(tx: Tx, key: keys.Key) -> Submission:
    """The submission that an evaluation key opens."""
    return submission(tx, submissions.c.id == int(key.subject.partition(":")[2]))


def submission(tx: Tx, where: Any) -> Submission:
    """Return the submission that fits a condition.

    Raises:
        ApiError: There is none.
    """
    row = tx.execute(sa.select(submissions).where(where)).one_or_none()
    if row is None:
        raise ApiError("not_found", "there is no such evaluation")
    return Submission(row.id, row.public, row.team, row.phase, row.agent, row.status, bytes(row.secret))


def claim(tx: Tx, clock: Clock, challenge: Challenge, own: Submission, count: int, most: int) -> list[Claim]:
    """Deal the next games of the schedule: at most `count`, and no more than `most` of the team in play at once."""
    phase = challenge.phase(own.phase)
    now = clock.now()
    if phase is None or not phase.is_open(now):
        raise ApiError("not_allowed", f"the phase {own.phase!r} of this evaluation is not open now")
    status = tx.execute(
        sa.select(submissions.c.status).where(submissions.c.id == own.id).with_for_update()
    ).scalar_one()
    if status == VOID:
        raise ApiError("not_allowed", "the host has declared this evaluation void")
    if status == REVIEW:
        raise ApiError("not_allowed", "the host has not approved the plan of this evaluation yet: come back later")
    query = sa.select(games.c.submission, sa.func.count()).join(submissions, submissions.c.id == games.c.submission)
    query = query.where(submissions.c.team == own.team, games.c.status == ACTIVE).group_by(games.c.submission)
    active: dict[int, int] = dict(tx.execute(query).tuples().all())
    free = min(count, most - sum(active.values()))
    if free <= 0:
        if own.id not in active:
            raise ApiError("too_many", f"a team plays at most {most} games at a time, and its other evaluations do")
        return []
    next_ones = (
        sa.select(games.c.id)
        .where(games.c.submission == own.id, games.c.status == TODO)
        .order_by(games.c.number)
        .limit(free)
    )
    dealt = tx.execute(
        sa.update(games)
        .where(games.c.id.in_(next_ones), games.c.status == TODO)
        .values(status=ACTIVE, attempt=games.c.attempt + 1, started=now)
        .returning(games.c.id, games.c.number, games.c.setting, games.c.seats, games.c.attempt)
    ).all()
    claims = [
        Claim(r.id, r.number, r.setting, tuple(r.seats), r.attempt, chance(own.secret, r.setting, r.number, r.attempt))
        for r in dealt
    ]
    return sorted(claims, key=lambda c: c.number)


def finish(
    tx: Tx,
    clock: Clock,
    own: Submission,
    game: Claim,
    *,
    score: float,
    length: int,
    episode: bytes,
    forfeit: bool = False,
) -> bool:
    """Book a game; whether it was the last one. A game that is not in play at this attempt cannot be booked."""
    values = {"score": score, "length": length, "episode": episode, "forfeit": forfeit, "finished": clock.now()}
    done = tx.execute(_BOOK, {"of": game.id, "played": game.attempt, "status": DONE, **values})
    if done.rowcount != 1:
        # The answer to the commit that booked it may have got lost, and it is booked again.
        same = sa.select(games.c.id).where(games.c.id == game.id, games.c.status == DONE)
        if tx.execute(same.where(games.c.attempt == game.attempt, games.c.episode == episode)).first() is None:
            raise ApiError("gone", "this game was dealt anew or is booked already", status=409)
    tx.execute(_EVALUATION, {"of": own.id}).one()
    if tx.execute(_LEFT, {"of": own.id}).first() is not None:
        return False
    tx.execute(
        sa.update(submissions)
        .where(submissions.c.id == own.id, submissions.c.status == PLAYING)
        .values(status=PLAYED, finished=clock.now())
    )
    note(tx, clock, f"submission:{own.public}", "played")
    return True


def put_back(tx: Tx, clock: Clock, game: Claim, why: str, *, abandoned: bool) -> None:
    """Deal a game anew, later. Failures of the server's own do not count; abandoned games are counted."""
    back = tx.execute(
        sa.update(games)
        .where(games.c.id == game.id, games.c.status == ACTIVE, games.c.attempt == game.attempt)
        .values(status=TODO, voids=games.c.voids + (1 if abandoned else 0))
    )
    if back.rowcount == 1:
        note(tx, clock, "server", "put_back", f"game:{game.id}", why=why, attempt=game.attempt)


def voids(tx: Tx, game: Claim) -> int:
    """Return how often a game was abandoned and dealt anew."""
    return tx.execute(sa.select(games.c.voids).where(games.c.id == game.id)).scalar_one()


def restart(tx: Tx, clock: Clock, challenge: Challenge) -> int:
    """After a crash no game is in play: those that were are dealt anew. Finished games stay as they are."""
    mine = sa.select(submissions.c.id).where(submissions.c.challenge == challenge.name)
    back = tx.execute(
        sa.update(games).where(games.c.status == ACTIVE, games.c.submission.in_(mine)).values(status=TODO)
    )
    if back.rowcount:
        note(tx, clock, "server", "restart", challenge.name, games_dealt_anew=back.rowcount)
    return back.rowcount


def standing(tx: Tx, own: Submission) -> dict[str, int]:
    """How many games are in which state."""
    query = sa.select(games.c.status, sa.func.count()).where(games.c.submission == own.id).group_by(games.c.status)
    counts = {TODO: 0, ACTIVE: 0, DONE: 0}
    for status, count in tx.execute(query):
        counts[status] = count
    return counts | {"total": sum(counts.values())}


def approve(tx: Tx, clock: Clock, public: str) -> None:
    """Let an evaluation whose plan was reviewed be played."""
    waiting = sa.update(submissions).where(submissions.c.public == public, submissions.c.status == REVIEW)
    if tx.execute(waiting.values(status=PLAYING)).rowcount != 1:
        raise ApiError("not_found", f"there is no evaluation {public!r} whose plan waits for review")
    note(tx, clock, "host", "approve", public)


def under_review(tx: Tx, challenge: Challenge) -> list[dict[str, Any]]:
    """Return the plans that wait for the host, oldest first."""
    query = sa.select(submissions, teams.c.name.label("team_name")).join(teams, teams.c.id == submissions.c.team)
    query = query.where(submissions.c.challenge == challenge.name, submissions.c.status == REVIEW)
    return [
        {
            "evaluation": r.public,
            "team": r.team_name,
            "agent": r.agent,
            "registered": r.created.isoformat(),
            "plan": r.plan,
        }
        for r in tx.execute(query.order_by(submissions.c.id))
    ]


def void(tx: Tx, clock: Clock, public: str, why: str) -> None:
    """Strike an evaluation from the leaderboard; its games and the reason stay in the database."""
    done = tx.execute(sa.update(submissions).where(submissions.c.public == public).values(status=VOID))
    if done.rowcount != 1:
        raise ApiError("not_found", f"there is no evaluation {public!r}")
    note(tx, clock, "host", "void", public, why=why)
