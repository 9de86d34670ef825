"""`interplay paper preference table3 | table5 | figures | g2 | humans`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from interplay.cli.show import JsonOption, note, show

if TYPE_CHECKING:
    from interplay.table import Table
    from interplay.traces import TraceSet


@dataclass(frozen=True)
class _PoolOptions:
    """The games of the agents that rate and are rated."""

    traces: Path | None = None
    """Games of a pool that were played before, in place of new ones."""
    episodes: int = 125
    """Games for each seating of each pair, where none were played before."""
    seed: int = 0
    """Seed of the games, and of simulated people and exchanges where there are any."""

    def _games(self) -> TraceSet:
        from interplay.papers.preference.agent_pool import play_pool
        from interplay.traces import TraceSet

        return TraceSet.open(self.traces) if self.traces else play_pool(episodes=self.episodes, seed=self.seed)


@dataclass(frozen=True)
class _RatedPool(_PoolOptions):
    """The games, and the study whose ratings are set against them."""

    source: Annotated[str | None, tyro.conf.Positional] = None
    """Database or folder of an exported study; without one, ratings are simulated."""
    study: str | None = None
    """Name of the study, if the database has several."""
    people: int = 240
    """Simulated people, without a study."""

    def _ratings(self, games: TraceSet) -> Table:
        from interplay.papers.preference import table5

        if self.source is not None:
            return table5.study_ratings(self.source, study=self.study)
        note(f"no study was named, so ratings are of {table5.SIMULATED}")
        return table5.simulated_ratings(games, people=self.people, seed=self.seed)


def _measured(games: TraceSet) -> Table:
    """The metrics of a pool's games."""
    from interplay.papers.preference.agent_pool import pool_table

    note(f"{len(games)} games; scores keep the points after the third bomb")
    return pool_table(games)


@dataclass(frozen=True)
class Table3(JsonOption, _PoolOptions):
    """Objective metrics of the paper's agents as far as they are shipped, beside the published values.

    Every pair plays in both seatings, points are kept after the third bomb. Cells are ours / published; --json gives a
    row for each agent and metric with its 95 % interval and the number of games, partners or algorithms it rests on.
    IC is corrected for its bias (Miller-Madow); ic_plug_in is not. g2 is as the paper writes it, g2_nearest the sense
    whose values lie nearest to the printed column (interplay paper preference g2).

    Examples:
      interplay paper preference table3
      interplay paper preference table3 --episodes 20 --json
      interplay paper preference table3 --save pool --out pool.json
    """

    save: Path | None = None
    """Keep the games as a trace set in this folder."""
    out: Path | None = None
    """Also write the pool's metrics as JSON, which `interplay study analyse --objective` reads."""
    known: str = "public"
    """The sense of a known card in G1 to G3: public or seen."""
    messages: str = "actions"
    """What context independence takes as messages: actions or kinds."""

    def run(self) -> None:
        """Play or read the pool and print the table."""
        from interplay.metrics.hanabi.agent_pool import measures
        from interplay.papers.preference import agent_pool as pool
        from interplay.papers.preference.g2_senses import nearest_rows
        from interplay.table import Table

        games = self._games()
        if self.save:  # before they are measured
            games.save(self.save)
        table = _measured(games)
        if self.out:
            measures(table).write(self.out)
        rows = pool.table3(table, known=self.known, messages=self.messages)
        rows = Table.of([*rows, *nearest_rows(games)], rows.title)
        if self.json:
            show(rows, json=True, agents=pool.nearness().rows, scoring="points kept after the third bomb")
            return
        show(pool.nearness(), json=False)
        show(pool.as_printed(rows), json=False)


@dataclass(frozen=True)
class Table5(JsonOption, _RatedPool):
    """Ratings of the agents on each objective metric, with and without RandomBot, beside the published regressions.

    SOURCE is the database or export of a study such as hanabi_preference. Without one, ratings are simulated, to try
    the pipeline. IC is fitted with a parabola, as in the paper. p counts ratings, as the paper's does; p_agents and
    p_mixed answer whether the relation would hold for other agents.

    Examples:
      interplay paper preference table5 study.db --traces pool
      interplay paper preference table5 --episodes 20 --people 120 --json
    """

    def run(self) -> None:
        """Print the regressions."""
        from interplay.papers.preference import table5

        games = self._games()
        table, ratings = _measured(games), self._ratings(games)
        show(table5.table5(ratings, table, seed=self.seed), json=self.json, ratings=ratings.title)


@dataclass(frozen=True)
class Figures(_RatedPool):
    """All figures of the paper as one HTML page, with Table 5.

    Examples:
      interplay paper preference figures study.db --traces pool --out figures.html
      interplay paper preference figures --episodes 20
    """

    out: Path = Path("preference.html")
    """The page."""

    def run(self) -> None:
        """Write the page and print where it is."""
        from interplay.papers.preference.figures import figures

        games = self._games()
        table, ratings = _measured(games), self._ratings(games)
        print(figures(ratings, table, games, about=ratings.title, seed=self.seed).write(self.out))


@dataclass(frozen=True)
class G2Senses(JsonOption, _PoolOptions):
    """How far each reading of G2 is from the published column, the nearest first.

    Examples:
      interplay paper preference g2 --episodes 20
      interplay paper preference g2 --traces pool --json
    """

    def run(self) -> None:
        """Print the senses."""
        from interplay.papers.preference.g2_senses import g2_senses

        show(g2_senses(self._games()), json=self.json)


@dataclass(frozen=True)
class Humans:
    """What people thought of three Hanabi partners, against what happened in their games (HanabiData, 2017).

    Examples:
      interplay paper preference humans hanabi_humans/
      interplay paper preference humans hanabi_humans/ --report humans.html
    """

    folder: Annotated[Path, tyro.conf.Positional]
    """Holds games.jsonl.gz and surveys.csv."""
    report: Path | None = None
    """Write the tables as one HTML file, too."""
    shuffles: int = 999
    """Of each permutation test of a prediction; 0 leaves predictions out."""
    seed: int = 0
    """Seed of resampling and shuffling."""
    json: bool = False
    """Print one JSON object: every row of every table."""

    def run(self) -> None:
        """Print every table."""
        from interplay.papers.preference.eger2017_ratings import all_rows, analyse, report

        tables, predictions = analyse(self.folder, seed=self.seed, shuffles=self.shuffles)
        if self.json:
            show(all_rows(tables), json=True)
        else:
            for table in tables.values():
                show(table, json=False)
        if self.report:
            note(str(report(tables, predictions, self.seed).write(self.report)))
