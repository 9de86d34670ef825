"""What all researchers' pages share: the study, the login, and the page that shows an error."""

from __future__ import annotations

import asyncio
import functools
import inspect
import secrets
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from fastapi import Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from interplay.errors import InterplayError
from interplay.server import sessions
from interplay.server.api_error import ApiError
from interplay.server.database import DatabaseUnavailable, is_away
from interplay.server.replay_worker import ReplayWorker
from interplay.study.admin import page_rendering as pages
from interplay.study.admin.auth import AdminAuth, Visit
from interplay.study.protocol.texts import say

T = TypeVar("T")
NOTICES = {  # what a page says after an action, by the value of `done` in its address
    "paid": "Noted as paid.",
    "closed": "The study takes no more participants. Those who have consented go on.",
    "opened": "The study takes new participants.",
    "unpaid": "The note was taken back.",
    "erased": "The participant was erased. Nothing of them is left in the database's files.",
    "erased-later": "The participant was erased. Old pages of its file are overwritten as soon as nobody reads.",
    "kept": "The participant was erased. Their games are kept under a new name.",
}


class AdminContext:
    """The researchers' side of one running study, at the address `root` (by default /researcher)."""

    def __init__(self, state: Any, secure: bool, root: str = ""):
        self.state, self.protocol, self.base = state, state.protocol, state.base
        self.database, self.clock = state.base.database, state.base.clock
        self.root = root or f"{state.base.prefix}/researcher"
        self.auth = AdminAuth(state.base, state.protocol.name, secure, self.root)
        self.worker = ReplayWorker("interplay.study.admin.replay:page")

    @property
    def title(self) -> str:
        """The study's title in its first language."""
        return say(self.protocol.title, self.protocol.languages[0])

    async def page(self, name: str, visit: Visit, request: Request, code: int = 200, **values: Any) -> HTMLResponse:
        """Render a page for a researcher who is logged in.

        It is rendered in a thread, since the event loop drives the games.

        Args:
            name: The name of the template.
            visit: The researcher.
            request: The request, whose `done` selects a notice.
            code: The HTTP status.
            **values: The values of the template.
        """
        shared = {
            "root": self.root,
            "site": self.base.prefix,
            "visit": visit,
            "study": self.title,
            "notice": NOTICES.get(request.query_params.get("done", "")),
        }
        return await asyncio.to_thread(pages.page, name, code, **{"place": name, **shared, **values})

    async def read(self, work: Callable[..., T], *args: Any) -> T:
        """Run a slow read in a thread that does not serve participants."""
        try:
            return await asyncio.to_thread(self.database.read, work, *args)
        except Exception as error:
            if is_away(error):
                raise DatabaseUnavailable from error
            raise

    def login_page(
        self, title: str = "For researchers", wrong: str = "", status: int = 200, **values: Any
    ) -> HTMLResponse:
        """Render the login or the choice of a password, with a CSRF token that belongs to a cookie of its own."""
        token = secrets.token_urlsafe(24)
        fields: dict[str, Any] = {"invited": None, "key": "", "shortest": 0} | values
        fields |= {"root": self.root, "site": self.base.prefix}
        response = pages.page(
            "login", status, study=self.title, title=title, wrong=wrong, csrf=sessions.csrf_token(token), **fields
        )
        self.auth.new_form(response, token)
        return response

    def guarded(self, work: Callable[..., Awaitable[Response]]) -> Callable[..., Awaitable[Response]]:
        """Wrap a handler so that its errors are pages: the login for those who are not logged in."""

        @functools.wraps(work)
        async def handler(request: Request, **values: Any) -> Response:
            try:
                return await work(request, **values)
            except ApiError as refusal:
                self.base.refused(request, refusal)
                if refusal.status == 401:
                    return self.login_page(wrong=refusal.message, status=401)
                return await self._problem_page(request, refusal.message, refusal.status)
            except InterplayError as error:
                return await self._problem_page(request, str(error), 400)

        handler.__signature__ = inspect.signature(work)  # type: ignore[attr-defined]
        return handler

    async def _problem_page(self, request: Request, message: str, status: int) -> Response:
        try:
            visit = await self.auth.visit(request)
        except ApiError:
            visit = None
        if visit is None:
            return self.login_page(wrong=message, status=status)
        return await self.page(
            "problem", visit, request, status, place="", message=message, back=f"{self.root}/monitor"
        )

    def go(self, path: str, done: str = "") -> RedirectResponse:
        """Redirect to another page after a form was taken; `done` selects the notice that it shows."""
        return RedirectResponse(f"{self.root}/{path}".rstrip("/") + (f"?done={done}" if done else ""), 303)

    async def close(self) -> None:
        """Stop the process that renders replays."""
        await self.worker.close()
