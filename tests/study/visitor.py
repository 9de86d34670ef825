"""Someone at a browser, by hand: every message is sent when the test says so."""

import asyncio
import contextlib
import json

import httpx
from websockets.asyncio.client import connect


class Visitor:
    """One person in a study; `async with` holds their cookies."""

    def __init__(self, url, study):
        self.url, self.api = url, f"{url}/api/study/{study}"
        self.client = httpx.AsyncClient(timeout=30)
        self.state = {}

    async def __aenter__(self):
        await self.look()
        return self

    async def __aexit__(self, *_):
        await self.client.aclose()

    @property
    def page(self):
        return self.state["page"]

    async def look(self, query=""):
        reply = await self.client.get(f"{self.api}/state{query}")
        assert reply.status_code == 200, reply.text
        self.state = reply.json()
        return self.page

    async def answer(self, **answers):
        body = {"page": self.page["id"], "answers": answers, "seconds": 1.0}
        headers = {"x-csrf": self.state["csrf"], "origin": self.url}
        reply = await self.client.post(f"{self.api}/answer", json=body, headers=headers)
        assert reply.status_code == 200, reply.text
        self.state = reply.json()
        return self.page

    async def send(self, what):
        """Stop taking part (`withdraw`), or be erased (`erase`); the reply."""
        headers = {"x-csrf": self.state["csrf"], "origin": self.url}
        reply = await self.client.post(f"{self.api}/{what}", json={}, headers=headers)
        if reply.status_code == 200:
            self.state = reply.json()
        return reply

    @contextlib.asynccontextmanager
    async def game(self, **hello):
        cookie = "; ".join(f"{name}={value}" for name, value in self.client.cookies.items())
        address = f"{self.api}/play".replace("http", "ws", 1)
        async with connect(address, additional_headers={"cookie": cookie}, origin=self.url, compression=None) as wire:
            line = Line(wire)
            await line.send(type="hello", seen=-1, page=self.page["id"], **hello)
            try:
                yield line
            finally:
                line.reader.cancel()


class Line:
    """The socket of a game: all that was told is kept, and can be waited for."""

    def __init__(self, wire):
        self.wire, self.heard = wire, []
        self.news = asyncio.Event()
        self.reader = asyncio.create_task(self._read())

    async def _read(self):
        with contextlib.suppress(Exception):
            async for text in self.wire:
                self.heard.append(json.loads(text))
                self.news.set()
        self.heard.append({"type": "closed"})
        self.news.set()

    async def send(self, **message):
        await self.wire.send(json.dumps(message))

    async def until(self, wanted, timeout=20, since=0):
        """The first message, of all so far (`since` so many) and to come, that `wanted` (a type or a test) fits."""
        fits = wanted if callable(wanted) else lambda message: message["type"] == wanted
        async with asyncio.timeout(timeout):
            at = since
            while True:
                while at < len(self.heard):
                    if fits(self.heard[at]):
                        return self.heard[at]
                    at += 1
                assert self.heard[-1:] != [{"type": "closed"}], f"closed before: {self.heard[-3:]}"
                self.news.clear()
                await self.news.wait()

    def place(self, message):
        """How many messages came up to this one."""
        return next(at for at, one in enumerate(self.heard, start=1) if one is message)

    def of(self, kind):
        return [message for message in self.heard if message["type"] == kind]

    @property
    def view(self):
        return self.of("tick")[-1]["view"]
