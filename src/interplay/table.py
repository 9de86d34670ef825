"""A tidy table: named columns, one record per value. What metrics give and what reports and `--json` show."""

from __future__ import annotations

import csv
import html
import io
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from interplay.errors import InterplayError

Row = dict[str, Any]


def plain(value: Any) -> Any:
    """A value as JSON knows it: numpy scalars become numbers, arrays lists, NaN becomes null."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return value


def mean(values: Iterable[float | None]) -> float | None:
    """The mean of the values that are known; None where none is."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


MOST_SHOWN = 60  # rows of a table that a notebook shows
WIDEST = 400  # columns of a pivoted table


@dataclass(frozen=True)
class Table:
    """Rows of one shape. A missing value is None, never 0.

    In a notebook a table shows itself; `to_pandas()`, `to_arrow()` and `to_polars()` hand it on, `write()` keeps it.
    """

    columns: tuple[str, ...]
    rows: list[Row] = field(default_factory=list)
    title: str = ""
    describing: tuple[str, ...] = ()  # columns that describe a value (an interval, a count): no keys to group by

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]], title: str = "", columns: Sequence[str] | None = None) -> Table:
        """A table of these records; columns in the order in which they first appear."""
        records = [{k: plain(v) for k, v in row.items()} for row in rows]
        names = dict.fromkeys(columns or ())
        for record in records:
            names.update(dict.fromkeys(record))
        columns = tuple(names)
        return cls(columns, [r if tuple(r) == columns else {c: r.get(c) for c in columns} for r in records], title)

    def __iter__(self) -> Iterator[Row]:
        """The rows."""
        return iter(self.rows)

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.rows)

    def column(self, name: str) -> list[Any]:
        """The values of a column."""
        if name not in self.columns:
            raise InterplayError(f"no column {name!r}; this table has {', '.join(self.columns)}")
        return [row[name] for row in self.rows]

    def where(self, **equal: Any) -> Table:
        """The rows whose columns have these values."""
        rows = [r for r in self.rows if all(r.get(k) == v for k, v in equal.items())]
        return replace(self, rows=rows)

    def groups(self, *by: str) -> dict[tuple[Any, ...], Table]:
        """The rows split by the values of some columns, in order of first appearance."""
        for name in by:
            if name not in self.columns:
                raise InterplayError(f"no column {name!r}; this table has {', '.join(self.columns)}")
        return self.groups_of(lambda row: tuple(row[b] for b in by))

    def groups_of(self, key: Callable[[Row], Any]) -> dict[Any, Table]:
        """The rows split by what a function gives of them, in order of first appearance."""
        groups: dict[Any, list[Row]] = {}
        for row in self.rows:
            groups.setdefault(key(row), []).append(row)
        return {of: replace(self, rows=rows) for of, rows in groups.items()}

    def summarise(self, by: Sequence[str], value: str, how: Mapping[str, Callable[[list[Any]], Any]]) -> Table:
        """One row per group with named summaries of the non-null values of a column."""
        rows: list[Row] = []
        for key, part in self.groups(*by).items():
            present = [v for v in part.column(value) if v is not None]
            rows.append(
                dict(zip(by, key, strict=True)) | {n: (f(present) if present else None) for n, f in how.items()}
            )
        return Table.of(rows, self.title, columns=[*by, *how])

    def pivot(self, index: Sequence[str], names: str = "metric", value: str = "value") -> Table:
        """Return the long table as a wide one: a row for each unit, a column for each name.

        A name that stands several times in a row of the wide table is told apart by the other columns that differ
        there: `g1 public` and `g1 seen`. Columns that describe a value (an interval, a count) are left out.

        Args:
            index: The columns that say what a row is of; those that are empty throughout are left out.
            names: The column whose values become columns.
            value: The column whose values fill them.

        Raises:
            InterplayError: A column is missing, two rows cannot be told apart, or the table would have more columns
                than `WIDEST`.
        """
        for column in (names, value):
            self.column(column)
        units = [c for c in index if c in self.columns and any(row[c] is not None for row in self.rows)]
        rest = [c for c in self.columns if c not in (*index, names, value, *self.describing)]
        qualifiers = self._qualifiers(units, rest, names)
        rows: dict[str, Row] = {}
        columns: dict[str, None] = dict.fromkeys(units)
        for row in self.rows:
            said = [row[names], *(row[c] for c in qualifiers[row[names]] if row[c] is not None)]
            name = " ".join(str(part) for part in said)
            unit = {c: row[c] for c in units}
            cells = rows.setdefault(json.dumps(unit, sort_keys=True, default=str), unit)
            if name in cells:
                raise InterplayError(f"two rows have {name!r} of {_words(unit)}: they do not fit into a wide table")
            cells[name] = row[value]
            columns[name] = None
        if len(columns) > WIDEST:
            raise InterplayError(f"a wide table would have {len(columns)} columns: choose fewer of {names}")
        return Table.of(rows.values(), self.title, columns=list(columns))

    def _qualifiers(self, units: Sequence[str], rest: Sequence[str], names: str) -> dict[Any, list[str]]:
        """Return by name the columns in which rows of one unit and name differ."""
        seen: dict[tuple[str, str], Row] = {}
        differ: dict[Any, dict[str, None]] = {row[names]: {} for row in self.rows}
        for row in self.rows:
            key = (json.dumps([row[c] for c in units], default=str), str(row[names]))
            first = seen.setdefault(key, row)
            differ[row[names]].update(dict.fromkeys(c for c in rest if row[c] != first[c]))
        return {name: [c for c in rest if c in columns] for name, columns in differ.items()}

    def __add__(self, other: Table) -> Table:
        """Both tables' rows, with the columns of either."""
        joined = Table.of([*self.rows, *other.rows], self.title, columns=[*self.columns, *other.columns])
        return replace(joined, describing=tuple(dict.fromkeys([*self.describing, *other.describing])))

    def to_json(self, **extra: Any) -> str:
        """One JSON object: {"rows": [...], ...}."""
        return json.dumps({"rows": self.rows} | plain(extra), ensure_ascii=False)

    def to_csv(self) -> str:
        """The table as CSV."""
        out = io.StringIO()
        writer = csv.DictWriter(out, fieldnames=self.columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)
        return out.getvalue()

    def to_pandas(self) -> Any:
        """The table as a pandas DataFrame."""
        pandas = _needed("pandas")
        return pandas.DataFrame(self.rows, columns=list(self.columns))

    def to_arrow(self) -> Any:
        """The table as a pyarrow Table."""
        arrow = _needed("pyarrow")
        return arrow.table({name: [flat_cell(v) for v in self.column(name)] for name in self.columns})

    def to_polars(self) -> Any:
        """The table as a polars DataFrame."""
        polars = _needed("polars")
        columns = {name: [flat_cell(v) for v in self.column(name)] for name in self.columns}
        return polars.DataFrame(columns, strict=False)

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write the table to a file whose ending says how: .csv, .json or .parquet.

        Returns:
            The path.

        Raises:
            InterplayError: The ending is another one.
        """
        path = Path(path)
        if path.suffix == ".csv":
            path.write_text(self.to_csv(), encoding="utf-8")
        elif path.suffix == ".json":
            path.write_text(self.to_json() + "\n", encoding="utf-8")
        elif path.suffix == ".parquet":
            self._write_parquet(path)
        else:
            raise InterplayError(f"{path}: a table is written as .csv, .json or .parquet")
        return path

    def _write_parquet(self, path: Path) -> None:
        import duckdb

        with duckdb.connect() as con:
            self.into_duckdb(con, "rows")
            con.execute("COPY rows TO $path (FORMAT parquet)", {"path": str(path)})

    def into_duckdb(self, connection: Any, name: str) -> None:
        """Make the table a table of a DuckDB connection; lists and mappings become JSON.

        Args:
            connection: The connection.
            name: What the table is called there.
        """
        import numpy as np

        columns = {c: np.empty(len(self.rows), object) for c in self.columns}
        for c, values in columns.items():
            values[:] = [flat_cell(row[c]) for row in self.rows]
        kinds = {c: _sql_type({type(v) for v in self.column(c) if v is not None}) for c in self.columns}
        connection.register("source", columns)
        typed = ", ".join(f"CAST({_quoted(c)} AS {kind}) AS {_quoted(c)}" for c, kind in kinds.items())
        connection.execute(f"CREATE TABLE {_quoted(name)} AS SELECT {typed} FROM source")
        connection.unregister("source")

    def _repr_html_(self) -> str:
        """The table as a notebook shows it."""
        head = "".join(f"<th>{html.escape(c)}</th>" for c in self.columns)
        rows_shown = (
            "".join(f"<td>{html.escape(_text(row[c]))}</td>" for c in self.columns) for row in self.rows[:MOST_SHOWN]
        )
        body = "".join(f"<tr>{cells}</tr>" for cells in rows_shown)
        title = f"<caption>{html.escape(self.title)}</caption>" if self.title else ""
        more = len(self.rows) - MOST_SHOWN
        rest = f"<p>{more} more rows: <code>table.to_pandas()</code> has all</p>" if more > 0 else ""
        return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}"


def write_rows(path: Path, parts: Iterable[Iterable[Mapping[str, Any]]], columns: Sequence[str] = ()) -> int:
    """Write rows to a .csv or .parquet file as they come, in memory that does not grow with their number.

    Args:
        path: The file.
        parts: Rows in parts.
        columns: Those that stand first, as far as there are any; the others follow as they appear.

    Returns:
        The number of rows.

    Raises:
        InterplayError: The ending is another one.
    """
    import tempfile

    import duckdb

    if path.suffix not in (".csv", ".parquet"):
        raise InterplayError(f"{path}: rows are written as .csv or .parquet")
    count, kinds = 0, {}
    with tempfile.TemporaryDirectory() as folder:
        lines = Path(folder) / "rows.jsonl"
        with lines.open("w", encoding="utf-8") as out:
            for part in parts:
                for row in part:
                    values = {name: flat_cell(plain(value)) for name, value in row.items()}
                    for name, value in values.items():
                        kinds.setdefault(name, set()).update(() if value is None else (type(value),))
                    out.write(json.dumps(values) + "\n")
                    count += 1
        if not count:
            raise InterplayError(f"there are no rows to write to {path}")
        names = [*(c for c in columns if c in kinds), *(c for c in kinds if c not in columns)]
        typed = ", ".join(f"{_quoted(name)}: {_sql_type(kinds[name])!r}" for name in names)
        source = f"SELECT * FROM read_json($lines, format='newline_delimited', columns={{{typed}}})"
        kind = "parquet" if path.suffix == ".parquet" else "csv, header"
        with duckdb.connect() as con:
            con.execute(f"COPY ({source}) TO $path (FORMAT {kind})", {"lines": str(lines), "path": str(path)})
    return count


def _needed(package: str) -> Any:
    try:
        if package == "pandas":
            import pandas as library
        elif package == "pyarrow":
            import pyarrow as library
        else:
            import polars as library
    except ImportError:
        raise InterplayError(f"this needs the package {package}: pip install {package}") from None
    return library


def flat_cell(value: Any) -> Any:
    """A value as a column of one type can hold it: lists and mappings as JSON."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value


def _words(unit: Row) -> str:
    return ", ".join(f"{name} {value}" for name, value in unit.items() if value is not None) or "the table"


def _text(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _sql_type(kinds: set[type]) -> str:
    """The SQL type of a column whose values have these types, null aside."""
    for fitting, name in (({bool}, "BOOLEAN"), ({int}, "BIGINT"), ({int, float}, "DOUBLE")):
        if kinds and kinds <= fitting:
            return name
    return "VARCHAR"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
