"""A tidy table: named columns, one record per value. What metrics give and what reports and `--json` show."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
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


@dataclass(frozen=True)
class Table:
    """Rows of one shape. A missing value is None, never 0."""

    columns: tuple[str, ...]
    rows: list[Row] = field(default_factory=list)
    title: str = ""

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]], title: str = "", columns: Sequence[str] | None = None) -> Table:
        """A table of these records; columns in the order in which they first appear."""
        records = [{k: plain(v) for k, v in row.items()} for row in rows]
        names = dict.fromkeys(columns or ())
        for record in records:
            names.update(dict.fromkeys(record))
        return cls(tuple(names), [{c: r.get(c) for c in names} for r in records], title)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, name: str) -> list[Any]:
        if name not in self.columns:
            raise InterplayError(f"no column {name!r}; this table has {', '.join(self.columns)}")
        return [row[name] for row in self.rows]

    def where(self, **equal: Any) -> Table:
        """The rows whose columns have these values."""
        rows = [r for r in self.rows if all(r.get(k) == v for k, v in equal.items())]
        return Table(self.columns, rows, self.title)

    def groups(self, *by: str) -> dict[tuple[Any, ...], Table]:
        """The rows split by the values of some columns, in order of first appearance."""
        for name in by:
            if name not in self.columns:
                raise InterplayError(f"no column {name!r}; this table has {', '.join(self.columns)}")
        found: dict[tuple[Any, ...], list[Row]] = {}
        for row in self.rows:
            found.setdefault(tuple(row[b] for b in by), []).append(row)
        return {key: Table(self.columns, rows, self.title) for key, rows in found.items()}

    def summarise(self, by: Sequence[str], value: str, how: Mapping[str, Callable[[list[Any]], Any]]) -> Table:
        """One row per group with named summaries of the non-null values of a column."""
        rows: list[Row] = []
        for key, part in self.groups(*by).items():
            present = [v for v in part.column(value) if v is not None]
            rows.append(
                dict(zip(by, key, strict=True)) | {n: (f(present) if present else None) for n, f in how.items()}
            )
        return Table.of(rows, self.title, columns=[*by, *how])

    def __add__(self, other: Table) -> Table:
        return Table.of([*self.rows, *other.rows], self.title, columns=[*self.columns, *other.columns])

    def to_json(self, **extra: Any) -> str:
        """One JSON object: {"rows": [...], ...}."""
        return json.dumps({"rows": self.rows} | plain(extra), ensure_ascii=False)

    def to_csv(self) -> str:
        out = io.StringIO()
        writer = csv.DictWriter(out, fieldnames=self.columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)
        return out.getvalue()
