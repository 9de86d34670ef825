"""The study's application: pages, answers, languages, and the WebSocket on which games are played."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Request, WebSocket
from fastapi.responses import FileResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import HTTPConnection

from interplay.rollout.live_compiled import SIZES
from interplay.server import sessions
from interplay.server.api_error import ApiError
from interplay.server.app import Base, make_app
from interplay.server.database import DatabaseUnavailable
from interplay.server.limits import Buckets
from interplay.server.plain import PlainObject, PlainText
from interplay.server.signatures import secret
from interplay.server.sockets import ClientDisconnected, Frames
from interplay.study.admin.actions import erase_idle
from interplay.study.admin.app import mount
from interplay.study.admin.context import AdminContext
from interplay.study.admin.payments import hashed
from interplay.study.db import groups, participants
from interplay.study.db.participants import Person
from interplay.study.http import page_views
from interplay.study.http.scripts import study_scripts
from interplay.study.live.app_state import FRAMES_A_SECOND, LARGEST_FRAME, StudyState, hold_off, refuse
from interplay.study.pages import media
from interplay.study.protocol.model import Protocol

COOKIE = "interplay_study"
CSRF = "x-csrf"
STATIC = Path(__file__).parents[1] / "static"
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
RECRUITERS = {"prolific": "PROLIFIC_PID", "mturk": "workerId"}  # the query parameter with the recruiter's id


class ItemTimes(BaseModel):
    """When a question was answered, in seconds since its page was opened, and how often that was changed."""

    model_config = ConfigDict(extra="forbid")

    first_s: Annotated[float, Field(ge=0, le=1e6)] | None = None
    last_s: Annotated[float, Field(ge=0, le=1e6)] | None = None
    changes: Annotated[int, Field(ge=0, le=1_000_000)] = 0


class AnswerRequest(BaseModel):
    """The answers to a page."""

    model_config = ConfigDict(extra="forbid")

    page: Annotated[PlainText, Field(max_length=200)]
    answers: Annotated[PlainObject, Field(max_length=200)] = {}
    seconds: Annotated[float, Field(ge=0, le=1e6)] | None = None
    tries_left: Annotated[int, Field(ge=0, le=100)] | None = None  # as the quiz showed them
    items: Annotated[dict[Annotated[PlainText, Field(max_length=40)], ItemTimes], Field(max_length=200)] = {}


class LanguageRequest(BaseModel):
    """The choice of a language."""

    model_config = ConfigDict(extra="forbid")

    language: Annotated[PlainText, Field(max_length=12)]


class Visits:
    """Sessions of participants: cookies, rate limits and CSRF tokens."""

    def __init__(self, protocol: Protocol, base: Base, secure: bool):
        self.protocol, self.base, self.secure = protocol, base, secure
        self._hash_key = base.database.write(secret, base.clock, "recruits")
        self._arrivals = Buckets(base.clock, 0.5, 60)  # new people from one address
        self._anyone = Buckets(base.clock, 50, 400)  # requests from one address: a class may share it
        self._requests = Buckets(base.clock, 10, 60)  # requests of one person

    async def known(self, connection: HTTPConnection) -> tuple[Person, sessions.LoginSession] | None:
        """Return the participant and session of a request; None without a valid cookie."""
        self._anyone.require(self.base.who(connection), "requests from here")
        token = connection.cookies.get(COOKIE)
        visit = await self.base.database.aread(participants.person_of_session, self.base.clock, self.protocol, token)
        if visit is not None:
            self._requests.require(f"person:{visit[0].id}", "requests")
        return visit

    async def required(self, connection: HTTPConnection) -> tuple[Person, sessions.LoginSession]:
        """Return the participant and session of a request; an `ApiError` without a valid cookie."""
        visit = await self.known(connection)
        if visit is None:
            raise ApiError("unknown_key", "this visit is not known: load the page again")
        return visit

    async def sent(self, request: Request) -> tuple[Person, sessions.LoginSession]:
        """Check the origin and CSRF token of a request that changes something; return the participant and session."""
        sessions.check_origin(request)
        who, session = await self.required(request)
        sessions.check_csrf(session, request.headers.get(CSRF))
        return who, session

    async def arrive(self, request: Request) -> tuple[Person, sessions.LoginSession, str]:
        """Create a participant for a new visitor, and return them with the session and its cookie."""
        self._arrivals.require(self.base.who(request), "visits from here")
        language = self._language(request.headers.get("accept-language", ""))
        return await self.base.database.awrite(
            participants.enter, self.base.clock, self.protocol, language, self._recruit(request)
        )

    def _recruit(self, request: Request) -> str | None:
        """Return the keyed hash of the recruiter's id in the address, which itself is not stored; None without one."""
        name = RECRUITERS.get(self.protocol.completion.recruiter or "")
        recruiter_id = request.query_params.get(name) if name else None
        return hashed(self._hash_key, recruiter_id) if recruiter_id else None

    def _language(self, header: str) -> str:
        wanted = [part.partition(";")[0].strip().lower() for part in header.split(",")[:20]]
        for language in wanted:
            for known in self.protocol.languages:
                if language == known.lower() or language.partition("-")[0] == known.lower():
                    return known
        return self.protocol.languages[0]

    def keep(self, response: Response, token: str) -> None:
        """Set the session cookie."""
        age = int(sessions.LIFE.total_seconds())
        response.set_cookie(COOKIE, token, max_age=age, httponly=True, secure=self.secure, samesite="lax", path="/")


