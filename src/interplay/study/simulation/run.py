"""Run simulated participants through a study, over the same HTTP and WebSockets that browsers use."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import socket
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import httpx
import jax
import orjson
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from interplay import trust
from interplay.errors import InterplayError
from interplay.games.registry import make_recorded
from interplay.server.app import Base
from interplay.server.serve import Listen, config
from interplay.study.analysis.analysis_list import pages
from interplay.study.http.app import build
from interplay.study.live.browser_views import browser_view
from interplay.study.pages.page_type import page_type
from interplay.study.protocol.model import Protocol
from interplay.study.simulation.cooks import SAY
from interplay.study.simulation.participants import AnswerModel, ButtonPresser, SimulatedPlayer

MOST_PAGES = 2000
MOST_CONNECTIONS = 20  # to one game
FLAGGED = 0.05  # probability of pressing a flag button at a tick


@dataclass
class SimulatedVisit:
    """One simulated participant's way through a study."""

    number: int
    pages: list[str] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    status: str = ""
    code: str | None = None
    payment: str | None = None
    seconds: float = 0.0


class SimulatedWorlds:
    """The games of a study, and who plays them. A game is found by its board and map: browsers are not sent names."""

    def __init__(self, protocol: Protocol):
        self._by_board: dict[str, list[tuple[str, Any]]] = {}
        for setting in protocol.games.values():
            game = make_recorded(setting.game, setting.options)
            view = browser_view(game)
            layout = view.layout(game, game.init(jax.random.key(0)))
            self._by_board.setdefault(view.board, []).append((json.dumps(layout, sort_keys=True), game))

    def player(self, start: dict[str, Any], chance: random.Random) -> SimulatedPlayer:
        """Return a player for a game from its first message; where no map is the same, for the first with its board."""
        games, layout = self._by_board[start["game"]], json.dumps(start["layout"], sort_keys=True)
        game = next((game for known, game in games if known == layout), games[0][1])
        make = browser_view(game).simulate
        return trust.import_object(make)(game, start["you"], chance) if make else ButtonPresser(chance)


class SimulatedSeat:
    """The client of one game: keeps the latest tick, and sends what a simulated player chooses."""

    def __init__(self, page: dict[str, Any], worlds: SimulatedWorlds, chance: random.Random):
        self._flags, self._worlds, self._chance = [flag["id"] for flag in page["flags"]], worlds, chance
        self._bot: SimulatedPlayer | None = None
        self._tick: dict[str, Any] | None = None
        self._fresh = asyncio.Event()
        self._seq = 0
        self.seen = -1

    async def read(self, wire: ClientConnection) -> float | None:
        """Read until the game ends, and return its score; None if the connection closes first."""
        async for text in wire:
            message = orjson.loads(text)
            if message["type"] == "end":
                return float(message["score"])
            self._hear(message)
        return None

    def _hear(self, message: dict[str, Any]) -> None:
        if message["type"] == "start":
            self._seq = max(self._seq, message["seq"] + 1)
            self._bot = self._bot or self._worlds.player(message, self._chance)
        elif message["type"] == "tick":
            self._tick, self.seen = message, message["t"]
            self._fresh.set()
        elif message["type"] == "error":  # a move that was turned down: choose again
            self._fresh.set()

    async def think(self, wire: ClientConnection) -> float | None:
        """Choose and send actions until cancelled."""
        while True:
            await self._fresh.wait()
            self._fresh.clear()
            tick = self._tick
            if tick is None or self._bot is None:
                continue
            for flag in self._flags:
                if self._chance.random() < FLAGGED:
                    await self._send(wire, type="flag", id=flag, t=tick["t"])
            action = await asyncio.to_thread(self._bot.choose, tick["t"], tick["view"])
            if action is not None and action.startswith(SAY):
                await self._send(wire, type="chat", text=action.removeprefix(SAY))
            elif action is not None:
                await self._send(wire, type="act", action=action)

    async def _send(self, wire: ClientConnection, **message: Any) -> None:
        self._seq += 1
        await wire.send(json.dumps({**message, "seq": self._seq}))


