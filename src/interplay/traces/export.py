"""Traces for other programs: JSON lines that can be read back without loss, and a CSV of the episodes."""

from __future__ import annotations

import base64
import binascii
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from interplay import untrusted_files
from interplay.agents.api import Identity
from interplay.errors import InterplayError, TraceError
from interplay.rollout.episode import Episode, RecordedEvent
from interplay.table import Table, flat_cell, plain
from interplay.traces.columns import arrays_from_bytes, arrays_from_plain, arrays_to_bytes, arrays_to_json, check
from interplay.traces.schema import FORMAT, FORMAT_VERSION, dump
from interplay.traces.store import TraceSet


def to_record(episode: Episode, number: int | None = None) -> dict[str, Any]:
    """An episode as plain values: one line of JSON lines."""
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "episode": number,
        "game": episode.game_id,
        "options": plain(episode.options),
        "rules_version": episode.rules_version,
        "agents": [a._asdict() | {"config": plain(a.config)} for a in episode.agents],
        "seed": int(episode.seed),
        "index": int(episode.index),
        "score": episode.score,
        "rewards": [float(r) for r in episode.rewards],
        "terminated": bool(episode.terminated),
        "start": json.loads(arrays_to_json(episode.start)),
        "actions": np.asarray(episode.actions).tolist(),
        "checksums": [[int(t), int(v)] for t, v in zip(episode.check_steps, episode.checks, strict=True)],
        "events": [
            {"t": e.t, "seq": e.seq, "seat": e.seat, "kind": e.kind, "payload": plain(e.payload)}
            for e in episode.events
        ],
        "states": None if episode.states is None else base64.b64encode(arrays_to_bytes(episode.states)).decode("ascii"),
    }


def from_record(record: Mapping[str, Any]) -> Episode:
    """The episode of a record made by `to_record`."""
    if not isinstance(record, Mapping):
        raise TraceError("it holds no episode: a line is one JSON object")
    if record.get("format") != FORMAT:
        raise TraceError(
            f"its format is {record.get('format')!r}, not {FORMAT!r}: it was not exported from a trace set"
        )
    if int(record.get("format_version", 0)) > FORMAT_VERSION:
        raise TraceError(
            f"its format version {record['format_version']} is newer than {FORMAT_VERSION}: update interplay"
        )
    agents = tuple(Identity(**a) for a in record["agents"])
    if not isinstance(record["game"], str) or not isinstance(record["options"], Mapping):
        raise TraceError("its game is a name with an object of options")
    checks = np.array(record["checksums"], dtype=np.int64).reshape(-1, 2)
    episode = Episode(
        game_id=record["game"],
        options=record["options"],
        rules_version=record["rules_version"],
        agents=agents,
        seed=record["seed"],
        index=record["index"],
        start=arrays_from_plain(record["start"], "the episode"),
        actions=np.array(record["actions"], dtype=np.int16).reshape(-1, len(agents)),
        check_steps=checks[:, 0].astype(np.int32),
        checks=checks[:, 1].astype(np.uint32),
        rewards=np.array(record["rewards"], dtype=np.float64),
        terminated=record["terminated"],
        events=tuple(RecordedEvent(**e) for e in record["events"]),
        states=None if record["states"] is None else _states(record["states"]),
    )
    check(episode, "the episode")
    return episode


def _states(text: Any) -> dict[str, np.ndarray]:
    try:
        return arrays_from_bytes(base64.b64decode(text, validate=True), "its states")
    except (TypeError, binascii.Error) as error:
        raise TraceError(f"its states are not base64: {error}") from None


def write_jsonl(traces: TraceSet, out: str | os.PathLike[str] | TextIO) -> int:
    """Write one episode a line, and say how many."""
    if isinstance(out, str | os.PathLike):
        with Path(out).open("w", encoding="utf-8") as file:
            return write_jsonl(traces, file)
    count = 0
    for number, episode in traces.items():
        out.write(dump(to_record(episode, number), f"episode {number}") + "\n")
        count += 1
    return count


def read_jsonl(source: str | os.PathLike[str] | Iterable[str]) -> Iterator[Episode]:
    """The episodes of JSON lines, one by one; an error names the line that is wrong."""
    try:
        if isinstance(source, str | os.PathLike):
            yield from _episodes(untrusted_files.lines(source), str(source))
        else:
            yield from _episodes(enumerate(source, start=1), "JSON lines")
    except InterplayError as error:
        raise TraceError(str(error)) from None


def _episodes(lines: Iterable[tuple[int, str]], name: str) -> Iterator[Episode]:
    for number, line in lines:
        if not line.strip():
            continue
        try:
            episode = from_record(untrusted_files.parse_json(line, f"{name}, line {number}"))
        except KeyError as error:
            raise TraceError(f"{name}, line {number} has no {error}: it was not exported from a trace set") from None
        except (TraceError, TypeError, ValueError, AttributeError, OverflowError) as error:
            message = str(error)
            raise TraceError(message if message.startswith(name) else f"{name}, line {number}: {message}") from None
        yield episode


def episodes_csv(traces: TraceSet) -> str:
    """One line per episode: its small facts, lists and mappings as JSON."""
    rows = [{k: flat_cell(v) for k, v in row.items()} for row in traces.summary()]
    return Table.of(rows, columns=traces.summary().columns).to_csv()
