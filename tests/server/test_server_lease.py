"""Leases: one owner at a time, taken over from the dead and never from the living; who lost it writes nothing more."""

import json
import subprocess
import sys
import threading
import time

import pytest
import sqlalchemy as sa

from interplay.errors import InterplayError
from interplay.server import lease as leases_module
from interplay.server.audit import note, read
from interplay.server.clock import SystemClock
from interplay.server.database import Database
from interplay.server.lease import LeaseLost, acquire, find
from interplay.server.schema import leases
from tests.server.conftest import fresh


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(leases_module, "BEAT_S", 0.05)
    monkeypatch.setattr(leases_module, "EXPIRES_S", 0.6)


@pytest.fixture
def other(database):
    """The same database as another process has it."""
    made = Database(database.engine.url.render_as_string(hide_password=False))
    yield made
    made.close()


def stop_beating(lease):
    """As if the process had been suspended: it lives, and raises its counter no more."""
    lease._over.set()
    lease._thread.join()


def test_a_second_owner_is_refused_and_told_who_the_first_is(database, other, monkeypatch):
    monkeypatch.setattr(leases_module, "EXPIRES_S", 60.0)
    first = acquire(database, "study small")
    began = time.monotonic()
    with pytest.raises(InterplayError, match=r"study small is served from this database already, by process \d+ on"):
        acquire(other, "study small")
    assert time.monotonic() - began < 20
    assert acquire(other, "study large").fence == 1  # another thing can be owned
    first.release()


def test_a_lease_that_was_given_back_can_be_taken_at_once(database, other, monkeypatch):
    monkeypatch.setattr(leases_module, "EXPIRES_S", 60.0)
    acquire(database, "study small").release()
    began = time.monotonic()
    second = acquire(other, "study small")
    assert time.monotonic() - began < 20
    assert second.fence == 2
    database.write(note, SystemClock(), "me", "test")  # its guard is gone with the lease
    second.release()


def test_an_owner_that_lost_its_lease_can_write_nothing_more(database, other):
    stale = acquire(database, "study small")
    stop_beating(stale)
    began = time.monotonic()
    fresh = acquire(other, "study small")
    assert time.monotonic() - began > 0.5  # it was watched for as long as it may stand still
    assert fresh.fence == stale.fence + 1
    for write in (database.write, lambda *work: database.submit(*work).result()):
        with pytest.raises(LeaseLost, match="another server has taken over study small"):
            write(note, SystemClock(), "stale", "test")
    other.write(note, SystemClock(), "fresh", "test")
    assert [row["actor"] for row in other.read(read)] == ["fresh"]


def test_an_owner_notices_that_its_lease_is_lost(database, other):
    told = threading.Event()
    stale = acquire(database, "study small")
    stale.on_lost = told.set
    other.write(lambda tx: tx.execute(sa.update(leases).values(owner="someone else")))
    assert told.wait(5)
    assert stale.lost


def test_a_write_and_a_takeover_exclude_each_other(database, other):
    """The transaction of an owner that is under way ends before the lease changes hands, or fails."""
    stale = acquire(database, "study small")
    stop_beating(stale)
    inside, order = threading.Event(), []

    def slow(tx):
        inside.set()
        time.sleep(1.2)
        note(tx, SystemClock(), "stale", "test")
        order.append("written")

    writer = threading.Thread(target=lambda: database.write(slow))
    writer.start()
    inside.wait()
    fresh = acquire(other, "study small")
    order.append("taken")
    writer.join()
    assert order == ["written", "taken"]
    fresh.release()


def test_a_process_that_is_stopped_within_a_transaction_keeps_nobody_out(postgres, monkeypatch):
    """PostgreSQL ends the transaction; with SQLite the file stays locked until the process ends."""
    monkeypatch.setattr(leases_module, "IDLE_S", 0.5)
    database = fresh(postgres)
    other = Database(database.engine.url.render_as_string(hide_password=False))
    stale = acquire(database, "study small")
    stop_beating(stale)
    inside, failed = threading.Event(), []

    def slow(tx):
        inside.set()
        time.sleep(3)
        note(tx, SystemClock(), "stale", "test")

    def write():
        try:
            database.write(slow)
        except Exception as error:
            failed.append(error)

    writer = threading.Thread(target=write)
    writer.start()
    inside.wait()
    began = time.monotonic()
    fresh_lease = acquire(other, "study small")
    assert time.monotonic() - began < 2.9
    writer.join()
    assert len(failed) == 1
    assert isinstance(failed[0], LeaseLost)  # tried again, and refused
    assert list(other.read(read)) == []
    fresh_lease.release()
    for one in (database, other):
        one.close()


def test_only_one_of_many_takes_what_a_dead_process_left(database, other, monkeypatch):
    monkeypatch.setattr(leases_module, "EXPIRES_S", 60.0)
    code = "import time; print('up', flush=True); time.sleep(60)"
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    child.stdout.readline()
    dead = {**leases_module._this_process(), "pid": child.pid, "started": leases_module._started(child.pid)}
    assert dead["started"], "this system does not say when processes began"
    row = {"name": "study small", "owner": "dead", "fence": 7, "beats": 3, "process": json.dumps(dead)}
    other.write(lambda tx: tx.execute(sa.insert(leases).values(**row)))
    assert not other.read(find, "study small").ended
    child.kill()  # and not waited for: a zombie has ended too
    time.sleep(0.2)
    assert other.read(find, "study small").ended
    taken, refused = [], []

    def contend(database):
        try:
            taken.append(acquire(database, "study small"))
        except InterplayError:
            refused.append(1)

    many = [threading.Thread(target=contend, args=(one,)) for one in (database, other)]
    for thread in many:
        thread.start()
    for thread in many:
        thread.join()
    child.wait()
    assert len(taken) == len(refused) == 1
    assert taken[0].fence == 8
    taken[0].release()
