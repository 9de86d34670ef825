"""The study over HTTP: pages, answers, languages, and the socket on which games are played."""

from __future__ import annotations

import functools
import hashlib
import hmac
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Request, WebSocket
from fastapi.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
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
from interplay.study.db import groups, participants
from interplay.study.db.participants import Person
from interplay.study.http import page_views
from interplay.study.live.app_state import FRAMES_A_SECOND, LARGEST_FRAME, StudyState, hold_off, refuse
from interplay.study.protocol.model import Protocol

COOKIE = "interplay_study"
CSRF = "x-csrf"
STATIC = Path(__file__).parents[1] / "static"
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
RECRUITERS = {"prolific": "PROLIFIC_PID", "mturk": "workerId"}  # where each puts its id


class AnswerRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    page: Annotated[PlainText, Field(max_length=200)]
    answers: Annotated[PlainObject, Field(max_length=200)] = {}
    seconds: Annotated[float, Field(ge=0, le=1e6)] | None = None
    tries_left: Annotated[int, Field(ge=0, le=100)] | None = None  # as the quiz showed them


class LanguageRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    language: Annotated[PlainText, Field(max_length=12)]


class Visits:
    """Who comes: cookies, rates, and tokens against forged requests."""

    def __init__(self, protocol: Protocol, base: Base, secure: bool):
        self.protocol, self.base, self.secure = protocol, base, secure
        self._hash_key = base.database.write(secret, base.clock, "recruits")
        self._arrivals = Buckets(base.clock, 0.5, 60)  # new people from one address
        self._anyone = Buckets(base.clock, 50, 400)  # requests from one address: a class may share it
        self._requests = Buckets(base.clock, 10, 60)  # requests of one person

    async def known(self, connection: HTTPConnection) -> tuple[Person, sessions.LoginSession] | None:
        self._anyone.require(self.base.who(connection), "requests from here")
        token = connection.cookies.get(COOKIE)
        found = await self.base.database.aread(participants.person_of_session, self.base.clock, self.protocol, token)
        if found is not None:
            self._requests.require(f"person:{found[0].id}", "requests")
        return found

    async def required(self, connection: HTTPConnection) -> tuple[Person, sessions.LoginSession]:
        found = await self.known(connection)
        if found is None:
            raise ApiError("unknown_key", "this visit is not known: load the page again")
        return found

    async def sent(self, request: Request) -> tuple[Person, sessions.LoginSession]:
        """Whoever sends something: by our own page, with its token."""
        sessions.check_origin(request)
        who, session = await self.required(request)
        sessions.check_csrf(session, request.headers.get(CSRF))
        return who, session

    async def arrive(self, request: Request) -> tuple[Person, sessions.LoginSession, str]:
        self._arrivals.require(self.base.who(request), "visits from here")
        language = self._language(request.headers.get("accept-language", ""))
        return await self.base.database.awrite(
            participants.enter, self.base.clock, self.protocol, language, self._recruit(request)
        )

    def _recruit(self, request: Request) -> str | None:
        """The keyed hash of a recruiter's id; the id itself is never stored."""
        name = RECRUITERS.get(self.protocol.completion.recruiter or "")
        given = request.query_params.get(name) if name else None
        if not given:
            return None
        return hmac.new(self._hash_key, given[:200].encode(), hashlib.sha256).hexdigest()

    def _language(self, header: str) -> str:
        wanted = [part.partition(";")[0].strip().lower() for part in header.split(",")[:20]]
        for one in wanted:
            for known in self.protocol.languages:
                if one == known.lower() or one.partition("-")[0] == known.lower():
                    return known
        return self.protocol.languages[0]

    def keep(self, response: Response, token: str) -> None:
        age = int(sessions.LIFE.total_seconds())
        response.set_cookie(COOKIE, token, max_age=age, httponly=True, secure=self.secure, samesite="lax", path="/")


def build(
    protocol: Protocol, base: Base, *, sizes: Sequence[int] = SIZES, secure: bool = False, speed: float = 1.0
) -> FastAPI:
    """The application of a study. Its games and partners are made here; its state is in `app.state.study`."""
    study = StudyState(protocol, base, sizes=sizes, speed=speed)
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
        """Who types the address without the study's name, or with a recruiter's query behind it, gets there."""
        query = f"?{request.url.query}" if request.url.query else ""
        return RedirectResponse(f"/study/{protocol.name}{query}", 307)

    @app.get(f"/study/{protocol.name}")
    async def shell() -> Response:
        return _file("index.html")

    @app.get("/static/{name}")
    async def static(name: str) -> Response:
        return _file(name)


