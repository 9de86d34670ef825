"""How commands print: tables for people on standard output, or one JSON object; all else on standard error."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from interplay.table import Table

LONGEST = 60  # rows shown to people; `--json` gives all
WIDEST = 10  # columns of a table of one row; one with more is shown upright


@dataclass(frozen=True, kw_only=True)
class JsonOption:
    """The option of every command that prints a table."""

    json: bool = False
    """Print one JSON object."""


@dataclass(frozen=True, kw_only=True)
class PlayOptions(JsonOption):
    """The options of commands that play a game."""

    options: tuple[str, ...] = ()
    """Options of the game as name=value."""
    engine: str = "local"
    """Where the work runs: local, or ray (the cluster at INTERPLAY_RAY_ADDRESS, else this machine)."""


def show(table: Table, keys: Sequence[str] = (), /, *, json: bool, **extra: Any) -> None:
    """Print a table for people; of many columns, what does not fit the screen is printed in parts.

    Args:
        table: The table.
        keys: Columns that say what a row is of, which all parts repeat; without any, there is one part.
        json: Print one JSON object in place of a table.
        extra: Further entries of the JSON object.
    """
    if json:
        print(table.to_json(**extra))
        return
    from rich.console import Console

    # Files and pipes do not wrap; people are told once what is the same in all rows.
    console = Console(width=None if sys.stdout.isatty() else 250, soft_wrap=False)
    same = _same_in_all(table)
    columns = [c for c in table.columns if c not in same and any(row[c] is not None for row in table)]
    same_text = "; ".join(f"{c}: {cell(v)}" for c, v in same.items() if cell(v) not in ("", "–"))
    console.print(*filter(None, [table.title, same_text]), sep="\n", highlight=False, markup=False)
    if len(table) == 1 and len(columns) > WIDEST:
        console.print(_upright(table.rows[0], columns))
        return
    for part in _parts(table, columns or list(table.columns), [c for c in columns if c in keys], console.width):
        console.print(_grid(table, part))
    if len(table) > LONGEST:
        note(f"{len(table) - LONGEST} more rows; --json gives all")


def _parts(table: Table, columns: list[str], keys: list[str], width: int) -> list[list[str]]:
    """Return the columns in parts that fit the width, each beginning with the keys; all in one without keys."""
    if not keys:
        return [columns]
    rows = table.rows[:LONGEST]
    needs = {c: 3 + max([len(c), *(len(cell(row[c])) for row in rows)]) for c in columns}
    parts: list[list[str]] = [list(keys)]
    for column in (c for c in columns if c not in keys):
        if len(parts[-1]) > len(keys) and 1 + needs[column] + sum(needs[c] for c in parts[-1]) > width:
            parts.append(list(keys))
        parts[-1].append(column)
    return parts


def _grid(table: Table, columns: Sequence[str]) -> Any:
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid(*columns, header_style="bold")
    for column, name in zip(grid.columns, columns, strict=True):
        numbers = [row[name] for row in table if row[name] is not None]
        column.justify = "right" if numbers and all(isinstance(v, int | float) for v in numbers) else "left"
        column.overflow = "fold"
    for row in table.rows[:LONGEST]:
        # What people and models said may hold brackets, which rich would take for markup.
        grid.add_row(*(Text(cell(row[c])) for c in columns))
    return grid


def _upright(row: Mapping[str, Any], columns: Sequence[str]) -> Any:
    """A single row, a line for each column."""
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid(show_header=False)
    for column in columns:
        grid.add_row(Text(column, style="bold"), Text(cell(row[column])))
    return grid


def _same_in_all(table: Table) -> dict[str, Any]:
    """The columns that hold one value throughout, unless they are all there is."""
    if len(table) < 2:
        return {}
    first = table.rows[0]
    same = {c: first[c] for c in table.columns if all(row[c] == first[c] for row in table)}
    numbers = {"value", "mean", "low", "high", "estimate", "iqm"}
    return {c: v for c, v in same.items() if c not in numbers} if len(same) < len(table.columns) else {}


def cell(value: Any) -> str:
    """Return a value as a table prints it."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, float):
        return f"{round(value, 3) + 0.0:.3f}".rstrip("0").rstrip(".")  # adding 0 makes -0 a 0
    return str(value)


def note(message: str) -> None:
    """Print a message on standard error."""
    print(message, file=sys.stderr)
