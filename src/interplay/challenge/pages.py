"""The pages of a challenge: leaderboard, registration, submission, entries with their games. They need no script."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, wraps
from importlib.resources import files
from typing import Any, TypeVar

import jinja2
import sqlalchemy as sa
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from pydantic import BaseModel, ValidationError

from interplay.challenge import leaderboard, repository
from interplay.challenge.replay_page import seat_names
from interplay.challenge.schema import games, submissions
from interplay.challenge.spec import Challenge, Phase
from interplay.errors import InterplayError
from interplay.games.registry import scoring
from interplay.reports import glossary
from interplay.server import sessions
from interplay.server.api_error import ApiError
from interplay.server.app import Base
from interplay.server.database import Tx
from interplay.server.forms import form_value, read_form
from interplay.server.rate_limits import Buckets
from interplay.server.replay_worker import POLICY, ReplayWorker

T = TypeVar("T", bound=BaseModel)
OWN = {"referrer-policy": "same-origin"}  # without any referrer, browsers send forms without an origin
PAGE_SIZE = 100  # games of an entry's page
MOST_COLUMNS = 6  # of teamwork, where the challenge names none
KEPT_REPLAYS = 32
WRONG = {  # of a field in a form, by pydantic's name for it
    "string_too_short": "please fill this in",
    "string_too_long": "at most {max_length} characters",
    "string_pattern_mismatch": "no control characters, please",
}
MEANINGS = {
    "rank": "place by the mean of the games in which the candidate held one seat; baselines take none",
    "mean, median": "of the scores of all games, with 95 % intervals over games of a line-up; forfeits count too",
    "bombs": "games in which the last life was lost",
    "forfeits": "games in which a move came too late; they count the forfeit score",
    "cross-entropy": "of recorded actions of people, in nats a decision; lower is better",
    "plan": "the first digits of the SHA-256 of the pre-registration; its text once the games are played",
}
WHO = {
    "candidate": "of the agent that is evaluated",
    "partners": "of its partners",
    "given": "from the candidate to a partner",
    "received": "from a partner to the candidate",
    "among its own": "between seats that the candidate holds both",
    "team": "of the team",
}


class ChallengePages:
    """What the pages of one challenge need.

    Args:
        challenge: The challenge.
        base: What all routes share.
        fingerprint: Of the key that signs results.
    """

    def __init__(self, challenge: Challenge, base: Base, fingerprint: str):
        self.challenge, self.base, self.fingerprint = challenge, base, fingerprint
        self.worker = ReplayWorker("interplay.challenge.replay_page:page")
        self._replays: OrderedDict[tuple[str, int], str] = OrderedDict()
        self._watching = Buckets(base.clock, 0.5, 30)  # replays for one address

    def page(self, name: str, here: str = "", code: int = 200, **values: Any) -> HTMLResponse:
        """Render a template."""
        html = _templates().get_template(f"{name}.html.j2").render(challenge=self.challenge, here=here, **values)
        return HTMLResponse(html, code, headers=OWN)

    def guarded(self, work: Callable[..., Awaitable[Response]]) -> Callable[..., Awaitable[Response]]:
        """Make a page of what is refused."""

        @wraps(work)
        async def safely(*args: Any, **kwargs: Any) -> Response:
            try:
                return await work(*args, **kwargs)
            except ApiError as refusal:
                return self.page("refused", code=refusal.status, message=refusal.message)
            except InterplayError as error:  # a replay that cannot be made
                return self.page("refused", code=500, message=str(error))

        return safely

    async def entries(self) -> list[dict[str, Any]]:
        """Return all entries, ranked."""
        return await self.base.database.aread(leaderboard.entries, self.challenge, self.base.clock.now())

    async def replay(self, request: Request, entry: Mapping[str, Any], number: int) -> str:
        """Return the replay of a game, made once and kept for a while."""
        self._watching.require(self.base.who(request), "replays for this address")
        at = (entry["evaluation"], number)
        if at not in self._replays:
            row = await self.base.database.aread(_stored, *at)
            if row is None:
                raise ApiError("not_found", "there is no such game, or it is not played yet")
            details = {
                "title": f"{entry['agent']}: game {number}, {row.score:g} points",
                "subtitle": f"{entry['team']} in {self.challenge.title}, {row.setting}",
                "seats": row.seats,
            }
            self._replays[at] = await self.worker.replay(bytes(row.episode), details)
            while len(self._replays) > KEPT_REPLAYS:
                self._replays.popitem(last=False)
        return self._replays[at]


def add_pages(routes: APIRouter, pages: ChallengePages) -> None:
    """Add the leaderboard, the entries and the style sheet."""
    challenge, base = pages.challenge, pages.base

    @routes.get("/", response_class=HTMLResponse, tags=["results"])
    async def leaderboard_page() -> HTMLResponse:
        """The leaderboard as a page."""
        return leaderboard_view(pages, await pages.entries())

    @routes.get("/challenge.css", include_in_schema=False)
    async def style() -> Response:
        return Response(_file("challenge.css"), media_type="text/css")

    @routes.get("/entries/{evaluation}", include_in_schema=False)
    @pages.guarded
    async def entry(evaluation: str, first: str = "0") -> Response:
        entry = _entry(await pages.entries(), evaluation)
        plan = await base.database.aread(leaderboard.open_plan, challenge, evaluation, base.clock.now())
        start = min(int(first), 10**6) if first.isdecimal() else 0
        why_not = unwatchable(challenge, entry, base.clock.now())
        rows = [] if why_not else await base.database.aread(_some_games, evaluation, start)
        return await asyncio.to_thread(entry_view, pages, entry, plan, rows, start, why_not)

    @routes.get("/entries/{evaluation}/games/{number}", include_in_schema=False)
    @pages.guarded
    async def watch(request: Request, evaluation: str, number: str) -> Response:
        entry = _entry(await pages.entries(), evaluation)
        why_not = unwatchable(challenge, entry, base.clock.now())
        if why_not:
            raise ApiError("not_allowed", why_not)
        if not number.isdecimal() or len(number) > 7:
            raise ApiError("not_found", "there is no such game")
        html = await pages.replay(request, entry, int(number))
        return HTMLResponse(html, headers={"content-security-policy": POLICY})


def add_forms(
    routes: APIRouter,
    pages: ChallengePages,
    register: Callable[[Request, Any], Awaitable[BaseModel]],
    enter: Callable[[Request, Any, str | None], Awaitable[BaseModel]],
    models: tuple[type[BaseModel], type[BaseModel]],
) -> None:
    """Add registration and submission as forms.

    Args:
        routes: Where to add them.
        pages: The pages.
        register: Registers a team, as the HTTP interface does.
        enter: Begins an evaluation by a team's key.
        models: What the two take.
    """
    challenge, (team_model, entry_model) = pages.challenge, models

    def submit_page(code: int = 200, **values: Any) -> HTMLResponse:
        phase, total = challenge.open_phase(pages.base.clock.now()), sum(s.games for s in challenge.settings)
        filled = {"made": None, "wrong": "", "sent": {"agent": "", "plan": ""}, "address": ""} | values
        return pages.page("submit", "/submit", code, phase=phase, games=total, **filled)

    def register_page(code: int = 200, **values: Any) -> HTMLResponse:
        filled = {"made": None, "wrong": "", "sent": {"team": "", "contact": ""}} | values
        return pages.page("register", "/register", code, **filled)

    async def posted(
        request: Request,
        model: type[T],
        show: Callable[..., HTMLResponse],
        work: Callable[[Mapping[str, list[str]], T], Awaitable[BaseModel]],
    ) -> Response:
        """Check a form and do its work; what is wrong stands above the form, which keeps what was typed."""
        sessions.check_origin(request)
        form = await read_form(request)
        sent = {name: form_value(form, name).replace("\r\n", "\n") for name in model.model_fields}
        try:
            made = await work(form, model.model_validate(sent))
        except ValidationError as error:
            first = error.errors()[0]
            what = WRONG.get(first["type"], first["msg"]).format(**first.get("ctx", {}))
            return show(422, wrong=f"{first['loc'][0]}: {what}", sent=sent)
        except ApiError as refusal:
            pages.base.refused(request, refusal)
            return show(refusal.status, wrong=refusal.message, sent=sent)
        return show(201, made=made, address=str(request.base_url).rstrip("/"))

    @routes.get("/register", include_in_schema=False)
    async def registration() -> Response:
        return register_page()

    @routes.post("/register", include_in_schema=False)
    @pages.guarded
    async def registered(request: Request) -> Response:
        return await posted(request, team_model, register_page, lambda form, wanted: register(request, wanted))

    @routes.get("/submit", include_in_schema=False)
    async def submission() -> Response:
        return submit_page()

    @routes.post("/submit", include_in_schema=False)
    @pages.guarded
    async def submitted(request: Request) -> Response:
        return await posted(
            request, entry_model, submit_page, lambda form, wanted: enter(request, wanted, form_value(form, "key"))
        )


def leaderboard_view(pages: ChallengePages, rows: Sequence[Mapping[str, Any]]) -> HTMLResponse:
    """Return the leaderboard, the teamwork columns that the challenge names (or the candidate's first) included."""
    challenge = pages.challenge
    names = challenge.leaderboard.columns or _first_columns(rows)
    predicts = bool(challenge.prediction)
    meanings = {name: text for name, text in MEANINGS.items() if predicts or name != "cross-entropy"}
    return pages.page(
        "leaderboard",
        "/",
        rows=rows,
        columns=[_column(name) for name in names],
        fixed=7 + predicts,
        phases=[_phase(p, pages.base.clock.now()) for p in challenge.phases],
        fingerprint=pages.fingerprint,
        has_prediction=predicts,
        scoring={s.name: scoring(s.game, s.options).get("scoring", "") for s in challenge.settings},
        meanings=meanings | {f"{_column(name)['label']}, {_column(name)['who']}": meaning(name) for name in names},
    )


def entry_view(
    pages: ChallengePages,
    entry: Mapping[str, Any],
    plan: str | None,
    rows: Sequence[Any],
    first: int,
    why_not: str,
) -> HTMLResponse:
    """Return the page of an entry: its result, all teamwork measures with their meaning, its games."""
    listed = [
        {**row._mapping, "seats": seat_names(row.seats)} for row in rows[:PAGE_SIZE]
    ]  # one more is read, to know whether there are more
    return pages.page(
        "entry",
        entry=entry,
        plan=plan,
        teamwork={s["setting"]: _by_who(s["teamwork"]) for s in entry.get("settings", ())},
        meaning=meaning,
        games=listed,
        first=first,
        more=len(rows) > PAGE_SIZE,
        page_size=PAGE_SIZE,
        watchable=not why_not,
        why_not=why_not,
        meanings=MEANINGS | WHO,
    )


def unwatchable(challenge: Challenge, entry: Mapping[str, Any], now: datetime) -> str:
    """Return why the games of an entry may not be watched by anyone now; empty if they may."""
    phase = challenge.phase(entry["phase"])
    if phase is None or phase.replays == "never":
        return "The games of this phase are not shown."
    if phase.replays == "after_phase" and not phase.is_over(now):
        return "Games are shown when the phase is over: they would tell others how the hidden partners play."
    if entry["result"] != "final":
        return "Games are shown with the result."
    return ""


def meaning(column: str) -> str:
    """Return what a teamwork column means, such as `constructive/unlimited/counters/given`."""
    measure, _, who = column.rpartition("/")
    if who not in WHO:
        return glossary.meaning(column) or column
    return f"{glossary.meaning(measure) or measure}; {WHO[who]}"


def _column(name: str) -> dict[str, str]:
    measure, _, who = name.rpartition("/")
    return {"name": name, "label": measure.replace("_", " ").replace("/", " / "), "who": who}


def _first_columns(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    names = dict.fromkeys(name for row in rows for s in row.get("settings", ()) for name in s["teamwork"])
    return [name for name in names if name.endswith(("/candidate", "/given"))][:MOST_COLUMNS]


def _by_who(teamwork: Mapping[str, Any]) -> dict[str, Any]:
    """Measures by row and by whom they are told of, as a table shows them."""
    rows: dict[str, dict[str, Any]] = {}
    for name, value in teamwork.items():
        measure, _, who = name.rpartition("/")
        rows.setdefault(measure, {})[who] = value
    present = {who for row in rows.values() for who in row}
    return {"rows": rows, "who": [who for who in WHO if who in present]}


def _phase(phase: Phase, now: datetime) -> dict[str, str]:
    state = "open" if phase.is_open(now) else "over" if phase.is_over(now) else "not yet open"
    return {"name": phase.name, "state": state, "closes": phase.closes.isoformat() if phase.closes else ""}


def _entry(rows: Sequence[dict[str, Any]], evaluation: str) -> dict[str, Any]:
    for row in rows:
        if row["evaluation"] == evaluation:
            return row
    raise ApiError("not_found", "there is no such entry")


def _games_of(evaluation: str) -> sa.Select[Any]:
    mine = sa.select(submissions.c.id).where(submissions.c.public == evaluation).scalar_subquery()
    done = (games.c.submission == mine) & (games.c.status == repository.DONE)
    return sa.select(*(games.c[c] for c in ("number", "setting", "seats", "score", "length", "forfeit"))).where(done)


def _some_games(tx: Tx, evaluation: str, first: int) -> Sequence[Any]:
    return tx.execute(_games_of(evaluation).order_by(games.c.number).offset(first).limit(PAGE_SIZE + 1)).all()


def _stored(tx: Tx, evaluation: str, number: int) -> Any:
    return tx.execute(_games_of(evaluation).add_columns(games.c.episode).where(games.c.number == number)).one_or_none()


@cache
def _file(name: str) -> str:
    return (files("interplay.challenge") / "templates" / name).read_text(encoding="utf-8")


@cache
def _templates() -> jinja2.Environment:
    loader = jinja2.PackageLoader("interplay.challenge", "templates")
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["time"] = lambda v: f"{datetime.fromisoformat(v).astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    environment.filters["number"] = lambda v: "–" if v is None else f"{v:.2f}"
    return environment
