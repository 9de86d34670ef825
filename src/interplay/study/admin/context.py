"""What all researchers' pages share: the study, its door, and one form for everything that is refused."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from fastapi import Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from interplay.errors import InterplayError
from interplay.server import sessions
from interplay.server.api_error import ApiError
from interplay.server.database import DatabaseUnavailable, is_away
from interplay.study.admin import pages
from interplay.study.admin.auth import AdminAuth, Visit, new_token
from interplay.study.admin.worker import Worker
from interplay.study.protocol.words import say

T = TypeVar("T")
NOTICES = {  # what a page says after a deed, by a word in its address
    "paid": "Noted as paid.",
    "unpaid": "The note was taken back.",
    "erased": "The participant was erased. Nothing of them is left in the database's files.",
    "erased-later": "The participant was erased. Old pages of its file are overwritten as soon as nobody reads.",
    "kept": "The participant was erased. Their games are kept under a new name.",
}


class AdminContext:
    """The researchers' side of one running study."""

    def __init__(self, host: Any, secure: bool):
        self.host, self.protocol, self.base = host, host.protocol, host.base
        self.database, self.clock = host.base.database, host.base.clock
        self.gate, self.worker = AdminAuth(host.base, host.protocol.name, secure), Worker()

    @property
    def title(self) -> str:
        return say(self.protocol.title, self.protocol.languages[0])

    async def page(self, name: str, visit: Visit, request: Request, code: int = 200, **values: Any) -> HTMLResponse:
        """A page for someone who is logged in. It is put together in a thread: games keep the time in this one."""
        told = {"visit": visit, "study": self.title, "notice": NOTICES.get(request.query_params.get("done", ""))}
        return await asyncio.to_thread(pages.page, name, code, **{"place": name, **told, **values})

    async def read(self, work: Callable[..., T], *args: Any) -> T:
        """Look something up that may take a while, not with the threads that serve participants."""
        try:
            return await asyncio.to_thread(self.database.read, work, *args)
        except Exception as error:
            if is_away(error):
                raise DatabaseUnavailable from error
            raise

    def door(self, title: str = "For researchers", wrong: str = "", status: int = 200, **values: Any) -> HTMLResponse:
        """The login, or the choice of a password. Its form has a token that belongs to a cookie of its own."""
        token = new_token()
        told: dict[str, Any] = {"invited": None, "key": "", "shortest": 0} | values
        response = pages.page(
            "login", status, study=self.title, title=title, wrong=wrong, csrf=sessions.csrf_token(token), **told
        )
        self.gate.new_form(response, token)
        return response

    def guarded(self, work: Callable[..., Awaitable[Response]]) -> Callable[..., Awaitable[Response]]:
        """A handler whose refusals are pages: the login for those who are not logged in."""

        @functools.wraps(work)
        async def handler(request: Request, **values: Any) -> Response:
            try:
                return await work(request, **values)
            except ApiError as refusal:
                self.base.refused(request, refusal)
                if refusal.status == 401:
                    return self.door(wrong=refusal.message, status=401)
                return await self._told(request, refusal.message, refusal.status)
            except InterplayError as error:
                return await self._told(request, str(error), 400)

        handler.__signature__ = inspect.signature(work)  # type: ignore[attr-defined]
        return handler

    async def _told(self, request: Request, message: str, status: int) -> Response:
        try:
            visit = await self.gate.visit(request)
        except ApiError:
            visit = None
        if visit is None:
            return self.door(wrong=message, status=status)
        return await self.page("problem", visit, request, status, place="", message=message, back="/researcher/monitor")

    def go(self, path: str, done: str = "") -> RedirectResponse:
        """On to another page, after a form was taken."""
        return RedirectResponse(f"/researcher/{path}".rstrip("/") + (f"?done={done}" if done else ""), 303)

    async def close(self) -> None:
        await self.worker.close()
