"""Authentication of researchers: a session cookie, a CSRF token in every form, and a limit on wrong passwords."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from datetime import datetime, timedelta

from fastapi import Request
from starlette.requests import HTTPConnection
from starlette.responses import Response

from interplay.server import accounts, audit, sessions
from interplay.server.accounts import Account
from interplay.server.api_error import ApiError
from interplay.server.app import Base
from interplay.server.database import Tx
from interplay.server.forms import Form, form_value, read_form
from interplay.server.rate_limits import Buckets, SharedBuckets
from interplay.study.admin import researchers

COOKIE = "interplay_researcher"
BEFORE = "interplay_login"  # cookie of the forms that are sent before login
CSRF = "csrf"
LIFE = timedelta(hours=12)


@dataclass(frozen=True)
class Visit:
    """A researcher who is logged in, with their session."""

    account: Account
    session: sessions.LoginSession

    @property
    def name(self) -> str:
        """The account's name, as the audit log writes it."""
        return self.account.name

    @property
    def csrf(self) -> str:
        """The CSRF token of the session, which every form must send."""
        return self.session.csrf


class AdminAuth:
    """Logins, sessions and rate limits of the researchers of one study."""

    def __init__(self, base: Base, study: str, secure: bool, path: str = "/researcher"):
        self.base, self.study, self.secure, self._path = base, study, secure, path
        # Wrong passwords from one address, and for one name, from wherever.
        self._by_address = SharedBuckets(base.database, base.clock, "login", 10 / 60, 10)
        self._by_name = SharedBuckets(base.database, base.clock, "account", 30 / 60, 60)
        self._requests = Buckets(base.clock, 20, 200)  # requests from one address

    async def visit(self, connection: HTTPConnection) -> Visit | None:
        """Return the researcher who sends a request; None if nobody is logged in."""
        self._requests.require(self.base.who(connection), "requests from here")
        return await self.base.database.aread(self._visit, connection.cookies.get(COOKIE))

    async def required(self, connection: HTTPConnection) -> Visit:
        """Return the researcher who sends a request; an `ApiError` (401) if nobody is logged in."""
        visit = await self.visit(connection)
        if visit is None:
            raise ApiError("unknown_key", "log in first: this page is for the researchers of this study")
        return visit

    async def posted(self, request: Request) -> tuple[Visit, Form]:
        """Check the origin, session and CSRF token of a posted form, and return the researcher and the form."""
        sessions.check_origin(request)
        visit, form = await self.required(request), await read_form(request)
        sessions.check_csrf(visit.session, form_value(form, CSRF))
        return visit, form

    async def before(self, request: Request) -> Form:
        """Check and return a form that is sent before login; its token belongs to a cookie of its own."""
        self._requests.require(self.base.who(request), "requests from here")
        sessions.check_origin(request)
        form = await read_form(request)
        token = request.cookies.get(BEFORE, "")
        right = sessions.csrf_token(token).encode()
        if not token or not hmac.compare_digest(right, form_value(form, CSRF).encode("utf-8", "replace")):
            raise ApiError("not_allowed", "this form is out of date: load the page again and send it once more")
        return form

    def new_form(self, response: Response, token: str) -> None:
        """Set the cookie to which the token of a form before login belongs."""
        self._set(response, BEFORE, token, timedelta(hours=1))

    async def log_in(self, request: Request, name: str, password: str) -> str:
        """Check a password and return the cookie of a new session.

        Raises:
            ApiError: The password is wrong, or there were too many wrong ones from this address or for this name.
        """
        who = self.base.who(request)
        if await self._by_address.exhausted(who) or await self._by_name.exhausted(name[:200]):
            raise ApiError("too_many", "too many wrong passwords: wait a minute")
        try:
            account = await self.base.database.aread(accounts.log_in, name[:200], password[:1000])
            if not researchers.may(account.role, self.study):
                raise ApiError("unknown_key", "name or password is wrong", status=401)
        except ApiError:
            await self._by_address.note(who)
            await self._by_name.note(name[:200])
            raise
        return await self.base.database.awrite(self._begin, account)

    async def invited(self, request: Request, key: str) -> Account:
        """Return the account that an invitation belongs to; an `ApiError` where it is used up, too old or unknown."""
        who = self.base.who(request)
        self._requests.require(who, "requests from here")
        if await self._by_address.exhausted(who):
            raise ApiError("too_many", "too many wrong invitations: wait a minute")
        try:
            return await self.base.database.aread(researchers.invited, self.base.clock, key[:200])
        except ApiError:
            await self._by_address.note(who)
            raise ApiError("not_found", "this invitation is not good: it works once, and for a week") from None

    async def accept(self, request: Request, key: str, password: str) -> str:
        """Set the password that was chosen with an invitation, and return the cookie of a new session."""
        who = self.base.who(request)
        if await self._by_address.exhausted(who):
            raise ApiError("too_many", "too many wrong invitations: wait a minute")
        try:
            account = await self.base.database.awrite(researchers.accept, self.base.clock, key[:200], password)
        except ApiError:
            await self._by_address.note(who)
            raise
        if not researchers.may(account.role, self.study):
            raise ApiError("not_allowed", "your password is set; this account is for another study")
        return await self.base.database.awrite(self._begin, account)

    async def log_out(self, visit: Visit) -> None:
        """End a session, and note it in the audit log."""

        def work(tx: Tx) -> None:
            sessions.end(tx, visit.session)
            audit.note(tx, self.base.clock, visit.name, "logout", self.study)

        await self.base.database.awrite(work)

    def keep(self, response: Response, token: str) -> None:
        """Set the session cookie, and delete that of the login form."""
        self._set(response, COOKIE, token, LIFE)
        response.delete_cookie(BEFORE, path=self._path)

    def forget(self, response: Response) -> None:
        """Delete the session cookie."""
        response.delete_cookie(COOKIE, path=self._path)

    def _set(self, response: Response, name: str, token: str, life: timedelta) -> None:
        age = int(life.total_seconds())
        response.set_cookie(
            name, token, max_age=age, httponly=True, secure=self.secure, samesite="strict", path=self._path
        )

    def _begin(self, tx: Tx, account: Account) -> str:
        until = (self.base.clock.now() + LIFE).isoformat()
        _, token = sessions.begin(
            tx, self.base.clock, researchers.subject(account.id), {"study": self.study, "until": until}
        )
        audit.note(tx, self.base.clock, account.name, "login", self.study)
        return token

    def _visit(self, tx: Tx, token: str | None) -> Visit | None:
        session = sessions.find(tx, self.base.clock, token)
        if session is None or session.data.get("study") != self.study:
            return None
        until = session.data.get("until")
        if until is None or datetime.fromisoformat(until) <= self.base.clock.now():
            return None
        account = researchers.account_of_subject(tx, session.subject)
        return Visit(account, session) if account is not None and researchers.may(account.role, self.study) else None
