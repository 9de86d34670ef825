"""`interplay study analyse` and `interplay study power`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from interplay.cli.show import note, show
from interplay.study.analysis.planning import PowerQuestion, plan


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
    """Measures of the partners from elsewhere: CSV, or what interplay brprox --json printed."""
    out: Path | None = None
    """Write a page with figures here."""
    seed: int = 0
    """Seed of the bootstraps."""
    json: bool = False
    """Print one JSON object with the rows of all tables."""

    def run(self) -> None:
        """Run the analysis, print its tables, and write the page if one is asked for."""
        from interplay.cli.commands.study import _needs_server

        _needs_server()
        from interplay.study.analysis.page import report, screen_tables
        from interplay.study.analysis.run import analyse
        from interplay.study.analysis.sources import read_measures, read_records
        from interplay.study.protocol.reading import load

        protocol = load(self.study) if self.study else None
        records = read_records(self.source, self.name or (protocol.name if protocol else None))
        objective = read_measures(self.objective) if self.objective else None
        analysis = analyse(
            records, study=protocol, without=self.without, objective=objective, seed=self.seed,
            progress=lambda what: note(f"{what} ..."),
        )  # fmt: skip
        for message in analysis.notes:
            note(message)
        if self.json:
            notes = {result.id: list(result.notes) for result in analysis.results if result.notes}
            show(
                analysis.table, json=True, study=analysis.data.protocol.name, notes=notes, remarks=list(analysis.notes)
            )
        else:
            for result in analysis.results:
                print(f"\n== {result.title} ==")
                for message in result.notes:
                    print(f"({message})")
                for table in screen_tables(result):
                    show(table, json=False)
        if self.out is not None:
            note(f"report: {report(analysis, source=Path(self.source).name, seed=self.seed).write(self.out)}")


@dataclass(frozen=True)
class Power(PowerQuestion):
    """How many people a study needs to find an effect, from an effect that is assumed or from a pilot.

    Effects are in standard deviations: of people's mean ratings (one_sample), of their differences (paired, wilcoxon);
    for friedman, of one person's noise, between the best and the worst of partners that are evenly spread. t tests are
    worked out exactly, the others by simulation, and the number comes with its interval. With a pilot the interval
    tells what the pilot leaves open; the careful number takes the lower end of a 60 % interval of its effect.

    Examples:
      interplay study power --test paired --effect 0.4
      interplay study power --test friedman --effect 1 --partners 7 --power 0.9
      interplay study power --test paired --pilot pilot.db --rating q4 --levels counter_circuit forced_coordination
      interplay study power --test friedman --pilot pilot.db --page confirm --game counter_circuit
    """

    json: bool = False
    """Print one JSON object."""

    def run(self) -> None:
        """Print the number of people, and the curve of power."""
        table, more, notes = plan(self)
        for message in notes:
            note(message)
        show(table, json=self.json, **({"curve": more.rows, "notes": notes} if self.json else {}))
        if not self.json and len(more):
            show(more, json=False)
