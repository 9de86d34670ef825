"""Application of the researchers' pages: login, logout, invitations, and all other routes."""

from __future__ import annotations

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import PlainTextResponse, Response

from interplay.errors import InterplayError
from interplay.server.accounts import SHORTEST
from interplay.server.api_error import ApiError
from interplay.server.forms import form_value
from interplay.study.admin import actions, views
from interplay.study.admin import page_rendering as pages
from interplay.study.admin.context import AdminContext


def mount(app: FastAPI, context: AdminContext) -> None:
    """Add the researchers' side to the application of a study."""
    routes = APIRouter(prefix=context.root)
    _add_login(routes, context)
    views.add(routes, context)
    actions.add(routes, context)
    app.include_router(routes)


def _add_login(app: APIRouter, context: AdminContext) -> None:
    auth = context.auth

    @app.get("/files/{name}")
    async def asset(name: str) -> Response:
        return pages.file(name) or PlainTextResponse("there is no such file", 404)

    @app.get("")
    @context.guarded
    async def home(request: Request) -> Response:
        return context.go("monitor") if await auth.visit(request) else context.login_page()

    @app.post("/login")
    @context.guarded
    async def login(request: Request) -> Response:
        form = await auth.before(request)
        response = context.go("monitor")
        auth.keep(response, await auth.log_in(request, form_value(form, "name").strip(), form_value(form, "password")))
        return response

    @app.post("/logout")
    @context.guarded
    async def logout(request: Request) -> Response:
        visit, _ = await auth.posted(request)
        await auth.log_out(visit)
        response = context.go("")
        auth.forget(response)
        return response

    @app.get("/invite")
    @context.guarded
    async def invited(request: Request) -> Response:
        return await _choose(context, request, request.query_params.get("key", ""))

    @app.post("/invite")
    @context.guarded
    async def accept(request: Request) -> Response:
        form = await auth.before(request)
        key, password = form_value(form, "key"), form_value(form, "password")
        if password != form_value(form, "again"):
            return await _choose(context, request, key, "the two passwords differ")
        try:
            token = await auth.accept(request, key, password)
        except ApiError:
            raise
        except InterplayError as error:  # too short
            return await _choose(context, request, key, str(error))
        response = context.go("monitor")
        auth.keep(response, token)
        return response


async def _choose(context: AdminContext, request: Request, key: str, wrong: str = "") -> Response:
    account = await context.auth.invited(request, key)
    status = 400 if wrong else 200
    return context.login_page("Choose a password", wrong, status, invited=account.name, key=key, shortest=SHORTEST)
