"""`interplay study analyse` and `interplay study power`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from interplay.cli.show import JsonOption, note, show
from interplay.study.analysis.power_tables import PowerQuestion, plan


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
      interplay study analyse hanabi_preference.db --preregistration plan.json --r repeat/
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
    """Measures of the partners from elsewhere: CSV, what interplay brprox --json printed, or a pool's hanabi/pool."""
    preregistration: Path | None = None
    """A plan of `interplay study preregister`: where the analysis departs from it is told."""
    r: Path | None = None
    """Write an R script into this folder that repeats the mixed models, with the rows that it reads."""
    out: Path | None = None
    """Write a page with figures here."""
    seed: int = 0
    """Seed of the bootstraps."""
    json: bool = False
    """Print one JSON object with the rows of all tables."""

    def run(self) -> None:
        """Run the analysis, print its tables, and write the page if one is asked for."""
        from interplay.study.analysis import preregistration
        from interplay.study.analysis.r_script import write_r_script
        from interplay.study.analysis.report import report, screen_tables
        from interplay.study.analysis.run import analyse
        from interplay.study.analysis.sources import read_measures, read_records
        from interplay.study.protocol.reading import load

        protocol = load(self.study) if self.study else None
        records = read_records(self.source, self.name or (protocol.name if protocol else None))
        objective = read_measures(self.objective) if self.objective else None
        registered = preregistration.read(self.preregistration) if self.preregistration else None
        analysis = analyse(
            records, study=protocol, without=self.without, objective=objective, preregistration=registered,
            seed=self.seed,
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
        if self.r is not None:
            note(f"R script: {write_r_script(analysis.data, analysis.plan, self.r)}")
        if self.out is not None:
            note(f"report: {report(analysis, source=Path(self.source).name, seed=self.seed).write(self.out)}")


@dataclass(frozen=True)
class Preregister:
    """Write a study's plan before anyone takes part: analyses, exclusion rules, hypotheses, number of people.

    The file bears its date and a SHA-256 of all that it says. `interplay study analyse --preregistration` refuses it if
    it was changed, and tells where an analysis departs from it.

    Examples:
      interplay study preregister hanabi_preference --people 240 --out plan.json
      interplay study preregister study.yaml --people 60 --hypothesis "smart is rated above random" --out plan.json
    """

    study: Annotated[str, tyro.conf.Positional]
    """A study file, or the name of one that comes with interplay."""
    people: int
    """How many people are to be analysed."""
    out: Path
    """The new file; nothing is overwritten."""
    hypothesis: tuple[str, ...] = ()
    """What is expected, in words."""
    stopping: str = ""
    """When recruiting ends, if not with that number of people."""

    def run(self) -> None:
        """Write the plan and print its hash."""
        from interplay.study.analysis import preregistration
        from interplay.study.protocol.reading import load

        content = preregistration.make(
            load(self.study), people=self.people, hypotheses=self.hypothesis, stopping=self.stopping
        )
        path = preregistration.write(content, self.out)
        print(f"{path}: {len(content['plan'])} analyses, {content['created']}, SHA-256 {content['sha256']}")


@dataclass(frozen=True)
class Power(JsonOption, PowerQuestion):
    """How many people a study needs to find an effect, from an effect that is assumed or from a pilot.

    Effects are in standard deviations: of people's mean ratings (one_sample), of their differences (paired, wilcoxon);
    for friedman, of one person's noise, between the best and the worst of partners that are evenly spread. t tests are
    worked out exactly, the others by simulation, and the number comes with its interval. With a pilot the interval
    tells what the pilot leaves open; the careful number takes the lower end of a 60 % interval of its effect.
    --test model simulates the design of --study and runs the analysis that the file names; its effect is in points:
    between the best and the worst partner (ratings), or for one standard deviation of the measure (regression).

    Examples:
      interplay study power --test paired --effect 0.4
      interplay study power --test friedman --effect 1 --partners 7 --power 0.9
      interplay study power --test paired --pilot pilot.db --rating q4 --levels counter_circuit forced_coordination
      interplay study power --test friedman --pilot pilot.db --page confirm --game counter_circuit
      interplay study power --test model --study hanabi_preference --analysis regression --effect 3
    """

    def run(self) -> None:
        """Print the number of people, and the curve of power."""
        table, more, notes = plan(self)
        for message in notes:
            note(message)
        show(table, json=self.json, **({"curve": more.rows, "notes": notes} if self.json else {}))
        if not self.json and len(more):
            show(more, json=False)
