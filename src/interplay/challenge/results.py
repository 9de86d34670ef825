"""The result of an evaluation: scores with intervals, bombs, forfeits, prediction, teamwork.

It is put together from the database, signed and stored: in the background when the last game is booked, and again after
the last prediction.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson
import sqlalchemy as sa

import interplay
from interplay.challenge.cross_seat_leakage import peeking
from interplay.challenge.schema import games, predictions, submissions, teams
from interplay.challenge.spec import Challenge
from interplay.games.api import Game
from interplay.games.registry import scoring
from interplay.metrics.api import measure
from interplay.rollout.episode import Episode
from interplay.server.audit import note
from interplay.server.clock import Clock
from interplay.server.database import Database, Tx
from interplay.server.signatures import canonical, secret, signer
from interplay.stats import bootstrap
from interplay.table import plain
from interplay.traces import TraceSet
from interplay.traces.export import from_record
from interplay.untrusted_files import inflate, parse_json

FORMAT = "interplay-challenge-result"
CANDIDATE = "candidate"


@dataclass(frozen=True)
class ScoredGame:
    """A game as the database holds it."""

    number: int
    setting: str
    line_up: int
    score: float
    forfeit: bool
    voids: int
    attempt: int
    record: Mapping[str, Any]  # the trace


@dataclass(frozen=True)
class SubmissionRecord:
    """A submission as the database holds it, with its team's name."""

    id: int
    facts: Mapping[str, Any]
    settings: Sequence[str]
    games: Sequence[ScoredGame]
    predictions: Sequence[Any]


def digest(record: Mapping[str, Any]) -> str:
    """Return a hash of what happened in a game, its start and its moves, without the names of those who played."""
    happened = {name: record[name] for name in ("game", "options", "rules_version", "start", "actions", "rewards")}
    return hashlib.sha256(canonical(happened)).hexdigest()


def submission_record(tx: Tx, submission: int) -> SubmissionRecord:
    """All that is booked of a submission."""
    row = tx.execute(
        sa.select(submissions, teams.c.name.label("team_name"))
        .join(teams, teams.c.id == submissions.c.team)
        .where(submissions.c.id == submission)
    ).one()
    query = sa.select(games).where(games.c.submission == submission, games.c.status == "DONE").order_by(games.c.number)
    played = [
        ScoredGame(g.number, g.setting, g.line_up, g.score, g.forfeit, g.voids, g.attempt, unpack(g.episode))
        for g in tx.execute(query)
    ]
    predictions_query = sa.select(predictions).where(predictions.c.submission == submission)
    facts = {
        "evaluation": row.public,
        "team": row.team_name,
        "agent": row.agent,
        "baseline": row.baseline,
        "phase": row.phase,
        "plan_sha256": row.plan_hash,
        "registered": row.created.isoformat(),
        "finished": row.finished.isoformat() if row.finished else None,
        "status": row.status,  # "played", or "done" when the predictions are in
    }
    names = list(dict.fromkeys(g.setting for g in played))
    return SubmissionRecord(row.id, facts, names, played, tx.execute(predictions_query).all())


def unpack(packed: bytes) -> dict[str, Any]:
    """Return the trace record of a stored game."""
    return parse_json(inflate(packed, "a stored game"), "a stored game")


def content(challenge: Challenge, stages: Mapping[str, Any], filed: SubmissionRecord, salt: bytes) -> dict[str, Any]:
    """Return the result, before it is signed.

    Args:
        challenge: The challenge.
        stages: Its settings, made ready, by name.
        filed: The submission.
        salt: The server's own secret: the partners can be proven later with it, and only with it.
    """
    by_setting = {name: [g for g in filed.games if g.setting == name] for name in filed.settings}
    settings = [_setting(challenge, stages[name], played, salt) for name, played in by_setting.items()]
    booked = [[g.number, g.setting, g.line_up, g.score, digest(g.record)] for g in filed.games]
    return plain(
        {
            "format": FORMAT,
            "format_version": 1,
            "interplay": interplay.__version__,
            "challenge": {"name": challenge.name, "title": challenge.title, "hash": challenge.hash},
            **filed.facts,
            "settings": settings,
            "prediction": _prediction(filed.predictions),
            "games": booked,  # number, setting, line-up, score, and a hash of what happened
            "games_sha256": hashlib.sha256(canonical(booked)).hexdigest(),
        }
    )


