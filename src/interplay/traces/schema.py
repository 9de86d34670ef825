"""The format of a trace set: a folder with a manifest and numbered parts, each part four Parquet tables.

DIR/manifest.json
DIR/part-000000/{episodes,actions,checksums,events}.parquet
DIR/part-000001/...
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

import interplay
from interplay.errors import InterplayError, TraceError
from interplay.table import plain
from interplay.untrusted_files import MiB, read_json

FORMAT = "interplay-traces"
FORMAT_VERSION = 1  # rises when an older interplay could no longer read what a newer one writes
MANIFEST = "manifest.json"

# Column types are DuckDB's. `episode` numbers the episodes of the set and is the key of every table.
TABLES: Mapping[str, Mapping[str, str]] = {
    "episodes": {
        "episode": "BIGINT",
        "game": "VARCHAR",
        "options": "JSON",
        "rules_version": "VARCHAR",
        "agents": "VARCHAR[]",  # names, by seat
        "hashes": "VARCHAR[]",  # content hashes, by seat
        "privileged": "BOOLEAN[]",  # by seat: saw what a seat may not see
        "configs": "JSON",  # list, by seat: how each agent was made
        "seed": "BIGINT",
        "index": "BIGINT",  # the episode's number within its team
        "length": "INTEGER",
        "score": "DOUBLE",
        "rewards": "DOUBLE[]",  # by seat
        "terminated": "BOOLEAN",
        "start": "JSON",  # name -> {dtype, shape, data}: what chance decided at the start
        "states": "BLOB",  # of a game that cannot be replayed, else null
    },
    "actions": {"episode": "BIGINT", "t": "INTEGER", "seat": "SMALLINT", "action": "SMALLINT"},
    "checksums": {"episode": "BIGINT", "t": "INTEGER", "value": "UINTEGER"},
    "events": {
        "episode": "BIGINT",
        "t": "INTEGER",
        "seq": "INTEGER",
        "seat": "SMALLINT",
        "kind": "VARCHAR",
        "payload": "JSON",
    },
}
SUMMARY = tuple(c for c in TABLES["episodes"] if c not in ("start", "states"))  # the columns that are small


class Manifest(BaseModel):
    """What a trace set says of itself. The parts say which episodes there are, so that appending never rewrites it."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    format: Literal["interplay-traces"] = FORMAT
    format_version: int = FORMAT_VERSION
    created: datetime = Field(default_factory=lambda: datetime.now(UTC))
    interplay: str = interplay.__version__
    meta: dict[str, Any] = Field(default_factory=dict)  # whatever the writer wants to say: a command, a study


def dump(value: Any, what: str) -> str:
    """Plain values as JSON; an error that names `what` if they are not plain."""
    try:
        return json.dumps(plain(value), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise TraceError(
            f"{what} cannot be recorded as JSON: {error}. Use numbers, strings, lists and mappings"
        ) from None


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest whole or not at all."""
    temporary = folder / f".{MANIFEST}-{uuid.uuid4().hex[:8]}"
    temporary.write_text(manifest.model_dump_json(indent=2) + "\n", encoding="utf-8")
    os.replace(temporary, folder / MANIFEST)


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a trace set, or an error that says why this is none."""
    if not folder.exists():
        raise TraceError(f"no trace set at {folder}: there is no such folder")
    if not folder.is_dir():
        raise TraceError(f"{folder} is a file; a trace set is a folder with a {MANIFEST}. Give the folder")
    file = folder / MANIFEST
    if not file.is_file():
        if any(folder.glob("part-*")):
            raise TraceError(f"{folder} has parts of a trace set but its {MANIFEST} is missing: restore that file")
        raise TraceError(f"{folder} is not a trace set: it has no {MANIFEST}")
    try:
        data = read_json(file, limit=16 * MiB, within=folder)
    except InterplayError as error:
        raise TraceError(f"{error}; the manifest is damaged: restore it from a copy") from None
    return _validated(file, data)


def _validated(file: Path, data: Any) -> Manifest:
    format_name = data.get("format") if isinstance(data, dict) else None
    if format_name != FORMAT:
        says = f"its format is {format_name!r}" if format_name is not None else "it names no format"
        raise TraceError(f"{file} is the manifest of another program: {says}, a trace set has {FORMAT!r}")
    version = data.get("format_version")
    if isinstance(version, int) and version > FORMAT_VERSION:
        raise TraceError(
            f"{file} has format version {version}; interplay {interplay.__version__} reads up to {FORMAT_VERSION}. "
            f"It was written by interplay {data.get('interplay', '(unknown)')}: install that version or a newer one"
        )
    try:
        return Manifest.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise TraceError(f"{file} has a wrong value for {where!r}: {first['msg']}") from None
