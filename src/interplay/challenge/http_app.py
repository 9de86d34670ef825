"""The HTTP interface, and the application as a whole."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, Any

import sqlalchemy as sa
from fastapi import FastAPI, Path, Request
from fastapi.responses import PlainTextResponse, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from interplay.challenge import leaderboard, repository, results
from interplay.challenge.action_prediction import Forecasts, add_predict
from interplay.challenge.app_state import ChallengeState
from interplay.challenge.pages import ChallengePages, add_forms, add_pages
from interplay.challenge.play_socket import Connections, add_play
from interplay.challenge.published_protocol import add_published
from interplay.challenge.schema import submissions
from interplay.challenge.spec import Challenge
from interplay.errors import InterplayError
from interplay.server.api_error import ApiError
from interplay.server.app import Base, make_app
from interplay.server.rate_limits import Buckets
from interplay.server.signatures import Signer, signer

LOG = logging.getLogger("interplay.challenge")
Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=80, pattern=r"^[^\x00-\x1f]+$")]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=20_000, pattern=r"^[^\x00]+$")]
Public = Annotated[str, Path(pattern=r"^[0-9a-f]{12}$")]


class Registration(BaseModel):
    """A team that wants to take part."""

    model_config = ConfigDict(extra="forbid")

    team: Line
    contact: Annotated[Line, Field(description="an address at which the host can reach you; never shown")]


class Registered(BaseModel):
    """Keys, shown once."""

    team: str
    team_key: str
    test_key: str


class Entry(BaseModel):
    """An evaluation that a team wants to begin."""

    model_config = ConfigDict(extra="forbid")

    agent: Line
    plan: Annotated[Text, Field(description="the pre-registration: what is evaluated and expected; shown later")]


class Entered(BaseModel):
    """The evaluation's key, shown once."""

    evaluation: str
    evaluation_key: str
    plan_sha256: str
    registered: str
    phase: str
    games: int
    status: str  # "review": the host reads the plan before a game is dealt


class ProblemDetail(BaseModel):
    """What every refusal looks like."""

    error: str
    message: str


_SCHEMA = {"application/json": {"schema": ProblemDetail.model_json_schema()}}  # JSON, whatever the route itself gives
REFUSALS: dict[int | str, dict[str, Any]] = {
    code: {"description": "refused", "content": _SCHEMA} for code in (400, 401, 403, 404, 409, 413, 422, 429, 503)
}


def build(challenge: Challenge, base: Base, *, sizes: Sequence[int] | None = None, capacity: int = 512) -> FastAPI:
    """The application of a challenge. Its partners and programs are made here; its state is in `app.state.host`."""
    host = ChallengeState(challenge, base, sizes=sizes, capacity=capacity)
    encoding = challenge.published_protocol
    for stage in host.stages.values():
        if encoding is not None and (encoding not in stage.encodings or stage.game.encodings[encoding].shape is None):
            raise InterplayError(
                f"published_protocol: {encoding!r} is no vector that a seat of {stage.game.id} may see"
            )
    forecasts = Forecasts(host)
    settling = ResultWorker(host)
    sign = base.database.write(signer, base.clock)
    pages = ChallengePages(challenge, base, sign.fingerprint)

    @asynccontextmanager
    async def living() -> AsyncIterator[None]:
        await host.open()
        await settling.open()
        yield
        await settling.close()
        await pages.worker.close()
        await host.close()

    app = make_app(base, challenge.title, living)
    app.state.host, app.state.settling, app.state.forecasts = host, settling, forecasts
    app.state.pages = pages
    connections = Connections(challenge.rules.connections)
    _add_public(app, host, sign)
    add_pages(app.router, pages)
    _add_teams(app, host, pages)
    _add_evaluations(app, host)
    add_play(app, host, connections)
    add_predict(app, host, forecasts, connections)
    if encoding is not None:
        add_published(app, host, connections, REFUSALS)
    return app


