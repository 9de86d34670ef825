"""The web application that study and challenge add their routes to.

It limits what comes in, sets the headers of what goes out, and gives all refusals one form.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import InitVar, dataclass, field
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from starlette.exceptions import HTTPException

import interplay
from interplay.server.api_error import ApiError
from interplay.server.api_keys import Key, check
from interplay.server.audit import Refusals
from interplay.server.clock import Clock, SystemClock
from interplay.server.database import Database
from interplay.server.lease import Lease, acquire
from interplay.server.rate_limits import Addresses, Buckets

LARGEST_BODY = 256 * 1024
HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
}
PAGE_POLICY = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; media-src 'self'; " \
    "connect-src 'self'; " \
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"  # fmt: skip

_NO_PAGE = (
    '<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>No such page</title>'
    "<h1>There is no such page</h1><p>Please check the address, or use the link that you were given.</p></html>"
)

Lifespan = Callable[[], Any]  # gives an async context manager


@dataclass
class Base:
    """What the routes of study and challenge share."""

    database: Database
    clock: Clock = field(default_factory=SystemClock)
    guesses_per_minute: float = 20  # wrong keys from one address
    page_policy: str = PAGE_POLICY
    requests_per_second: float | None = None  # from one address, of any kind; None: tenants have limits of their own
    burst: float = 400
    prefix: str = ""  # of all addresses, such as /lab
    address_key: bytes | None = None  # with which addresses are hashed, of processes that serve together
    lease: InitVar[Lease | None] = None  # one that was acquired before; hosts acquire theirs when they open

    def __post_init__(self, lease: Lease | None) -> None:
        self.leases: dict[str, Lease] = {} if lease is None else {lease.name: lease}  # of what is served, by name
        self.addresses = Addresses(self.address_key)
        rate = self.requests_per_second
        self.visitors = None if rate is None else Buckets(self.clock, rate, self.burst)
        self.refusals = Refusals(self.database, self.clock)
        self.guesses = Buckets(self.clock, self.guesses_per_minute / 60, self.guesses_per_minute)

    async def own(self, name: str) -> Lease:
        """Return the lease of what is served, acquired if it was not before.

        Raises:
            InterplayError: Another server serves it from this database.
        """
        if name not in self.leases:
            self.leases[name] = await asyncio.to_thread(acquire, self.database, name)
        return self.leases[name]

    async def disown(self) -> None:
        """Give all leases back: nothing more is written."""
        while self.leases:
            _, lease = self.leases.popitem()
            await asyncio.to_thread(lease.release)

    def headers(self) -> dict[str, str]:
        """What every answer carries."""
        return {**HEADERS, "content-security-policy": self.page_policy, "cache-control": "no-store"}

    def who(self, connection: Any) -> str:
        """The name of an unknown visitor."""
        return self.addresses.name(connection.client.host if connection.client else None)

    async def key(self, connection: Any, kinds: tuple[str, ...], text: str | None = None) -> Key:
        """The key of a request: given, or as `Authorization: Bearer KEY`. Guessing is slowed down, and noted."""
        visitor = self.who(connection)
        if self.guesses.exhausted(visitor):
            raise ApiError("too_many", "too many wrong keys from here: wait a minute")
        key_text = text if text is not None else bearer(connection.headers.get("authorization"))
        if key_text is None:
            raise ApiError("unknown_key", "give your key in the header `Authorization: Bearer KEY`")
        try:
            return await self.database.aread(check, self.clock, key_text, kinds)
        except ApiError:
            self.guesses.take(visitor)
            raise

    def refused(self, connection: Any, refusal: ApiError, actor: str | None = None) -> None:
        """Note a refusal in the audit log."""
        path = connection.scope.get("path", "")
        # The published protocol carries keys in the path; they must not reach the log.
        where = "/".join(part if len(part) < 40 else "…" for part in path.split("/"))[:120]
        self.refusals.note(actor or self.who(connection), refusal.code, refusal.message, path=where)


def retry_after(refusal: ApiError) -> dict[str, str] | None:
    """When to come again, for those who came too often or too early."""
    if refusal.status not in (429, 503):
        return None
    return {"retry-after": str(refusal.detail.get("wait_s", 2))}


def bearer(header: str | None) -> str | None:
    """Return the key of an `Authorization: Bearer KEY` header, or None."""
    scheme, _, rest = (header or "").partition(" ")
    return rest.strip() if scheme.lower() == "bearer" and rest.strip() else None


def make_app(base: Base, title: str, lifespan: Lifespan | None = None, docs: bool = True) -> FastAPI:
    """An application with nothing on it but `/health`."""

    @asynccontextmanager
    async def living(app: FastAPI) -> AsyncIterator[None]:
        if lifespan is None:
            yield
        else:
            async with lifespan():
                yield
        await base.refusals.settle()

    app = FastAPI(
        title=title,
        version=interplay.__version__,
        lifespan=living,
        docs_url=None,  # the usual pages load scripts from elsewhere
        redoc_url=None,
        openapi_url="/api/openapi.json" if docs else None,
    )
    app.add_middleware(Guard, base=base)

    @app.exception_handler(ApiError)
    async def refused(request: Request, refusal: ApiError) -> JSONResponse:
        if refusal.status != 503:  # what is noted then would have to wait for the very database that is away
            base.refused(request, refusal)
        return JSONResponse(refusal.record(), refusal.status, headers=retry_after(refusal))

    @app.exception_handler(Exception)
    async def failed(request: Request, error: Exception) -> JSONResponse:
        """Told outside of the guard, so it is dressed here; the server's log has the error itself."""
        body = {"error": "failed", "message": "something went wrong here: it is noted, try again"}
        return JSONResponse(body, 500, headers=base.headers())

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])[:200]
        message = f"{where}: {first['msg']}".encode("utf-8", "replace").decode()  # names may hold what cannot be sent
        return JSONResponse({"error": "bad_request", "message": message}, 422)

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> Response:
        if error.status_code == 404 and "text/html" in request.headers.get("accept", ""):  # a person's browser
            return HTMLResponse(_NO_PAGE, 404)
        code = {404: "not_found", 405: "not_allowed"}.get(error.status_code, "bad_request")
        body = {"error": code, "message": str(error.detail)}
        return JSONResponse(body, error.status_code, headers=error.headers)

    @app.get("/health", tags=["server"])
    async def health() -> dict[str, str]:
        """Whether the server answers and its database does."""
        await base.database.aread(_ping)
        return {"status": "ok", "interplay": interplay.__version__}

    return app


