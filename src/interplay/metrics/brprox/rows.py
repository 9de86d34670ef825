"""Rows that BR-Prox can use: every field checked, and an error names the row that is wrong."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interplay.errors import InterplayError
from interplay.table import Row, Table
from interplay.untrusted_files import read_text

AT = " at"  # where a checked row stood in its source; no column can have this name, since names are stripped
SEATS = ("ego_seat", "ego_seats", "partner_seats")
SET_JOIN = "|"  # between partners who sit together, and between their skills
NUMBERS = (
    "return", "return_se", "low", "high", "best_response_return", "best_response_se", "best_response_low",
    "best_response_high", "self_play_return",
)  # fmt: skip
SPREADS = ("return_se", "best_response_se")
MAY_BE_NULL = (*SPREADS, "low", "high", "best_response_low", "best_response_high", "self_play_return")
NAMES = ("layout", "algorithm", "population", "seed", "partner", "skill", "episode")
MAY_BE_UNNAMED = ("layout", "population", "skill", "episode")
Z95 = 1.959963984540054  # half of a 95 % interval in standard errors


@dataclass(frozen=True)
class Reduced:
    """The return of one cell: its mean, the standard error where it is known, and the episodes where they are given."""

    mean: float
    se: float | None
    n: int | None  # episodes, where known
    episodes: tuple[float, ...] = ()


def read_rows(path: str | Path) -> list[tuple[str, Row]]:
    """The records of a CSV file, plain or gzipped, each with its line."""
    text = io.StringIO(read_text(path), newline="")
    try:
        return list(_records(csv.reader(text, strict=True), Path(path).name))
    except csv.Error as error:
        raise InterplayError(f"cannot read {path} as CSV (plain or gzipped): {error}") from None


def _records(reader: Any, name: str) -> Iterator[tuple[str, Row]]:
    header = [h.strip() for h in next(reader, [])]
    if not any(header):
        raise InterplayError(f"{name} is empty: the first line must name the columns")
    if twice := sorted({h for h in header if header.count(h) > 1}):
        raise InterplayError(f"{name}: the column {twice[0]!r} stands twice in the first line")
    for fields in reader:
        if not fields:
            continue
        at = f"line {reader.line_num}"
        if len(fields) != len(header):
            raise InterplayError(f"{name}, {at}: {len(fields)} fields, the first line names {len(header)} columns")
        yield at, dict(zip(header, (f.strip() for f in fields), strict=True))


def tidy(
    rows: Table | Iterable[Any],
    *,
    what: str,
    need: Sequence[str],
    seats: int | None = None,
) -> list[Row]:
    """Check rows and return them with names, numbers and `ego_seats` that can be used.

    Args:
        rows: Plain records, or (where, row) from a file with every field as text: then names that are whole numbers
            become numbers.
        what: What the rows are, for messages.
        need: The columns that must be there.
        seats: The number of seats, where it is known.

    Raises:
        InterplayError: A column is missing or a field is wrong; the message names the row.
    """
    listed = list(rows)
    pairs = [r if isinstance(r, tuple) else (f"row {i}", r) for i, r in enumerate(listed, 1)]
    pairs = [(at, _joined_set(row)) for at, row in pairs]
    as_text = any(isinstance(r, tuple) for r in listed)
    if not pairs:
        raise InterplayError(f"{what}: no rows to work on")
    present = dict.fromkeys(name for _, row in pairs for name in row)
    lacking = [name for name in need if name not in present]
    seat_columns = [name for name in SEATS if name in present]
    if lacking or len(seat_columns) != 1:
        wanted = [*lacking, *([] if len(seat_columns) == 1 else [f"one of {', '.join(SEATS)}"])]
        raise InterplayError(f"{what}: columns needed are {' and '.join(wanted)}; there are {', '.join(present)}")
    return [
        _checked(_read(row) if as_text else row, f"{what}, {at}", seat_columns[0], need, seats) for at, row in pairs
    ]


def _joined_set(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a row with partner_a, partner_b, ... (and skill_a, ...) as one set of partners, a|b."""
    if "partner" in row or "partner_a" not in row:
        return row
    joined = dict(row)
    for name in ("partner", "skill"):
        columns = sorted(c for c in row if c.startswith(f"{name}_") and len(c) == len(name) + 2)
        if columns:
            joined[name] = SET_JOIN.join(str(row[c]) for c in columns)
    return joined


def _checked(row: Mapping[str, Any], at: str, seat_column: str, need: Sequence[str], seats: int | None) -> Row:
    checked: Row = {AT: at}
    for name in NAMES:
        value = _name(row.get(name), name, at)
        if value is None and name in need and name not in MAY_BE_UNNAMED:
            raise InterplayError(f"{at}: {name} is empty")
        checked[name] = value
    for name in NUMBERS:
        if name in row or name in need:
            checked[name] = _number(row.get(name), name, at)
    checked["ego_seats"] = seat_key(row.get(seat_column), seat_column, at, seats)
    return checked


