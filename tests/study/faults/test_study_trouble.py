"""A disk that is full and a clock that is set, while someone plays over a real socket."""

import asyncio
import contextlib
import subprocess
import time
from datetime import timedelta

import pytest

from interplay.server.app import Base
from interplay.server.clock import SystemClock
from interplay.study.db.connect import open_study_database
from interplay.study.db.schema import events, games, people
from interplay.study.http.app import build
from interplay.study.live import app_state
from interplay.study.protocol.reading import parse
from tests.study.conftest import serving, within_a_minute
from tests.study.texts import game, study
from tests.study.visitor import Visitor

STEPS = 48
TEXT = study(
    "small",
    game("soup", "kitchen", "still"),
    games=f"{{kitchen: {{game: overcooked/cramped_room, options: {{horizon: {STEPS}}}, tick_hz: 12, countdown_s: 0}}}}",
    partners="{still: stay}",
)


class SetClock(SystemClock):
    """The computer's clock, which someone sets."""

    jump = timedelta(0)

    def now(self):
        return super().now() + self.jump


@pytest.fixture
def small_disk(tmp_path):
    """A real file system of 16 MB; only root may mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "none", str(folder)], capture_output=True)
    if mounted.returncode:
        pytest.skip("no file system can be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill_up(folder):
    """Leave no room on a disk."""
    with (folder / "filler").open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))


@contextlib.contextmanager
def served_in(folder):
    database = open_study_database(str(folder / "small.db"))
    base = Base(database, SetClock())
    with serving(build(parse(TEXT), base, sizes=(1,)), base) as found:
        yield found
    database.close()


@pytest.fixture
def troubled(tmp_path, monkeypatch):
    monkeypatch.setattr(app_state, "SWEEP_S", 0.2)
    with served_in(tmp_path) as found:
        yield found


async def press(line, seq, until):
    """Press keys until something is so."""
    while not until() and not line.of("closed"):
        seq += 1
        await line.send(type="act", seq=seq, action="west")
        await asyncio.sleep(0.05)
    return seq


def check(troubled, acked):
    (row,) = troubled.rows(games)
    assert (row["status"], row["length"]) == ("done", STEPS)
    own = troubled.rows(events)
    stored = [seq for e in own for seq in e["payload"].get("seqs", ())]
    assert acked <= set(stored), "acknowledged and lost"
    assert len(stored) == len(set(stored))
    assert sorted(e["t"] for e in own if e["kind"] == "step") == list(range(STEPS))


@pytest.mark.slow
def test_a_full_disk_pauses_the_game_and_loses_nothing(small_disk):
    async def go(troubled):
        async with Visitor(troubled.url, "small") as one:
            await one.answer(agree=True)
            async with one.game() as line:
                seq = await press(line, 0, lambda: any(m["t"] >= 6 for m in line.of("tick")))
                await asyncio.to_thread(fill_up, small_disk)
                seq = await press(line, seq, lambda: any(m["reason"] == "server" for m in line.of("pause")))
                t, acked = line.of("tick")[-1]["t"], len(line.of("ack"))
                await asyncio.sleep(1.5)
                assert line.of("tick")[-1]["t"] <= t + 1, "the game went on"
                assert len(line.of("ack")) == acked, "something was acknowledged that cannot be stored"
                (small_disk / "filler").unlink()
                await press(line, seq, lambda: bool(line.of("end")))
                return {message["seq"] for message in line.of("ack")}

    with served_in(small_disk) as troubled:
        acked = within_a_minute(go(troubled))
        check(troubled, acked)


@pytest.mark.parametrize("jump", [timedelta(days=1), timedelta(days=-1)])
def test_a_clock_that_is_set_stops_no_game_and_drops_nobody(troubled, jump):
    async def go():
        async with Visitor(troubled.url, "small") as one, Visitor(troubled.url, "small") as idle:
            await one.answer(agree=True)
            await idle.answer(agree=True)
            async with one.game() as line:
                seq = await press(line, 0, lambda: any(m["t"] >= 6 for m in line.of("tick")))
                troubled.base.clock.jump = jump
                began = time.monotonic()
                await press(line, seq, lambda: bool(line.of("end")))
                assert time.monotonic() - began < 30
                assert not line.of("pause")
                await asyncio.sleep(0.5)  # several looks at who stays away
                assert (await idle.look())["kind"] == "game"
                return {message["seq"] for message in line.of("ack")}

    check(troubled, within_a_minute(go()))
    assert sorted(row["status"] for row in troubled.rows(people)) == ["active", "done"]
