"""Pages on which researchers look something up."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from interplay.server import audit
from interplay.server.api_error import ApiError
from interplay.server.database import Tx
from interplay.server.replay_worker import POLICY
from interplay.server.schema import audit as audit_rows
from interplay.study.admin import monitor, payments
from interplay.study.admin import page_rendering as pages
from interplay.study.admin.auth import Visit
from interplay.study.admin.context import AdminContext
from interplay.study.admin.monitor import title
from interplay.study.admin.unfinished_games import so_far
from interplay.study.analysis.analysis_list import pages as all_pages
from interplay.study.db import participant_pages as participant_views
from interplay.study.db import records, schema
from interplay.study.db.game_rows import ABANDONED
from interplay.study.export.columns import COLUMNS
from interplay.study.protocol.model import Protocol
from interplay.study.protocol.texts import say

AT_ONCE = 100  # rows of a page
MOST_EVENTS = 200
MOST_LINES = 500


def add(app: APIRouter, context: AdminContext) -> None:
    """Add the routes of these pages to the application."""
    _add_monitor(app, context)
    _add_people(app, context)
    _add_games(app, context)
    _add_lists(app, context)


def _add_monitor(app: APIRouter, context: AdminContext) -> None:
    protocol = context.protocol

    async def now() -> dict[str, Any]:
        running = await context.state.running()

        def look(tx: Tx) -> dict[str, Any]:
            names = _names(tx, [game["number"] for game in running])
            lost = monitor.leaves(tx, [game["game"] for game in running])
            people = monitor.whereabouts(tx, protocol)
            games = [
                game | {"participant": names[game["number"]], "leaves": lost.get(game["game"], 0)}
                for game in running
                if game["number"] in names
            ]
            closed = tx.execute(sa.select(schema.files.c.closed).where(schema.files.c.name == protocol.name)).scalar()
            counts = monitor.counts(tx, protocol)
            return {"counts": counts, "people": people, "running": games, "closed": bool(closed)}

        status = await context.read(look)
        at = context.clock.now()
        for person in status["people"]:
            person["ago"] = _ago((at - datetime.fromisoformat(person["seen"])).total_seconds())
        return status | {"at": f"{at:%H:%M:%S}", "behind": context.state.event_log.behind}

    @app.get("/monitor")
    @context.guarded
    async def show(request: Request) -> Response:
        visit = await context.auth.required(request)
        return await context.page("monitor", visit, request, **await now())

    @app.get("/monitor/now")
    @context.guarded
    async def part(request: Request) -> Response:
        await context.auth.required(request)
        return await asyncio.to_thread(pages.page, "now", root=context.root, **await now())


def _names(tx: Tx, numbers: list[int]) -> dict[int, str]:
    query = sa.select(schema.people.c.id, schema.people.c.public).where(schema.people.c.id.in_(numbers))
    return {row.id: row.public for row in tx.execute(query)}


def _ago(seconds: float) -> str:
    if seconds < 90:
        return f"{max(0, round(seconds))} s ago"
    return f"{round(seconds / 60)} min ago" if seconds < 5400 else f"{round(seconds / 3600)} h ago"


def _add_people(app: APIRouter, context: AdminContext) -> None:
    protocol = context.protocol

    @app.get("/participants")
    @context.guarded
    async def participants(request: Request) -> Response:
        visit = await context.auth.required(request)
        status = request.query_params.get("status", "")
        status = status if status in monitor.STATUSES else ""
        first = _first(request)

        def look(tx: Tx) -> dict[str, Any]:
            records.snapshot(tx)
            counts = monitor.counts(tx, protocol)
            known = participant_views.some_people(tx, protocol, status or None, first, AT_ONCE)
            total = counts[status] if status else sum(counts.values())
            return {"counts": counts, "rows": list(records.participants(tx, protocol, known)), "total": total}

        values = await context.read(look)
        return await context.page("participants", visit, request, status=status, first=first, **values)

    @app.get("/participants/{public}")
    @context.guarded
    async def participant(request: Request, public: str) -> Response:
        return await participant_page(context, await context.auth.required(request), request, public)


async def participant_page(
    context: AdminContext, visit: Visit, request: Request, public: str, *, link: str = ""
) -> Response:
    """Return the page of one participant, with their re-entry link if one was just made."""
    protocol = context.protocol
    values = await context.read(one_participant, protocol, public)
    return await context.page(
        "participant", visit, request, place="participants", currency=protocol.payment.currency,
        keep_games=protocol.erasure == "keep_games", link=link, **values,
    )  # fmt: skip


def one_participant(tx: Tx, protocol: Protocol, public: str) -> dict[str, Any]:
    """Return all that is stored of one participant, for the template.

    Raises:
        ApiError: There is no such participant in this study.
    """
    records.snapshot(tx)
    known = participant_views.named(tx, protocol, public)
    if not known:
        raise ApiError("not_found", "there is no such participant in this study")
    games = list(records.games(tx, protocol, known))
    page_of = {game["game"]: game["page"] for game in games}
    events = list(records.events(tx, protocol, known, steps=False))
    recent = [event | {"page": page_of.get(event["game"])} for event in events[-MOST_EVENTS:][::-1]]
    return {
        "p": next(iter(records.participants(tx, protocol, known))),
        "games": games,
        "answers": list(records.answers(tx, protocol, known)),
        "events": recent,
        "more_events": len(events) - len(recent),
    }


def _add_games(app: APIRouter, context: AdminContext) -> None:
    protocol, database = context.protocol, context.database

    @app.get("/games")
    @context.guarded
    async def games(request: Request) -> Response:
        visit = await context.auth.required(request)
        setting, partner = _known(request, "setting", protocol.games), _known(request, "partner", protocol.partners)
        first = _first(request)

        rows, total = await context.read(records.some_games, protocol, setting, partner, first, AT_ONCE)
        return await context.page(
            "games", visit, request, rows=rows, total=total, first=first, setting=setting, partner=partner,
            settings=list(protocol.games), partners=list(protocol.partners),
        )  # fmt: skip

    @app.get("/games/{number}/replay")
    @context.guarded
    async def watch(request: Request, number: int) -> Response:
        visit = await context.auth.required(request)
        row, so_far = await context.read(_stored, protocol, number)
        await database.awrite(audit.note, context.clock, visit.name, "replay", str(number))
        html = await context.worker.replay(row.episode or b"", _details(protocol, row) | {"so_far": so_far})
        return HTMLResponse(html, headers={"content-security-policy": POLICY})


def _known(request: Request, name: str, among: Any) -> str:
    """Return a parameter of the query if it is one of the known values, else an empty text."""
    value = request.query_params.get(name, "")
    return value if value in among else ""


def _stored(tx: Tx, protocol: Protocol, number: int) -> tuple[Any, dict[str, Any] | None]:
    """Return a game's row, and for an unfinished game what was played so far."""
    games, people = schema.games, schema.people
    query = (
        sa.select(games, people.c.public)
        .join(people, people.c.id == games.c.person)
        .where(games.c.id == number, people.c.study == protocol.name)
    )
    row = tx.execute(query).one_or_none() if 0 < number < 2**31 else None
    if row is None:
        raise ApiError("not_found", "there is no such game in this study")
    if row.episode is not None and row.length:
        return row, None
    played = so_far(tx, protocol, row)
    if not played["joints"]:
        raise ApiError("conflict", "nothing has been played in this game yet")
    return row, played