def _read(row: Mapping[str, Any]) -> Row:
    """Names of a file's row: 12 and 12.0 are one population."""
    return {name: _whole(field) if name in NAMES else field for name, field in row.items()}


def _name(value: Any, column: str, at: str) -> Any:
    value = value.tolist() if hasattr(value, "tolist") else value
    if value is None or value == "" or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise InterplayError(f"{at}: {column} is {value!r}; a name or a whole number is needed")
    return int(value)


def _whole(text: str) -> Any:
    head, dot, tail = text.partition(".")
    plain = head.isascii() and head.isdigit() and (head == "0" or head[0] != "0")  # 007 is a name
    return int(head) if plain and (not dot or set(tail) == {"0"}) else text


def _number(value: Any, column: str, at: str) -> float | None:
    if value is None or value == "":
        if column in MAY_BE_NULL:
            return None
        raise InterplayError(f"{at}: {column} is empty; leave the row out if nothing was played")
    try:
        if isinstance(value, bool):
            raise TypeError
        number = float(value)
    except (TypeError, ValueError):
        raise InterplayError(f"{at}: {column} is {value!r}, not a number") from None
    if not math.isfinite(number):
        raise InterplayError(f"{at}: {column} is {value}; leave the row out if nothing was played")
    if column in SPREADS and number < 0:
        raise InterplayError(f"{at}: {column} is {number:g}; a standard error is not negative")
    return number


def seat_key(value: Any, column: str, at: str, seats: int | None) -> str:
    """The ego's seats as text: "0", or "0+2" where it fills several."""
    try:
        value = value.tolist() if hasattr(value, "tolist") else value
        parts = value.split("+") if isinstance(value, str) else value if isinstance(value, list | tuple) else [value]
        chosen = [int(p) for p in parts]
        if not chosen or any(isinstance(p, bool) or (isinstance(p, float) and p != int(p)) for p in parts):
            raise ValueError
    except (TypeError, ValueError):
        raise InterplayError(f"{at}: {column} is {value!r}; seats are whole numbers from 0, several as 0+2") from None
    if min(chosen) < 0 or len(set(chosen)) < len(chosen) or (seats and (max(chosen) >= seats or len(chosen) >= seats)):
        of = f" of {seats}, not all of them" if seats else ""
        raise InterplayError(f"{at}: {column} is {value!r}; give different seats from 0{of}")
    if column == "partner_seats":
        if seats is None:
            raise InterplayError(
                f"{at}: to know the ego's seats beside partner_seats, say how many seats the game has (--seats)"
            )
        chosen = [s for s in range(seats) if s not in chosen]
    return "+".join(map(str, sorted(chosen)))


def reduced(rows: Sequence[Row], key: Sequence[str], value: str, what: str) -> dict[tuple[Any, ...], Reduced]:
    """One return for each key: of a row of its own, or the mean of its episodes."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row.get(name) for name in key), []).append(row)
    return {k: _reduce(part, value, what) for k, part in groups.items()}


def _reduce(part: list[Row], value: str, what: str) -> Reduced:
    seen: dict[Any, str] = {}
    for row in part:
        episode = row.get("episode")
        if len(part) > 1 and (episode is None or episode in seen):
            other = seen.get(episode) or next(r[AT] for r in part if r is not row)
            described = "the same cell" if episode is None else f"episode {episode} of the same cell"
            raise InterplayError(
                f"{row[AT]} and {other}: {described} twice in the {what}; keep one, "
                "or number the episodes in a column `episode`"
            )
        seen[episode] = row[AT]
    returns = [row[value] for row in part]
    if len(returns) == 1:
        return Reduced(returns[0], _spread(part[0], value), None)
    mean = math.fsum(returns) / len(returns)
    variance = math.fsum((v - mean) ** 2 for v in returns) / (len(returns) - 1)
    return Reduced(mean, math.sqrt(variance / len(returns)), len(returns), tuple(returns))


def _spread(row: Row, value: str) -> float | None:
    prefix = value.removesuffix("return")
    error = row.get("return_se" if not prefix else f"{prefix}se")
    low, high = row.get(f"{prefix}low"), row.get(f"{prefix}high")
    if error is not None or low is None or high is None:
        return error
    if not low <= row[value] <= high:
        raise InterplayError(f"{row[AT]}: {value} {row[value]:g} lies outside its interval [{low:g}, {high:g}]")
    return (high - low) / (2 * Z95)
