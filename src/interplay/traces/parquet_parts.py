"""The parts of a trace set on disk. A part appears whole, by one rename, or not at all.

A writer fills a hidden folder and renames it to the next free `part-NNNNNN`. A folder cannot be renamed onto
another one that is not empty, so two writers never take the same number: the slower one tries the next. A run
that is killed leaves at most a hidden folder, which no reader looks at.
"""

from __future__ import annotations

import os
import re
import shutil
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import duckdb
import numpy as np

from interplay.errors import InterplayError, TraceError
from interplay.rollout.episode import Episode
from interplay.traces.columns import NOBODY, Columns, decode, encode
from interplay.traces.schema import TABLES
from interplay.untrusted_files import regular_file

_NAME = re.compile(r"part-(\d{6,12})")
MOST_ROWS = {"episodes": 1_000_000, "actions": 100_000_000, "checksums": 100_000_000, "events": 20_000_000}
MOST_BYTES = 4 << 30  # of a table, unpacked
Fetched = TypeVar("Fetched")


@dataclass(frozen=True)
class ParquetPart:
    """One part: the episodes `first` to `last`, both included."""

    folder: Path
    first: int
    last: int

    def __len__(self) -> int:
        return self.last - self.first + 1

    def file(self, table: str) -> Path:
        """Return the file of a table."""
        return self.folder / f"{table}.parquet"


def connect() -> duckdb.DuckDBPyConnection:
    """A fresh in-memory database; every operation has its own, so that threads never share one."""
    # All rows are looked at to find a column's type: a first thousand of nulls says nothing of the rest.
    return duckdb.connect(config={"pandas_analyze_sample": 2**31})


def select_typed(table: str, source: str) -> str:
    """A query that gives the columns of a table their types, from registered numpy columns."""
    casts = []
    for name, kind in TABLES[table].items():
        value = f"nullif(seat, {NOBODY})" if (table, name) == ("events", "seat") else f'"{name}"'
        casts.append(f'CAST({value} AS {kind}) AS "{name}"')
    return f"SELECT {', '.join(casts)} FROM {source}"


def find_parts(root: Path) -> list[ParquetPart]:
    """The parts of a set in their order, after a look at what could be wrong with them."""
    folders = sorted((f for f in root.iterdir() if _NAME.fullmatch(f.name)), key=_number)
    for folder in folders:
        if not folder.is_dir():
            raise TraceError(f"{folder} should be a folder with the tables of a part; it is a file. Remove it")
        for table in TABLES:
            try:
                regular_file(folder / f"{table}.parquet", within=root)
            except InterplayError as error:
                raise TraceError(f"{error}: restore it, or remove {folder.name} and lose its episodes") from None
    if not folders:
        return []
    parts = _ranges(folders)
    for before, after in pairwise(parts):
        if after.first <= before.last:
            raise TraceError(
                f"{after.folder} repeats the episode number {after.first} of {before.folder.name}: it comes from "
                "another trace set. Remove it, and merge sets by TraceSet.append"
            )
    return parts


def _number(folder: Path) -> int:
    return int(folder.name.removeprefix("part-"))


def _ranges(folders: Sequence[Path]) -> list[ParquetPart]:
    files = [str(f / "episodes.parquet") for f in folders]
    with connect() as con:
        for file in files:
            try:
                _check_bounds(con, Path(file), "episodes")
            except duckdb.Error as error:
                raise TraceError(_unreadable(Path(file), error)) from None
    query = """SELECT filename, min(episode), max(episode), count(*)
               FROM read_parquet($files, filename = true) GROUP BY filename"""
    try:
        with connect() as con:
            ranges = {row[0]: row[1:] for row in con.execute(query, {"files": files}).fetchall()}
    except duckdb.Error:
        for file in files:  # slower, but it knows which file is to blame
            _read(Path(file), "episodes", (0, 0), _rows)
        raise
    return [_part(folder, *ranges.get(file, (None, None, 0))) for folder, file in zip(folders, files, strict=True)]


def _part(folder: Path, first: Any, last: Any, count: int) -> ParquetPart:
    if count == 0:
        raise TraceError(f"{folder / 'episodes.parquet'} has no rows; a part is never empty. Remove {folder.name}")
    if not (isinstance(first, int) and isinstance(last, int)) or last - first + 1 != count:
        raise TraceError(
            f"{folder / 'episodes.parquet'} numbers its {count} episodes from {first} to {last}; the numbers must "
            "follow one another. Another program changed it: restore it, or remove the part"
        )
    return ParquetPart(folder, first, last)


def _read(
    file: Path, table: str, span: tuple[int, int], fetch: Callable[[duckdb.DuckDBPyConnection], Fetched]
) -> Fetched:
    """What `fetch` makes of a table's rows within a span of episodes; an error names the file if it is not ours."""
    columns = ", ".join(f'"{c}"' for c in TABLES[table])
    query = f"SELECT {columns} FROM read_parquet($file) WHERE episode BETWEEN $low AND $high"
    with connect() as con:
        try:
            _check_bounds(con, file, table)
            _check_types(con, file, table)
            return fetch(con.execute(query, {"file": str(file), "low": span[0], "high": span[1]}))
        except duckdb.Error as error:
            raise TraceError(_unreadable(file, error)) from None


