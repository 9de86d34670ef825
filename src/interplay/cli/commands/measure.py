"""`interplay measure`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from interplay.cli.show import JsonOption, note, show
from interplay.config import options

LARGE = 20_000  # episodes above which a table goes to its file as it is measured, and is not shown


@dataclass(frozen=True)
class Measure(JsonOption):
    """Metrics of a trace set as one tidy table, a row per value.

    Examples:
      interplay measure traces --metrics score
      interplay measure traces --metrics score events --json
      interplay measure traces --metrics score --mean
      interplay measure traces --metrics score hanabi/dominance --wide
      interplay measure traces --metrics hanabi/pool --wide --out pool.csv
    """

    traces: Annotated[Path, tyro.conf.Positional]
    """Folder of a trace set."""
    metrics: tuple[str, ...] = ("score",)
    """Names of `interplay list metrics`."""
    detail: bool = False
    """List what was counted, one row each, with its times (metrics that count moments)."""
    mean: bool = False
    """Average over the episodes of each team."""
    wide: bool = False
    """A row for each episode, seat, agent or pairing, with a column for each metric."""
    options: tuple[str, ...] = ()
    """Options of the metrics as name=value."""
    out: Path | None = None
    """Also write the table to this file: .csv, .json or .parquet. Of more than 20,000 episodes it is written only."""
    csv: Path | None = None
    """The same, as it was called before."""
    engine: str = "local"
    """Where the work runs: local, or ray (the cluster at INTERPLAY_RAY_ADDRESS, else this machine)."""

    def run(self) -> None:
        """Measure the traces and print the table."""
        from interplay import api

        metric_options: dict[str, Any] = options(self.options) | ({"detail": True} if self.detail else {})
        if self.csv:
            note("--csv is now --out, which also writes .json and .parquet")
        out, mean = self.out or self.csv, self.mean and not self.detail
        as_measured = not (mean or self.wide or self.json)
        if out and out.suffix in (".csv", ".parquet") and as_measured and len(api.read_traces(self.traces)) > LARGE:
            rows = api.write_measured(self.traces, self.metrics, out, engine=self.engine, **metric_options)
            note(f"{out} has {rows:,} rows")
            return
        table = api.measure(self.traces, self.metrics, mean=mean, engine=self.engine, progress=True, **metric_options)
        if self.wide:
            table = api.wide(table)
        if out:
            table.write(out)
        show(table, api.UNITS if self.wide else (), json=self.json)
