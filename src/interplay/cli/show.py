"""How commands print: tables for people on standard output, or one JSON object; all else on standard error."""

from __future__ import annotations

import json as json_module
import sys
from collections.abc import Sequence
from typing import Any

from interplay.errors import InterplayError
from interplay.table import Table

LONGEST = 60  # rows shown to people; `--json` gives all


def show(table: Table, *, json: bool, **extra: Any) -> None:
    """Print the records of a table, as JSON or for people."""
    if json:
        print(table.to_json(**extra))
        return
    from rich.console import Console
    from rich.table import Table as Grid

    wide = 180 if not sys.stdout.isatty() else None  # files and pipes do not wrap
    console = Console(width=wide, soft_wrap=False)
    shown = [c for c in table.columns if any(row[c] is not None for row in table)] or list(table.columns)
    grid = Grid(*shown, title=table.title or None, title_justify="left", header_style="bold")
    for column, name in zip(grid.columns, shown, strict=True):
        numbers = [row[name] for row in table if row[name] is not None]
        column.justify = "right" if numbers and all(isinstance(v, int | float) for v in numbers) else "left"
        column.overflow = "fold"
    for row in table.rows[:LONGEST]:
        grid.add_row(*(cell(row[c]) for c in shown))
    console.print(grid)
    if len(table) > LONGEST:
        note(f"{len(table) - LONGEST} more rows; --json gives all")


def cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".")
    return str(value)


def note(message: str) -> None:
    print(message, file=sys.stderr)


def options(pairs: Sequence[str]) -> dict[str, Any]:
    """`key=value` pairs; a value is JSON where it can be, text otherwise."""
    found: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise InterplayError(f"cannot read the option {pair!r}: write name=value, as in horizon=200")
        try:
            found[key] = json_module.loads(value)
        except json_module.JSONDecodeError:
            found[key] = value
    return found
