"""Routes on which researchers change something: payments, exports and erasure.

Every action is a form with a CSRF token, and is written to the audit log.
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import Iterator
from csv import DictWriter
from typing import IO, Any, get_args

from fastapi import APIRouter, Request
from fastapi.responses import Response, StreamingResponse

from interplay.server import audit
from interplay.server.api_error import ApiError
from interplay.server.forms import form_value
from interplay.study.admin import erase, export, payments
from interplay.study.admin.context import AdminContext
from interplay.study.admin.views import paid, participant_page
from interplay.study.db import admission
from interplay.study.export.columns import Format

PATIENCE_S = 5.0  # how long to wait for the browser of a participant whose session was ended


def add(app: APIRouter, context: AdminContext) -> None:
    """Add the routes for payments, exports and erasure to the application."""
    _add_payments(app, context)
    _add_export(app, context)
    _add_erase(app, context)
    _add_admission(app, context)


def _add_payments(app: APIRouter, context: AdminContext) -> None:
    protocol, database, clock = context.protocol, context.database, context.clock

    @app.post("/payments/mark")
    @context.guarded
    async def mark(request: Request) -> Response:
        visit, form = await context.auth.posted(request)
        chosen = form.get("participant", [])
        if not chosen:
            raise ApiError("bad_request", "choose at least one participant")
        await database.awrite(payments.mark, clock, protocol, chosen, by=visit.name)
        return context.go(_back(form, chosen), "paid")

    @app.post("/payments/unmark")
    @context.guarded
    async def unmark(request: Request) -> Response:
        visit, form = await context.auth.posted(request)
        chosen = form_value(form, "participant")
        await database.awrite(payments.unmark, clock, protocol, chosen, by=visit.name)
        return context.go(_back(form, [chosen]), "unpaid")

    @app.post("/payments/csv")
    @context.guarded
    async def as_csv(request: Request) -> Response:
        visit, _ = await context.auth.posted(request)
        rows = await context.read(payments.rows, protocol)
        await database.awrite(audit.note, clock, visit.name, "export", "payments", rows=len(rows))
        out = io.StringIO()
        writer = DictWriter(out, payments.COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return Response(out.getvalue(), media_type="text/csv", headers=_download(f"{protocol.name}-payments.csv"))

    @app.post("/payments/bulk")
    @context.guarded
    async def bulk(request: Request) -> Response:
        visit, form = await context.auth.posted(request)
        already = _amount(form_value(form, "already"))
        payment = await database.awrite(payments.bulk, clock, protocol, form_value(form, "ids"), already=already)
        await database.awrite(
            audit.note,
            clock,
            visit.name,
            "export",
            "bulk payment",
            people=len(payment.participants),
            total=payment.total,
        )
        return await context.page("payments", visit, request, bulk=payment, already=already, **await paid(context))


def _back(form: Any, chosen: list[str]) -> str:
    if form_value(form, "back") == "participant" and chosen[0].isalnum():
        return f"participants/{chosen[0]}"
    return "payments"


def _amount(text: str) -> float:
    try:
        amount = float(text or 0)
    except ValueError:
        amount = -1.0
    if not 0 <= amount < 1e6:
        raise ApiError("bad_request", "what the recruiter pays anyway is an amount from 0")
    return amount


def _download(name: str) -> dict[str, str]:
    return {"content-disposition": f'attachment; filename="{name}"'}


def _add_export(app: APIRouter, context: AdminContext) -> None:
    @app.post("/export")
    @context.guarded
    async def make(request: Request) -> Response:
        visit, form = await context.auth.posted(request)
        format = form_value(form, "format") or "csv"
        if format not in get_args(Format):
            raise ApiError("bad_request", f"format: one of {', '.join(get_args(Format))}")
        participant = form_value(form, "participant") or None
        if participant and not participant.isalnum():
            raise ApiError("bad_request", "there is no such participant")
        made = await asyncio.to_thread(  # not with the threads that serve participants
            export.zipped, context.database, context.clock, context.protocol, format=format,  # type: ignore[arg-type]
            traces=form_value(form, "traces") == "yes", participant=participant, by=visit.name,
        )  # fmt: skip
        name = f"{context.protocol.name}{'-' + participant if participant else ''}-{format}.zip"
        return StreamingResponse(_chunks(made), media_type="application/zip", headers=_download(name))


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while chunk := file.read(2**18):
            yield chunk


def _add_erase(app: APIRouter, context: AdminContext) -> None:
    @app.post("/participants/{public}/erase")
    @context.guarded
    async def forget(request: Request, public: str) -> Response:
        visit, form = await context.auth.posted(request)
        if form_value(form, "confirm").strip() != public:
            raise ApiError("bad_request", "nothing was erased: type the participant's name to confirm")
        if form_value(form, "games") not in ("keep", "erase"):
            raise ApiError("bad_request", "say whether their games are kept or erased")
        erased, clean = await erase_live(context, public, keep_games=form_value(form, "games") == "keep", by=visit.name)
        if erased.kept:
            return context.go("participants", "kept")
        return context.go("participants", "erased" if clean else "erased-later")


def _add_admission(app: APIRouter, context: AdminContext) -> None:
    protocol, database, clock = context.protocol, context.database, context.clock

    @app.post("/participants/{public}/readmit")
    @context.guarded
    async def readmit(request: Request, public: str) -> Response:
        visit, _ = await context.auth.posted(request)
        link = await database.awrite(admission.readmit, clock, protocol, public, by=visit.name)
        origin = f"{request.url.scheme}://{request.headers.get('host', '')}{context.base.prefix}"
        return await participant_page(
            context, visit, request, public, link=f"{origin}/study/{protocol.name}?enter={link.key}"
        )

    @app.post("/recruitment")
    @context.guarded
    async def recruitment(request: Request) -> Response:
        visit, form = await context.auth.posted(request)
        closed = form_value(form, "closed") == "yes"
        await database.awrite(admission.set_closed, clock, protocol, closed, by=visit.name)
        return context.go("monitor", "closed" if closed else "opened")


async def erase_live(context: AdminContext, public: str, *, keep_games: bool, by: str) -> tuple[erase.Erased, bool]:
    """Erase a participant while the study runs.

    Their session ends first, then pending events are written, then their rows are deleted.

    Args:
        context: The researchers' side of the running study.
        public: The participant's public name.
        keep_games: Whether finished games are kept without the person.
        by: Who erases, for the audit log.

    Returns:
        What was erased, and whether the database's files hold nothing of it any more.

    Raises:
        InterplayError: There is no such participant.
        ApiError: The participant is in a game that does not end.
    """
    number = await context.database.awrite(erase.shut, context.clock, context.protocol, public)
    return await erase_idle(context, number, public, keep_games=keep_games, by=by)


async def erase_idle(
    context: AdminContext, number: int, public: str, *, keep_games: bool, by: str
) -> tuple[erase.Erased, bool]:
    """Erase a participant from whom nothing more arrives.

    The session ends in the same transaction, so that a participant whose request gets no answer can repeat it. For the
    arguments and the result see `erase_live`; `number` is the participant's row in the database.
    """
    database, clock, protocol = context.database, context.clock, context.protocol
    await _dismiss(context, number)
    erased = await database.awrite(erase.erase, clock, protocol, public, keep_games=keep_games, by=by)
    # A vacuum blocks other writers, so it runs only while nobody plays.
    idle = not context.state.games_by_person
    clean = await asyncio.to_thread(erase.scrub, database, vacuum=idle)
    return erased, clean


async def _dismiss(context: AdminContext, number: int) -> None:
    """Close a participant's game in memory, since an event stored after the erasure would have no owner."""
    state = context.state
    time = asyncio.get_running_loop().time
    until = time() + PATIENCE_S
    live = state.games_by_person.get(number)
    if live is not None:
        live.failed = True
        live.over.set()
        while live.present and time() < until:
            await asyncio.sleep(0.05)
        if live.present:
            raise ApiError("conflict", "this participant is in a game that does not end: try again in a moment")
        state.release(live)
    await state.event_log.settled()
