"""`interplay import`, `interplay export` and `interplay sql`."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from interplay.cli.show import note, show


@dataclass(frozen=True)
class Import:
    """Turn others' recordings into traces.

    overcooked-ai: the human-human games of 2019; SOURCE is the source archive of overcooked-ai 1.1.0 from PyPI, a
    folder that holds its pickles, or one pickle.
    jsonl: JSON lines as `interplay export` writes them.

    Examples:
      interplay import overcooked-ai overcooked_ai-1.1.0.tar.gz --out humans
      interplay import overcooked-ai clean_train_trials.pickle --out humans --json
      interplay import jsonl traces.jsonl --out traces
    """

    kind: Annotated[Literal["overcooked-ai", "jsonl"], tyro.conf.Positional]
    """Which recordings."""
    source: Annotated[Path, tyro.conf.Positional]
    """Where they are."""
    out: Path
    """Folder for the traces."""
    json: bool = False
    """Print one JSON object."""

    def run(self) -> None:
        from interplay import api

        traces = api.import_traces(self.kind, self.source, self.out)
        counts = api.episodes_by_game(traces)
        show(counts, json=self.json, episodes=len(traces), out=str(self.out))
        note(f"traces: {self.out}")


@dataclass(frozen=True)
class Export:
    """Write a trace set as JSON lines (all of it) or CSV (a row per episode).

    Examples:
      interplay export traces --out traces.jsonl
      interplay export traces --to csv --out episodes.csv
      interplay export traces --to csv | head
    """

    traces: Annotated[Path, tyro.conf.Positional]
    """Folder of a trace set."""
    to: Literal["jsonl", "csv"] = "jsonl"
    """The form."""
    out: Path | None = None
    """The file; standard output by default."""

    def run(self) -> None:
        from interplay.traces import TraceSet, episodes_csv, write_jsonl

        traces = TraceSet.open(self.traces)
        if self.to == "jsonl":
            count = write_jsonl(traces, self.out if self.out else sys.stdout)
        else:
            text, count = episodes_csv(traces), len(traces)
            if self.out:
                self.out.write_text(text)
            else:
                sys.stdout.write(text)
        if self.out:
            note(f"{count} episodes: {self.out}")


@dataclass(frozen=True)
class Sql:
    """Ask a trace set in SQL. Tables: episodes, actions, checksums, events.

    Examples:
      interplay sql traces "select game, count(*), avg(score) from episodes group by game"
      interplay sql traces "select action, count(*) n from actions where seat = 0 group by action order by n desc" --json
    """

    traces: Annotated[Path, tyro.conf.Positional]
    """Folder of a trace set."""
    query: Annotated[str, tyro.conf.Positional]
    """A SELECT."""
    json: bool = False
    """Print one JSON object."""

    def run(self) -> None:
        from interplay.traces import query

        show(query(self.traces, self.query), json=self.json)
