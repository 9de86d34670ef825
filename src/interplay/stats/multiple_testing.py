"""Corrections for many tests at once. Adjusted p values keep the order and the missing entries of the input."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from interplay.errors import InterplayError
from interplay.stats._checks import Numbers, open_unit
from interplay.table import Row, Table

# Columns of plain p values; those of corrected ones end in _holm, _bonferroni or _all.
PLAIN_P = ("p", "p_within", "p_ordinal", "p_agents", "p_mixed", "p_wilcoxon", "p_equivalent", "p_not_worse")


def bonferroni(p: Numbers, *, tests: int | None = None) -> np.ndarray:
    """Return p values times the number of tests, at most 1.

    Args:
        p: The p values.
        tests: The number of tests, where more were run than are given.
    """
    values, here = _p_values(p)
    count = _count(tests, here)
    return _fill(values, here, np.minimum(values[here] * count, 1.0))


def bonferroni_threshold(alpha: float, tests: int) -> float:
    """The level below which each of so many tests must fall."""
    if tests < 1:
        raise InterplayError(f"tests must be at least 1, not {tests}")
    return open_unit(alpha, "alpha") / tests


def holm(p: Numbers, *, tests: int | None = None) -> np.ndarray:
    """Holm's step-down procedure: as safe as Bonferroni, never less powerful."""
    values, here = _p_values(p)
    count = _count(tests, here)
    order = np.argsort(values[here], kind="stable")
    stepped = np.maximum.accumulate(values[here][order] * (count - np.arange(len(order))))
    return _fill(values, here, _restore(np.minimum(stepped, 1.0), order))


def over_everything(tables: Mapping[str, Table]) -> tuple[dict[str, Table], int]:
    """Return tables with `p_all` beside p: Holm's correction over every plain p value in any of them.

    Whoever reads all tables and picks the smallest p is protected by it, whichever column it stands in.

    Args:
        tables: By name. Columns of `PLAIN_P` hold p values; null is no test.

    Returns:
        The tables, and how many tests they hold.
    """
    places = [
        (name, row, column)
        for name, table in tables.items()
        for column in PLAIN_P
        if column in table.columns
        for row in range(len(table))
        if isinstance(table.rows[row].get(column), float) and not np.isnan(table.rows[row][column])
    ]
    if not places:
        return dict(tables), 0
    adjusted = holm([tables[name].rows[row][column] for name, row, column in places])
    new: dict[str, list[Row]] = {name: [dict(row) for row in table] for name, table in tables.items()}
    for (name, row, column), value in zip(places, adjusted, strict=True):
        new[name][row]["p_all" if column == "p" else f"{column}_all"] = float(value)
    made = {}
    for name, table in tables.items():
        more = dict.fromkeys(key for row in new[name] for key in row if key not in table.columns)
        made[name] = Table.of(new[name], table.title, columns=[*table.columns, *more]) if more else table
    return made, len(places)


def benjamini_hochberg(p: Numbers) -> np.ndarray:
    """Controls the expected share of false discoveries, not the chance of a single one."""
    from scipy.stats import false_discovery_control

    values, here = _p_values(p)
    return _fill(values, here, false_discovery_control(values[here]))


def _p_values(p: Numbers) -> tuple[np.ndarray, np.ndarray]:
    values = np.asarray(cast(ArrayLike, p), dtype=np.float64)
    if values.ndim != 1 or values.size == 0:
        raise InterplayError(f"expected a list of p values, got shape {values.shape}")
    here = ~np.isnan(values)
    if not here.any() or np.any((values[here] < 0) | (values[here] > 1)):
        raise InterplayError("p values must lie between 0 and 1, and at least one must be present")
    return values, here


def _count(tests: int | None, here: np.ndarray) -> int:
    present = int(here.sum())
    if tests is not None and tests < present:
        raise InterplayError(f"tests={tests} is fewer than the {present} p values given")
    return present if tests is None else tests


def _restore(adjusted: np.ndarray, order: np.ndarray) -> np.ndarray:
    restored = np.empty_like(adjusted)
    restored[order] = adjusted
    return restored


def _fill(values: np.ndarray, here: np.ndarray, adjusted: np.ndarray) -> np.ndarray:
    filled = np.full(len(values), np.nan)
    filled[here] = adjusted
    return filled
