"""A backup holds what the database held, and is brought back into a new database only."""

import sqlite3
import stat

import pytest

from interplay.errors import InterplayError
from interplay.server.backup import backup, restore


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
    with pytest.raises(InterplayError, match="PostgreSQL"):
        restore(tmp_path / "text", str(tmp_path / "b.db"))
