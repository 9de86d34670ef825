"""SQL over a trace set: read only, and nothing but the set's own tables can be read."""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import duckdb

from interplay.errors import InterplayError, TraceError
from interplay.games.registry import make_recorded
from interplay.table import Table
from interplay.traces.columns import encode
from interplay.traces.parquet_parts import connect, select_typed
from interplay.traces.schema import TABLES
from interplay.traces.store import TraceSet

SEATS = {"episode": "BIGINT", "seat": "BIGINT", "agent": "VARCHAR", "hash": "VARCHAR", "privileged": "BOOLEAN"}
SEATS |= {"config": "JSON", "reward": "DOUBLE"}
NAMES = {"game": "VARCHAR", "options": "JSON", "action": "BIGINT", "name": "VARCHAR"}
NAMED = {"episode": "BIGINT", "t": "INTEGER", "seat": "SMALLINT", "agent": "VARCHAR", "action": "SMALLINT"}
NAMED |= {"name": "VARCHAR"}
VIEWS = {**TABLES, "seats": SEATS, "action_names": NAMES, "named_actions": NAMED}

_SEATS_VIEW = """
CREATE VIEW seats AS SELECT episode, seat - 1 AS seat, agents[seat] AS agent, hashes[seat] AS hash,
       privileged[seat] AS privileged, configs->CAST(seat - 1 AS INTEGER) AS config, rewards[seat] AS reward
FROM (SELECT *, unnest(range(1, len(agents) + 1)) AS seat FROM episodes)
"""

_NAMED_VIEW = """
CREATE VIEW named_actions AS SELECT a.episode, a.t, a.seat, e.agents[a.seat + 1] AS agent, a.action, n.name
FROM actions a JOIN episodes e ON a.episode = e.episode
LEFT JOIN action_names n ON n.game = e.game AND CAST(n.options AS VARCHAR) = CAST(e.options AS VARCHAR)
  AND n.action = a.action
"""


def query(traces: TraceSet | str | os.PathLike[str], sql: str, tables: Mapping[str, Table] | None = None) -> Table:
    """Return the rows of one SELECT over the tables that `schema_text` lists.

    Args:
        traces: A trace set or its folder.
        sql: The SELECT.
        tables: Further tables by name, such as measurements of the set.

    Raises:
        TraceError: The query is not one SELECT, or names what is not there.
    """
    if not isinstance(traces, TraceSet):
        traces = TraceSet.open(traces)
    more = dict(tables or {})
    for name in set(more) & set(VIEWS):
        raise TraceError(f"{name!r} is a table of every trace set: call yours something else")
    with connect() as con:
        paths = _define(con, traces)
        if re.search(r"\b(action_names|named_actions)\b", sql, re.IGNORECASE):  # games are made for these alone
            _action_names(con)
        for name, table in more.items():
            table.into_duckdb(con, name)
        _lock(con, paths)
        statement = _one_select(con, sql)
        try:
            result = con.execute(statement)
            names = _unique([column[0] for column in result.description or ()])
            rows = [dict(zip(names, map(_value, row), strict=True)) for row in result.fetchall()]
        except duckdb.Error as error:
            raise TraceError(f"{_says(error)}\n{schema_text(more)}") from None
    return Table.of(rows, columns=names)


def schema_text(tables: Mapping[str, Table] | None = None) -> str:
    """Return the tables and their columns, one line each.

    Args:
        tables: Further tables that a query was given.
    """
    lines = [f"  {name}({', '.join(f'{c} {kind}' for c, kind in columns.items())})" for name, columns in VIEWS.items()]
    lines += [f"  {name}({', '.join(table.columns)})" for name, table in (tables or {}).items()]
    return "The tables are:\n" + "\n".join(lines)


def _action_names(con: duckdb.DuckDBPyConnection) -> None:
    """Define `action_names` and `named_actions`; games that cannot be made here have no names."""
    rows = []
    for name, options in con.execute("SELECT DISTINCT game, CAST(options AS VARCHAR) FROM episodes").fetchall():
        try:
            game = make_recorded(name, json.loads(options))
        except InterplayError:
            continue
        rows += [
            {"game": name, "options": options, "action": number, "name": action}
            for number, action in enumerate(game.action_names)
        ]
    Table.of(rows, columns=list(NAMES)).into_duckdb(con, "untyped_names")
    typed = ", ".join(f"CAST({column} AS {kind}) AS {column}" for column, kind in NAMES.items())
    con.execute(f"CREATE VIEW action_names AS SELECT {typed} FROM untyped_names")
    con.execute(_NAMED_VIEW)


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
    """Lock the connection: no other file, network, Python variable or setting can be reached from here on."""
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
