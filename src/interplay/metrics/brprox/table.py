"""Tables of BR-Prox as files: a row per ego, partner and seating with the return and the best response's return."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from interplay.errors import InterplayError
from interplay.metrics.brprox.ratios import BEST_RESPONSE_KEY, Cells, joined
from interplay.metrics.brprox.rows import AT, read_rows, reduced, tidy
from interplay.table import Row

NEED = ("algorithm", "seed", "partner", "return", "best_response_return")


def read_table(*paths: str | Path, seats: int | None = None) -> Cells:
    """The cells of one or several CSV files. Several are told apart by their names, as layouts."""
    if not paths:
        raise InterplayError("name a table, as in `interplay brprox TABLE.csv`")
    rows: list[Row] = []
    for path in paths:
        file = Path(path)
        file_rows = tidy(read_rows(file), what=file.name, need=NEED, seats=seats)
        stem = file.name.partition(".")[0]
        rows += file_rows if len(paths) == 1 else [r | {"layout": _layout(r["layout"], stem)} for r in file_rows]
    return joined(rows, _best_responses(rows), seats=seats)


def _layout(named: Any, stem: str) -> str:
    return stem if named is None else f"{stem}/{named}"


def _best_responses(rows: Sequence[Row]) -> dict[tuple[Any, ...], Any]:
    """The best responses: a table repeats them in every row, and must repeat them alike."""
    first: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        key = tuple(row.get(name) for name in BEST_RESPONSE_KEY)
        known = first.setdefault(key, row)
        a, b = known["best_response_return"], row["best_response_return"]
        if not math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9):
            raise InterplayError(
                f"{known[AT]} and {row[AT]}: the best response to partner {row['partner']} (skill {row['skill']}, "
                f"ego in {row['ego_seats']}) returns {a:g} in one and {b:g} in the other; there is one in each seating"
            )
    single = [row | {"episode": None} for row in first.values()]
    return reduced(single, BEST_RESPONSE_KEY, "best_response_return", "best responses")