class ResultWorker:
    """Makes results in the background, one at a time, off the event loop; after a crash, those that are missing."""

    def __init__(self, host: ChallengeState):
        self._host = host
        self._waiting: asyncio.Queue[int] = asyncio.Queue()
        self._task: asyncio.Task | None = None
        host.played = lambda submission: self._waiting.put_nowait(submission.id)

    async def open(self) -> None:
        """Queue the results that are missing and begin to make them."""
        base = self._host.base
        for submission in await base.database.aread(results.unsettled, self._host.challenge.name):
            self._waiting.put_nowait(submission)
        self._task = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Stop; what is missing is made after the next start."""
        if self._task:
            self._task.cancel()

    async def finished(self) -> None:
        """Wait until all results are made."""
        await self._waiting.join()

    async def _run(self) -> None:
        host = self._host
        while True:
            submission = await self._waiting.get()
            try:
                await asyncio.to_thread(
                    results.settle, host.base.database, host.base.clock, host.challenge, host.stages, submission
                )
            except Exception:
                LOG.exception("the result of submission %d could not be made", submission)
            finally:
                self._waiting.task_done()


def _add_public(app: FastAPI, host: ChallengeState, sign: Signer) -> None:
    challenge, base = host.challenge, host.base

    @app.get("/api/v1/leaderboard", tags=["results"])
    async def signed_leaderboard() -> dict[str, Any]:
        """The leaderboard, signed."""
        now = base.clock.now()
        rows = await base.database.aread(leaderboard.entries, challenge, now)
        about = {"name": challenge.name, "title": challenge.title, "hash": challenge.hash}
        return sign.sign(
            {"format": "interplay-challenge-leaderboard", "challenge": about, "at": now.isoformat(), "rows": rows}
        )

    @app.get("/api/v1/challenge", tags=["challenge"])
    async def about() -> dict[str, Any]:
        """What is played, under which rules; not with whom."""
        return public_description(host, sign)

    @app.get("/plans/{evaluation}", response_class=PlainTextResponse, responses=REFUSALS, tags=["results"])
    async def plan(evaluation: Public) -> PlainTextResponse:
        """The pre-registration of an evaluation; open when its games are played or its phase is over."""
        await base.database.aread(repository.submission, submissions.c.public == evaluation)  # there is one
        text = await base.database.aread(leaderboard.open_plan, challenge, evaluation, base.clock.now())
        if text is None:
            raise ApiError("not_allowed", "plans are shown when the evaluation is played; until then, their hashes are")
        return PlainTextResponse(text)


def public_description(host: ChallengeState, sign: Signer) -> dict[str, Any]:
    """Return what is public of a challenge: its settings, phases and rules, without the partners."""
    challenge = host.challenge
    settings = [
        {
            "name": stage.setting.name,
            "game": stage.game.id,
            "options": dict(stage.game.options),
            "seats": stage.game.num_seats,
            "actions": list(stage.game.action_names),
            "games": stage.setting.games,
            "partners": len(stage.partners),
            "line_ups": len(stage.choices),
            "encodings": list(stage.encodings),
        }
        for stage in host.stages.values()
    ]
    return {
        "name": challenge.name,
        "title": challenge.title,
        "text": challenge.text,
        "hash": challenge.hash,
        "settings": settings,
        "phases": [p.model_dump(mode="json") for p in challenge.phases],
        "rules": challenge.rules.model_dump(mode="json"),
        "prediction": [{"setting": p.setting, "games": p.games, "floor": p.floor} for p in challenge.prediction],
        "metrics": list(challenge.leaderboard.metrics),
        "registration": challenge.registration,
        "public_key": sign.public,
    }


def _add_teams(app: FastAPI, host: ChallengeState, pages: ChallengePages) -> None:
    challenge, base = host.challenge, host.base
    registrations = Buckets(base.clock, 10 / 3600, 10)  # from one address, an hour

    @app.post("/api/v1/teams", status_code=201, responses=REFUSALS, tags=["teams"])
    async def register(request: Request, wanted: Registration) -> Registered:
        """Register a team. Its keys are shown once and cannot be had again."""
        if challenge.registration == "closed":
            raise ApiError("not_allowed", "registration is closed: ask the host for keys")
        registrations.require(base.who(request), "registrations from here")
        made = await base.database.awrite(repository.register, base.clock, challenge, wanted.team, wanted.contact)
        return Registered(**made)

    @app.post("/api/v1/evaluations", status_code=201, responses=REFUSALS, tags=["teams"])
    async def enter(request: Request, wanted: Entry) -> Entered:
        """Begin an evaluation, by a team's key. The plan is hashed and dated; the schedule is fixed now."""
        return await entered(request, wanted)

    async def entered(request: Request, wanted: Entry, key_text: str | None = None) -> Entered:
        key = await base.key(request, (repository.TEAM,), key_text)
        team = int(key.subject.partition(":")[2])
        work = (base.clock, challenge, host.choices, team, wanted.agent, wanted.plan)
        return Entered(**await base.database.awrite(repository.enter, *work))

    add_forms(app.router, pages, register, entered, (Registration, Entry))