def _details(protocol: Protocol, row: Any) -> dict[str, Any]:
    """Return what the replay page says about a game: title, subtitle, labels of flags, provenance."""
    language = protocol.languages[0]
    labels = {}
    for page in all_pages(protocol):
        labels |= {flag.id: say(flag.label, language) for flag in getattr(page, "flags", ())}
    parts = [row.setting, f"participant {row.public} in seat {row.seat} with {row.partner}"]
    if row.partner in protocol.partners:
        parts[-1] += f" ({protocol.partners[row.partner]})"
    parts += ["practice"] if row.practice else []
    parts += ["ended early, as someone stopped taking part"] if row.status == ABANDONED else []
    parts += ["not over" if row.score is None else f"{row.score:g} points"]
    return {
        "title": f"{title(protocol.title, protocol, language)}: game {row.id}",
        "subtitle": ", ".join(parts),
        "flags": labels,
        "provenance": {"study": protocol.name, "protocol": protocol.hash, "page": row.page, "game": row.id},
    }


def _add_lists(app: APIRouter, context: AdminContext) -> None:
    protocol = context.protocol

    @app.get("/design")
    @context.guarded
    async def design(request: Request) -> Response:
        visit = await context.auth.required(request)
        cells = await context.read(monitor.cells, protocol)
        for use in cells:
            use["most"] = max([row["done"] + row["active"] for row in use["rows"]], default=0)
        played = await context.read(monitor.played, protocol)
        return await context.page("design", visit, request, cells=cells, played=played)

    @app.get("/payments")
    @context.guarded
    async def pay(request: Request) -> Response:
        visit = await context.auth.required(request)
        return await context.page("payments", visit, request, bulk=None, already=0, **await paid(context))

    @app.get("/export")
    @context.guarded
    async def export(request: Request) -> Response:
        visit = await context.auth.required(request)
        tables = {name: list(columns) for name, columns in COLUMNS.items()}
        return await context.page("export", visit, request, tables=tables)

    @app.get("/audit")
    @context.guarded
    async def log(request: Request) -> Response:
        visit = await context.auth.required(request)
        action = request.query_params.get("action", "")
        await context.base.refusals.settle()

        def look(tx: Tx) -> tuple[Any, list[str]]:
            query = sa.select(audit_rows.c.action).distinct().order_by(audit_rows.c.action)
            known = list(tx.execute(query).scalars())
            return audit.read(tx, action=action if action in known else None, most=MOST_LINES), known

        rows, actions = await context.read(look)
        return await context.page(
            "audit", visit, request, rows=rows.rows, actions=actions, action=action, most=MOST_LINES
        )


async def paid(context: AdminContext) -> dict[str, Any]:
    """Return the values of the payments page: all rows, the formula and the totals."""
    rows = await context.read(payments.rows, context.protocol)
    owed = [row for row in rows if row["payment"] is not None]
    return {
        "rows": rows[::-1],
        "rule": context.protocol.payment.formula,
        "currency": context.protocol.payment.currency,
        "recruiter": context.protocol.completion.recruiter,
        "owed": sum(row["payment"] for row in owed),
        "settled": sum(row["payment"] for row in owed if row["paid"]),
        "open": sum(not row["paid"] for row in owed),
    }


def _first(request: Request) -> int:
    text = request.query_params.get("from", "0")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0