def _ping(tx: Any) -> None:
    tx.exec_driver_sql("SELECT 1")


Message = MutableMapping[str, Any]


class Guard:
    """Middleware that limits requests and sets the security headers of every answer.

    Visitors that come too often are refused before anything is computed for them, and bodies that are too large while
    they come in.
    """

    def __init__(self, app: Any, base: Base):
        self._app, self._base = app, base

    async def __call__(self, scope: Message, receive: Callable[[], Awaitable[Message]], send: Any) -> None:
        """Handle one request or socket."""
        if self._too_often(scope):
            await self._turn_away(scope, receive, send)
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        taken = 0

        async def limited() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > LARGEST_BODY:
                raise _TooLarge
            return message

        async def dressed(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = {name.lower() for name, _ in message["headers"]}
                extra = self._base.headers()
                message["headers"] = [
                    *message["headers"],
                    *((k.encode(), v.encode()) for k, v in extra.items() if k.encode() not in present),
                ]
            await send(message)

        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if declared.isdigit() and int(declared) > LARGEST_BODY:
            await _too_large()(scope, receive, dressed)
            return
        try:
            await self._app(scope, limited, dressed)
        except _TooLarge:
            await _too_large()(scope, receive, dressed)

    def _too_often(self, scope: Message) -> bool:
        visitors = self._base.visitors
        if visitors is None or scope["type"] not in ("http", "websocket"):
            return False
        client = scope.get("client")
        return not visitors.take(self._base.addresses.name(client[0] if client else None))

    async def _turn_away(self, scope: Message, receive: Callable[[], Awaitable[Message]], send: Any) -> None:
        """As cheaply as can be: this is what is done a thousand times a second."""
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1013})
            return
        await send({"type": "http.response.start", "status": 429, "headers": _TOO_OFTEN_HEADERS})
        await send({"type": "http.response.body", "body": _TOO_OFTEN})


_TOO_OFTEN = b'{"error":"too_many","message":"too many requests from here: wait a moment"}'
_TOO_OFTEN_HEADERS = [
    (b"content-type", b"application/json"),
    (b"content-length", str(len(_TOO_OFTEN)).encode()),
    (b"retry-after", b"2"),
    *((name.encode(), value.encode()) for name, value in HEADERS.items()),
]


class _TooLarge(Exception):
    pass


def _too_large() -> JSONResponse:
    return JSONResponse({"error": "too_large", "message": f"at most {LARGEST_BODY} bytes"}, 413)
