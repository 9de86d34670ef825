"""Columns of a table of ratings: one row per rating, with who was rated, who rated, and the metrics beside it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from interplay.errors import InterplayError
from interplay.table import Table


def numbers(table: Table, name: str) -> np.ndarray:
    """A column as floats, null as NaN."""
    try:
        return np.array([np.nan if v is None else float(v) for v in table.column(name)])
    except (TypeError, ValueError) as error:
        raise InterplayError(f"column {name!r} does not hold numbers: {error}") from None


def codes(table: Table, name: str) -> tuple[np.ndarray, list]:
    """A column of names as numbers 0, 1, ... in order of appearance, and the names."""
    values = table.column(name)
    if any(v is None for v in values):
        raise InterplayError(f"column {name!r}: {values.count(None)} rows do not say which {name}")
    levels = list(dict.fromkeys(values))
    place = {level: i for i, level in enumerate(levels)}
    return np.array([place[v] for v in values]), levels


def check_columns(table: Table, names: Sequence[str]) -> None:
    """Check that a table has these columns.

    Raises:
        InterplayError: It lacks one.
    """
    for name in names:
        if name not in table.columns:
            raise InterplayError(f"no column {name!r}; this table has {', '.join(table.columns)}")
