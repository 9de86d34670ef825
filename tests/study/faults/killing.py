"""People who come in several lanes while servers are killed under them, and the check of what they were told."""

import asyncio
import os
import random
import signal
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import sqlalchemy as sa

from interplay.study.db.connect import open_study_database
from interplay.study.db.schema import live
from tests.study.faults import audit
from tests.study.faults.process import CARDS, RIGHT, STUDY, Process
from tests.study.faults.visitor import Visitor
from tests.study.texts import game

KILLS, SEED = int(os.environ.get("KILLS", "20")), int(os.environ.get("SEED", "0"))
# The whole study, and then a game of two people who meet in a waiting room.
MEETING = (
    "{kind: wait, id: lobby, title: Waiting, patience_s: 40, otherwise: still}",
    game("together", "kitchen", "lobby"),
)
WITH_PEOPLE = STUDY.replace(f"  - {CARDS}\n", "".join(f"  - {page}\n" for page in (CARDS, *MEETING)))


class Workers(Process):
    """`interplay study serve --workers 3` with nginx in front."""

    def __init__(self, folder, address, text, workers=3):
        self.workers, self.address, self.killed = workers, address, datetime.now(UTC)
        super().__init__(folder, address, text)

    def start(self):
        if "--workers" not in self.command:
            self.command += ["--workers", str(self.workers)]
        return super().start()

    def pids(self):
        """The worker processes that live."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return [int(pid) for pid in children if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]

    def ready(self):
        """Whether all processes have said since the last kill, and in the last seconds, that they serve."""
        since = max(self.killed, datetime.now(UTC) - timedelta(seconds=3))
        database = open_study_database(self.address)
        try:
            said = database.read(lambda tx: tx.execute(sa.select(live.c.owner).where(live.c.at > since)).all())
        finally:
            database.close()
        return len(said) == len(self.pids()) == self.workers


async def kill_server(server, chance):
    """Kill the only server and start it again."""
    await asyncio.sleep(chance.uniform(0.3, 2.5))
    server.kill()
    await asyncio.to_thread(server.start)


def kill_workers(at_once):
    """Kill so many of the workers at the same time, some time after all of them serve."""

    async def strike(server, chance):
        while not await asyncio.to_thread(server.ready):
            await asyncio.sleep(0.2)
        await asyncio.sleep(chance.uniform(0.3, 2.5))
        for pid in chance.sample(server.pids(), at_once):
            os.kill(pid, signal.SIGKILL)
        server.killed = datetime.now(UTC)

    return strike


def playing(visitor):
    """Whether someone is in the middle of a kitchen, with keys that were acknowledged."""
    ticks = visitor.seen.ticks[-1:]
    return bool(ticks) and time.monotonic() - ticks[0][0] < 0.2 and 10 <= ticks[0][2] < 35


def people_meanwhile(server, strike, kills, lanes, seed=0):
    """People come one after the other in several lanes until so many kills are done; what everyone was told."""
    everyone, chance, here, over = [], random.Random(1000 * seed + kills), {}, False

    async def lane(at):
        number = at
        while not over or number == at:
            name = f"recruit-{seed}-{number}"
            visitor = here[at] = Visitor(server.url, "faulty", number, right=RIGHT, recruit=name)
            everyone.append(await visitor.go())
            await visitor.client.aclose()
            number += lanes

    async def killer():
        nonlocal over
        for kill in range(kills):
            while kill % 5 == 0 and not any(playing(visitor) for visitor in here.values()):
                await asyncio.sleep(0.02)  # some of them in the middle of a game, the others wherever people are
            await strike(server, chance)
        over = True

    async def both():
        async with asyncio.TaskGroup() as group:
            group.create_task(killer())
            for at in range(lanes):
                group.create_task(lane(at))

    try:
        asyncio.run(both())
        server.stop()
        assert not server.failures()
    finally:
        if server.process.poll() is None:
            server.stop()
    return everyone


def check(address, everyone, label, began):
    """Nothing is lost or forked; says how much was acknowledged.

    Args:
        address: The database.
        everyone: What all people were told.
        label: What was killed, for the line that is printed.
        began: When the first server was started, by the monotonic clock.

    Returns:
        All rows of the database.
    """
    rows = audit.check(address, everyone)
    games = audit.replayed(rows, most=10_000)
    joint = len({row["joint"] for row in rows["study_games"]} - {None})
    keys = sum(len(seqs) for seen in everyone for seqs in seen.acked.values())
    answers, resumed = (sum(map(size, everyone)) for size in (lambda s: len(s.answers), lambda s: s.resumed))
    assert resumed >= 1  # some were in the middle of a game
    assert len({row["code"] for row in rows["study_people"] if row["code"]}) == len(everyone)
    print(
        f"\n{label}: {time.monotonic() - began:.0f} s, {len(everyone)} people, {games} games, {joint} of them of two "
        f"people, {keys} keys and {answers} answers acknowledged, {resumed} lines to games under way: 0 lost, 0 forked"
    )
    return rows
