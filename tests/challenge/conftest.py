"""One small challenge, made once: its partners are compiled for all tests together."""

import asyncio
import contextlib
from dataclasses import dataclass

import pytest

from interplay.challenge import admin, repository
from interplay.challenge.app_state import ChallengeState
from interplay.challenge.http_app import build
from interplay.challenge.spec import Challenge
from interplay.server import serve
from interplay.server.app import Base
from tests.manual_clock import ManualClock

SMALL = {
    "name": "small",
    "title": "Small",
    "settings": [
        {"name": "2p", "game": "hanabi/2p", "partners": ["random", "hanabi/simple"],
         "games": 10},
        {"name": "3p", "game": "hanabi/3p", "partners": ["random", "hanabi/simple"],
         "games": 19},
    ],
    "phases": [{"name": "main", "evaluations": {"per_day": 1000, "total": 1000}, "traces": "when_done"}],
    "rules": {"move_deadline_s": 60, "concurrency": 64, "connections": 200},
    "prediction": [{"setting": "2p", "agents": ["hanabi/simple", "random"], "games": 3, "seed": 1}],
    "leaderboard": {"metrics": ["hanabi/behaviour"]},
    "published_protocol": "belief",
}  # fmt: skip


def challenge(**changes) -> Challenge:
    return Challenge.model_validate(SMALL | changes)


@dataclass
class Served:
    """A challenge on a real port."""

    url: str
    app: object
    host: ChallengeState
    base: Base
    loop: asyncio.AbstractEventLoop

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def team(self, name: str) -> dict:
        return self.base.database.write(repository.register, self.base.clock, self.host.challenge, name, "someone")

    def entry(self, name: str, agent: str = "agent") -> dict:
        """Keys of a new team with one evaluation."""
        made = self.team(name)
        team = self.base.database.read(
            lambda tx: tx.exec_driver_sql(f"SELECT id FROM teams WHERE name = '{name}'").scalar_one()
        )
        work = (self.base.clock, self.host.challenge, self.host.choices, team, agent, "a plan")
        return made | self.base.database.write(repository.enter, *work)

    def settled(self) -> None:
        """Wait until all results are made."""
        asyncio.run_coroutine_threadsafe(self.app.state.settling.finished(), self.loop).result(300)

    def call(self, work):
        """Run a coroutine in the server's loop."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(300)


@contextlib.contextmanager
def serving(app, base):
    with serve.serving(app) as (url, loop):
        yield Served(url, app, app.state.host, base, loop)


@pytest.fixture(scope="session")
def address(tmp_path_factory):
    return str(tmp_path_factory.mktemp("challenge") / "books.db")


@pytest.fixture(scope="session")
def clock():
    """Deadlines and phases move only when a test says so."""
    return ManualClock()


@pytest.fixture(scope="session")
def served(address, clock):
    """The small challenge on a real port, for all tests."""
    database = admin.open_challenge_database(address)
    base = Base(database, clock, guesses_per_minute=10_000)
    with serving(build(challenge(), base, sizes=(16,), capacity=128), base) as found:
        yield found
    database.close()
