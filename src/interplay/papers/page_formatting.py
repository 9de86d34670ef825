"""Helpers of results pages: numbers and tables in Markdown, templates, and checks of claims."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any


def number(value: float | None, low: float | None = None, high: float | None = None, digits: int = 3) -> str:
    """Return a number with its interval as text; a dash for none."""
    if value is None:
        return "–"
    limits = "" if low is None or high is None else f" [{low:.{digits}f}, {high:.{digits}f}]"
    return f"{value:.{digits}f}{limits}"


def grid(head: Sequence[str], rows: Sequence[Sequence[Any]], left: int = 1) -> list[str]:
    """Return the lines of a Markdown table, the first `left` columns to the left."""
    marks = ["---"] * left + ["---:"] * (len(head) - left)
    return [f"| {' | '.join(map(str, line))} |" for line in (head, marks, *rows)] + [""]


def fill(template: Path, tables: Mapping[str, Iterable[str]], **values: Any) -> str:
    """Return a page: its template with tables (lines by name) and values in their places."""
    return template.read_text(encoding="utf-8").format(
        **{name: "\n".join(lines).rstrip() for name, lines in tables.items()}, **values
    )


def check(holds: bool, claim: str) -> None:
    """End the script where a claim of the page does not hold."""
    if not holds:
        sys.exit(f"the page would say: {claim}; these numbers do not. Change the page's words, or find the cause.")
