"""What the analyses share: their results, means over people, tests that may not be possible."""

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


@dataclass(frozen=True)
class AnalysisResult:
    """What an analysis found."""

    id: str
    title: str
    tables: Mapping[str, Table]  # by a short name
    figures: Sequence[Section] = ()
    about: str = ""  # how to read it
    notes: tuple[str, ...] = ()  # what could not be done, and why


def person_means(rows: Table, *by: str, value: str = "value") -> dict[tuple[Any, ...], dict[str, float]]:
    """For every value of some columns: each person's mean."""
    held: dict[tuple[Any, ...], dict[str, list[float]]] = {}
    for row in rows:
        if row[value] is not None:
            held.setdefault(tuple(row[b] for b in by), {}).setdefault(row["person"], []).append(float(row[value]))
    return {key: {who: float(np.mean(given)) for who, given in people.items()} for key, people in held.items()}


def mean_row(values: Sequence[float], name: str = "mean", bounds: tuple[float, float] = EVERYWHERE) -> Row:
    """A mean with Student's interval, which ends where no value can be; without, where there is one value only or all
    are the same."""
    if not values:
        return {name: None, f"{name}_low": None, f"{name}_high": None}
    if len(values) == 1 or max(values) == min(values):
        return {name: float(values[0]), f"{name}_low": None, f"{name}_high": None}
    found = mean_interval(values)
    low, high = max(found.low, bounds[0]), min(found.high, bounds[1])
    return {name: found.estimate, f"{name}_low": low, f"{name}_high": high}


def enough(*samples: Sequence[float], least: int = 2) -> None:
    """An error where there are too few people for a test."""
    fewest = min(len(values) for values in samples)
    if fewest < least:
        raise InterplayError(f"{fewest} {'person is' if fewest == 1 else 'people are'} too few for a test")


def attempt(test: Callable[[], Row]) -> Row:
    """The row of a test, or a note that says why there is none."""
    try:
        return test()
    except InterplayError as error:
        return {"note": str(error)}


def with_holm(rows: Sequence[Row], p: str = "p", name: str = "p_holm") -> list[Row]:
    """Rows with Holm's correction over all of them beside the plain p."""
    given = [np.nan if row.get(p) is None else row[p] for row in rows]
    adjusted = given if np.isnan(given).all() else holm(given)
    return [_beside(row, p, name, None if np.isnan(a) else float(a)) for row, a in zip(rows, adjusted, strict=True)]


def _beside(row: Row, column: str, name: str, value: float | None) -> Row:
    """The row with one more value, after a column that it may have."""
    found: Row = {}
    for key, held in row.items():
        found[key] = held
        if key == column:
            found[name] = value
    return found if name in found else {**found, name: value}
