"""Measures of agents that were made elsewhere, from a CSV file."""

from __future__ import annotations

import csv
from pathlib import Path

from interplay.errors import InterplayError
from interplay.study.analysis.run import check_objective
from interplay.table import Table


def read_measures(path: str | Path) -> Table:
    """Columns agent, measure, value; also game and direction (lower). An empty value is missing."""
    try:
        with Path(path).open(encoding="utf-8", newline="") as file:
            rows = [{k: v or None for k, v in row.items() if k} for row in csv.DictReader(file)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InterplayError(f"cannot read the measures of {path}: {error}") from None
    if not rows:
        raise InterplayError(f"{path} holds no measures")
    try:
        table = Table.of(rows)
        check_objective(table)
    except InterplayError as error:
        raise InterplayError(f"{path}: {error}") from None
    odd = {row.get("direction") for row in rows} - {None, "lower", "higher"}
    if odd:
        raise InterplayError(f"{path}: direction {odd.pop()!r}; it is lower or higher")
    return Table.of([{**row, "value": None if row["value"] is None else float(row["value"])} for row in rows])
