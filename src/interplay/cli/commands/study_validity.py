"""`interplay study validity`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from interplay.cli.show import JsonOption, note, show


@dataclass(frozen=True)
class StudyValidity(JsonOption):
    """What interdependence says of people's ratings and of later scores, beyond the score.

    Partial correlations within people, given the score, with intervals that draw people whole. From a study's database
    or the folder of an export (games are replayed and counted, each channel apart), or from a CSV file with a row for
    each game: person, score, measures and ratings.

    Examples:
      interplay study validity overcooked_ranking.db
      interplay study validity exported/ --outcomes fluent trust --json
      interplay study validity rounds.csv --measures constructive accepted
      interplay study validity exported/ --rows games.csv
    """

    source: Annotated[str, tyro.conf.Positional]
    """A database, the folder of an export, or a CSV file."""
    name: str | None = None
    """Which study, where the database holds several."""
    outcomes: tuple[str, ...] = ()
    """Ratings (ids of questions) to look at; by default all that are numbers, and the score of the next game."""
    measures: tuple[str, ...] = ()
    """Measures to look at; by default those of interdependence."""
    given: str = "score"
    """The covariate."""
    rows: Path | None = None
    """Also write the row of each game to this CSV file."""
    seed: int = 0
    """Seed of the bootstrap."""

    def run(self) -> None:
        """Count, correlate and print."""
        from interplay.study.analysis import validity

        if Path(self.source).suffix == ".csv":
            from interplay.untrusted_files import read_text

            table = validity.read_rows(read_text(self.source))
        else:
            from interplay.study.analysis.data import gather
            from interplay.study.analysis.sources import read_records

            table = validity.game_rows(gather(read_records(self.source, self.name)))
        if self.rows is not None:
            self.rows.write_text(table.to_csv())
            note(f"rows: {self.rows}")
        measures = self.measures or validity.MEASURES
        made = validity.validity(table, outcomes=self.outcomes, measures=measures, given=self.given, seed=self.seed)
        show(made, json=self.json)
        note(f"{len(made)} correlations: one in twenty intervals misses 0 by chance alone")
