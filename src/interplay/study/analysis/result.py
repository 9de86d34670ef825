"""What the analyses share: their results, means over people, and tests that may not be possible."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from interplay.errors import InterplayError
from interplay.reports.document import Section
from interplay.stats import holm, mean_interval
from interplay.table import Row, Table

EVERYWHERE = (-np.inf, np.inf)
FEWEST = 5  # values of which a mean is given with an interval
WITHHELD = f"Means of fewer than {FEWEST} values stand without an interval, and no interval reaches beyond its scale."


@dataclass(frozen=True)
class AnalysisResult:
    """The tables, figures and notes of one analysis."""

    id: str
    title: str
    tables: Mapping[str, Table]  # by a short name
    figures: Sequence[Section] = ()
    about: str = ""  # how to read it
    notes: tuple[str, ...] = ()  # what could not be done, and why


def person_means(rows: Table, *by: str, value: str = "value") -> dict[tuple[Any, ...], dict[str, float]]:
    """Return each person's mean, for every combination of values of the columns `by`."""
    by_key: dict[tuple[Any, ...], dict[str, list[float]]] = {}
    for row in rows:
        if row[value] is not None:
            by_key.setdefault(tuple(row[b] for b in by), {}).setdefault(row["person"], []).append(float(row[value]))
    return {key: {who: float(np.mean(values)) for who, values in people.items()} for key, people in by_key.items()}


def mean_row(values: Sequence[float], name: str = "mean", bounds: tuple[float, float] = EVERYWHERE) -> Row:
    """Return a mean with Student's interval, cut at the bounds.

    The interval is None where there are fewer than `FEWEST` values, or where all are the same.
    """
    if len(values) == 0:
        return {name: None, f"{name}_low": None, f"{name}_high": None}
    if len(values) < FEWEST or max(values) == min(values):
        return {name: float(np.mean(values)), f"{name}_low": None, f"{name}_high": None}
    interval = mean_interval(values)
    low, high = max(interval.low, bounds[0]), min(interval.high, bounds[1])
    return {name: interval.estimate, f"{name}_low": low, f"{name}_high": high}


def enough(*samples: Sequence[float], least: int = 2) -> None:
    """Raise an `InterplayError` if there are too few people for a test."""
    fewest = min(len(values) for values in samples)
    if fewest < least:
        raise InterplayError(f"{fewest} {'person is' if fewest == 1 else 'people are'} too few for a test")


def attempt(test: Callable[[], Row]) -> Row:
    """Return the row of a test, or a note that says why there is none."""
    try:
        return test()
    except InterplayError as error:
        return {"note": str(error)}


def with_holm(rows: Sequence[Row], p: str = "p", name: str = "p_holm") -> list[Row]:
    """Return rows with Holm's correction over all of them after the plain p."""
    p_values = [np.nan if row.get(p) is None else row[p] for row in rows]
    adjusted = p_values if np.isnan(p_values).all() else holm(p_values)
    return [_beside(row, p, name, None if np.isnan(a) else float(a)) for row, a in zip(rows, adjusted, strict=True)]


def _beside(row: Row, column: str, name: str, value: float | None) -> Row:
    """Return the row with one more value, after a column that it may have."""
    extended: Row = {}
    for key, cell in row.items():
        extended[key] = cell
        if key == column:
            extended[name] = value
    return extended if name in extended else {**extended, name: value}