def _setting(challenge: Challenge, stage: Any, played: Sequence[ScoredGame], salt: bytes) -> dict[str, Any]:
    scores = np.array([g.score for g in played])
    cells = {"line_up": [g.line_up for g in played]}
    episodes = [from_record(record) for record in hidden(g.record for g in played)]
    counts = np.bincount([g.line_up for g in played], minlength=len(stage.choices))
    partner_hashes = "|".join(i.hash for i in stage.identities)
    return {
        "setting": stage.setting.name,
        "game": stage.game.id,
        "options": dict(stage.game.options),
        **scoring(stage.game.id, stage.game.options),
        "rules_version": stage.game.rules_version,
        "partners": len(stage.partners),
        "partners_sha256": hmac.new(salt, partner_hashes.encode(), hashlib.sha256).hexdigest(),
        "games": len(played),
        "line_ups": len(counts),
        "games_per_line_up": [int(counts.min()), int(counts.max())],
        **_interval(scores, cells, "mean"),
        **_interval(scores, cells, "median"),
        "by_seats": _by_seats(stage, played),
        "peeking": peeking(stage.game, episodes) if stage.setting.several_seats else None,
        "perfect": _perfect(stage.game, scores),
        "bombs": bombs(stage.game, episodes),
        "forfeits": sum(g.forfeit for g in played),
        "dealt_anew": sum(g.attempt - 1 for g in played),
        "teamwork": teamwork(episodes, challenge.leaderboard.metrics),
    }


def _by_seats(stage: Any, played: Sequence[ScoredGame]) -> list[dict[str, Any]]:
    """The mean by how many seats the candidate held; one socket sees the hands of all its seats, so one seat ranks."""
    own_seats = [sum(who is None for who in stage.choices[g.line_up]) for g in played]
    rows = []
    for seats in sorted(set(own_seats)):
        mine = [g for g, n in zip(played, own_seats, strict=True) if n == seats]
        cells = {"line_up": [g.line_up for g in mine]}
        rows.append({"seats": seats, "games": len(mine), **_interval(np.array([g.score for g in mine]), cells, "mean")})
    return rows


def _interval(scores: np.ndarray, cells: Mapping[str, Any], statistic: str) -> dict[str, Any]:
    """An interval for these very partners: games are resampled within line-ups, line-ups are not."""
    once = len(set(cells["line_up"])) == len(scores)  # no line-up was met twice, so nothing says how sure this is
    if len(set(scores.tolist())) == 1 or once:
        value = float(np.mean(scores) if statistic == "mean" else np.median(scores))
        return {statistic: value, f"{statistic}_low": None, f"{statistic}_high": None}
    resampled = bootstrap(scores, cells, seed=0, units=(), fixed=("line_up",), statistic=statistic)
    return {statistic: resampled.estimate, f"{statistic}_low": resampled.low, f"{statistic}_high": resampled.high}


def _perfect(game: Game, scores: np.ndarray) -> int | None:
    most = getattr(getattr(game, "rules", None), "max_score", None)
    return None if most is None else int((scores == most).sum())


def bombs(game: Game, episodes: Sequence[Episode]) -> int | None:
    """Games in which the last life was lost; null for games without lives."""
    lives = getattr(getattr(game, "rules", None), "lives", None)
    if lives is None or "misplayed" not in game.event_names or not episodes:
        return None
    counted = measure(TraceSet.in_memory(episodes), ["events"])
    lost: dict[int, float] = {}
    for row in counted.where(event="misplayed"):
        lost[row["episode"]] = lost.get(row["episode"], 0) + (row["value"] or 0)
    return sum(count >= lives for count in lost.values())