def _file(name: str) -> Response:
    """A file of the shipped build, by its plain name; nothing else on this machine."""
    found = _build().get(name)
    if found is None:
        return PlainTextResponse("there is no such file", 404)
    return Response(found, media_type=TYPES[Path(name).suffix])


@functools.cache
def _build() -> dict[str, bytes]:
    held = [path for path in STATIC.iterdir() if path.is_file()] if STATIC.is_dir() else []
    return {path.name: path.read_bytes() for path in held if path.suffix in TYPES}


async def _told(study: StudyState, number: int, csrf: str) -> dict[str, Any]:
    """The page that someone sees now."""
    protocol, base = study.protocol, study.base

    def look(tx: Any) -> tuple[Person, participants.ParticipantContext]:
        who = participants.person(tx, number)
        return who, participants.context(tx, protocol, who)

    who, context = await base.database.aread(look)
    left_s = None
    if groups.waiting_at(protocol, who) is not None:
        left_s = await study.rooms.attend(who)
        who, context = await base.database.aread(look)  # perhaps let out
    found = page_views.state(protocol, who, context, csrf, study.figures)
    if found["page"]["kind"] == "wait":
        found["page"] |= {"until_s": round(left_s or 0.0, 1), "message": ""}
    return found


def _add_flow(app: FastAPI, study: StudyState, visits: Visits) -> None:
    protocol, base = study.protocol, study.base
    api = f"/api/study/{protocol.name}"

    @app.get(f"{api}/state")
    async def state(request: Request) -> JSONResponse:
        """Where the visitor stands. Who has no cookie is new, and gets one; so is, at an address with `?new`, whoever
        comes to a browser in which someone else has finished: in a laboratory many people share one."""
        found = await visits.known(request)
        if found is not None and not (found[0].status in participants.OVER and "new" in request.query_params):
            return JSONResponse(await _told(study, found[0].id, found[1].csrf))
        sessions.check_origin(request)
        who, session, token = await visits.arrive(request)
        response = JSONResponse(await _told(study, who.id, session.csrf))
        visits.keep(response, token)
        return response

    @app.post(f"{api}/answer")
    async def answer(request: Request, sent: AnswerRequest) -> JSONResponse:
        """The answers to the page that is open; on disk before this returns."""
        who, session = await visits.sent(request)
        errors = await base.database.awrite(
            participants.submit, base.clock, protocol, who.id, sent.page, sent.answers, sent.seconds, sent.tries_left
        )
        if errors:
            return JSONResponse({"errors": errors}, 422)
        return JSONResponse(await _told(study, who.id, session.csrf))

    @app.post(f"{api}/language")
    async def language(request: Request, chosen: LanguageRequest) -> JSONResponse:
        who, session = await visits.sent(request)
        if chosen.language not in protocol.languages:
            raise ApiError("bad_request", f"language: one of {', '.join(protocol.languages)}")
        await base.database.awrite(participants.set_language, who.id, chosen.language)
        return JSONResponse(await _told(study, who.id, session.csrf))


def _add_leaving(app: FastAPI, study: StudyState, context: AdminContext, visits: Visits) -> None:
    protocol = study.protocol
    api = f"/api/study/{protocol.name}"

    @app.post(f"{api}/withdraw")
    async def withdraw(request: Request) -> JSONResponse:
        """Stop taking part; on disk before this returns. It needs no reason, and works from every page."""
        who, session = await visits.sent(request)
        await study.withdraw(who.id)
        return JSONResponse(await _told(study, who.id, session.csrf))

    @app.post(f"{api}/erase")
    async def erase(request: Request) -> JSONResponse:
        """Forget someone who has stopped taking part, where the study lets people choose that. The visit ends."""
        who, _ = await visits.sent(request)
        if who.status != participants.WITHDRAWN or not protocol.withdrawal.erase:
            raise ApiError(
                "conflict", "only those who have stopped taking part can be erased here: ask the researchers"
            )
        await study.let_go(who.id)
        keep = protocol.erasure == "keep_games"
        await erase_idle(context, who.id, who.public, keep_games=keep, by="the participant")
        response = JSONResponse(page_views.erased(protocol, who))
        response.delete_cookie(COOKIE, path="/", httponly=True, secure=visits.secure, samesite="lax")
        return response


def _add_play(app: FastAPI, study: StudyState, visits: Visits) -> None:
    @app.websocket(f"/api/study/{study.protocol.name}/play")
    async def play(socket: WebSocket) -> None:
        """The game of the page that is open. Only our own pages may come, with the cookie of a visit."""
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