def _add_evaluations(app: FastAPI, host: ChallengeState) -> None:
    base = host.base

    async def owned(request: Request, evaluation: str) -> repository.Submission:
        """The submission, if the key is its own or its team's. Others learn nothing, not even that it exists."""
        key = await base.key(request, (repository.TEAM, repository.EVALUATION))
        missing = ApiError("not_found", "there is no such evaluation")
        try:
            submission = await base.database.aread(repository.submission, submissions.c.public == evaluation)
        except ApiError:
            raise missing from None
        if key.subject not in (f"team:{submission.team}", f"submission:{submission.id}"):
            raise missing
        return submission

    @app.get("/api/v1/evaluation", responses=REFUSALS, tags=["evaluations"])
    async def mine(request: Request) -> dict[str, Any]:
        """Where the evaluation of this key stands."""
        key = await base.key(request, (repository.EVALUATION,))
        submission = await base.database.aread(repository.submission_of, key)
        standing = await base.database.aread(repository.standing, submission)
        return {
            "evaluation": submission.public,
            "agent": submission.agent,
            "status": submission.status,
            "games": standing,
        }

    @app.get("/api/v1/evaluations/{evaluation}/result", responses=REFUSALS, tags=["evaluations"])
    async def result(request: Request, evaluation: Public) -> dict[str, Any]:
        """The signed result of an evaluation, by its key or its team's."""
        submission = await owned(request, evaluation)
        if not leaderboard.visible(host.challenge, submission.phase, base.clock.now(), owner=True):
            raise ApiError("not_allowed", "results of this phase are not shown now")
        query = sa.select(submissions.c.result).where(submissions.c.id == submission.id)
        signed = await base.database.aread(lambda tx: tx.execute(query).scalar_one())
        if signed is None and submission.status in (repository.PLAYED, repository.FINISHED):
            raise ApiError("unavailable", "the result is being computed: ask again in a while")
        if signed is None:
            raise ApiError("not_found", "there is no result yet: it is made when all games are played")
        return signed

    @app.get(
        "/api/v1/evaluations/{evaluation}/traces",
        response_class=StreamingResponse,
        responses={**REFUSALS, 200: {"content": {"application/jsonl": {}}}},
        tags=["evaluations"],
    )
    async def traces(request: Request, evaluation: Public) -> StreamingResponse:
        """The games of an evaluation as lines of JSON, by its key or its team's, once its phase allows it."""
        submission = await owned(request, evaluation)
        phase = host.challenge.phase(submission.phase)
        allowed = phase is not None and (
            (phase.traces == "when_done" and submission.status in (repository.PLAYED, repository.FINISHED))
            or (phase.traces == "after_phase" and phase.is_over(base.clock.now()))
        )
        if not allowed:
            raise ApiError("not_allowed", "traces are given out after the phase")
        filed = await base.database.aread(results.submission_record, submission.id)
        return StreamingResponse(results.owner_traces(filed), media_type="application/jsonl")
