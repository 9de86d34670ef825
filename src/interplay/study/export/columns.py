"""The columns of the tables of a study's records, from `columns.toml`."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Literal

Format = Literal["csv", "parquet", "json"]


# By table: columns that older exports do not have.
LATER: dict[str, tuple[str, ...]] = {
    "participants": ("stopped_on",),
    "answers": ("first", "second", "counted", "place", "options", "first_s", "last_s", "changes"),
    "games": ("unattended",),
}
_DECLARED: dict[str, dict[str, list[str]]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
# By table, then by column: text, integer, number, boolean, time (a text), json (any value; a text in CSV and Parquet).
COLUMNS = {table: {name: facts[0] for name, facts in columns.items()} for table, columns in _DECLARED.items()}
# By table, then by column: what its name does not say.
MEANINGS = {
    table: {name: "".join(facts[1:]) for name, facts in columns.items()} for table, columns in _DECLARED.items()
}
