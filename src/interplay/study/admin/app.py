"""The researchers' routes, and those of the door: login, logout, invitations."""

from __future__ import annotations

from fastapi import FastAPI, Request
from fastapi.responses import PlainTextResponse, Response

from interplay.errors import InterplayError
from interplay.server.accounts import SHORTEST
from interplay.server.api_error import ApiError
from interplay.study.admin import actions, pages, views
from interplay.study.admin.auth import one
from interplay.study.admin.context import AdminContext


def mount(app: FastAPI, desk: AdminContext) -> None:
    """Add the researchers' side to the application of a study."""
    _add_door(app, desk)
    views.add(app, desk)
    actions.add(app, desk)


def _add_door(app: FastAPI, desk: AdminContext) -> None:
    gate = desk.gate

    @app.get("/researcher/files/{name}")
    async def asset(name: str) -> Response:
        return pages.file(name) or PlainTextResponse("there is no such file", 404)

    @app.get("/researcher")
    @desk.guarded
    async def door(request: Request) -> Response:
        return desk.go("monitor") if await gate.visit(request) else desk.door()

    @app.post("/researcher/login")
    @desk.guarded
    async def login(request: Request) -> Response:
        form = await gate.before(request)
        response = desk.go("monitor")
        gate.keep(response, await gate.log_in(request, one(form, "name").strip(), one(form, "password")))
        return response

    @app.post("/researcher/logout")
    @desk.guarded
    async def logout(request: Request) -> Response:
        visit, _ = await gate.posted(request)
        await gate.log_out(visit)
        response = desk.go("")
        gate.forget(response)
        return response

    @app.get("/researcher/invite")
    @desk.guarded
    async def invited(request: Request) -> Response:
        return await _choose(desk, request, request.query_params.get("key", ""))

    @app.post("/researcher/invite")
    @desk.guarded
    async def accept(request: Request) -> Response:
        form = await gate.before(request)
        key, password = one(form, "key"), one(form, "password")
        if password != one(form, "again"):
            return await _choose(desk, request, key, "the two passwords differ")
        try:
            token = await gate.accept(request, key, password)
        except ApiError:
            raise
        except InterplayError as error:  # too short
            return await _choose(desk, request, key, str(error))
        response = desk.go("monitor")
        gate.keep(response, token)
        return response


async def _choose(desk: AdminContext, request: Request, key: str, wrong: str = "") -> Response:
    account = await desk.gate.invited(request, key)
    status = 400 if wrong else 200
    return desk.door("Choose a password", wrong, status, invited=account.name, key=key, shortest=SHORTEST)
