"""`interplay report`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from interplay.cli.show import JsonOption, note, show
from interplay.table import Table


@dataclass(frozen=True)
class ReportCommand(JsonOption):
    """Write a report of a trace set: one HTML file with tables, heat map, intervals and replays.

    Examples:
      interplay report traces --out report.html
      interplay report traces --out report.html --replays 0 17
      interplay report traces --out folder --bundle
    """

    traces: Annotated[Path, tyro.conf.Positional]
    """Folder of a trace set."""
    out: Path = Path("report.html")
    """The HTML file to write (with --bundle, a folder)."""
    title: str | None = None
    """Title of the report."""
    replays: tuple[int, ...] = ()
    """Numbers of the episodes to show; by default the best and the worst of the set."""
    bundle: bool = False
    """Write a folder with the report, its figures as SVG and its tables as CSV and JSON."""
    seed: int = 0
    """Seed of the bootstrap."""

    def run(self) -> None:
        """Write the report and say where it is."""
        from interplay import api

        chosen = list(self.replays) or None
        written = api.report(
            self.traces, self.out, title=self.title, replays=chosen, bundle=self.bundle, seed=self.seed
        )
        if self.json:
            show(Table.of([{"report": str(written.path), "bytes": len(written.html.encode())}]), json=True)
        note(f"report: {written.path}")
