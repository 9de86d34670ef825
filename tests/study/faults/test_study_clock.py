"""A clock that is set and a machine that was suspended drop nobody."""

import asyncio
from datetime import timedelta

import pytest

from interplay.server.app import Base
from interplay.server.clock import SteadyTime
from interplay.server.database import SERVER, open_database
from interplay.study.db import participants
from interplay.study.db.schema import HISTORY
from interplay.study.live import app_state
from interplay.study.live.app_state import StudyState
from tests.manual_clock import ManualClock


def test_steady_time_begins_anew_when_the_clock_is_set():
    clock = ManualClock()
    steady = SteadyTime(clock)
    clock.advance(100)
    assert steady.seconds() == 100
    for jump in (timedelta(hours=2), timedelta(hours=-3)):
        clock.at += jump
        clock.advance(1)
        assert steady.seconds() == 0
        clock.advance(30)
        assert steady.seconds() == 30
    clock.at += timedelta(seconds=1)  # a small correction is none
    assert steady.seconds() == 30


def test_steady_time_begins_anew_after_a_suspension():
    """A process that was stopped has heard nobody: both clocks went on alike, but it did not look."""
    clock = ManualClock()
    steady = SteadyTime(clock, gap_s=90)
    for _ in range(10):
        clock.advance(30)
        steady.seconds()
    assert steady.seconds() == 300
    clock.advance(3600)
    assert steady.seconds() == 0
    clock.advance(30)
    assert steady.seconds() == 30


@pytest.mark.parametrize("jump", [timedelta(days=1), timedelta(days=-1)])
def test_a_clock_that_is_set_drops_nobody(small, tmp_path, monkeypatch, jump):
    monkeypatch.setattr(app_state, "SWEEP_S", 0.02)
    monkeypatch.setattr(app_state, "GAP_S", 1e9)  # this clock goes by leaps, as if the process were suspended
    database = open_database(str(tmp_path / "clock.db"), (SERVER, HISTORY))
    clock = ManualClock()
    study = StudyState(small, Base(database, clock), sizes=(1,))

    def status():
        return database.read(participants.person, number).status

    async def go():
        nonlocal number
        await study.open()
        try:
            number = database.write(participants.enter, clock, small, "en", None)[0].id
            database.write(participants.submit, clock, small, number, "consent", {"agree": True}, 1.0)
            clock.advance(60 * small.away_min / 2)
            await asyncio.sleep(0.2)
            clock.at += jump
            await asyncio.sleep(0.2)
            clock.advance(60 * small.away_min * 0.9)
            await asyncio.sleep(0.2)
            assert status() == "active"
            if jump > timedelta(0):  # nobody came back in the full time: now they have left
                clock.advance(60 * small.away_min * 0.2)
                await asyncio.sleep(0.5)
                assert status() == "dropped"
        finally:
            await study.close()

    number = 0
    asyncio.run(go())
    database.close()