def build(
    protocol: Protocol, base: Base, *, sizes: Sequence[int] = SIZES, secure: bool = False, speed: float = 1.0
) -> FastAPI:
    """Return the application of a study, whose state is `app.state.study`.

    Args:
        protocol: The study.
        base: The server's base, with the database and the clock.
        sizes: Batch sizes for which engines are compiled.
        secure: Whether cookies are sent over HTTPS only.
        speed: How many times faster than real time games run.
    """
    study = StudyState(protocol, base, sizes=sizes, speed=speed)
    media.views(protocol)  # so that a position that cannot be reached is told now
    context = AdminContext(study, secure)

    @asynccontextmanager
    async def living() -> AsyncIterator[None]:
        await study.open()
        yield
        await context.close()
        await study.close()

    app = make_app(base, "Study", living, docs=False)
    app.state.study = study
    visits = Visits(protocol, base, secure)
    _add_files(app, protocol)
    _add_flow(app, study, visits)
    _add_leaving(app, study, context, visits)
    _add_play(app, study, visits)
    mount(app, context)
    return app


def _add_files(app: FastAPI, protocol: Protocol) -> None:
    @app.get("/")
    async def front(request: Request) -> Response:
        """Redirect the bare address to the study, with the recruiter's query."""
        query = f"?{request.url.query}" if request.url.query else ""
        return RedirectResponse(f"/study/{protocol.name}{query}", 307)

    @app.get(f"/study/{protocol.name}")
    async def shell() -> Response:
        return _file("index.html")

    scripts = study_scripts(protocol)  # of page types and games of other packages

    @app.get("/static/{name}")
    async def static(name: str) -> Response:
        return _file(name, scripts)

    @app.get(f"/study/{protocol.name}/media/{{name}}")
    async def media_file(name: str, captions: bool = False) -> Response:
        """Send a picture or a video of the study by its name in the file, and nothing else on this machine."""
        path = media.path_of(protocol, name, captions=captions)
        if path is None:
            return PlainTextResponse("there is no such file", 404)
        return FileResponse(path, media_type=media.TYPES[path.suffix.lower()])


def _file(name: str, more: Mapping[str, bytes] | None = None) -> Response:
    """Return a file of the shipped build, or one of `more`, by its plain name, and nothing else on this machine."""
    content = _build().get(name) or (more or {}).get(name)
    if content is None:
        return PlainTextResponse("there is no such file", 404)
    return Response(content, media_type=TYPES[Path(name).suffix])


@functools.cache
def _build() -> dict[str, bytes]:
    files = [path for path in STATIC.iterdir() if path.is_file()] if STATIC.is_dir() else []
    return {path.name: path.read_bytes() for path in files if path.suffix in TYPES}


async def _state(study: StudyState, number: int, csrf: str) -> dict[str, Any]:
    """Return the page that a participant sees now, as JSON."""
    protocol, base = study.protocol, study.base

    def look(tx: Any) -> tuple[Person, participants.ParticipantContext]:
        who = participants.person(tx, number)
        return who, participants.context(tx, protocol, who)

    who, context = await base.database.aread(look)
    left_s = None
    if groups.waiting_at(protocol, who) is not None:
        left_s = await study.rooms.attend(who)
        who, context = await base.database.aread(look)  # perhaps let out
    answer = page_views.state(protocol, who, context, csrf, study.figures)
    if answer["page"]["kind"] == "wait":
        answer["page"] |= {"until_s": round(left_s or 0.0, 1), "message": ""}
    return answer


