"""A line that dies without a word: the laptop is closed, the network is gone. The game stands still, and waits."""

import asyncio
import json
import time

import pytest
from websockets.asyncio.client import connect

from tests.study.faults import audit
from tests.study.faults.process import RIGHT, WITHOUT_CARDS, Process
from tests.study.faults.visitor import Visitor

LONG = WITHOUT_CARDS.replace("horizon: 45}, tick_hz: 30", "horizon: 400}, tick_hz: 10")  # 40 seconds


@pytest.mark.slow
def test_a_game_stands_still_when_nobody_is_at_the_other_end(tmp_path):
    address = str(tmp_path / "study.db")
    server = Process(tmp_path, address, LONG)
    try:
        t, noticed = asyncio.run(_silent(server, address))
        assert noticed < 20
        assert t < 250, "the game went on without its person"
    finally:
        server.kill()


async def _silent(server, address):
    visitor = Visitor(server.url, "faulty", 1, right=RIGHT)
    await visitor.go(until=lambda page: page["kind"] == "game")
    cookie = "; ".join(f"{name}={value}" for name, value in visitor.client.cookies.items())
    place = server.url.replace("http", "ws", 1) + "/api/study/faulty/play"
    async with connect(
        place, origin=server.url, additional_headers={"cookie": cookie}, ping_interval=None, close_timeout=1
    ) as wire:
        await wire.send('{"type":"hello","seen":-1}')
        while json.loads(await wire.recv())["type"] != "tick":
            pass
        wire.transport.pause_reading()  # nothing is heard any more, not even that someone asks
        began = time.monotonic()
        while time.monotonic() - began < 30:
            await asyncio.sleep(1)
            rows = await asyncio.to_thread(audit.held, address)
            gone = [row for row in rows["study_events"] if row["kind"] == "leave"]
            if gone:
                return gone[0]["t"], time.monotonic() - began
    raise AssertionError("nobody noticed")
