"""Sockets with limits: one JSON object a frame, of limited size, at a limited rate."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import orjson
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from interplay.server.api_error import ApiError
from interplay.server.clock import Clock
from interplay.server.rate_limits import Buckets

BAD_FRAME, TOO_LARGE, REFUSED, TRY_LATER = 1003, 1009, 1008, 1013  # codes with which sockets are closed


class ClientDisconnected(Exception):
    """The other side has left."""


class Frames:
    """Reads and writes the frames of one socket. A frame that is no JSON object ends it."""

    def __init__(
        self,
        socket: WebSocket,
        clock: Clock,
        *,
        largest: int = 256 * 1024,
        per_second: float = 2000,
        patience_s: float = 30.0,
    ):
        self._socket, self._largest, self._patience = socket, largest, patience_s
        self._rate = Buckets(clock, per_second, 2 * per_second)

    async def receive(self, timeout_s: float | None = None) -> dict[str, Any]:
        """Wait for the next frame.

        Raises:
            ClientDisconnected: The other side has left.
            TimeoutError: It is silent for too long.
        """
        try:
            message = await asyncio.wait_for(self._socket.receive(), timeout_s)
        except (WebSocketDisconnect, RuntimeError):
            raise ClientDisconnected from None
        if message["type"] == "websocket.disconnect":
            raise ClientDisconnected
        return self._read(message)

    def _read(self, message: Any) -> dict[str, Any]:
        text = message.get("text")
        if text is None:
            raise ApiError("bad_frame", "frames are text: one JSON object each")
        if len(text) > self._largest:
            raise ApiError("too_large", f"a frame has at most {self._largest} characters")
        if "\\u0000" in text:  # what PostgreSQL cannot store
            raise ApiError("bad_frame", "a frame holds no zero characters")
        if not self._rate.take(""):
            raise ApiError("too_many", "too many frames a second")
        try:
            content = orjson.loads(text)
        except (orjson.JSONDecodeError, UnicodeEncodeError):
            raise ApiError("bad_frame", "this frame is not JSON") from None
        if not isinstance(content, dict):
            raise ApiError("bad_frame", "a frame is a JSON object")
        return content

    async def send(self, content: Any) -> None:
        """Send one object; a reader that does not take it in time is gone."""
        text = content if isinstance(content, str) else dumps(content)
        try:
            async with asyncio.timeout(self._patience):  # unlike `wait_for`, without a task for each frame
                await self._socket.send_text(text)
        except (TimeoutError, WebSocketDisconnect, RuntimeError):
            raise ClientDisconnected from None

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Close the socket if it is open."""
        if self._socket.application_state is WebSocketState.CONNECTED:
            with contextlib.suppress(TimeoutError, RuntimeError, WebSocketDisconnect):
                await asyncio.wait_for(self._socket.close(code, reason[:120]), self._patience)


def dumps(content: Any) -> str:
    """JSON; numpy arrays become lists."""
    return orjson.dumps(content, option=orjson.OPT_SERIALIZE_NUMPY).decode()
