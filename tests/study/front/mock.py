"""A small server that speaks the study's wire to the front end: pages in a list, games of a few rules.

It checks what a browser must get right (token, same page, rising numbers) and keeps all that it was sent.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket, WebSocketDisconnect

import interplay.study
from interplay.server.app import HEADERS, PAGE_POLICY
from interplay.server.serve import serving

STATIC = Path(interplay.study.__file__).parent / "static"
TOKEN = "token-of-this-session"
ROOM = ["XXPXX", "O   O", "X   X", "XDXSX"]
STEPS = {"north": (0, -1), "south": (0, 1), "east": (1, 0), "west": (-1, 0)}
STEPS |= {"up": (0, -1), "down": (0, 1), "right": (1, 0), "left": (-1, 0)}


class Mock:
    """What the tests set and read. `pages` are shown in order; an answer moves on, unless `complain` says something."""

    def __init__(self) -> None:
        self.reset([])

    def reset(self, pages: list[dict[str, Any]], *, ticks: int = 10_000) -> None:
        self.pages, self.at, self.language = pages, 0, "en"
        self.answers: list[dict[str, Any]] = []
        self.complain: dict[str, str] | None = None
        self.replies: dict[str, dict[str, Any]] = {}  # a page's id -> what replaces it after an answer
        self.refusal: tuple[int, str] | None = None  # with which the state is refused
        self.broken = 0  # so many requests are answered with 503
        self.left: list[str] = []  # "withdraw" and "erase", as they were asked for
        self.frames: list[dict[str, Any]] = []
        self.sockets: list[WebSocket] = []
        self.game = Game(ticks)

    def state(self) -> dict[str, Any]:
        return {
            "csrf": TOKEN, "language": self.language, "languages": ["en", "zh"],
            "progress": {"done": self.at, "of": len(self.pages)}, "page": self.pages[self.at],
        }  # fmt: skip

    def sent(self, kind: str) -> list[dict[str, Any]]:
        return [frame for frame in self.frames if frame["type"] == kind]

    def shut(self, code: int) -> None:
        """Close every socket, as a lost line or a refusal does."""
        for found in self.sockets:
            asyncio.run_coroutine_threadsafe(found.close(code), self.loop)


def unknown(number: int) -> dict[str, Any]:
    return {"id": number, "colour": None, "rank": None, "colours": "RYGWB", "ranks": [1, 2, 3, 4, 5]}


class Game:
    """Seat 0 walks by what is sent, seat 1 to and fro; by turns, every move is answered by one of the partner's."""

    def __init__(self, ticks: int) -> None:
        self.ticks, self.t, self.score = ticks, 0, 0
        self.where, self.facing, self.held = (1, 1), "south", None
        self.next: str | None = None
        self.last_seq = 0
        self.paused = False
        self.refuse = False  # the next move is turned down
        self.history: list[dict[str, Any]] = [{"t": 0, "seat": 1, "text": "hints red: your cards 1 and 3"}]
        self.messages: list[dict[str, Any]] = [{"seat": 1, "text": "I will chop the onions."}]
        self.hand = [
            {"id": i, "colour": None, "rank": None, "colours": "RYGWB", "ranks": [1, 2, 3, 4, 5]} for i in range(5)
        ]
        self.hand[0]["colours"] = self.hand[2]["colours"] = "R"

    def step(self) -> None:
        action, self.next = self.next, None
        self.t += 1
        if action in STEPS:
            dx, dy = STEPS[action]
            self.facing = action
            x, y = self.where[0] + dx, self.where[1] + dy
            if ROOM[y][x] == " ":
                self.where = (x, y)
        elif action == "interact":
            self.held = None if self.held else "onion"
            self.score += 1

    def move(self, action: str) -> None:
        self.history.append({"t": len(self.history), "seat": 0, "text": action})
        self.history.append({"t": len(self.history), "seat": 1, "text": "discards card 5"})
        if action.startswith(("play", "discard")):
            del self.hand[int(action.split()[-1])]
            self.hand.append(unknown(1 + max(c["id"] for c in self.hand)))

    def view(self, game: str) -> dict[str, Any]:
        if game == "hanabi":
            return self.hanabi()
        if game == "kitchen":
            return self.kitchen()
        (x, y), partner = self.where, 1 + (self.t // 6) % 3
        chefs = [
            {"x": x, "y": y, "facing": self.facing, "held": self.held, "seat": 0, "role": "nurse"},
            {"x": partner, "y": 2, "facing": "east", "held": "dish", "seat": 1, "role": "firefighter"},
        ]
        if game == "rescue":
            rows = ["#######", "#  +  #", "# !#  #", "#     #", "#######"]
            kinds = (("victim", "40 %"), ("fire", None), ("debris", None), ("kit", None), ("victim", "seen"))
            items = [{"x": cx, "y": cy, "kind": k, "detail": d}
                     for (cx, cy), (k, d) in zip(((5, 1), (4, 2), (5, 3), (1, 3), (4, 1)), kinds)]  # fmt: skip
            chefs[1]["held"] = "extinguisher"
            return {"width": 7, "height": 5, "terrain": rows, "chefs": chefs, "items": items, "pots": [],
                    "unseen": [[4, 3], [5, 2]]}  # fmt: skip
        items = [
            {"x": 0, "y": 2, "kind": "onion", "detail": None},
            {"x": 4, "y": 2, "kind": "soup", "detail": "3,0"},
        ]
        pots = [{"x": 2, "y": 0, "onions": 2, "tomatoes": 1, "timer": 14}]
        return {"width": 5, "height": 4, "terrain": ROOM, "chefs": chefs, "items": items, "pots": pots}

    def hanabi(self) -> dict[str, Any]:
        partner = [{"id": 20 + i, "colour": c, "rank": r, "colours": "RYGWB", "ranks": [r]}
                   for i, (c, r) in enumerate((("R", 1), ("Y", 2), ("R", 3), ("B", 1), ("W", 5)))]  # fmt: skip
        moves = [(f"{what} {i}", f"{what.capitalize()} card {i + 1}", what, None, i)
                 for what in ("play", "discard") for i in range(5)]  # fmt: skip
        moves += [(f"hint {v}", f"Hint {v}", "hint", 1, v) for v in ("R", "Y", "B", "W", 1, 2, 3, 5)]
        legal = [dict(zip(("action", "label", "kind", "target", "value"), move)) for move in moves]
        return {
            "hands": [self.hand, partner], "fireworks": {"R": 2, "Y": 0, "G": 1, "W": 0, "B": 3},
            "tokens": 6, "lives": 3, "deck": 31, "legal": legal,
            "discards": [{"colour": "Y", "rank": 1}, {"colour": "B", "rank": 4}],
            "history": self.history, "your_turn": True,
        }  # fmt: skip

    def kitchen(self) -> dict[str, Any]:
        svg = (
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 300 120'><title>Two chefs</title>"
            "<rect width='300' height='120' fill='#efe6d6'/><circle cx='80' cy='60' r='24' fill='#2563c9'/></svg>"
        )
        legal = [{"action": a, "label": a.capitalize()} for a in ("pick up onion", "chop onion", "wait")]
        return {"text": "You stand at the counter.", "svg": svg, "messages": self.messages, "legal": legal}


def _app(mock: Mock) -> Starlette:
    headers = {**HEADERS, "content-security-policy": PAGE_POLICY}

    async def shell(request: Request) -> Response:
        return FileResponse(STATIC / "index.html", headers=headers)

    async def state(request: Request) -> Response:
        if mock.refusal is not None:
            return JSONResponse({"error": "refused", "message": mock.refusal[1]}, mock.refusal[0])
        return JSONResponse(mock.state())

    async def answer(request: Request) -> Response:
        if mock.broken:
            mock.broken -= 1
            return JSONResponse({"error": "down", "message": "the database is away"}, 503)
        if request.headers.get("x-csrf") != TOKEN:
            return JSONResponse({"error": "csrf", "message": "wrong token"}, 403)
        body = await request.json()
        page = mock.pages[mock.at]
        if body["page"] != page["id"]:
            return JSONResponse({"error": "stale", "message": "another page comes now"}, 409)
        mock.answers.append(body)
        if mock.complain:
            errors, mock.complain = mock.complain, None
            return JSONResponse({"errors": errors}, 422)
        if page["id"] in mock.replies:
            mock.pages[mock.at] = mock.replies.pop(page["id"])
        else:
            mock.at += 1
        return JSONResponse(mock.state())

    async def language(request: Request) -> Response:
        mock.language = (await request.json())["language"]
        return JSONResponse(mock.state())

    async def leave(request: Request) -> Response:
        """The last page comes, whichever it is."""
        if request.headers.get("x-csrf") != TOKEN:
            return JSONResponse({"error": "csrf", "message": "wrong token"}, 403)
        mock.left.append(request.url.path.rpartition("/")[2])
        if mock.left[-1] == "erase":
            mock.pages[-1] = {**mock.pages[-1], "text": "<p>All is erased.</p>", "erasable": False}
        mock.at = len(mock.pages) - 1
        return JSONResponse(mock.state())

    async def play(socket: WebSocket) -> None:
        await socket.accept()
        mock.sockets.append(socket)
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):
            await _play(mock, socket)
        if socket in mock.sockets:  # not so after a reset
            mock.sockets.remove(socket)

    return Starlette(
        routes=[
            Route("/study/{name}", shell),
            Route("/api/study/{name}/state", state),
            Route("/api/study/{name}/answer", answer, methods=["POST"]),
            Route("/api/study/{name}/language", language, methods=["POST"]),
            Route("/api/study/{name}/withdraw", leave, methods=["POST"]),
            Route("/api/study/{name}/erase", leave, methods=["POST"]),
            WebSocketRoute("/api/study/{name}/play", play),
            Mount("/static", StaticFiles(directory=STATIC)),
        ]
    )


