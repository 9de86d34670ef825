"""What researchers do: mark payments, make lists, export, erase. Every deed is a form with a token, and is noted."""

from __future__ import annotations

import asyncio
import io
import logging
from collections.abc import Iterator
from csv import DictWriter
from typing import IO, Any, get_args

from fastapi import FastAPI, Request
from fastapi.responses import Response, StreamingResponse

from interplay.server import audit
from interplay.server.api_error import ApiError
from interplay.study.admin import erase, export, payments
from interplay.study.admin.auth import one
from interplay.study.admin.context import AdminContext
from interplay.study.admin.views import paid
from interplay.study.export.columns import Format

LOG = logging.getLogger("interplay.study")
PATIENCE_S = 5.0  # for a browser to be gone whose visit was ended


def add(app: FastAPI, desk: AdminContext) -> None:
    _add_payments(app, desk)
    _add_export(app, desk)
    _add_erase(app, desk)


def _add_payments(app: FastAPI, desk: AdminContext) -> None:
    protocol, database, clock = desk.protocol, desk.database, desk.clock

    @app.post("/researcher/payments/mark")
    @desk.guarded
    async def mark(request: Request) -> Response:
        visit, form = await desk.gate.posted(request)
        chosen = form.get("participant", [])
        if not chosen:
            raise ApiError("bad_request", "choose at least one participant")
        await database.awrite(payments.mark, clock, protocol, chosen, by=visit.name)
        return desk.go(_back(form, chosen), "paid")

    @app.post("/researcher/payments/unmark")
    @desk.guarded
    async def unmark(request: Request) -> Response:
        visit, form = await desk.gate.posted(request)
        chosen = one(form, "participant")
        await database.awrite(payments.unmark, clock, protocol, chosen, by=visit.name)
        return desk.go(_back(form, [chosen]), "unpaid")

    @app.post("/researcher/payments/csv")
    @desk.guarded
    async def as_csv(request: Request) -> Response:
        visit, _ = await desk.gate.posted(request)
        rows = await desk.read(payments.rows, protocol)
        await database.awrite(audit.note, clock, visit.name, "export", "payments", rows=len(rows))
        out = io.StringIO()
        writer = DictWriter(out, payments.COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return Response(out.getvalue(), media_type="text/csv", headers=_download(f"{protocol.name}-payments.csv"))

    @app.post("/researcher/payments/bulk")
    @desk.guarded
    async def bulk(request: Request) -> Response:
        visit, form = await desk.gate.posted(request)
        already = _amount(one(form, "already"))
        found = await database.awrite(payments.bulk, clock, protocol, one(form, "ids"), already=already)
        await database.awrite(
            audit.note, clock, visit.name, "export", "bulk payment", people=len(found.participants), total=found.total
        )
        return await desk.page("payments", visit, request, bulk=found, already=already, **await paid(desk))


def _back(form: Any, chosen: list[str]) -> str:
    return f"participants/{chosen[0]}" if one(form, "back") == "participant" and chosen[0].isalnum() else "payments"


def _amount(text: str) -> float:
    try:
        found = float(text or 0)
    except ValueError:
        found = -1.0
    if not 0 <= found < 1e6:
        raise ApiError("bad_request", "what the recruiter pays anyway is an amount from 0")
    return found


def _download(name: str) -> dict[str, str]:
    return {"content-disposition": f'attachment; filename="{name}"'}


def _add_export(app: FastAPI, desk: AdminContext) -> None:
    @app.post("/researcher/export")
    @desk.guarded
    async def make(request: Request) -> Response:
        visit, form = await desk.gate.posted(request)
        format = one(form, "format") or "csv"
        if format not in get_args(Format):
            raise ApiError("bad_request", f"format: one of {', '.join(get_args(Format))}")
        participant = one(form, "participant") or None
        if participant and not participant.isalnum():
            raise ApiError("bad_request", "there is no such participant")
        made = await asyncio.to_thread(  # not with the threads that serve participants
            export.zipped, desk.database, desk.clock, desk.protocol, format=format,  # type: ignore[arg-type]
            traces=one(form, "traces") == "yes", participant=participant, by=visit.name,
        )  # fmt: skip
        name = f"{desk.protocol.name}{'-' + participant if participant else ''}-{format}.zip"
        return StreamingResponse(_chunks(made), media_type="application/zip", headers=_download(name))


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while chunk := file.read(2**18):
            yield chunk


def _add_erase(app: FastAPI, desk: AdminContext) -> None:
    @app.post("/researcher/participants/{public}/erase")
    @desk.guarded
    async def forget(request: Request, public: str) -> Response:
        visit, form = await desk.gate.posted(request)
        if one(form, "confirm").strip() != public:
            raise ApiError("bad_request", "nothing was erased: type the participant's name to confirm")
        if one(form, "games") not in ("keep", "erase"):
            raise ApiError("bad_request", "say whether their games are kept or erased")
        found, clean = await erase_live(desk, public, keep_games=one(form, "games") == "keep", by=visit.name)
        if found.kept:
            return desk.go("participants", "kept")
        return desk.go("participants", "erased" if clean else "erased-later")


async def erase_live(desk: AdminContext, public: str, *, keep_games: bool, by: str) -> tuple[erase.Erased, bool]:
    """Erase a participant while the study runs: first their visit ends, then what waits is written, then it goes."""
    number = await desk.database.awrite(erase.shut, desk.clock, desk.protocol, public)
    return await erase_idle(desk, number, public, keep_games=keep_games, by=by)


async def erase_idle(
    desk: AdminContext, number: int, public: str, *, keep_games: bool, by: str
) -> tuple[erase.Erased, bool]:
    """Erase someone from whom nothing more comes. Their visit ends in the same transaction, so that one who asks for it
    and gets no answer may ask again."""
    database, clock, protocol = desk.database, desk.clock, desk.protocol
    await _dismiss(desk, number)
    found = await database.awrite(erase.erase, clock, protocol, public, keep_games=keep_games, by=by)
    # A database that is written anew keeps others waiting: only while nobody plays.
    idle = not desk.host.lives
    clean = await asyncio.to_thread(erase.scrub, database, vacuum=idle)
    return found, clean


async def _dismiss(desk: AdminContext, number: int) -> None:
    """Let go of a participant's game. An event that came after the erasure would belong to nobody."""
    host = desk.host
    until = clock_time() + PATIENCE_S
    live = host.lives.get(number)
    if live is not None:
        live.failed = True
        live.over.set()
        while live.present and clock_time() < until:
            await asyncio.sleep(0.05)
        if live.present:
            raise ApiError("conflict", "this participant is in a game that does not end: try again in a moment")
        host._put_away(live)
    await host.journal.settled()


def clock_time() -> float:
    return asyncio.get_running_loop().time()
