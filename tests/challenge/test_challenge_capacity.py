"""What a full disk and a full server do to evaluations: no game is orphaned, and tests leave room."""

import contextlib
import threading
import time

import pytest
from sqlalchemy import event
from sqlalchemy.exc import OperationalError

from interplay.challenge import admin, client, repository
from interplay.challenge.app_state import ChallengeState
from interplay.challenge.http_app import build
from interplay.server.api_error import ApiError
from interplay.server.api_keys import Key
from interplay.server.app import Base
from tests.challenge.conftest import challenge, serving
from tests.challenge.talk import any_move, welcomed

GAMES = 12


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A challenge of a few games, whose disk can be filled."""
    told = challenge(
        name="full",
        settings=[{"name": "2p", "game": "hanabi/2p", "partners": ["random"], "games": GAMES}],
        prediction=[],
        rules={"concurrency": 4, "connections": 3},
    )
    database = admin.open_challenge_database(str(tmp_path_factory.mktemp("full") / "books.db"))
    base = Base(database)
    with serving(build(told, base, sizes=(8,), capacity=16), base) as found:
        found.disk = Disk(database)
        yield found
    database.close()


class Disk:
    """The disk of a SQLite database, which can be full: the file may not grow any more."""

    def __init__(self, database):
        self.database, self.full = database, False
        event.listen(database.engine, "checkout", self._limit)

    def _limit(self, connection, _record, _proxy):
        pages = connection.execute("PRAGMA page_count").fetchone()[0] if self.full else 2**30
        connection.execute(f"PRAGMA max_page_count = {pages}")

    def fill(self):
        """From now on only what is free within the file can be written: that is used up."""
        self.full = True
        for size in (100_000, 3000, 500, 500):
            with contextlib.suppress(OperationalError):
                for _ in range(1000):
                    self.database.write(
                        lambda tx, size=size: tx.exec_driver_sql(f"INSERT INTO filler VALUES (zeroblob({size}))")
                    )

    def empty(self):
        self.full = False


def standing(served, made):
    where = repository.submissions.c.public == made["evaluation"]
    submission = served.base.database.read(repository.submission, where)
    return served.base.database.read(repository.standing, submission)


@pytest.fixture
def disk(small):
    small.base.database.write(lambda tx: tx.exec_driver_sql("CREATE TABLE IF NOT EXISTS filler (x BLOB)"))
    yield small.disk
    small.disk.empty()


def test_a_full_disk_orphans_no_game(small, disk):
    """The client is told to ask again, and every game is booked once there is room."""
    made = small.entry("full disk")
    told = []
    player = threading.Thread(
        target=lambda: told.append(client.play(small.url, made["evaluation_key"], {"": "random"}, at_once=4, seed=1))
    )
    player.start()
    while standing(small, made)["DONE"] < 3:
        assert player.is_alive(), "the client gave up"
        time.sleep(0.01)
    disk.fill()
    time.sleep(4)
    held = standing(small, made)
    assert held["DONE"] < GAMES
    disk.empty()
    player.join(120)
    assert told, "the client gave up"
    assert told[0]["games"] == {"TODO": 0, "ACTIVE": 0, "DONE": GAMES, "total": GAMES}
    assert not small.host.matches


def test_a_result_is_booked_even_if_its_client_has_gone(small, disk, monkeypatch):
    monkeypatch.setattr("interplay.challenge.app_state.PATIENCE_S", 0.3)
    # A short game would find room in the last page of the file.
    monkeypatch.setattr("interplay.challenge.app_state.pack_episode", lambda match: bytes(200_000))
    made = small.entry("gone")
    with welcomed(small.url, made["evaluation_key"]) as talk:
        (game,) = talk.next()
        name, told, seq = game["game"], game, game["seq"]
        disk.fill()
        answer = {}
        while "error" not in answer:
            answer = talk.act(name, seq, any_move(told, lambda legal: legal.index(1)))
            assert not answer.get("done"), "told before it was booked"
            told, seq = answer, seq + 1
        assert answer["error"] == "unavailable"
        assert "nothing is lost" in answer["message"]
    assert standing(small, made)["DONE"] == 0
    disk.empty()
    for _ in range(100):
        if standing(small, made)["DONE"] == 1:
            break
        time.sleep(0.1)
    assert standing(small, made) == {"TODO": GAMES - 1, "ACTIVE": 0, "DONE": 1, "total": GAMES}


def test_a_game_that_can_never_be_booked_is_put_back(small, monkeypatch):
    """Even if the database is away when it is put back."""
    made = small.entry("never")
    real, tries = repository.put_back, []

    def away(tx, *args, **kwargs):
        tries.append(1)
        if len(tries) < 3:
            from interplay.server.database import DatabaseUnavailable

            raise DatabaseUnavailable
        return real(tx, *args, **kwargs)

    monkeypatch.setattr("interplay.server.database.RETRY_S", 0.05)
    monkeypatch.setattr(repository, "put_back", away)
    failing = [True]
    finish = repository.finish

    def broken(tx, *args, **kwargs):
        if failing:
            failing.pop()
            raise ValueError("cannot be stored")
        return finish(tx, *args, **kwargs)

    monkeypatch.setattr(repository, "finish", broken)
    told = client.play(small.url, made["evaluation_key"], {"": "random"}, at_once=4, seed=2)
    assert told["games"]["DONE"] == GAMES
    assert len(tries) == 3


def test_tests_leave_room_for_evaluations(small):
    """Test keys of many teams cannot fill the server; no team can have more than its share of them."""

    async def fill(host):
        keys = [Key(0, f"k{n}", "test", f"team:{1000 + n}") for n in range(8)]
        holder, begun, refused = object(), [], []
        for key in keys:
            for _ in range(6):
                try:
                    begun.append(await host.test(key, "2p", [0], None, holder, True))
                except ApiError as refusal:
                    refused.append((refusal.code, key.subject))
        per_team = {key.subject: sum(m.team == int(key.subject[5:]) for m in begun) for key in keys}
        full = len(begun), per_team, refused
        return full, holder

    host: ChallengeState = small.host
    (begun, per_team, refused), holder = small.call(fill(host))
    try:
        assert begun == 8  # half of 16
        assert max(per_team.values()) == 4  # as many as a team may play
        assert ("too_many", "team:1000") in refused
        assert ("unavailable", "team:1007") in refused
        made = small.entry("meanwhile")
        with welcomed(small.url, made["evaluation_key"]) as talk:
            assert len(talk.next(4)) == 4
    finally:

        async def leave():
            host.release(holder)

        small.call(leave())


def test_the_evaluations_of_a_team_share_its_limit(small):
    made = small.entry("two")
    team = small.base.database.read(
        lambda tx: tx.exec_driver_sql("SELECT id FROM teams WHERE name = 'two'").scalar_one()
    )
    work = (small.base.clock, small.host.challenge, small.host.choices, team, "second", "a plan")
    second = small.base.database.write(repository.enter, *work)
    with (
        welcomed(small.url, made["evaluation_key"]) as one,
        welcomed(small.url, second["evaluation_key"]) as two,
    ):
        assert len(one.next(3)) == 3
        assert len(two.next(3)) == 1
        assert two.next(3) == []
    third = small.base.database.write(repository.enter, *work[:4], "third", "a plan")
    with welcomed(small.url, third["evaluation_key"]) as talk:
        answer = talk.ask(type="next", count=1)
        assert (answer["type"], answer["error"]) == ("error", "too_many")
