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
from interplay.server.database import DatabaseUnavailable, Tx
from interplay.server.rate_limits import Buckets, SharedBuckets
from interplay.server.signatures import secret
from interplay.server.sockets import ClientDisconnected, Frames
from interplay.server.storable_text import PlainObject, PlainText
from interplay.study.admin import page_rendering
from interplay.study.admin.actions import erase_idle
from interplay.study.admin.app import mount
from interplay.study.admin.context import AdminContext
from interplay.study.admin.payments import hashed
from interplay.study.db import admission, groups, participants
from interplay.study.db.participants import Person, TurnedAway
from interplay.study.http import page_views
from interplay.study.http.browser_modules import study_scripts
from interplay.study.http.metrics import add_metrics
from interplay.study.http.recruiter_ids import RecruiterIds
from interplay.study.live.app_state import FRAMES_A_SECOND, LARGEST_FRAME, StudyState, hold_off, refuse
from interplay.study.pages import media
from interplay.study.protocol.model import Device, Protocol
from interplay.study.protocol.texts import say

CSRF = "x-csrf"
STATIC = Path(__file__).parents[1] / "static"
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
OLD_COOKIE = "interplay_study"  # of all studies, in earlier versions; it is good for the study that it was given for


def cookie_name(protocol: Protocol) -> str:
    """Return the name of the session cookie, of which every study has its own."""
    return f"interplay_study_{protocol.name}"


class DeviceReport(BaseModel):
    """What a browser says of its device."""

    model_config = ConfigDict(extra="forbid")

    width: Annotated[int, Field(ge=0, le=100_000)]
    height: Annotated[int, Field(ge=0, le=100_000)]
    keyboard: bool


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
    timed_out: bool = False  # the time for the page was over
    device: DeviceReport | None = None  # with the consent, where the study asks for it


class LanguageRequest(BaseModel):
    """The choice of a language."""

    model_config = ConfigDict(extra="forbid")

    language: Annotated[PlainText, Field(max_length=12)]


class Visits:
    """Sessions of participants: cookies, rate limits and CSRF tokens.

    Args:
        protocol: The study.
        base: The server's base.
        secure: Whether cookies are sent over HTTPS only.
        test: Whether everyone who comes only tries the study out.
        recruiter_keys: The file with the recruiter's keys, where it signs ids.
    """

    def __init__(
        self,
        protocol: Protocol,
        base: Base,
        secure: bool,
        test: bool = False,
        recruiter_keys: Path | None = None,
    ):
        self.protocol, self.base, self.secure, self.test = protocol, base, secure, test
        self.cookie = cookie_name(protocol)
        self._recruiter_ids = RecruiterIds(protocol.completion, base.clock, recruiter_keys)
        self._hash_key = base.database.write(secret, base.clock, "recruits")
        self._arrivals = SharedBuckets(base.database, base.clock, "arrivals", 0.5, 60)  # new people from one address
        self._anyone = Buckets(base.clock, 50, 400)  # requests from one address: a class may share it
        self._requests = Buckets(base.clock, 10, 60)  # requests of one person

    async def known(self, connection: HTTPConnection) -> tuple[Person, sessions.LoginSession] | None:
        """Return the participant and session of a request; None without a valid cookie."""
        self._anyone.require(self.base.who(connection), "requests from here")
        token = connection.cookies.get(self.cookie) or connection.cookies.get(OLD_COOKIE)
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
        """Create a participant for a new visitor, and return them with the session and its cookie.

        Raises:
            StudyClosed: The study takes no new participants.
        """
        visitor, clock, protocol = self.base.who(request), self.base.clock, self.protocol
        language = self.language(request)
        recruit = None if self.test else self._recruit(request)

        def work(tx: Tx) -> tuple[Person, sessions.LoginSession, str]:
            if admission.closed(tx, clock, protocol, test=self.test):
                raise StudyClosed
            self._arrivals.require(tx, visitor, "visits from here")
            return participants.enter(tx, clock, protocol, language, recruit, test=self.test)

        return await self.base.database.awrite(work)

    async def reenter(self, request: Request, key: str) -> tuple[Person, sessions.LoginSession, str]:
        """Open a session for the participant to whom a researcher gave this re-entry link."""
        visitor = self.base.who(request)
        if self.base.guesses.exhausted(visitor):
            raise ApiError("too_many", "too many wrong links from here: wait a minute")
        try:
            return await self.base.database.awrite(admission.reenter, self.base.clock, self.protocol, key)
        except ApiError:
            self.base.guesses.take(visitor)
            raise

    def _recruit(self, request: Request) -> str | None:
        """Return the keyed hash of the recruiter's id in the address, which itself is not stored; None without one."""
        recruiter_id = self._recruiter_ids.read(request.query_params, request.headers.get("host", ""))
        return hashed(self._hash_key, recruiter_id) if recruiter_id else None

    def language(self, request: Request) -> str:
        """Return the language of the study that suits a visitor's browser best."""
        header = request.headers.get("accept-language", "")
        wanted = [part.partition(";")[0].strip().lower() for part in header.split(",")[:20]]
        for language in wanted:
            for known in self.protocol.languages:
                if language == known.lower() or language.partition("-")[0] == known.lower():
                    return known
        return self.protocol.languages[0]

    def keep(self, response: Response, token: str) -> None:
        """Set the session cookie."""
        age = int(sessions.LIFE.total_seconds())
        path = f"{self.base.prefix}/"
        response.set_cookie(
            self.cookie, token, max_age=age, httponly=True, secure=self.secure, samesite="lax", path=path
        )