def _unreadable(file: Path, error: duckdb.Error) -> str:
    says = str(error).strip().splitlines()[0]
    return (
        f"{file} cannot be read as Parquet; it is cut short, damaged or not Parquet at all ({says}). "
        f"Restore it, or remove {file.parent.name} and lose its episodes"
    )


def _check_bounds(con: duckdb.DuckDBPyConnection, file: Path, table: str) -> None:
    """Refuse a file that claims more than any writer of ours puts into a part, before its rows are fetched."""
    claims = "SELECT max(num_rows) FROM parquet_file_metadata($file)"
    size = "SELECT sum(total_uncompressed_size) FROM parquet_metadata($file)"
    rows, unpacked = (con.execute(q, {"file": str(file)}).fetchone() or (None,) for q in (claims, size))
    if (rows[0] or 0) > MOST_ROWS[table] or (unpacked[0] or 0) > MOST_BYTES:
        raise TraceError(f"{file} claims {rows[0]} rows of {unpacked[0]} bytes; no part of a trace set is that large")


def _check_types(con: duckdb.DuckDBPyConnection, file: Path, table: str) -> None:
    described = con.execute("DESCRIBE SELECT * FROM read_parquet($file)", {"file": str(file)}).fetchall()
    types = {name: kind for name, kind, *_ in described}
    for name, kind in TABLES[table].items():
        if name not in types:
            raise TraceError(f"{file} has no column {name!r}, it has {', '.join(types)}: it is not a table of traces")
        if types[name] != kind:
            raise TraceError(f"{file}: column {name!r} has the type {types[name]}, a trace set has {kind} there")


def _rows(con: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
    return [dict(zip(TABLES["episodes"], row, strict=True)) for row in con.fetchall()]


def _columns(con: duckdb.DuckDBPyConnection) -> Columns:
    fetched: dict[str, Any] = con.fetchnumpy()
    return {n: np.ma.filled(v, NOBODY) if isinstance(v, np.ma.MaskedArray) else v for n, v in fetched.items()}


def read_part(part: ParquetPart, numbers: np.ndarray) -> Iterator[Episode]:
    """Episodes of one part by ascending number: one query a table, however many they are."""
    span = (int(numbers[0]), int(numbers[-1]))
    rows = _read(part.file("episodes"), "episodes", span, _rows)
    tables = {name: _read(part.file(name), name, span, _columns) for name in ("actions", "checksums", "events")}
    if len(rows) != len(numbers):
        wanted = set(numbers.tolist())
        rows = [row for row in rows if row["episode"] in wanted]
        tables = {name: _only(columns, numbers) for name, columns in tables.items()}
    yield from decode(rows, **tables, where=str(part.folder))


def _only(columns: Columns, numbers: np.ndarray) -> Columns:
    keep = np.isin(columns["episode"], numbers)
    return {name: values[keep] for name, values in columns.items()}


def write_part(root: Path, episodes: Sequence[Episode]) -> ParquetPart:
    """Add these episodes as one part, after all parts that are there now."""
    hidden = root / f".writing-{os.getpid()}-{uuid.uuid4().hex[:8]}"
    hidden.mkdir()
    try:
        while True:
            number, first = _next(root)
            _write_tables(hidden, encode(episodes, first))
            target = root / f"part-{number:06d}"
            try:
                os.rename(hidden, target)
            except OSError:
                if not target.exists():
                    raise
                continue  # another writer took the number, and the episode numbers with it
            _sync(root)
            return ParquetPart(target, first, first + len(episodes) - 1)
    finally:
        shutil.rmtree(hidden, ignore_errors=True)


def _next(root: Path) -> tuple[int, int]:
    """The next part's number and its first episode's. Only the last part is looked at, so appending stays quick."""
    folders = [f for f in root.iterdir() if _NAME.fullmatch(f.name)]
    if not folders:
        return 0, 0
    newest = max(folders, key=_number)
    return _number(newest) + 1, _ranges([newest])[0].last + 1


def _write_tables(folder: Path, tables: dict[str, Columns]) -> None:
    with connect() as con:
        for name, columns in tables.items():
            file = folder / f"{name}.parquet"
            con.register("source", columns)
            quoted = str(file).replace("'", "''")
            try:
                con.execute(f"COPY ({select_typed(name, 'source')}) TO '{quoted}' (FORMAT parquet, COMPRESSION zstd)")
            except duckdb.ConversionException as error:
                raise TraceError(f"an episode does not fit the table {name!r} of a trace set: {error}") from None
            con.unregister("source")
            _sync(file)
    _sync(folder)


def _sync(path: Path) -> None:
    """Make a file or folder survive a loss of power, where the system can."""
    if os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
