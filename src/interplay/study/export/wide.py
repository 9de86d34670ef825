"""One row for each participant: every answer and every game in a column of its own."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from interplay.table import Row, Table, plain

PERSON = ("participant", "status", "language", "consented", "finished", "payment")
GAME = ("setting", "partner", "seat", "score", "length", "flags", "unattended")


def wide_table(participants: Iterable[Row], answers: Iterable[Row], games: Iterable[Row]) -> Table:
    """Return the records of a study with a row for each participant.

    A column is called by its page, with the turns of the repeats around it, and by its question or fact:
    `rounds.3.after.liked`, `rounds.3.game.score`. Where a page was answered several times, the last answer counts.
    Columns stand in the order of the pages, as the first participant who saw them met them.

    Args:
        participants: The rows of that table of an export.
        answers: Likewise.
        games: Likewise; of abandoned games the score is empty.
    """
    rows: dict[str, Row] = {row["participant"]: {name: row[name] for name in PERSON} for row in participants}
    cells: list[tuple[str, str, str, Any]] = []  # when, whose, column, value
    for row in games:
        cells += [(row["started"], row["participant"], f"{row['page']}.{name}", row[name]) for name in GAME]
    for row in answers:
        cells.append((row["at"], row["participant"], f"{row['page']}.{row['question']}", _cell(row["value"])))
    for _, who, column, value in sorted(cells, key=lambda cell: cell[0]):  # what is asked after a game stands after it
        rows[who][column] = value
    return Table.of(list(rows.values()), "Participants", columns=_in_order(rows.values()))


def _in_order(rows: Iterable[Row]) -> list[str]:
    """All columns; one that only some rows have stands after the one that precedes it there."""
    order: list[str] = list(PERSON)
    for row in rows:
        before: str = PERSON[-1]
        for column in row:
            if column not in order:
                order.insert(order.index(before) + 1, column)
            before = column
    return order


def _cell(value: Any) -> Any:
    """Return a value as a cell holds it: lists and records as JSON."""
    return json.dumps(plain(value), ensure_ascii=False) if isinstance(value, list | dict) else value