def _add_flow(app: FastAPI, study: StudyState, visits: Visits) -> None:
    protocol, base = study.protocol, study.base
    api = f"/api/study/{protocol.name}"

    @app.get(f"{api}/state")
    async def state(request: Request) -> JSONResponse:
        """Return the open page. A visitor without a cookie is new, and gets one.

        With `?new` in the address, so is whoever comes to a browser in which someone else has finished: in a laboratory
        many people share one.
        """
        visit = await visits.known(request)
        if visit is not None and not (visit[0].status in participants.OVER and "new" in request.query_params):
            return JSONResponse(await _state(study, visit[0].id, visit[1].csrf))
        sessions.check_origin(request)
        who, session, token = await visits.arrive(request)
        response = JSONResponse(await _state(study, who.id, session.csrf))
        visits.keep(response, token)
        return response

    @app.post(f"{api}/answer")
    async def answer(request: Request, sent: AnswerRequest) -> JSONResponse:
        """Store the answers to the open page; they are stored when this returns."""
        who, session = await visits.sent(request)
        errors = await base.database.awrite(
            participants.submit, base.clock, protocol, who.id, sent.page, sent.answers, sent.seconds, sent.tries_left,
            {name: times.model_dump() for name, times in sent.items.items()},
        )  # fmt: skip
        if errors:
            return JSONResponse({"errors": errors}, 422)
        return JSONResponse(await _state(study, who.id, session.csrf))

    @app.post(f"{api}/language")
    async def language(request: Request, chosen: LanguageRequest) -> JSONResponse:
        who, session = await visits.sent(request)
        if chosen.language not in protocol.languages:
            raise ApiError("bad_request", f"language: one of {', '.join(protocol.languages)}")
        await base.database.awrite(participants.set_language, who.id, chosen.language)
        return JSONResponse(await _state(study, who.id, session.csrf))


def _add_leaving(app: FastAPI, study: StudyState, context: AdminContext, visits: Visits) -> None:
    protocol = study.protocol
    api = f"/api/study/{protocol.name}"

    @app.post(f"{api}/withdraw")
    async def withdraw(request: Request) -> JSONResponse:
        """Withdraw the participant, from any page and without a reason; it is stored when this returns."""
        who, session = await visits.sent(request)
        await study.withdraw(who.id)
        return JSONResponse(await _state(study, who.id, session.csrf))

    @app.post(f"{api}/erase")
    async def erase(request: Request) -> JSONResponse:
        """Erase a participant who has withdrawn, if the study file allows it, and end the session."""
        who, _ = await visits.sent(request)
        if who.status != participants.WITHDRAWN or not protocol.withdrawal.erase:
            raise ApiError(
                "conflict", "only those who have stopped taking part can be erased here: ask the researchers"
            )
        await study.wait_stored(who.id)
        keep = protocol.erasure == "keep_games"
        await erase_idle(context, who.id, who.public, keep_games=keep, by="the participant")
        response = JSONResponse(page_views.erased(protocol, who))
        response.delete_cookie(COOKIE, path="/", httponly=True, secure=visits.secure, samesite="lax")
        return response


def _add_play(app: FastAPI, study: StudyState, visits: Visits) -> None:
    @app.websocket(f"/api/study/{study.protocol.name}/play")
    async def play(socket: WebSocket) -> None:
        """Serve the game of the open page. The socket must come from our own pages, with the cookie of a session."""
        rate = FRAMES_A_SECOND * max(1.0, study.speed)
        frames = Frames(socket, study.base.clock, largest=LARGEST_FRAME, per_second=rate, patience_s=10)
        try:
            sessions.check_origin(socket)
            who, _ = await visits.required(socket)
        except DatabaseUnavailable:
            await socket.accept()
            await hold_off(frames)
            return
        except ApiError as refusal:
            study.base.refused(socket, refusal)
            await socket.close(1008)  # before it is accepted: the browser sees a plain 403
            return
        await socket.accept()
        try:
            await study.play(frames, who)
        except (ClientDisconnected, TimeoutError):
            await frames.close()
        except ApiError as refusal:
            study.base.refused(socket, refusal, who.public)
            await refuse(frames, refusal)
