"""One study behind all its limits, on each database, and visitors who each have an address of their own."""

import contextlib
import itertools
import json
import random
import string
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
import websockets.sync.client as sync

from interplay.study.db.connect import make_base, open_study_database
from interplay.study.http.app import build
from interplay.study.protocol.reading import parse
from tests.server.conftest import fresh_address, postgres  # noqa: F401
from tests.study.conftest import serving
from tests.study.texts import AGREE, FIVE_EUROS, form, rounds, study

PARTNERS = {"secretive_otter": "overcooked/greedy", "quiet_heron": "trained/overcooked/coordination_ring/hsp-1"}
STUDY = study(
    "secure",
    '{kind: instructions, id: how, title: How, figures: [kitchen], text: "You play with **two** partners."}',
    form(
        "about",
        "{id: age, type: number, label: Age, min: 18, max: 99}",
        "{id: say, type: text, label: Say, required: false, max: 40}",
    ),
    rounds('{id: liked, type: likert, scale: agree, label: "Did you like {alias}?"}'),
    scales=AGREE,
    games="{kitchen: {game: overcooked/coordination_ring, options: {horizon: 40}, tick_hz: 20, countdown_s: 0}}",
    partners="{secretive_otter: overcooked/greedy, quiet_heron: trained/overcooked/coordination_ring/hsp-1}",
    designs="{rounds: {factors: {partner: [secretive_otter, quiet_heron]}, order: latin}}",
    after={
        "end": "Thanks",
        "payment": FIVE_EUROS,
        "completion": '{url: "https://example.org/back?cc={code}", recruiter: prolific}',
    },
)
_addresses = itertools.count(1)


def fresh_source():
    """An address of this machine that nobody has come from: limits count by address."""
    number = next(_addresses)
    return f"127.7.{number // 250}.{1 + number % 250}"


@dataclass
class Secure:
    url: str
    app: Any
    base: Any
    address: str

    @property
    def api(self):
        return f"{self.url}/api/study/secure"

    @property
    def socket(self):
        return self.api.replace("http", "ws", 1) + "/play"

    def rows(self, table):
        return self.base.database.read(lambda tx: [row._mapping for row in tx.execute(table.select())])

    def exhaust(self, source):
        """As if someone had just sent all the requests that an address may send."""
        visitors, clock = self.base.visitors, self.base.clock
        visitors._level[self.base.addresses.name(source)] = (-1000.0, clock.monotonic())

    def visitor(self, **options):
        return Someone(self, **options)


class Someone:
    """A visitor who does exactly what a test says."""

    def __init__(self, secure, recruit=None, source=None):
        self.secure, self.source = secure, source or fresh_source()
        self.http = httpx.Client(transport=httpx.HTTPTransport(local_address=self.source), timeout=30)
        self.params = {"PROLIFIC_PID": recruit} if recruit else None
        self.state()

    def state(self):
        self.told = self.http.get(f"{self.secure.api}/state", params=self.params).json()
        return self.told

    @property
    def token(self):
        return next(iter(self.http.cookies.values()))

    @property
    def cookie(self):
        return "; ".join(f"{name}={value}" for name, value in self.http.cookies.items())

    def post(self, what="answer", csrf=None, origin=None, **body):
        headers = {"x-csrf": self.told["csrf"] if csrf is None else csrf, "origin": origin or self.secure.url}
        return self.http.post(f"{self.secure.api}/{what}", json=body, headers=headers)

    def answer(self, **answers):
        told = self.post(page=self.told["page"]["id"], answers=answers)
        assert told.status_code == 200, told.text
        self.told = told.json()

    def to_game(self):
        """On to the first game."""
        self.answer(agree=True)
        self.answer()
        self.answer(age=30)
        assert self.told["page"]["kind"] == "game"
        return self

    @contextlib.contextmanager
    def line(self, hello=True, **options):
        headers = {"cookie": options.pop("cookie", self.cookie)}
        origin = options.pop("origin", self.secure.url)
        with sync.connect(
            self.secure.socket, origin=origin, additional_headers=headers, source_address=(self.source, 0), **options
        ) as wire:
            if hello:
                wire.send('{"type":"hello","seen":-1}')
            yield wire


def hear(wire, *kinds, timeout=20):
    """The next message of one of these kinds."""
    while True:
        told = json.loads(wire.recv(timeout))
        if told["type"] in kinds:
            return told


def rubbish(rng, depth=0):
    """Some JSON value."""
    kinds = ["int", "text", "bool", "null", "float"] + (["list", "object"] if depth < 3 else [])
    match rng.choice(kinds):
        case "int":
            return rng.choice([0, 1, -1, 2**63, -(2**70), rng.randrange(100)])
        case "text":
            return "".join(rng.choice(string.printable + "\x00é漢\ud83d") for _ in range(rng.randrange(12)))
        case "bool":
            return rng.random() < 0.5
        case "float":
            return rng.choice([0.5, 1e308, -0.0])
        case "list":
            return [rubbish(rng, depth + 1) for _ in range(rng.randrange(4))]
        case "object":
            return {str(rubbish(rng, 3)): rubbish(rng, depth + 1) for _ in range(rng.randrange(4))}
    return None


def likely(rng):
    """A frame that is nearly right."""
    frame = {
        "type": rng.choice(["act", "flag", "chat", "visibility", "ping", "hello", rubbish(rng)]),
        "seq": rng.choice([0, 1, rng.randrange(10**6), -1, 2**31, rubbish(rng)]),
        "action": rng.choice(["north", "interact", "fly", rubbish(rng)]),
        "id": rng.choice(["odd", "even", rubbish(rng)]),
        "t": rng.choice([0, 10**9, rubbish(rng)]),
        "at": rubbish(rng),
        "rtt_ms": rubbish(rng),
        "text": rubbish(rng),
        "hidden": rubbish(rng),
    }
    return {name: value for name, value in frame.items() if rng.random() < 0.9}


def noise(seed):
    """Frames without end: right, nearly right, and not at all."""
    rng = random.Random(seed)
    while True:
        frame = rng.choice([likely(rng), likely(rng), rubbish(rng), rng.randbytes(rng.randrange(40))])
        yield frame if isinstance(frame, bytes) else json.dumps(frame)


@pytest.fixture(scope="session", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def secure(request, tmp_path_factory):
    address = str(tmp_path_factory.mktemp("secure") / "secure.db")
    if request.param == "postgresql":
        address = fresh_address(request.getfixturevalue("postgres"))
    database = open_study_database(address)
    base = make_base(database)
    with serving(build(parse(STUDY), base, sizes=(4,)), base) as found:
        yield Secure(found.url, found.app, base, address)
    database.close()
