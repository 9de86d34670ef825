"""How a table's values are shown: intervals beside estimates, nulls as dashes, privileged agents with a dagger."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from interplay.errors import InterplayError
from interplay.reports.svg import bracket, digits_for, label
from interplay.table import Row, Table

NULL = "–"
AGENT_COLUMNS = re.compile(r"agents?|partner|giver_agent|receiver_agent|seat_\d+")
PHRASE = 24  # characters above which words are a phrase
PROBABILITY = re.compile(r"p|p_\w+")
# Columns that `low` and `high` belong to, the first that is there.
_CENTRES = ("estimate", "iqm", "mean", "median", "difference", "value")


@dataclass(frozen=True)
class FormattedCell:
    """What one cell shows, and by what it sorts."""

    text: str
    sort: float | str | None = None
    interval: str = ""
    dagger: bool = False
    href: str = ""


@dataclass(frozen=True)
class Column:
    """One column of a table as shown."""

    name: str
    label: str
    style: str  # "num" of numbers, "prose" of phrases, which need room to be read, or ""
    digits: int
    low: str | None
    high: str | None
    privileged: frozenset[str]

    def cell(self, row: Row) -> FormattedCell:
        """Return the cell of a row: its text, its interval, and what it sorts by."""
        value = row.get(self.name)
        if value is None:
            return FormattedCell(NULL)
        if isinstance(value, bool):
            return FormattedCell("yes" if value else "no", str(value))
        if isinstance(value, int | float):
            text = label(value, self.digits)
            if PROBABILITY.fullmatch(self.name) and 0 < value < 0.5 * 10.0**-self.digits:  # no p is 0
                text = f"< {10.0**-self.digits:.{self.digits}f}"
            return FormattedCell(text, value, bracket(row.get(self.low or ""), row.get(self.high or ""), self.digits))
        if isinstance(value, str):
            if value.startswith("#replay-"):
                return FormattedCell("▶ watch", value, href=value)
            return FormattedCell(value, value, dagger=self._is_marked(value, row))
        return FormattedCell(json.dumps(value, ensure_ascii=False), json.dumps(value))

    def _is_marked(self, value: str, row: Row) -> bool:
        if not AGENT_COLUMNS.fullmatch(self.name):
            return False
        if any(name in self.privileged for name in value.split(" | ")):
            return True
        # A bare yes marks the row, whose first agent column then carries the dagger.
        return row.get("privileged") is True and self.name in ("agent", "agents")


def columns_of(
    table: Table,
    intervals: Mapping[str, tuple[str, str]] | None,
    labels: Mapping[str, str],
    hide: Sequence[str],
    digits: Mapping[str, int],
    privileged: Collection[str],
) -> list[Column]:
    """The columns to show: limits move into the cell of their estimate, and `privileged` becomes a dagger."""
    limits = _intervals(table) if intervals is None else dict(intervals)
    for centre, (low, high) in limits.items():
        for name in (centre, low, high):
            if name not in table.columns:
                raise InterplayError(f"no column {name!r} for an interval; this table has {', '.join(table.columns)}")
    folded = {name for pair in limits.values() for name in pair} | {"privileged", *hide}
    columns = []
    for name in table.columns:
        if name in folded:
            continue
        low, high = limits.get(name, (None, None))
        related = [v for n in (name, low, high) if n for v in table.column(n)]
        numbers = [v for v in related if isinstance(v, int | float) and not isinstance(v, bool)]
        numeric = bool(numbers) and all(v is None or isinstance(v, int | float) for v in table.column(name))
        places = digits.get(name, digits_for(numbers))
        phrases = any(isinstance(v, str) and " " in v and len(v) > PHRASE for v in table.column(name))
        style = "num" if numeric else "prose" if phrases else ""
        heading = labels.get(name, name.replace("_", " "))
        columns.append(Column(name, heading, style, places, low, high, frozenset(privileged)))
    return columns


def _intervals(table: Table) -> dict[str, tuple[str, str]]:
    names = set(table.columns)
    limits = {n: (f"{n}_low", f"{n}_high") for n in table.columns if {f"{n}_low", f"{n}_high"} <= names}
    centre = next((c for c in _CENTRES if c in names and c not in limits), None)
    if {"low", "high"} <= names and centre:
        limits[centre] = ("low", "high")
    return limits


def privileged_in(table: Table) -> set[str]:
    """The agents that a table's column `privileged` names: a list, or text such as `A | B`."""
    names: set[str] = set()
    if "privileged" in table.columns:
        for value in table.column("privileged"):
            if isinstance(value, str):
                names.update(name for name in value.split(" | ") if name)
            elif isinstance(value, list):
                names.update(str(name) for name in value)
    return names
