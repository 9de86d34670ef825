"""A filled study and its researchers' pages, with a stand-in for the games: these pages ask little of them."""

import re
import shutil
from types import SimpleNamespace

import pytest
from starlette.testclient import TestClient

from interplay.server.app import Base, make_app
from interplay.study.admin import researchers
from interplay.study.admin.app import mount
from interplay.study.admin.context import AdminContext
from interplay.study.db.connect import open_study_database
from tests.manual_clock import ManualClock
from tests.server.conftest import fresh_address, postgres  # noqa: F401
from tests.study.researcher.filling import Filler, fill, play_episodes, protocol

PASSWORD = "correct horse battery"


class Quiet:
    """A journal in which nothing waits."""

    behind = False

    async def settled(self):
        pass


async def nobody():
    """No game is in play."""
    return []


class Study:
    """A study with its researchers' pages and one researcher, `ana`."""

    def __init__(self, database, clock, study, *, add=True):
        self.database, self.clock, self.protocol = database, clock, study
        self.base = Base(database, clock)
        host = SimpleNamespace(protocol=study, base=self.base, games_by_person={}, event_log=Quiet(), running=nobody)
        self.desk = AdminContext(host, secure=False)
        self.app = make_app(self.base, "Study", docs=False)
        mount(self.app, self.desk)
        if add:
            database.write(researchers.add, clock, "ana", password=PASSWORD)

    def client(self):
        self.clock.advance(60)  # the test before has used up no one's rates
        return Browser(self.app)

    def logged_in(self, name="ana", password=PASSWORD):
        found = self.client()
        assert found.log_in(name, password).status_code == 303
        return found

    def audit(self, action=None):
        from interplay.server import audit

        return self.database.read(audit.read, action=action).rows


class Browser(TestClient):
    """Fills in forms as a browser does: with the token that the page holds."""

    def __init__(self, app):
        super().__init__(app, base_url="http://testserver", follow_redirects=False)

    def log_in(self, name, password):
        return self.fill_in("/researcher/login", {"name": name, "password": password}, page="/researcher")

    def token(self, page="/researcher/export"):
        found = re.search(r'name="csrf" value="([0-9a-f]+)"', self.get(page).text)
        assert found, "no form on this page"
        return found[1]

    def fill_in(self, path, fields=None, page="/researcher/export", **options):
        headers = {"origin": "http://testserver"} | options.pop("headers", {})
        return self.post(path, data={"csrf": self.token(page)} | (fields or {}), headers=headers, **options)


@pytest.fixture(scope="session")
def episodes():
    return play_episodes()


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request, tmp_path):
    if request.param == "sqlite":
        return str(tmp_path / "tiny.db")
    return fresh_address(request.getfixturevalue("postgres"))


@pytest.fixture(scope="session")
def books(tmp_path_factory, episodes):
    """A filled database on disk, to be copied: filling takes longer."""
    path, clock = tmp_path_factory.mktemp("books") / "tiny.db", ManualClock()
    database = open_study_database(str(path))
    _, names, numbers = fill(database, clock, protocol(), episodes)
    database.close()
    return path, clock, names, numbers


@pytest.fixture
def filled(tmp_path, clock, books, episodes):
    """On SQLite, for a test that changes it."""
    yield from _copied(tmp_path, clock, books, episodes)


@pytest.fixture
def filled_anywhere(address, clock, books, episodes, tmp_path):
    """On SQLite and on PostgreSQL."""
    if "://" in address:
        yield from _filled(address, clock, episodes)
    else:
        yield from _copied(tmp_path, clock, books, episodes)


@pytest.fixture(scope="module")
def held(tmp_path_factory, books, episodes):
    """For tests that only look."""
    yield from _copied(tmp_path_factory.mktemp("held"), ManualClock(), books, episodes)


def _copied(folder, clock, books, episodes):
    path, then, names, numbers = books
    shutil.copy(path, folder / "tiny.db")
    clock.at, clock.seconds = then.at, then.seconds
    database, study = open_study_database(str(folder / "tiny.db")), protocol()
    yield from _open(database, clock, study, Filler(database, clock, study, episodes), names, numbers)


def _filled(address, clock, episodes):
    database, study = open_study_database(address), protocol()
    yield from _open(database, clock, study, *fill(database, clock, study, episodes))


def _open(database, clock, study, filler, names, numbers):
    made = Study(database, clock, study)
    made.filler, made.names, made.numbers = filler, names, numbers
    made.address = database.engine.url.database if database.is_sqlite else str(database.engine.url)
    yield made
    database.close()
