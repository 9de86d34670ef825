"""The pages on which researchers look something up."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, Response

from interplay.server import audit
from interplay.server.api_error import ApiError
from interplay.server.database import Tx
from interplay.server.schema import audit as audit_rows
from interplay.study.admin import monitor, pages, payments, replay
from interplay.study.admin.context import AdminContext
from interplay.study.admin.monitor import title
from interplay.study.admin.unfinished import so_far
from interplay.study.db import people_records, records, schema
from interplay.study.db.game_rows import ABANDONED
from interplay.study.export.columns import COLUMNS
from interplay.study.protocol.model import Protocol
from interplay.study.protocol.words import say

AT_ONCE = 100  # rows of a page
MOST_EVENTS = 200
MOST_LINES = 500


def add(app: FastAPI, desk: AdminContext) -> None:
    _add_monitor(app, desk)
    _add_people(app, desk)
    _add_games(app, desk)
    _add_lists(app, desk)


def _add_monitor(app: FastAPI, desk: AdminContext) -> None:
    protocol = desk.protocol

    async def now() -> dict[str, Any]:
        running = monitor.running(desk.host.lives)

        def look(tx: Tx) -> dict[str, Any]:
            names = _names(tx, [game["number"] for game in running])
            lost = monitor.leaves(tx, [game["game"] for game in running])
            people = monitor.whereabouts(tx, protocol)
            games = [
                game | {"participant": names[game["number"]], "leaves": lost.get(game["game"], 0)}
                for game in running
                if game["number"] in names
            ]
            return {"counts": monitor.counts(tx, protocol), "people": people, "running": games}

        found = await desk.read(look)
        at = desk.clock.now()
        for one in found["people"]:
            one["ago"] = _ago((at - datetime.fromisoformat(one["seen"])).total_seconds())
        return found | {"at": f"{at:%H:%M:%S}", "behind": desk.host.journal.behind}

    @app.get("/researcher/monitor")
    @desk.guarded
    async def show(request: Request) -> Response:
        visit = await desk.gate.required(request)
        return await desk.page("monitor", visit, request, **await now())

    @app.get("/researcher/monitor/now")
    @desk.guarded
    async def part(request: Request) -> Response:
        await desk.gate.required(request)
        return await asyncio.to_thread(pages.page, "now", **await now())


def _names(tx: Tx, numbers: list[int]) -> dict[int, str]:
    query = sa.select(schema.people.c.id, schema.people.c.public).where(schema.people.c.id.in_(numbers))
    return {row.id: row.public for row in tx.execute(query)}


def _ago(seconds: float) -> str:
    if seconds < 90:
        return f"{max(0, round(seconds))} s ago"
    return f"{round(seconds / 60)} min ago" if seconds < 5400 else f"{round(seconds / 3600)} h ago"


def _add_people(app: FastAPI, desk: AdminContext) -> None:
    protocol = desk.protocol

    @app.get("/researcher/participants")
    @desk.guarded
    async def participants(request: Request) -> Response:
        visit = await desk.gate.required(request)
        status = request.query_params.get("status", "")
        status = status if status in monitor.STATUSES else ""
        first = _first(request)

        def look(tx: Tx) -> dict[str, Any]:
            records.snapshot(tx)
            counts = monitor.counts(tx, protocol)
            known = people_records.some_people(tx, protocol, status or None, first, AT_ONCE)
            total = counts[status] if status else sum(counts.values())
            return {"counts": counts, "rows": list(records.participants(tx, protocol, known)), "total": total}

        return await desk.page("participants", visit, request, status=status, first=first, **await desk.read(look))

    @app.get("/researcher/participants/{public}")
    @desk.guarded
    async def participant(request: Request, public: str) -> Response:
        visit = await desk.gate.required(request)
        found = await desk.read(one_participant, protocol, public)
        return await desk.page(
            "participant", visit, request, place="participants", currency=protocol.payment.currency,
            keep_games=protocol.erasure == "keep_games", **found,
        )  # fmt: skip


def one_participant(tx: Tx, protocol: Protocol, public: str) -> dict[str, Any]:
    """All about one participant; a refusal where there is none."""
    records.snapshot(tx)
    known = people_records.named(tx, protocol, public)
    if not known:
        raise ApiError("not_found", "there is no such participant in this study")
    games = list(records.games(tx, protocol, known))
    page_of = {game["game"]: game["page"] for game in games}
    events = list(records.events(tx, protocol, known, steps=False))
    shown = [event | {"page": page_of.get(event["game"])} for event in events[-MOST_EVENTS:][::-1]]
    return {
        "p": next(iter(records.participants(tx, protocol, known))),
        "games": games,
        "answers": list(records.answers(tx, protocol, known)),
        "events": shown,
        "more_events": len(events) - len(shown),
    }


def _add_games(app: FastAPI, desk: AdminContext) -> None:
    protocol, database = desk.protocol, desk.database

    @app.get("/researcher/games")
    @desk.guarded
    async def games(request: Request) -> Response:
        visit = await desk.gate.required(request)
        setting, partner = _known(request, "setting", protocol.games), _known(request, "partner", protocol.partners)
        first = _first(request)

        rows, total = await desk.read(records.some_games, protocol, setting, partner, first, AT_ONCE)
        return await desk.page(
            "games", visit, request, rows=rows, total=total, first=first, setting=setting, partner=partner,
            settings=list(protocol.games), partners=list(protocol.partners),
        )  # fmt: skip

    @app.get("/researcher/games/{number}/replay")
    @desk.guarded
    async def watch(request: Request, number: int) -> Response:
        visit = await desk.gate.required(request)
        row, so_far = await desk.read(_stored, protocol, number)
        await database.awrite(audit.note, desk.clock, visit.name, "replay", str(number))
        html = await desk.worker.replay(row.episode or b"", _told(protocol, row) | {"so_far": so_far})
        return HTMLResponse(html, headers={"content-security-policy": replay.POLICY})


def _known(request: Request, name: str, among: Any) -> str:
    """What was asked for, if there is such a thing."""
    given = request.query_params.get(name, "")
    return given if given in among else ""


def _stored(tx: Tx, protocol: Protocol, number: int) -> tuple[Any, dict[str, Any] | None]:
    """A game with its trace or, while it is not over, with what was played so far."""
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


def _told(protocol: Protocol, row: Any) -> dict[str, Any]:
    language = protocol.languages[0]
    labels = {}
    for item in _play_pages(protocol.flow):
        labels |= {flag.id: say(flag.label, language) for flag in item.flags}
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


def _play_pages(items: Any) -> list[Any]:
    found = []
    for item in items:
        found += _play_pages(item.pages) if item.kind == "repeat" else [item] if item.kind == "game" else []
    return found


def _add_lists(app: FastAPI, desk: AdminContext) -> None:
    protocol = desk.protocol

    @app.get("/researcher/design")
    @desk.guarded
    async def design(request: Request) -> Response:
        visit = await desk.gate.required(request)
        cells = await desk.read(monitor.cells, protocol)
        for use in cells:
            use["most"] = max([row["done"] + row["active"] for row in use["rows"]], default=0)
        return await desk.page("design", visit, request, cells=cells, played=await desk.read(monitor.played, protocol))

    @app.get("/researcher/payments")
    @desk.guarded
    async def pay(request: Request) -> Response:
        visit = await desk.gate.required(request)
        return await desk.page("payments", visit, request, bulk=None, already=0, **await paid(desk))

    @app.get("/researcher/export")
    @desk.guarded
    async def export(request: Request) -> Response:
        visit = await desk.gate.required(request)
        return await desk.page("export", visit, request, tables={name: list(held) for name, held in COLUMNS.items()})

    @app.get("/researcher/audit")
    @desk.guarded
    async def log(request: Request) -> Response:
        visit = await desk.gate.required(request)
        action = request.query_params.get("action", "")
        await desk.base.refusals.settle()

        def look(tx: Tx) -> tuple[Any, list[str]]:
            query = sa.select(audit_rows.c.action).distinct().order_by(audit_rows.c.action)
            known = list(tx.execute(query).scalars())
            return audit.read(tx, action=action if action in known else None, most=MOST_LINES), known

        rows, actions = await desk.read(look)
        return await desk.page("audit", visit, request, rows=rows.rows, actions=actions, action=action, most=MOST_LINES)


async def paid(desk: AdminContext) -> dict[str, Any]:
    """What the page of payments shows."""
    rows = await desk.read(payments.rows, desk.protocol)
    owed = [row for row in rows if row["payment"] is not None]
    return {
        "rows": rows[::-1],
        "rule": desk.protocol.payment.formula,
        "currency": desk.protocol.payment.currency,
        "recruiter": desk.protocol.completion.recruiter,
        "owed": sum(row["payment"] for row in owed),
        "settled": sum(row["payment"] for row in owed if row["paid"]),
        "open": sum(not row["paid"] for row in owed),
    }


def _first(request: Request) -> int:
    text = request.query_params.get("from", "0")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0
