"""Backups of a server's database while it serves, and bringing one back into an empty database."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from interplay.errors import InterplayError
from interplay.server.database import normal_address


def backup(address: str, out: Path) -> int:
    """Write all of a database into one file, as it was at one moment, and return the file's size.

    SQLite files are copied page by page, PostgreSQL databases by `pg_dump`. Only the owner can read the file: it holds
    the server's secrets.

    Args:
        address: The database.
        out: A new file.

    Raises:
        InterplayError: There is no such database, the file exists, or the copy is not sound.
    """
    url = sa.make_url(normal_address(address))
    if out.exists():
        raise InterplayError(f"{out} exists: a backup goes into a new file")
    out.parent.mkdir(parents=True, exist_ok=True)
    os.close(os.open(out, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        if url.get_backend_name() == "sqlite":
            _copy_sqlite(_sqlite_file(url), out)
        else:
            _run_tool("pg_dump", url, "--format=custom", f"--file={out}")
    except BaseException:
        out.unlink(missing_ok=True)
        raise
    return out.stat().st_size


def restore(source: Path, address: str) -> None:
    """Bring a backup back into a database that is empty or does not exist.

    Raises:
        InterplayError: The file is no backup, or the database holds something already.
    """
    if not source.is_file():
        raise InterplayError(f"there is no file {source}")
    url = sa.make_url(normal_address(address))
    with source.open("rb") as file:
        begin = file.read(16)
    is_sqlite = begin == b"SQLite format 3\x00"
    if not is_sqlite and not begin.startswith(b"PGDMP"):
        raise InterplayError(f"{source} is no backup")
    if (url.get_backend_name() == "sqlite") != is_sqlite:
        kinds = "SQLite", "PostgreSQL"
        raise InterplayError(f"{source} is a backup of {kinds[not is_sqlite]}, and the database is {kinds[is_sqlite]}")
    if is_sqlite:
        target = Path(str(url.database))
        if target.exists() and target.stat().st_size:
            raise InterplayError(f"{target} exists: a backup is brought back into a new database")
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o600))
        try:
            _copy_sqlite(source, target)
        except BaseException:
            target.unlink(missing_ok=True)
            raise
        return
    engine = sa.create_engine(url)
    try:
        tables = sa.inspect(engine).get_table_names()
    except DBAPIError as error:
        raise InterplayError(f"cannot open the database {url}: {error.orig}") from None
    finally:
        engine.dispose()
    if tables:
        raise InterplayError(
            f"the database has {len(tables)} tables already: a backup is brought back into an empty one"
        )
    _run_tool(
        "pg_restore", url, "--no-owner", "--exit-on-error", "--single-transaction", str(source), database="--dbname"
    )


def _sqlite_file(url: sa.URL) -> Path:
    path = Path(str(url.database))
    if not path.is_file():
        raise InterplayError(f"there is no database {path}")
    return path


def _copy_sqlite(source: Path, target: Path) -> None:
    old = sqlite3.connect(f"file:{source}?mode=ro", uri=True, timeout=30)
    with closing(old), closing(sqlite3.connect(target)) as new:
        try:
            old.backup(new)
            (verdict,) = new.execute("PRAGMA integrity_check").fetchone()
        except sqlite3.Error as error:  # the disk is full, the source is no database, ...
            raise InterplayError(f"cannot copy {source} to {target}: {error}") from None
    if verdict != "ok":
        raise InterplayError(f"{source} is damaged: {verdict}")


def _run_tool(tool: str, url: sa.URL, *arguments: str, database: str = "") -> None:
    """Run a tool of PostgreSQL; the password goes by the environment, since anyone can see a command's arguments."""
    program = shutil.which(tool) or next(
        iter(sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{tool}"), reverse=True)), None
    )
    if program is None:
        raise InterplayError(f"this needs {tool}, which comes with PostgreSQL")
    plain = url.set(drivername="postgresql", password=None).render_as_string(hide_password=False)
    environment = os.environ | ({"PGPASSWORD": str(url.password)} if url.password else {})
    target = [f"{database}={plain}"] if database else [plain]
    done = subprocess.run([str(program), *arguments, *target], env=environment, capture_output=True, text=True)
    if done.returncode:
        raise InterplayError(f"{tool} failed: {done.stderr.strip()[-500:]}")
