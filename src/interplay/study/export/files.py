"""Exports: the records of a study as CSV, Parquet or JSON tables, the protocol, and the games as a trace set."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from interplay.errors import InterplayError
from interplay.server.database import Database, Tx
from interplay.study.db import records
from interplay.study.db.game_events import STEP
from interplay.study.db.records import Records
from interplay.study.export.codebook import codebook
from interplay.study.export.columns import COLUMNS, LATER, Format
from interplay.study.export.wide import wide_table
from interplay.study.protocol.answer_subjects import about, played
from interplay.study.protocol.model import Protocol
from interplay.table import Row, Table, plain
from interplay.traces import TraceSet
from interplay.untrusted_files import parse_json, read_json, read_text, regular_file

FORMATS = get_args(Format)
PROTOCOL, TRACES, ABOUT, CODEBOOK, WIDE = "protocol.json", "traces", "README.txt", "codebook.csv", "wide.csv"
_PARQUET = {
    "text": "VARCHAR", "time": "VARCHAR", "json": "VARCHAR",
    "integer": "BIGINT", "number": "DOUBLE", "boolean": "BOOLEAN",
}  # fmt: skip
LONGEST = 2**26  # characters of a row


def write_folder(
    database: Database,
    out: str | Path,
    *,
    study: str | None = None,
    format: Format = "csv",
    traces: bool = True,
    participant: str | None = None,
) -> dict[str, int]:
    """Write the records of a study, or of one participant, into a new folder.

    Args:
        database: The study's database.
        out: The folder; it must be new or empty.
        study: The study's name; may be left out if the database has one only.
        format: The format of the tables.
        traces: Whether the games are written as a trace set.
        participant: The public name of the only participant to export; None for all.

    Returns:
        How many rows each table has.

    Raises:
        InterplayError: The folder is not empty, or the study or participant is unknown.
    """
    if format not in FORMATS:
        raise InterplayError(f"format {format!r}: one of {', '.join(FORMATS)}")
    folder = Path(out)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InterplayError(f"{folder} is there already and not empty: choose another folder")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # what people wrote is for researchers only

    def work(tx: Tx) -> dict[str, int]:
        records.snapshot(tx)
        protocol = records.stored_protocol(tx, study)
        known = records.people(tx, protocol)
        if participant is not None:
            known = {number: view for number, view in known.items() if view.row.public == participant}
            if not known:
                raise InterplayError(f"there is no participant {participant!r} in {protocol.name}")
        text = json.dumps(protocol.model_dump(mode="json"), ensure_ascii=False, indent=1)
        (folder / PROTOCOL).write_text(text + "\n", encoding="utf-8")
        counts = {}
        states = Counter(view.row.status for view in known.values())
        for name, reader in records.READERS.items():
            counts[name] = write_table(name, reader(tx, protocol, known), folder, format)
        if traces:
            episodes = records.trace_set(tx, protocol, known)
            counts[TRACES] = len(episodes)
            if episodes:
                episodes.save(folder / TRACES)
        codebook(protocol).write(folder / CODEBOOK)
        long = (records.READERS[name](tx, protocol, known) for name in ("participants", "answers", "games"))
        wide_table(*long).write(folder / WIDE)
        (folder / ABOUT).write_text(_about(protocol, counts, states, format, participant), encoding="utf-8")
        return counts

    return database.read(work)


def write_table(name: str, rows: Iterable[Row], folder: Path, format: Format) -> int:
    """Write a table as one file, row by row, and return how many rows it has."""
    path = folder / f"{name}.{format}"
    if format == "csv":
        return _write_csv(name, rows, path)
    if format == "json":
        return _write_array(rows, path)
    return _write_parquet(name, rows, path)


def _write_csv(name: str, rows: Iterable[Row], path: Path) -> int:
    count = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(COLUMNS[name]), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow(_flat(name, row))
            count += 1
    return count


def _write_array(rows: Iterable[Row], path: Path) -> int:
    count = 0
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write("[\n" if count == 0 else ",\n")
            file.write(_dumps(row))
            count += 1
        file.write("\n]\n" if count else "[]\n")
    return count


def _write_parquet(name: str, rows: Iterable[Row], path: Path) -> int:
    import duckdb

    with tempfile.TemporaryDirectory() as scratch:
        lines, count = Path(scratch) / "rows.jsonl", 0
        with lines.open("w", encoding="utf-8") as file:
            for row in rows:
                file.write(_dumps(_flat(name, row)) + "\n")
                count += 1
        columns = ", ".join(f"'{column}': '{_PARQUET[kind]}'" for column, kind in COLUMNS[name].items())
        source = (
            f"read_json($lines, format = 'newline_delimited', columns = {{{columns}}}, maximum_object_size = {LONGEST})"
        )
        with duckdb.connect() as con:
            if count:
                con.execute(f"CREATE TABLE records AS SELECT * FROM {source}", {"lines": str(lines)})
            else:
                shape = ", ".join(f'"{column}" {_PARQUET[kind]}' for column, kind in COLUMNS[name].items())
                con.execute(f"CREATE TABLE records ({shape})")
            con.execute("COPY records TO $path (FORMAT parquet)", {"path": str(path)})
    return count


def _flat(name: str, row: Row) -> Row:
    """Return a row for formats without lists: values of any kind are written as JSON."""
    return {c: _dumps(row[c]) if k == "json" and row[c] is not None else row[c] for c, k in COLUMNS[name].items()}


def _dumps(value: Any) -> str:
    return json.dumps(plain(value), ensure_ascii=False)


def read_folder(folder: str | Path, *, traces: bool = True, steps: bool = False) -> Records:
    """Return the records of an export, whatever its format; for `traces` and `steps` see `records.load`.

    Raises:
        InterplayError: The folder is not an export, or was not written by interplay.
    """
    root = Path(folder)
    if not (root / PROTOCOL).exists():
        raise InterplayError(f"{root} is no export of a study: it has no {PROTOCOL}")
    try:
        protocol = Protocol.model_validate(read_json(root / PROTOCOL, within=root))
    except ValidationError as error:
        raise InterplayError(f"{root / PROTOCOL} is not what interplay writes: {error}") from None
    tables = {}
    for name in COLUMNS:
        rows = list(read_table(name, root))
        if name == "events" and not steps:
            rows = [row for row in rows if row["kind"] != STEP]
        tables[name] = Table(tuple(COLUMNS[name]), rows, name)
    if all(row["first"] is None and row["counted"] is None for row in tables["answers"]):  # absent, or nothing to tell
        _tell_about(tables["answers"], tables["games"])
    path = root / TRACES
    trace_set = TraceSet.open(path) if traces and path.is_dir() else None
    return Records(protocol, **tables, traces=trace_set)


def _tell_about(answers: Table, games: Table) -> None:
    """Work out what answers are about, in an export of a version that did not store it with them."""
    begun: dict[str, list[Row]] = {}
    for row in sorted(games, key=lambda row: (row["started"], row["game"])):
        begun.setdefault(row["participant"], []).append(row)
    for row in answers:
        before = [game for game in begun.get(row["participant"], []) if game["started"] <= row["at"]]
        games_before = played((game["page"], game["setting"], game["partner"], game["practice"]) for game in before)
        row.update(about(row["page"], games_before, None if before else row["partner"])._asdict())


def read_table(name: str, folder: Path) -> Iterator[Row]:
    """Yield the rows of a table of an export, whatever its format."""
    for format in FORMATS:
        path = folder / f"{name}.{format}"
        if path.exists():
            regular_file(path, within=folder)
            try:
                yield from _READERS[format](name, path)
            except (ValueError, KeyError, TypeError) as error:
                raise InterplayError(f"{path} is not what interplay writes: {error}") from None
            return
    raise InterplayError(f"{folder} has no {name}: neither {', '.join(f'{name}.{suffix}' for suffix in FORMATS)}")


def _read_csv(name: str, path: Path) -> Iterator[Row]:
    csv.field_size_limit(LONGEST)
    for row in csv.DictReader(io.StringIO(read_text(path), newline="")):
        values = _absent(name) | row
        yield {column: _cell(values[column], kind) for column, kind in COLUMNS[name].items()}


def _absent(name: str) -> Row:
    """Return the columns that exports of older versions lack."""
    return dict.fromkeys(LATER.get(name, ()), None)


def _cell(text: str | None, kind: str) -> Any:
    if text is None or text == "":
        return None
    match kind:
        case "integer":
            return int(text)
        case "number":
            return float(text)
        case "boolean":
            return text == "True"
        case "json":
            return parse_json(text, "a cell")
    return text


def _read_json(name: str, path: Path) -> Iterator[Row]:
    for row in read_json(path):
        values = _absent(name) | row
        yield {column: values[column] for column in COLUMNS[name]}


def _read_parquet(name: str, path: Path) -> Iterator[Row]:
    import duckdb

    with duckdb.connect() as con:
        result = con.execute("SELECT * FROM read_parquet($path)", {"path": str(path)})
        columns = [column[0] for column in result.description or ()]
        rows = result.fetchall()
    for row in rows:
        values = _absent(name) | dict(zip(columns, row, strict=True))
        cells = ((column, kind, values[column]) for column, kind in COLUMNS[name].items())
        yield {c: parse_json(v, f"{path}, {c}") if kind == "json" and v is not None else v for c, kind, v in cells}


_READERS = {"csv": _read_csv, "json": _read_json, "parquet": _read_parquet}


def _about(
    protocol: Protocol, counts: dict[str, int], states: Mapping[str, int], format: str, participant: str | None
) -> str:
    whose = f"participant {participant} of the study" if participant else "the study"
    lines = [f"Records of {whose} {protocol.name!r} (protocol {protocol.hash}), written by interplay.", ""]
    for name, columns in COLUMNS.items():
        lines += [f"{name}.{format}: {counts[name]} rows", f"  {', '.join(columns)}", ""]
    lines[-1:] = [f"By status: {', '.join(f'{many} {name}' for name, many in sorted(states.items())) or 'nobody'}."]
    lines += [
        "Who is `withdrawn` stopped taking part, on the page `stopped_on` at the time `finished`: use what is here of",
        "them only as their consent allows. Games that ended by it are `abandoned`, and not among the traces.",
        "",
    ]
    if counts.get(TRACES):
        lines += [
            f"{TRACES}/: {counts[TRACES]} games as a trace set; `episode` of games is the number here.",
            "  interplay replay traces --verify; interplay measure traces; interplay report traces",
            "",
        ]
    lines += [
        f"{WIDE}: one row for each participant, with every answer and every game in a column of its own; where a page",
        "  was answered several times, the last answer.",
        f"{CODEBOOK}: what every column means, and every question with its text and values.",
        f"{PROTOCOL}: the study file as it was when people took part.",
        "Times are UTC. In CSV and Parquet, columns that hold values of any kind (value, payload, cells, partners) are",
        "JSON. `interplay study analyse FOLDER` reads this folder.",
        "",
    ]
    return "\n".join(lines)
