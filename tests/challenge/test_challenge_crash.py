"""A real server process, killed in the middle: no finished game is lost, none is played twice. On both databases the
books stay exact whatever races for them."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter

import httpx
import pytest
import sqlalchemy as sa
import yaml

from interplay.challenge import admin, client, repository
from interplay.challenge.schema import METADATA, games
from interplay.challenge.spec import Challenge
from interplay.errors import InterplayError
from interplay.server import api_keys as server_keys
from interplay.server.api_error import ApiError
from interplay.server.clock import SystemClock
from tests.server.conftest import fresh_address, postgres  # noqa: F401

TINY = {
    "name": "tiny",
    "title": "Tiny",
    "settings": [{"name": "2p", "game": "hanabi/2p", "partners": ["random"], "games": 40}],
    "phases": [{"name": "main", "evaluations": {"per_day": 100, "total": 100}}],
}
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request, tmp_path):
    if request.param == "sqlite":
        return str(tmp_path / "books.db")
    return fresh_address(request.getfixturevalue("postgres"))


class Process:
    """`interplay challenge serve` as its own process."""

    def __init__(self, file, address):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.command = [sys.executable, "-m", "interplay.cli.main", "challenge", "serve", str(file), "--db", address,
                        "--port", str(self.port), "--batch", "16"]  # fmt: skip
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
        for _ in range(1200):
            try:
                if httpx.get(f"{self.url}/health").status_code == 200:
                    return
            except httpx.HTTPError:
                assert self.process.poll() is None, self.process.stderr.read()
                time.sleep(0.1)
        raise AssertionError("the server did not start")

    def kill(self):
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()


def finished(database):
    query = sa.select(games.c.number, games.c.score, games.c.finished, games.c.episode)
    rows = database.read(lambda tx: tx.execute(query.where(games.c.status == "DONE")).all())
    return {r.number: (r.score, r.finished, bytes(r.episode)) for r in rows}


def killed(address, tmp_path, when):
    file = tmp_path / "tiny.yaml"
    file.write_text(yaml.safe_dump(TINY))
    server = Process(file, address)
    database = admin.open_challenge_database(address)
    try:
        made = client.call(server.url, "POST", "/api/v1/teams", team="t", contact="c")
        entry = client.call(server.url, "POST", "/api/v1/evaluations", made["team_key"], agent="a", plan="p")
        key = entry["evaluation_key"]
        before = {}
        for at_least in when:
            player = threading.Thread(target=_play_until_gone, args=(server.url, key), daemon=True)
            player.start()
            while len(before := finished(database)) < at_least:
                time.sleep(0.02)
            server.kill()
            held = finished(database)  # what the last transactions left
            assert before.items() <= held.items()
            before = held
            server.start()
            after = finished(database)
            assert after.items() >= before.items()
            active = database.read(
                lambda tx: tx.execute(sa.select(sa.func.count()).where(games.c.status == "ACTIVE")).scalar_one()
            )
            assert active <= 8  # dealt anew to the client that came back, if it did
            player.join(60)
        client.play(server.url, key, {"": "random"}, at_once=8)
        final = finished(database)
        assert len(final) == 40
        assert {n: final[n] for n in before} == before  # what was finished stayed as it was
        counts = Counter(n for n in final)
        assert max(counts.values()) == 1
        log = database.read(lambda tx: tx.exec_driver_sql("SELECT action FROM audit").scalars().all())
        assert "restart" in log
    finally:
        server.kill()
        database.close()


def _play_until_gone(url, key):
    with contextlib.suppress(InterplayError):
        client.play(url, key, {"": "random"}, at_once=8, connections=1)


@pytest.mark.slow
def test_kill_9_in_mid_evaluation(tmp_path):
    killed(str(tmp_path / "books.db"), tmp_path, when=(8,))


@pytest.mark.slow
def test_kill_9_in_mid_evaluation_on_postgresql(tmp_path, postgres):  # noqa: F811
    killed(fresh_address(postgres), tmp_path, when=(5, 15))


@pytest.fixture
def held(address):
    database = admin.open_challenge_database(address)
    yield database
    database.close()


def entered(database, challenge, choices, name="t"):
    clock = SystemClock()

    def work(tx):
        made = repository.register(tx, clock, challenge, name, "c")
        team = tx.exec_driver_sql(f"SELECT id FROM teams WHERE name = '{name}'").scalar_one()
        return made | repository.enter(tx, clock, challenge, choices, team, "a", "p")

    made = database.write(work)
    key = database.read(server_keys.check, clock, made["evaluation_key"], ("evaluation",))
    return database.read(repository.submission_of, key), made


def test_the_books_are_exact_when_many_race_for_them(held):
    """Twenty threads deal and book at once; every game is dealt once, booked once, and only one booking is the last."""
    challenge, clock = Challenge.model_validate(TINY), SystemClock()
    own, _ = entered(held, challenge, admin.choices(challenge))
    dealt, last, busy = [], [], []

    def one():
        while True:
            found = held.write(repository.claim, clock, challenge, own, 2, 25)
            if not found:
                if held.read(repository.standing, own)["TODO"] == 0:
                    return
                continue
            busy.append(held.read(repository.standing, own)["ACTIVE"])
            for game in found:
                dealt.append(game.number)
                result = {"score": 1.0, "length": 2, "episode": b"x"}
                last.append(held.write(repository.finish, clock, own, game, **result))
                with pytest.raises(ApiError, match="booked already"):
                    held.write(repository.finish, clock, own, game, **result | {"episode": b"another"})

    threads = [threading.Thread(target=one) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(dealt) == list(range(40))
    assert sum(last) == 1
    assert max(busy) <= 25
    assert held.read(repository.standing, own) == {"TODO": 0, "ACTIVE": 0, "DONE": 40, "total": 40}


def test_a_second_server_cannot_book_what_was_dealt_anew(held):
    """Two servers on one database: the second start takes the first one's games away, and they count once."""
    challenge, clock = Challenge.model_validate(TINY), SystemClock()
    own, _ = entered(held, challenge, admin.choices(challenge))
    (first,) = held.write(repository.claim, clock, challenge, own, 1, 64)
    assert held.write(repository.restart, clock, challenge) == 1
    (again,) = held.write(repository.claim, clock, challenge, own, 1, 64)
    assert (again.id, again.attempt) == (first.id, 2)
    assert again.chance != first.chance
    result = {"score": 1.0, "length": 2, "episode": b"x"}
    with pytest.raises(ApiError, match="dealt anew"):
        held.write(repository.finish, clock, own, first, **result)
    assert held.write(repository.finish, clock, own, again, **result) is False