def hidden(records: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Traces with the partners under aliases: their names, hashes and settings stay with the host."""
    known: dict[str, str] = {}
    for record in records:
        agents = []
        for agent in record["agents"]:
            if agent["name"] == CANDIDATE:
                agents.append(agent)
            else:
                name = known.setdefault(agent["hash"] + agent["name"], f"partner {len(known) + 1}")
                agents.append(aliased(agent, name))
        yield {**record, "agents": agents}


def aliased(agent: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return an agent of a trace's record under another name, without what would tell who it is."""
    return {"name": name, "hash": "", "privileged": agent["privileged"], "config": {}}


def teamwork(episodes: Sequence[Episode], metrics: Sequence[str]) -> dict[str, float | None]:
    """The means of metrics, by who is spoken of: the candidate, its partners, what one gives the other, the team."""
    if not metrics or not episodes:
        return {}
    table = measure(TraceSet.in_memory(episodes), list(metrics))
    sums: dict[str, list[float]] = {}
    extra = [c for c in ("event", "known", "window", "channel", "channels", "class", "messages") if c in table.columns]
    for row in table:
        if row["value"] is None or isinstance(row["value"], str):
            continue
        who = _who(row, episodes)
        name = "/".join([row["metric"], *(str(row[c]) for c in extra if row.get(c) is not None), who])
        sums.setdefault(name, []).append(float(row["value"]))
    return {name: sum(values) / len(values) for name, values in sorted(sums.items())}


def _who(row: Mapping[str, Any], episodes: Sequence[Episode]) -> str:
    if row.get("giver") is not None:
        agents = episodes[row["episode"]].agents
        sides = [agents[row[side]].name == CANDIDATE for side in ("giver", "receiver")]
        return {(True, False): "given", (False, True): "received"}.get((sides[0], sides[1]), "among its own")
    if row.get("agent") is None:
        return "team"
    return CANDIDATE if row["agent"] == CANDIDATE else "partners"


def _prediction(rows: Sequence[Any]) -> list[dict[str, Any]]:
    summaries = []
    for setting in dict.fromkeys(row.setting for row in rows):
        here = [row for row in rows if row.setting == setting]
        count = len(here)
        summaries.append(
            {
                "setting": setting,
                "decisions": count,
                "games": len({row.game for row in here}),
                "cross_entropy": sum(row.loss for row in here) / count,
                "accuracy": sum(row.hit for row in here) / count,
                "ruled_out": sum(row.ruled_out for row in here) / count,
            }
        )
    return summaries


def settle(database: Database, clock: Clock, challenge: Challenge, stages: Mapping[str, Any], submission: int) -> Any:
    """Make, sign and store the result of a submission whose games are all booked."""
    filed = database.read(submission_record, submission)
    salt = database.write(secret, clock, "partners")
    unsigned = content(challenge, stages, filed, salt)

    def store(tx: Tx) -> dict[str, Any]:
        signed = signer(tx, clock).sign(unsigned)
        tx.execute(sa.update(submissions).where(submissions.c.id == submission).values(result=signed))
        note(tx, clock, "server", "result", filed.facts["evaluation"])
        return signed

    return database.write(store)


def unsettled(tx: Tx, challenge: str) -> list[int]:
    """Submissions whose result is missing or older than their state, such as after a crash."""
    query = sa.select(submissions.c.id, submissions.c.status, submissions.c.result).where(
        submissions.c.challenge == challenge, submissions.c.status.in_(("played", "done"))
    )
    return [r.id for r in tx.execute(query) if r.result is None or r.result["content"]["status"] != r.status]


def owner_traces(filed: SubmissionRecord) -> Iterator[bytes]:
    """The games of a submission as lines of JSON, in the form of exported traces."""
    for record in hidden(played.record for played in filed.games):
        yield orjson.dumps(record) + b"\n"
