"""Real servers, killed without warning in the middle of games and forms: nothing that was acknowledged is lost, nothing
is stored twice, people go on where they were, nobody answers or begins twice, and everyone is paid.

The long tests can be run in pieces: `KILLS=5 SEED=3 pytest tests/study/faults/test_study_kill.py -m slow -s -k three`.
"""

import shutil
import time

import pytest

from tests.server.conftest import fresh_address, postgres  # noqa: F401
from tests.study.faults.killing import (
    KILLS,
    SEED,
    WITH_PEOPLE,
    Workers,
    check,
    kill_server,
    kill_workers,
    people_meanwhile,
)
from tests.study.faults.process import WITHOUT_CARDS, Process


def test_kill_9_loses_nothing(tmp_path):
    address, began = str(tmp_path / "study.db"), time.monotonic()
    everyone = people_meanwhile(Process(tmp_path, address, WITHOUT_CARDS), kill_server, kills=1, lanes=2)
    check(address, everyone, "one kill of one server, SQLite", began)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_one_server_killed_twenty_times(kind, tmp_path, request):
    address, began = str(tmp_path / "study.db"), time.monotonic()
    if kind == "postgresql":
        address = fresh_address(request.getfixturevalue("postgres"))
    server = Process(tmp_path, address, WITH_PEOPLE)
    everyone = people_meanwhile(server, kill_server, KILLS, lanes=4, seed=SEED)
    check(address, everyone, f"{KILLS} kills of one server, {kind}", began)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("nginx") is None, reason="needs nginx")
@pytest.mark.parametrize("at_once", [1, 3], ids=["one", "three"])
def test_workers_killed_twenty_times(postgres, tmp_path, at_once):  # noqa: F811
    address, began = fresh_address(postgres), time.monotonic()
    server = Workers(tmp_path, address, WITH_PEOPLE)
    everyone = people_meanwhile(server, kill_workers(at_once), KILLS, lanes=6, seed=SEED)
    check(address, everyone, f"{KILLS} times {at_once} of 3 workers killed, postgresql", began)