async def _play(mock: Mock, socket: WebSocket) -> None:
    kind, game = mock.pages[mock.at]["game"], mock.game
    mock.frames.append(await socket.receive_json())
    assert mock.frames[-1]["type"] == "hello"
    start = {"type": "start", "game": kind, "tick_hz": 12, "ticks": game.ticks, "seat": 0, "you": 0, "layout": None}
    await socket.send_json(start)
    ticking = asyncio.create_task(_ticks(mock, socket, kind))
    try:
        while True:
            frame = await socket.receive_json()
            mock.frames.append(frame)
            if frame["type"] == "ping":
                await socket.send_json({"type": "pong", "at": frame["at"]})
            if "seq" in frame:
                await _take(mock, socket, kind, frame)
    finally:
        ticking.cancel()


async def _take(mock: Mock, socket: WebSocket, kind: str, frame: dict[str, Any]) -> None:
    game = mock.game
    if game.refuse:
        game.refuse = False
        await socket.send_json({"type": "error", "message": "this move is not possible now"})
        return
    if frame["seq"] > game.last_seq:  # a repeated message is acknowledged again, and counts once
        game.last_seq = frame["seq"]
        if frame["type"] == "chat":
            game.messages.append({"seat": 0, "text": frame["text"]})
        elif frame["type"] == "act" and kind in ("hanabi", "kitchen"):
            game.move(frame["action"])
        elif frame["type"] == "act":
            game.next = frame["action"]
    await socket.send_json({"type": "ack", "seq": frame["seq"], "t": game.t})


async def _ticks(mock: Mock, socket: WebSocket, kind: str) -> None:
    game = mock.game
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        while game.t < game.ticks:
            if game.paused:
                await socket.send_json({"type": "pause", "reason": "your partner is away", "grace_s": 20})
                while game.paused:
                    await asyncio.sleep(0.1)
            tick = {"type": "tick", "t": game.t, "score": game.score, "left_s": (game.ticks - game.t) / 12}
            await socket.send_json({**tick, "view": game.view(kind)})
            await asyncio.sleep(1 / 12)
            game.step()
        mock.at += 1
        await socket.send_json({"type": "end", "score": game.score, "next": True})


@contextlib.contextmanager
def serve(mock: Mock) -> Iterator[str]:
    """The mock on a free port of this machine, in a thread; gives its address."""
    with serving(_app(mock)) as (url, mock.loop):
        yield url
