"""Sources of analyses: records of a study, and measures of agents from elsewhere.

Measures are a CSV file, what `interplay brprox --json` printed, or the metric hanabi/pool of a pool of agents.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interplay.errors import InterplayError
from interplay.metrics.hanabi.agent_pool import measures as pool_measures
from interplay.study.analysis.run import check_objective
from interplay.table import Row, Table
from interplay.untrusted_files import parse_json, read_text

if TYPE_CHECKING:
    from interplay.study.db.records import Records


def read_records(source: str, study: str | None = None, *, traces: bool = True) -> Records:
    """Return the records in a database or in the folder of an export.

    Raises:
        InterplayError: It is neither.
    """
    from sqlalchemy.exc import DBAPIError

    from interplay.study.db.records import load

    try:
        return load(source, study, traces=traces)
    except DBAPIError as error:
        name = Path(source).name  # an address may hold a password
        raise InterplayError(f"{name} cannot be read as a database: {error.orig}") from None


def read_measures(path: str | Path) -> Table:
    """Return measures of agents: columns agent, measure, value; also game and direction (lower). Empty is missing.

    Raises:
        InterplayError: The file cannot be read as measures.
    """
    text = read_text(path)
    try:
        rows = _rows_from_json(parse_json(text, str(path))) if Path(path).suffix == ".json" else _rows_from_csv(text)
    except csv.Error as error:
        raise InterplayError(f"cannot read the measures of {path}: {error}") from None
    if not rows:
        raise InterplayError(f"{path} holds no measures")
    table = Table.of(rows)
    try:
        check_objective(table)
    except InterplayError as error:
        raise InterplayError(f"{path}: {error}") from None
    odd = {row.get("direction") for row in rows} - {None, "lower", "higher"}
    if odd:
        raise InterplayError(f"{path}: direction {odd.pop()!r}; it is lower or higher")
    return Table.of([{**row, "value": None if row["value"] is None else float(row["value"])} for row in rows])


def _rows_from_csv(text: str) -> list[Row]:
    return [{k: v or None for k, v in row.items() if k} for row in csv.DictReader(text.splitlines())]


def _rows_from_json(content: Any) -> list[Row]:
    """Return the rows as they are; those of BR-Prox have an algorithm (its name in the study) and a layout."""
    if not isinstance(content, dict) or not isinstance(content.get("rows"), list):
        raise InterplayError('JSON of measures is one object, {"rows": [...]}, as --json prints it')
    if content["rows"] and "metric" in content["rows"][0] and "over" in content["rows"][0]:
        return pool_measures(Table.of(content["rows"])).rows
    rows = []
    for row in content["rows"]:
        if "honest_iqm" in row:
            row = {
                "agent": row["algorithm"],
                "game": row.get("layout"),
                "measure": "br_prox",
                "value": row["honest_iqm"],
            }
        rows.append(row)
    return rows
