"""What leaves the server: no agent's name in any byte, the right headers on every answer; what stays: no addresses and
no recruiters' ids. And whatever comes in, nothing fails inside."""

import asyncio
import contextlib
import json
import logging
import random

import httpx
import pytest
import requests
import schemathesis
import sqlalchemy as sa
import websockets.exceptions
from hypothesis import HealthCheck, Phase, given, settings
from requests.adapters import HTTPAdapter

from interplay.server.app import LARGEST_BODY
from interplay.study.db.schema import games
from tests.study.faults.visitor import Visitor
from tests.study.security.conftest import PARTNERS, fresh_source, hear, likely, noise, rubbish

CLOSED = {1000, 1003, 1007, 1008, 1009, 1013}  # with which a socket may be closed; 1011 would be a failure


class Tap:
    """Stands between a visitor and the server and keeps every byte."""

    def __init__(self, url):
        self.host, self.port = url.removeprefix("http://").split(":")
        self.out, self.back = bytearray(), bytearray()

    async def __aenter__(self):
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_):
        self._server.close()

    async def _serve(self, reader, writer):
        upstream = await asyncio.open_connection(self.host, int(self.port), local_addr=(SOURCE, 0))
        ways = self._pass(reader, upstream[1], self.out), self._pass(upstream[0], writer, self.back)
        with contextlib.suppress(asyncio.CancelledError):  # when the tap is taken off
            await asyncio.gather(*ways, return_exceptions=True)

    async def _pass(self, reader, writer, kept):
        while held := await reader.read(65536):
            kept += held
            writer.write(held)
            await writer.drain()
        writer.close()


SOURCE = "127.45.67.89"
RECRUIT = "5f3c0ffee5f3c0ffee5f3c0f"


@pytest.fixture(scope="module")
def walk(secure):
    """One whole walk, with every byte of it."""

    async def go():
        async with Tap(secure.url) as tap:
            visitor = Visitor(tap.url, "secure", 1, recruit=RECRUIT)
            for name in ("/study/secure", "/static/app.js", "/static/style.css", "/nowhere"):
                await visitor.client.get(tap.url + name)
            seen = await visitor.go()
            await visitor.client.aclose()
            return seen, bytes(tap.back)

    return asyncio.run(go())


def test_no_agents_name_is_in_any_byte(walk, secure):
    seen, told = walk
    assert seen.done["code"]
    assert len({page for _, page, _ in seen.ticks}) == 2  # the line of a game may break at its end, on a busy machine
    text = told.decode("utf-8", "replace").lower()
    assert '"type":"tick"' in text
    assert "<svg" in text
    words = {*PARTNERS, *PARTNERS.values(), "otter", "heron", "greedy", "trained/", "hsp", "safetensors"}
    assert [word for word in sorted(words) if word in text] == []
    for row in secure.rows(games):  # whoever knew these could tell what chance will decide
        assert str(row["chance"][0]) not in text
        assert str(row["chance"][1]) not in text


def everything(secure):
    """All that the database holds, as text."""
    database = secure.base.database
    names = sa.inspect(database.engine).get_table_names()
    read = [f'SELECT * FROM "{name}"' for name in names]
    rows = database.read(lambda tx: [[tuple(row) for row in tx.exec_driver_sql(query)] for query in read])
    text = str(rows)  # of plain tuples: rows of a query would be cut short
    if database.is_sqlite:
        for ending in ("", "-wal"):
            with open(secure.address + ending, "rb") as file:
                text += file.read().decode("latin-1")
    return text


def test_no_address_and_no_recruiters_id_is_stored(walk, secure):
    held = everything(secure)
    assert "I agree" in held  # the file itself is there: this does read the database
    assert RECRUIT not in held
    assert SOURCE not in held
    assert "127.7." not in held  # where the other tests come from
    refused = httpx.get(f"{secure.api}/state", params={"PROLIFIC_PID": RECRUIT})
    assert refused.status_code == 409  # known, all the same
    again = secure.visitor(recruit="another")
    assert again.told["page"]["id"] == "consent"
    back = secure.visitor(recruit="another")  # its first cookie may have got lost
    assert back.told["page"]["id"] == "consent"


def test_every_answer_has_its_headers(secure):
    someone = secure.visitor()
    source = fresh_source()
    secure.exhaust(source)
    with httpx.Client(transport=httpx.HTTPTransport(local_address=source)) as client:
        flooded = client.get(secure.url + "/health")
    found = {
        200: someone.http.get(f"{secure.url}/study/secure"),
        404: someone.http.get(f"{secure.url}/nowhere"),
        401: httpx.post(f"{secure.api}/answer", json={"page": "x"}),
        403: someone.post(csrf="x", page="consent"),
        413: someone.http.post(f"{secure.api}/answer", content=b"x" * (LARGEST_BODY + 1)),
        422: someone.post(page=1),
        429: flooded,
    }
    for status, answer in found.items():
        assert answer.status_code == status
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "server" not in answer.headers
        if status != 429:
            policy = answer.headers["content-security-policy"]
            assert "frame-ancestors 'none'" in policy
            assert "unsafe" not in policy
    assert int(flooded.headers["retry-after"]) >= 1
    shell = found[200].text
    assert "http" not in shell.replace("http-equiv", "")  # no third party's scripts, fonts or pictures


# Whatever comes in.


def failures(caplog):
    return [r for r in caplog.records if r.levelno >= logging.ERROR]


