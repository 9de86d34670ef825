"""`interplay study analyse` and `interplay study power`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from interplay.cli.show import note, show


@dataclass(frozen=True)
class Analyse:
    """The tables and tests that a study's file names under `analysis:`, from its database or the folder of an export.

    Who is in and who is out comes first, with the reason for each person. --without repeats everything as if some
    partners had never been met. --objective holds what is known of the partners from elsewhere, such as their BR-Prox:
    CSV with the columns agent, measure, value; also game, where a value belongs to one, and direction (lower), where
    less is better.

    Examples:
      interplay study analyse hanabi_preference.db
      interplay study analyse hanabi_preference.db --without random --out report.html
      interplay study analyse exported/ --study studies/overcooked_ranking.yaml --objective br_prox.csv --json
    """

    source: Annotated[str, tyro.conf.Positional]
    """A database (a path or postgresql://...) or the folder of an export."""
    study: Path | None = None
    """A study file whose `analysis:` is used in place of the one that people took part in."""
    name: str | None = None
    """Which study, where the database holds several."""
    without: tuple[str, ...] = ()
    """Partners to leave out in a second pass, by their names in the study."""
    objective: Path | None = None
    """CSV of measures of the partners from elsewhere."""
    out: Path | None = None
    """Write a page with figures here."""
    seed: int = 0
    """Seed of the bootstraps."""
    json: bool = False
    """Print one JSON object with the rows of all tables."""

    def run(self) -> None:
        from interplay.cli.commands.study import _needs_server

        _needs_server()
        from interplay.study import records
        from interplay.study.analysis.page import report, screen_tables
        from interplay.study.analysis.run import analyse
        from interplay.study.analysis.sources import read_measures
        from interplay.study.reading import load

        protocol = load(self.study) if self.study else None
        held = records.load(self.source, self.name or (protocol.name if protocol else None))
        objective = read_measures(self.objective) if self.objective else None
        found = analyse(
            held, study=protocol, without=self.without, objective=objective, seed=self.seed,
            progress=lambda what: note(f"{what} ..."),
        )  # fmt: skip
        for told in found.notes:
            note(told)
        if self.json:
            notes = {result.id: list(result.notes) for result in found.results if result.notes}
            show(found.table, json=True, study=found.data.protocol.name, notes=notes, remarks=list(found.notes))
        else:
            for result in found.results:
                print(f"\n== {result.title} ==")
                for told in result.notes:
                    print(f"({told})")
                for table in screen_tables(result):
                    show(table, json=False)
        if self.out is not None:
            note(f"report: {report(found, source=Path(self.source).name, seed=self.seed).write(self.out)}")
