"""SQL over a trace set: read only, and nothing but the set's own tables can be read."""

from __future__ import annotations

import base64
import os
from decimal import Decimal
from typing import Any

import duckdb

from interplay.errors import TraceError
from interplay.table import Table
from interplay.traces.columns import encode
from interplay.traces.parquet_parts import connect, select_typed
from interplay.traces.schema import TABLES
from interplay.traces.store import TraceSet

SEATS = {"episode": "BIGINT", "seat": "BIGINT", "agent": "VARCHAR", "hash": "VARCHAR", "privileged": "BOOLEAN"}
SEATS |= {"config": "JSON", "reward": "DOUBLE"}
VIEWS = {**TABLES, "seats": SEATS}

_SEATS_VIEW = """
CREATE VIEW seats AS SELECT episode, seat - 1 AS seat, agents[seat] AS agent, hashes[seat] AS hash,
       privileged[seat] AS privileged, configs->CAST(seat - 1 AS INTEGER) AS config, rewards[seat] AS reward
FROM (SELECT *, unnest(range(1, len(agents) + 1)) AS seat FROM episodes)
"""


def query(traces: TraceSet | str | os.PathLike[str], sql: str) -> Table:
    """The rows of one SELECT over `episodes`, `seats`, `actions`, `checksums` and `events`."""
    if not isinstance(traces, TraceSet):
        traces = TraceSet.open(traces)
    with connect() as con:
        paths = _define(con, traces)
        _lock(con, paths)
        statement = _one_select(con, sql)
        try:
            result = con.execute(statement)
            names = _unique([column[0] for column in result.description or ()])
            rows = [dict(zip(names, map(_value, row), strict=True)) for row in result.fetchall()]
        except duckdb.Error as error:
            raise TraceError(f"{_says(error)}\n{schema_text()}") from None
    return Table.of(rows, columns=names)


def schema_text() -> str:
    """The tables and their columns, one line each."""
    lines = (f"  {name}({', '.join(f'{c} {kind}' for c, kind in columns.items())})" for name, columns in VIEWS.items())
    return "The tables are:\n" + "\n".join(lines)


def _define(con: duckdb.DuckDBPyConnection, traces: TraceSet) -> list[str]:
    """Make the tables known, and say which files they read. A folder is scanned in place, however large it is."""
    paths: list[str] = []
    for table in TABLES if traces.files("episodes") else ():
        files = [str(file) for file in traces.files(table)]
        columns = ", ".join(f'"{c}"' for c in TABLES[table])
        listed = ", ".join(_quoted(f) for f in files)
        _run(con, f"CREATE VIEW {table} AS SELECT {columns} FROM read_parquet([{listed}])", traces)
        paths += files
    if not paths:
        _materialise(con, traces)
    _run(con, _SEATS_VIEW, traces)
    return paths


def _materialise(con: duckdb.DuckDBPyConnection, traces: TraceSet) -> None:
    columns = encode(list(traces))
    columns["episodes"]["episode"] = numbers = traces.numbers
    for table in TABLES:
        if table != "episodes":
            columns[table]["episode"] = numbers[columns[table]["episode"]]
        con.register("source", columns[table])
        con.execute(f"CREATE TABLE {table} AS {select_typed(table, 'source')}")
        con.unregister("source")


def _run(con: duckdb.DuckDBPyConnection, statement: str, traces: TraceSet) -> None:
    try:
        con.execute(statement)
    except duckdb.Error as error:
        raise TraceError(f"{traces.name} has a damaged part: {_says(error)}") from None


def _lock(con: duckdb.DuckDBPyConnection, paths: list[str]) -> None:
    """From here on no other file, no network, no Python variable and no setting can be reached."""
    con.execute(f"SET allowed_paths = [{', '.join(_quoted(p) for p in paths)}]")
    con.execute("SET python_enable_replacements = false")
    con.execute("SET autoinstall_known_extensions = false")
    con.execute("SET enable_external_access = false")
    con.execute("SET lock_configuration = true")


def _one_select(con: duckdb.DuckDBPyConnection, sql: str) -> duckdb.Statement:
    try:
        statements = con.extract_statements(sql)
    except duckdb.Error as error:
        raise TraceError(f"{_says(error)}\n{schema_text()}") from None
    if len(statements) != 1:
        raise TraceError(f"give one SQL statement, not {len(statements)}")
    if statements[0].type != duckdb.StatementType.SELECT:
        kind = str(statements[0].type).removeprefix("StatementType.")
        raise TraceError(f"a trace set is read by SELECT only; this statement is {kind}, and nothing was changed")
    return statements[0]


def _unique(names: list[str]) -> list[str]:
    """Column names, the second `episode` of a join as `episode_2`."""
    counts: dict[str, int] = {}
    result = []
    for name in names:
        counts[name] = counts.get(name, 0) + 1
        result.append(name if counts[name] == 1 else f"{name}_{counts[name]}")
    return result


def _value(value: Any) -> Any:
    """A value of DuckDB as JSON knows it."""
    match value:
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case bytes():
            return base64.b64encode(value).decode("ascii")
        case list() | tuple():
            return [_value(v) for v in value]
        case dict():
            return {str(k): _value(v) for k, v in value.items()}
        case None | bool() | int() | float() | str():
            return value
    return str(value)  # dates, times, intervals, UUIDs


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _says(error: duckdb.Error) -> str:
    return str(error).strip()