def closed_by(wire, frames):
    """The code with which the server closes the line on these."""
    try:
        for frame in frames:
            wire.send(frame)
        hear(wire, "end")
    except websockets.exceptions.ConnectionClosed:
        return wire.close_code
    return None


@pytest.mark.parametrize("frame", ["", "no json", "[1]", '"text"', "null", "{" * 2000, '{"type": NaN}', b"\x00\xff"])
def test_malformed_frames_close_the_socket(secure, frame):
    with secure.visitor().to_game().line() as wire:
        hear(wire, "tick")
        assert closed_by(wire, [frame]) in CLOSED - {1000}


def test_oversized_messages_are_refused(secure):
    someone = secure.visitor().to_game()
    for size in (5_000, 100_000):
        with someone.line() as wire:
            hear(wire, "tick")
            assert closed_by(wire, ['{"type": "' + "x" * size + '"}']) in (1008, 1009)
    deep = b'{"page": "consent", "answers": {"a": ' + b"[" * 50_000 + b"]" * 50_000 + b"}}"
    headers = {"content-type": "application/json", "x-csrf": someone.told["csrf"]}
    assert someone.http.post(f"{secure.api}/answer", content=deep, headers=headers).status_code in (400, 422)


def test_too_many_frames_close_the_socket(secure):
    with secure.visitor().to_game().line() as wire:
        hear(wire, "tick")
        assert closed_by(wire, (json.dumps({"type": "ping", "at": at}) for at in range(5000))) == 1013


def fuzz(secure, seed, lines):
    """Random frames, before and after the hello, until the server has had enough of each line."""
    frames, codes, heard = noise(seed), set(), set()
    someone = secure.visitor().to_game()
    for at in range(lines):
        try:
            with someone.line(hello=at % 3 != 0) as wire:
                for _ in range(20):
                    wire.send(next(frames))
                    heard.add(json.loads(wire.recv(10))["type"])
        except websockets.exceptions.ConnectionClosed as closed:
            codes.add(closed.rcvd.code if closed.rcvd else None)
        except websockets.exceptions.InvalidStatus:  # too many lines in too short a time
            someone = secure.visitor().to_game()
    assert codes <= CLOSED, codes
    assert heard <= {"start", "tick", "ack", "pong", "error", "end", "pause", "wait", "chat"}
    return codes


def test_random_frames_break_nothing(secure, caplog):
    assert fuzz(secure, 1, 12)
    assert not failures(caplog)
    assert httpx.get(f"{secure.url}/health").status_code == 200


@pytest.mark.slow
def test_many_random_frames_break_nothing(secure, caplog):
    for seed in range(2, 22):
        fuzz(secure, seed, 25)
    assert not failures(caplog)


@pytest.mark.parametrize("text", ["\x00", "\ud800", "a\udfffb"])
def test_text_that_cannot_be_stored_is_refused(secure, text):
    someone = secure.visitor()
    for body in ({"page": text}, {"page": "consent", "answers": {text: 1}}, {"page": "consent", text: 1}):
        assert someone.http.post(
            f"{secure.api}/answer", content=json.dumps(body), headers={"x-csrf": someone.told["csrf"]}
        ).status_code == 422  # fmt: skip
    someone.answer(agree=True)
    someone.answer()
    content = json.dumps({"page": "about", "answers": {"age": 30, "say": text}})
    told = someone.http.post(f"{secure.api}/answer", content=content, headers={"x-csrf": someone.told["csrf"]})
    assert told.status_code == 422


def test_random_answers_break_nothing(secure, caplog):
    rng = random.Random(3)
    someone = secure.visitor()
    someone.answer(agree=True)
    someone.answer()
    for _ in range(40):
        body = {
            "page": rng.choice(["about", "consent", rubbish(rng)]),
            "answers": rng.choice([rubbish(rng), likely(rng)]),
        }
        body["answers"] = rng.choice([body["answers"], {"age": rubbish(rng), "say": rubbish(rng)}])
        headers = {"x-csrf": someone.told["csrf"], "content-type": "application/json"}
        told = someone.http.post(f"{secure.api}/answer", content=json.dumps(body), headers=headers)
        assert told.status_code in (200, 400, 409, 422), told.text
    assert not failures(caplog)


class From(HTTPAdapter):
    """Requests from an address of one's own."""

    def init_poolmanager(self, *args, **kwargs):
        super().init_poolmanager(*args, source_address=(fresh_source(), 0), **kwargs)


def fuzz_http(secure, examples):
    """Every operation, with input made up from its description, as someone who takes part."""
    schema = schemathesis.openapi.from_dict(secure.app.openapi())
    schema.config.update(base_url=secure.url)
    check = schemathesis.checks.CHECKS.get_one("not_a_server_error")
    options = settings(
        max_examples=examples, deadline=None, database=None, derandomize=True, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    tried = 0
    for found in schema.get_all_operations():
        someone = secure.visitor()
        session = requests.Session()
        session.mount("http://", From())
        headers = {"cookie": someone.cookie, "x-csrf": someone.told["csrf"]}

        def once(case):
            case.call_and_validate(headers=headers, session=session, checks=[check])  # noqa: B023 - run at once

        options(given(case=found.ok().as_strategy())(once))()
        tried += 1
    return tried


def test_the_http_interface_never_fails(secure, caplog):
    assert fuzz_http(secure, 3) >= 20
    assert not failures(caplog)


@pytest.mark.slow
def test_the_http_interface_never_fails_at_length(secure, caplog):
    assert fuzz_http(secure, 100) >= 20
    assert not failures(caplog)
