"""Maps of games as text: one letter a cell, one row a line (or rows split by '/')."""

from __future__ import annotations

from interplay.errors import InterplayError

LARGEST_MAP = 4096  # characters of a map that is given as text


def check_size(text: str, name: str) -> None:
    """Refuse a map that is larger than any game here can use.

    Raises:
        InterplayError: It is.
    """
    if len(text) > LARGEST_MAP:
        raise InterplayError(f"{name}: a map of {len(text)} characters; at most {LARGEST_MAP} are read")


def split_rows(text: str, name: str, what: str) -> list[str]:
    """Return the rows of a map.

    Args:
        text: The map.
        name: What errors call this map.
        what: The kind of map, such as layout.

    Raises:
        InterplayError: The map is too large or empty, or its rows differ in length.
    """
    check_size(text, name)
    rows = text.split("/") if "/" in text else text.split("\n")
    if not any(row.strip() for row in rows):
        raise InterplayError(f"{name}: the {what} is empty")
    for y, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise InterplayError(
                f"{name}: row {y + 1} has {len(row)} columns, row 1 has {len(rows[0])}; all rows must be equally long"
            )
    return rows


def position(x: int, y: int) -> str:
    """Return a cell's row and column as text, counted from 1."""
    return f"row {y + 1}, column {x + 1}"