def test_quotas_hold_when_requests_race(held):
    quota = {"name": "main", "evaluations": {"per_day": 3, "total": 3}}
    challenge, clock = Challenge.model_validate(TINY | {"phases": [quota]}), SystemClock()
    choices = admin.choices(challenge)
    held.write(repository.register, clock, challenge, "racers", "c")
    outcomes = []

    def one():
        try:
            held.write(repository.enter, clock, challenge, choices, 1, "a", "p")
            outcomes.append(True)
        except ApiError:
            outcomes.append(False)

    threads = [threading.Thread(target=one) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == [False] * 9 + [True] * 3


def test_migrations_give_the_tables_that_the_code_declares(held):
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    with held.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": "challenge_version"})
        found = [d for d in compare_metadata(context, METADATA) if d[0] not in ("remove_table", "remove_index")]
    assert found == []


def test_the_host_hands_out_baselines_and_strikes_entries(held):
    challenge, clock = Challenge.model_validate(TINY), SystemClock()
    made = admin.issue(held, challenge, "host", "host", "smart", "a baseline", baseline=True)
    again = admin.issue(held, challenge, "host", "host", "other", "a baseline", baseline=True)
    assert "team_key" in made
    assert "team_key" not in again
    from interplay.challenge.leaderboard import entries

    rows = held.read(entries, challenge, clock.now())
    assert [r["baseline"] for r in rows] == [True, True]
    assert [r["rank"] for r in rows] == [None, None]
    held.write(repository.void, clock, made["evaluation"], "a reason")
    assert len(held.read(entries, challenge, clock.now())) == 1
    with pytest.raises(ApiError, match="no evaluation"):
        held.write(repository.void, clock, "nowhere", "a reason")
    own = held.read(repository.submission, sa.text(f"public = '{made['evaluation']}'"))
    with pytest.raises(ApiError, match="void"):
        held.write(repository.claim, clock, challenge, own, 1, 64)
