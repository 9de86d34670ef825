"""`interplay brprox`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from interplay.cli.show import note, show


@dataclass(frozen=True)
class BRProxCommand:
    """BR-Prox of a table of returns: what share of the best response's return each algorithm gets with new partners.

    The table is CSV, plain or gzipped, a row per ego, partner and seating: algorithm, population, seed, partner, skill,
    ego_seat, return, best_response_return. Rows of one algorithm and population give one row of the result: the IQM
    with its interval as ZSC-Eval counts, and the honest one beside it.

    Examples:
      interplay brprox random3.csv.gz
      interplay brprox random3.csv.gz --json
      interplay brprox random1.csv.gz --ranks --human coordination_ring
      interplay brprox ring.csv circuit.csv --out report.html
    """

    tables: Annotated[tuple[Path, ...], tyro.conf.Positional] = ()
    """CSV files; several are taken as layouts."""
    ranks: bool = False
    """Ranks with intervals, by BR-Prox and by return, and how alike these rank."""
    human: str | None = None
    """Compare with ranks that people gave: coordination_ring, counter_circuit, or a CSV of algorithm and rank."""
    seats: int | None = None
    """Seats of the game; needed where the table has partner_seats, and then every seating is asked for."""
    propagate: bool = False
    """Let the intervals hold the best responses' own uncertainty (column best_response_se)."""
    level: float = 0.95
    """Confidence level of the intervals."""
    method: str = "expanded"
    """Kind of bootstrap interval: expanded (widened for few seeds and partners), percentile, basic or bca."""
    replicates: int = 2000
    """Bootstrap replicates."""
    seed: int = 0
    """Seed of the bootstrap."""
    out: Path | None = None
    """Write an HTML page with figures here."""
    json: bool = False
    """Print one JSON object, with the offending pairs of every row."""

    def run(self) -> None:
        """Summarise the tables, print the result, and write the page if one is asked for."""
        from interplay.metrics.brprox.table import read_table
        from interplay.reports.brprox import SAME, SPLIT_BY, brprox_report, on_screen
        from interplay.reports.rankings import wide
        from interplay.stats.brprox.summary import summarise

        summary = summarise(
            read_table(*self.tables, seats=self.seats),
            seed=self.seed, level=self.level, method=self.method, replicates=self.replicates, propagate=self.propagate,
        )  # fmt: skip
        more = self._more(summary.cells)
        for message in summary.notes:
            note(message)
        if self.json:
            show(
                summary.summary, json=True, **{name: table.rows for name, table in more.items()},
                excluded=summary.excluded.rows, best_responses=summary.best_responses.rows, split_by=summary.split_by,
                level=self.level, method=self.method, replicates=self.replicates, seed=self.seed,
                notes=list(summary.notes),
            )  # fmt: skip
        else:
            show(on_screen(summary.summary), json=False)
            tables = [wide(table) if name == "ranks" else table for name, table in more.items()]
            for table in (*tables, *([summary.excluded] if len(summary.excluded) else [])):
                show(table, json=False)
            note(SPLIT_BY[summary.split_by] + ("" if len(summary.excluded) else f" {SAME}."))
        if self.out is not None:
            page = brprox_report(summary, human=more.get("human"), seed=self.seed,
                                 provenance={"tables": [t.name for t in self.tables], "seed": self.seed})  # fmt: skip
            note(f"report: {page.write(self.out)}")

    def _more(self, cells: Any) -> dict[str, Any]:
        from interplay.papers.zsc.printed import LAYOUTS, human_ranks
        from interplay.reports.brprox import reference_ranks
        from interplay.stats.brprox.ranks import against, rank_table

        options: dict[str, Any] = {"seed": self.seed, "level": self.level, "replicates": self.replicates}
        tables = {}
        if self.ranks:
            tables["ranks"], tables["agreement"] = rank_table(cells, **options)
        if self.human is not None:
            published = {layout: human_ranks(layout) for layout in LAYOUTS}
            tables["human"] = against(cells, reference_ranks(self.human, published), **options)
        return tables
