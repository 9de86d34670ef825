"""Someone who goes through a study whatever happens to the server: asks again, reconnects, and remembers exactly what
was acknowledged and shown. Written from the description of the wire alone."""

import asyncio
import json
import random
import time
from dataclasses import dataclass, field

import httpx
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

GONE = (OSError, ConnectionClosed, InvalidHandshake, EOFError, TimeoutError)


@dataclass
class Seen:
    """What one person was told, and may therefore hold the server to."""

    answers: dict = field(default_factory=dict)  # page -> what was sent and answered by 200
    acked: dict = field(default_factory=dict)  # page -> numbers of actions and flags
    flags: dict = field(default_factory=dict)  # page -> numbers of flags among them
    scores: dict = field(default_factory=dict)  # page -> the score at the end
    pauses: list = field(default_factory=list)  # when the server said that games wait
    statuses: list = field(default_factory=list)  # of all answers by HTTP, with their Retry-After
    ticks: list = field(default_factory=list)  # (when, page, t)
    resumed: int = 0  # lines to a game that had been played before
    done: dict | None = None
    token: str | None = None


class Visitor:
    def __init__(self, url, study, number, *, right=None, recruit=None, source=None, think_s=0.05):
        self.url, self.api = url, f"{url}/api/study/{study}"
        self.chance, self.right, self.recruit, self.think_s = random.Random(number), right or {}, recruit, think_s
        transport = httpx.AsyncHTTPTransport(local_address=source) if source else None
        self.client = httpx.AsyncClient(timeout=20, transport=transport)
        self.source = source
        self.seen = Seen()
        self.csrf = ""
        self.wires = []  # every byte of the sockets, for those who want to look

    async def go(self, until=lambda page: False):
        """From wherever the person stands to the end, or to a page at which to stop."""
        state = await self.state()
        while state["page"]["kind"] != "done" and not until(state["page"]):
            state = await self.through(state)
        if state["page"]["kind"] == "done":
            self.seen.done = state["page"]
        return self.seen

    async def state(self):
        params = {"PROLIFIC_PID": self.recruit} if self.recruit else None
        told = (await self.ask("GET", "state", params=params)).json()
        self.csrf = told["csrf"]
        self.seen.token = next(iter(self.client.cookies.values()), None)
        return told

    async def through(self, state):
        page = state["page"]
        await asyncio.sleep(self.chance.uniform(0, 2 * self.think_s))
        if page["kind"] == "game":
            await self.play(page)
            return await self.state()
        if page["kind"] == "wait":
            await asyncio.sleep(0.5)
            return await self.state()
        sent = self.answer(page)
        body = {"page": page["id"], "answers": sent, "seconds": round(self.chance.uniform(1, 60), 1)}
        answer = await self.ask("POST", "answer", json=body)
        if answer.status_code == 409:  # answered before, but the reply got lost
            return await self.state()
        self.seen.answers[page["id"]] = sent
        return answer.json()

    async def ask(self, method, what, **options):
        """As the browser does: until there is an answer other than `come again`."""
        for _ in range(600):
            headers = {"x-csrf": self.csrf, "origin": self.url} if method == "POST" else {}
            try:
                answer = await self.client.request(method, f"{self.api}/{what}", headers=headers, **options)
            except httpx.TransportError:
                await asyncio.sleep(0.1)
                continue
            self.seen.statuses.append((answer.status_code, answer.headers.get("retry-after")))
            if answer.status_code not in (429, 502, 503, 504):
                assert answer.status_code in (200, 409), (answer.status_code, answer.text)
                return answer
            await asyncio.sleep(0.2)
        raise AssertionError("the server does not come back")

    def answer(self, page):
        chance = self.chance
        match page["kind"]:
            case "consent":
                return {box["id"]: True for box in page["checkboxes"]}
            case "form" | "quiz":
                return {q["id"]: self.right.get(q["id"]) or self.one(q) for q in page["questions"]}
            case "ranking":
                order = [item["id"] for item in page["items"]]
                chance.shuffle(order)
                return {"order": order}
        return {}

    def one(self, question):
        if question["type"] in ("likert", "two_sided"):
            return self.chance.randint(1, question["points"])
        if question["type"] == "choice":
            return self.chance.choice(question["options"])["value"]
        if question["type"] == "number":
            return self.chance.randint(int(question["min"] or 0), int(question["max"] or 9))
        return f"n{self.chance.randrange(10**9)}"

    async def play(self, page):
        """One game, over as many lines as it takes."""
        game = Game(self, page)
        for _ in range(600):
            try:
                cookies = "; ".join(f"{name}={value}" for name, value in self.client.cookies.items())
                options = {"local_addr": (self.source, 0)} if self.source else {}
                async with connect(
                    self.url.replace("http", "ws", 1) + page["socket"], origin=self.url, compression=None,
                    additional_headers={"cookie": cookies}, open_timeout=10, **options,
                ) as wire:  # fmt: skip
                    if await game.over(wire):
                        return
            except GONE:
                await asyncio.sleep(0.1)
            state = await self.state()
            if state["page"]["id"] != page["id"]:  # it ended, and the end got lost
                return
            page = state["page"]  # perhaps another process plays it now
        raise AssertionError("the game does not end")


