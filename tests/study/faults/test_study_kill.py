"""A real server, killed without warning in the middle of games and forms: nothing that was acknowledged is lost,
people go on where they were, nobody answers or begins twice, and everyone is paid."""

import asyncio
import contextlib
import random
import time

import pytest

from tests.server.conftest import fresh_address, postgres  # noqa: F401
from tests.study.faults import audit
from tests.study.faults.process import RIGHT, STUDY, WITHOUT_CARDS, Process
from tests.study.faults.visitor import Visitor


def playing(visitor):
    """Whether someone is in the middle of a kitchen, with keys that were acknowledged."""
    ticks = visitor.seen.ticks[-1:]
    return bool(ticks) and time.monotonic() - ticks[0][0] < 0.2 and 10 <= ticks[0][2] < 35


def killed(address, folder, kills, lanes, text):
    """People come one after the other in several lanes while the server is killed so many times."""
    server, everyone, chance = Process(folder, address, text), [], random.Random(kills)
    over, here = False, {}

    async def lane(at):
        number = at
        while not over or number == at:
            visitor = here[at] = Visitor(server.url, "faulty", number, right=RIGHT, recruit=f"recruit-{number}")
            everyone.append(await visitor.go())
            await visitor.client.aclose()
            number += lanes

    async def killer():
        nonlocal over
        for kill in range(kills):
            await asyncio.sleep(chance.uniform(0.3, 2.5))
            while kill % 5 == 0 and not any(playing(visitor) for visitor in here.values()):
                await asyncio.sleep(0.02)  # some of them in the middle of a game, the others wherever people are
            server.kill()
            await asyncio.to_thread(server.start)
        over = True

    async def both():
        async with asyncio.TaskGroup() as group:
            group.create_task(killer())
            for at in range(lanes):
                group.create_task(lane(at))

    try:
        with contextlib.ExitStack() as stack:
            stack.callback(server.stop)
            asyncio.run(both())
        rows = audit.check(address, everyone)
        assert audit.replayed(rows) >= 2 * len(everyone)
        assert not server.failures()
        assert sum(seen.resumed for seen in everyone) >= 1  # some were in the middle of a game
        assert len({row["code"] for row in rows["study_people"] if row["code"]}) == len(everyone)
    finally:
        if server.process.poll() is None:
            server.kill()
    return everyone


def test_kill_9_loses_nothing(tmp_path):
    killed(str(tmp_path / "study.db"), tmp_path, kills=1, lanes=2, text=WITHOUT_CARDS)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_kill_9_twenty_times(kind, tmp_path, request):
    address = str(tmp_path / "study.db")
    if kind == "postgresql":
        address = fresh_address(request.getfixturevalue("postgres"))
    everyone = killed(address, tmp_path, kills=20, lanes=4, text=STUDY)
    assert len(everyone) >= 8