class StudyClosed(ApiError):
    """The study takes no new participants."""

    def __init__(self):
        super().__init__("conflict", "this study takes no more participants")


def build(
    protocol: Protocol | Sequence[Protocol],
    base: Base,
    *,
    sizes: Sequence[int] = SIZES,
    secure: bool = False,
    speed: float = 1.0,
    test: bool = False,
    recruiter_keys: Path | None = None,
    slot: int | None = None,
) -> FastAPI:
    """Return the application of a study or of several, whose states are `app.state.studies`.

    Args:
        protocol: The study, or several of different names.
        base: The server's base, with the database and the clock.
        sizes: Batch sizes for which engines are compiled.
        secure: Whether cookies are sent over HTTPS only.
        speed: How many times faster than real time games run.
        test: Whether everyone who comes only tries the studies out.
        recruiter_keys: The file with the recruiter's keys, where it signs ids.
        slot: The number of this process among several that serve together; None if it serves alone.
    """
    protocols = [protocol] if isinstance(protocol, Protocol) else list(protocol)
    studies = [StudyState(one, base, sizes=sizes, speed=speed, slot=slot) for one in protocols]
    for one in protocols:
        media.views(one)  # so that a position that cannot be reached is told now
    several = len(studies) > 1
    home = f"{base.prefix}/researcher"
    contexts = [AdminContext(study, secure, f"{home}/{study.protocol.name}" if several else home) for study in studies]

    @asynccontextmanager
    async def living() -> AsyncIterator[None]:
        for study in studies:
            await study.open()
        yield
        for context, study in zip(contexts, studies, strict=True):
            await context.close()
            await study.close()

    app = make_app(base, "Study", living, docs=False)
    app.state.study, app.state.studies = studies[0], studies
    _add_files(app, base.prefix, protocols, home if several else None)
    for study, context in zip(studies, contexts, strict=True):
        visits = Visits(study.protocol, base, secure, test, recruiter_keys)
        _add_flow(app, study, visits)
        _add_leaving(app, study, context, visits)
        _add_play(app, study, visits)
        mount(app, context)
    add_metrics(app, studies)
    return app


def _add_files(app: FastAPI, prefix: str, protocols: Sequence[Protocol], researchers: str | None) -> None:
    if len(protocols) == 1:

        @app.get(f"{prefix}/")
        async def front(request: Request) -> Response:
            """Redirect the bare address to the study, with the recruiter's query."""
            query = f"?{request.url.query}" if request.url.query else ""
            return RedirectResponse(f"{prefix}/study/{protocols[0].name}{query}", 307)

    for protocol in protocols:
        app.add_api_route(f"{prefix}/study/{protocol.name}", _shell, response_model=None)
    if researchers is not None:
        listed = [(f"{researchers}/{one.name}", say(one.title, one.languages[0]) or one.name) for one in protocols]

        @app.get(researchers)
        async def choose() -> Response:
            """List the studies: each has its own researchers."""
            return page_rendering.page("studies", site=prefix, root=listed[0][0], studies=listed)

    scripts: dict[str, bytes] = {}  # of page types and games of other packages
    for protocol in protocols:
        scripts |= study_scripts(protocol)

    @app.get(f"{prefix}/static/{{name}}")
    async def static(name: str) -> Response:
        return _file(name, scripts)

    by_name = {protocol.name: protocol for protocol in protocols}

    @app.get(f"{prefix}/study/{{study}}/media/{{name}}")
    async def media_file(study: str, name: str, captions: bool = False) -> Response:
        """Send a picture or a video of a study by its name in the file, and nothing else on this machine."""
        path = media.path_of(by_name[study], name, captions=captions) if study in by_name else None
        if path is None:
            return PlainTextResponse("there is no such file", 404)
        return FileResponse(path, media_type=media.TYPES[path.suffix.lower()])