class Game:
    """One person's game: what was sent, what was acknowledged."""

    def __init__(self, visitor, page):
        self.visitor, self.page, self.chance, self.seen = visitor, page, visitor.chance, visitor.seen
        self.acked = self.seen.acked.setdefault(page["id"], set())
        self.flags = self.seen.flags.setdefault(page["id"], set())
        self.open = {}  # flags and moves that are sent until they are acknowledged
        self.seq, self.least, self.first, self.moved, self.last = 0, -1, True, -1, None

    async def over(self, wire):
        """Play on one line; whether the game ended on it."""
        await self.say(wire, {"type": "hello", "seen": -1, "page": self.page["id"]})
        self.first, self.moved, self.last = True, -1, None
        async for text in wire:
            self.visitor.wires.append(text)
            told = json.loads(text)
            match told["type"]:
                case "start":
                    assert told["seq"] >= max(self.acked, default=-1), "numbers that were acknowledged are forgotten"
                    self.seq = max(self.seq, told["seq"] + 1)
                    for message in self.open.values():
                        await self.say(wire, message)
                case "tick":
                    await self.tick(wire, told)
                case "ack":
                    self.acked.add(told["seq"])
                    if self.open.pop(told["seq"], {}).get("type") == "flag":
                        self.flags.add(told["seq"])
                    else:
                        self.least = max(self.least, told["t"] + 1)
                case "pause":
                    self.seen.pauses.append(time.monotonic())
                case "error":  # a move that is no longer possible: another one is chosen
                    self.open = {seq: message for seq, message in self.open.items() if message["type"] != "act"}
                    await self.move(wire)
                case "end":
                    self.seen.scores[self.page["id"]] = told["score"]
                    return True
        return False

    async def tick(self, wire, told):
        t, view = told["t"], told["view"]
        self.seen.ticks.append((time.monotonic(), self.page["id"], t))
        if self.first and t > 0:
            self.seen.resumed += 1
        if self.first:
            assert t >= self.least, f"{self.page['id']}: step {self.least} was acknowledged; the game is at {t} again"
            self.first = False
        self.last = told
        if "legal" in view:
            if self.moved != t:
                await self.move(wire)
        elif self.chance.random() < 0.7:
            action = self.chance.choice(["north", "south", "east", "west", "interact"])
            await self.say(wire, {"type": "act", "seq": self.number(), "action": action})
        if self.page["flags"] and self.chance.random() < 0.15:
            await self.submit(wire, {"type": "flag", "id": self.page["flags"][0]["id"], "t": t})

    async def move(self, wire):
        """In turns: something that is possible, if it is one's turn."""
        if self.last is None:
            return
        t, view = self.last["t"], self.last["view"]
        self.moved = t
        if view.get("your_turn") and view["legal"]:
            await self.submit(wire, {"type": "act", "action": self.chance.choice(view["legal"])["action"], "t": t})

    async def submit(self, wire, message):
        seq = self.number()
        self.open[seq] = message | {"seq": seq}
        await self.say(wire, self.open[seq])

    def number(self):
        self.seq += 1
        return self.seq - 1

    async def say(self, wire, message):
        await wire.send(json.dumps(message))