class SimulatedParticipant:
    """A client that does what a participant's browser does.

    Args:
        protocol: The study.
        url: The server's address.
        number: Which simulated participant this is.
        seed: Seed of all simulated participants; each derives its own from its number.
        worlds: The games of the study.
    """

    def __init__(self, protocol: Protocol, url: str, number: int, seed: int, worlds: SimulatedWorlds):
        self._protocol, self._url, self._worlds = protocol, url, worlds
        self._api = f"{url}/api/study/{protocol.name}"
        self._chance = random.Random(f"{seed}/{number}")
        self._opinion = AnswerModel(self._chance)
        self._items = {page.id: page for page in pages(protocol)}
        self.visit = SimulatedVisit(number)

    async def go(self) -> SimulatedVisit:
        """Go through the study from the first page to the last.

        Raises:
            InterplayError: The server refuses a request, or a game or the study does not end.
        """
        began = time.monotonic()
        headers = {"accept-language": "en"}  # if the study has it: simulated players read the kitchen's texts
        async with httpx.AsyncClient(timeout=60, headers=headers) as client:
            state = (await self._ask(client, "GET", "state")).json()
            for _ in range(MOST_PAGES):
                page = state["page"]
                self.visit.pages.append(page["id"])
                if page["kind"] == "done":
                    self.visit.status, self.visit.code, self.visit.payment = "done", page["code"], page["payment"]
                    self.visit.seconds = time.monotonic() - began
                    return self.visit
                state = await self._through(client, state)
        raise InterplayError(f"simulated person {self.visit.number} found no end after {MOST_PAGES} pages")

    async def _through(self, client: httpx.AsyncClient, state: dict[str, Any]) -> dict[str, Any]:
        page = state["page"]
        if page["kind"] == "wait":
            await asyncio.sleep(0.5)
            return (await self._ask(client, "GET", "state")).json()
        if page["kind"] == "game":
            cookie = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
            score = await self._play(page, cookie)
            if not page["practice"]:
                self.visit.scores.append(score)
            self._opinion.played(page["alias"]["label"], score)
            return (await self._ask(client, "GET", "state")).json()
        item = self._items[page["id"].rpartition(".")[2]]
        answers = page_type(page["kind"]).simulate(item, page, self._opinion)
        body = {"page": page["id"], "answers": answers, "seconds": round(self._chance.uniform(1, 60), 1)}
        headers = {"x-csrf": state["csrf"], "origin": self._url}
        return (await self._ask(client, "POST", "answer", json=body, headers=headers)).json()

    async def _ask(self, client: httpx.AsyncClient, method: str, what: str, **options: Any) -> httpx.Response:
        response = await client.request(method, f"{self._api}/{what}", **options)
        while response.status_code == 429:  # as the browser does: wait and try again
            await asyncio.sleep(0.5)
            response = await client.request(method, f"{self._api}/{what}", **options)
        if response.status_code != 200:
            raise InterplayError(
                f"simulated person {self.visit.number} was refused ({response.status_code}): {response.text[:300]}"
            )
        return response

    async def _play(self, page: dict[str, Any], cookie: str) -> float:
        """Play a game to its end, and reconnect if the connection is lost, as the browser does."""
        seat = SimulatedSeat(page, self._worlds, self._chance)
        for tries in range(MOST_CONNECTIONS):
            try:
                score = await self._connect(page, cookie, seat)
            except (ConnectionClosed, InvalidHandshake, OSError):
                score = None
            if score is not None:
                return score
            await asyncio.sleep(min(3.0, 0.1 * 2**tries))
        raise InterplayError(
            f"simulated person {self.visit.number}: the game on {page['id']!r} had no end after "
            f"{MOST_CONNECTIONS} connections"
        )

    async def _connect(self, page: dict[str, Any], cookie: str, seat: SimulatedSeat) -> float | None:
        address = self._url.replace("http", "ws", 1) + page["socket"]
        headers = {"cookie": cookie}
        async with connect(address, additional_headers=headers, origin=self._url, compression=None) as wire:  # pyright: ignore[reportArgumentType]
            await wire.send(json.dumps({"type": "hello", "seen": seat.seen, "page": page["id"]}))
            reading, thinking = asyncio.create_task(seat.read(wire)), asyncio.create_task(seat.think(wire))
            try:
                done, _ = await asyncio.wait({reading, thinking}, return_when=asyncio.FIRST_COMPLETED)
                return (reading if reading in done else thinking).result()
            finally:
                reading.cancel()
                thinking.cancel()


@contextlib.asynccontextmanager
async def serving(app: Any) -> AsyncIterator[str]:
    """Serve an application on a free local port, in this event loop, and yield its address."""
    import uvicorn

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = uvicorn.Server(config(app, Listen(port=port), largest_frame=64 * 1024))
    task = asyncio.create_task(server.serve())
    while not server.started:
        if task.done():
            task.result()
            raise InterplayError("the server of the simulation did not start")
        await asyncio.sleep(0.02)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        await task


async def simulate(
    protocol: Protocol,
    base: Base,
    people: int,
    *,
    seed: int = 0,
    speed: float = 20.0,
    at_once: int = 4,
    done: Callable[[int], None] = lambda count: None,
) -> list[SimulatedVisit]:
    """Run simulated participants through a study, with games faster than people could play them.

    Args:
        protocol: The study.
        base: The server's base, with the database and the clock.
        people: How many.
        seed: Seed of their answers and moves.
        speed: How many times faster than real time games run.
        at_once: How many at the same time.
        done: Called with 1 after each.

    Returns:
        What each of them went through.
    """
    worlds = SimulatedWorlds(protocol)
    app = build(protocol, base, speed=speed, sizes=(1, max(2, at_once)))
    places = asyncio.Semaphore(at_once)

    async def visit(url: str, number: int) -> SimulatedVisit:
        async with places:
            walk = await SimulatedParticipant(protocol, url, number, seed, worlds).go()
            done(1)
            return walk

    async with serving(app) as url:
        return list(await asyncio.gather(*(visit(url, number) for number in range(people))))