async def _shell() -> Response:
    return _file("index.html")


def suitable(protocol: Protocol, device: DeviceReport | None) -> bool:
    """Return whether a device has what the study asks for."""
    rule = protocol.device
    if rule == Device():
        return True
    if device is None or (rule.keyboard and not device.keyboard):
        return False
    return device.width >= rule.min_width and device.height >= rule.min_height


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

    def look(tx: Any) -> tuple[Person, participants.ParticipantContext, bool]:
        who = participants.person(tx, number)
        closed = who.status == participants.NEW and admission.closed(tx, base.clock, protocol, test=who.test)
        return who, participants.context(tx, protocol, who), closed

    who, context, closed = await base.database.aread(look)
    if page_is_timed(protocol, who) and who.page_opened is None:
        who = await base.database.awrite(participants.opened_page, base.clock, number)
    left_s = None
    if groups.waiting_at(protocol, who) is not None:
        left_s = await study.rooms.attend(who)
        who, context, closed = await base.database.aread(look)  # perhaps let out
    answer = page_views.state(protocol, who, context, csrf, study.figures, closed=closed)
    if answer["page"]["kind"] == "game":
        answer["page"]["socket"] = await study.socket(number, answer["page"]["id"])
    if page_is_timed(protocol, who):
        answer["page"]["left_s"] = participants.time_left(base.clock, who, who.pages(protocol)[who.position])
    if answer["page"]["kind"] == "wait":
        answer["page"] |= {"until_s": round(left_s or 0.0, 1), "message": ""}
    return answer


def page_is_timed(protocol: Protocol, who: Person) -> bool:
    """Return whether a participant's open page has a time limit."""
    return who.status not in participants.OVER and who.pages(protocol)[who.position].item.limit_s is not None


def _api(study: StudyState) -> str:
    return f"{study.base.prefix}/api/study/{study.protocol.name}"


def _add_flow(app: FastAPI, study: StudyState, visits: Visits) -> None:
    protocol, base = study.protocol, study.base
    api = _api(study)

    @app.get(f"{api}/state")
    async def state(request: Request) -> JSONResponse:
        """Return the open page. A visitor without a cookie is new, and gets one.

        With `?new` in the address, so is whoever comes to a browser in which someone else has finished: in a laboratory
        many people share one.
        """
        visit = await visits.known(request)
        link = request.query_params.get("enter")
        fresh = visit is not None and visit[0].status in participants.OVER and "new" in request.query_params
        if visit is not None and not fresh and link is None:
            return JSONResponse(await _state(study, visit[0].id, visit[1].csrf))
        sessions.check_origin(request)
        try:
            who, session, token = await (visits.reenter(request, link) if link else visits.arrive(request))
        except StudyClosed:
            return JSONResponse(page_views.closed(protocol, visits.language(request)))
        except TurnedAway as refusal:
            base.refused(request, refusal)
            view = page_views.turned_away(protocol, visits.language(request), refusal.reason)
            return JSONResponse(view | refusal.record(), refusal.status)
        response = JSONResponse(await _state(study, who.id, session.csrf))
        visits.keep(response, token)
        return response

    @app.post(f"{api}/answer")
    async def answer(request: Request, sent: AnswerRequest) -> JSONResponse:
        """Store the answers to the open page; they are stored when this returns."""
        who, session = await visits.sent(request)
        if who.status == participants.NEW and not suitable(protocol, sent.device):
            raise ApiError("not_allowed", "this study needs another device: a larger window, or one with a keyboard")
        errors = await base.database.awrite(
            participants.submit, base.clock, protocol, who.id, sent.page, sent.answers, sent.seconds, sent.tries_left,
            {name: times.model_dump() for name, times in sent.items.items()}, recruit=session.data.get("recruit"),
            timed_out=sent.timed_out,
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
    api = _api(study)

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
        path = f"{study.base.prefix}/"
        response.delete_cookie(visits.cookie, path=path, httponly=True, secure=visits.secure, samesite="lax")
        return response


def _add_play(app: FastAPI, study: StudyState, visits: Visits) -> None:
    @app.websocket(f"{_api(study)}/play")
    @app.websocket(f"{_api(study)}/worker/{{slot}}/play")  # the proxy sends it to that process
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
