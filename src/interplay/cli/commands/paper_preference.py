"""`interplay paper preference table3 | table5 | figures | g2 | humans`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from interplay.cli.show import note, show

if TYPE_CHECKING:
    from interplay.table import Table
    from interplay.traces import TraceSet


def _pool(traces: Path | None, episodes: int, seed: int, save: Path | None = None) -> tuple[TraceSet, Table]:
    """Return a pool's games, read or played (and saved, before they are measured), and their metrics."""
    from interplay.papers.preference import agent_pool as pool
    from interplay.traces import TraceSet

    games = TraceSet.open(traces) if traces else pool.play_pool(episodes=episodes, seed=seed)
    if save:
        games.save(save)
    note(f"{len(games)} games; scores keep the points after the third bomb")
    return games, pool.pool_table(games)


def _ratings(source: str | None, study: str | None, games: TraceSet, people: int, seed: int) -> Table:
    from interplay.papers.preference import table5

    if source is not None:
        return table5.study_ratings(source, study=study)
    note(f"no study was named, so ratings are of {table5.SIMULATED}")
    return table5.simulated_ratings(games, people=people, seed=seed)


@dataclass(frozen=True)
class Table3:
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

    episodes: int = 125
    """Games for each seating of each pair."""
    traces: Path | None = None
    """Games of a pool that were played before, in place of new ones."""
    save: Path | None = None
    """Keep the games as a trace set in this folder."""
    out: Path | None = None
    """Also write the pool's metrics as JSON, which `interplay study analyse --objective` reads."""
    known: str = "public"
    """The sense of a known card in G1 to G3: public or seen."""
    messages: str = "actions"
    """What context independence takes as messages: actions or kinds."""
    seed: int = 0
    """Seed of the games."""
    json: bool = False
    """Print one JSON object."""

    def run(self) -> None:
        """Play or read the pool and print the table."""
        from interplay.metrics.hanabi.agent_pool import measures
        from interplay.papers.preference import agent_pool as pool
        from interplay.papers.preference.g2_senses import nearest_rows
        from interplay.table import Table

        games, table = _pool(self.traces, self.episodes, self.seed, self.save)
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
class Table5:
    """Ratings of the agents on each objective metric, with and without RandomBot, beside the published regressions.

    SOURCE is the database or export of a study such as hanabi_preference. Without one, ratings are simulated, to try
    the pipeline. IC is fitted with a parabola, as in the paper. p counts ratings, as the paper's does; p_agents and
    p_mixed answer whether the relation would hold for other agents.

    Examples:
      interplay paper preference table5 study.db --traces pool
      interplay paper preference table5 --episodes 20 --people 120 --json
    """

    source: Annotated[str | None, tyro.conf.Positional] = None
    """Database or folder of an exported study."""
    study: str | None = None
    """Name of the study, if the database has several."""
    traces: Path | None = None
    """Games of a pool that were played before."""
    episodes: int = 125
    """Games for each seating of each pair, where none were played before."""
    people: int = 240
    """Simulated people, without a study."""
    seed: int = 0
    """Seed of games, simulated people and exchanges."""
    json: bool = False
    """Print one JSON object."""

    def run(self) -> None:
        """Print the regressions."""
        from interplay.papers.preference import table5

        games, table = _pool(self.traces, self.episodes, self.seed)
        ratings = _ratings(self.source, self.study, games, self.people, self.seed)
        show(table5.table5(ratings, table, seed=self.seed), json=self.json, ratings=ratings.title)


@dataclass(frozen=True)
class Figures:
    """All figures of the paper as one HTML page, with Table 5.

    Examples:
      interplay paper preference figures study.db --traces pool --out figures.html
      interplay paper preference figures --episodes 20
    """

    source: Annotated[str | None, tyro.conf.Positional] = None
    """Database or folder of an exported study; without one, ratings are simulated."""
    study: str | None = None
    """Name of the study, if the database has several."""
    traces: Path | None = None
    """Games of a pool that were played before."""
    episodes: int = 125
    """Games for each seating of each pair, where none were played before."""
    people: int = 240
    """Simulated people, without a study."""
    out: Path = Path("preference.html")
    """The page."""
    seed: int = 0
    """Seed of games, simulated people and exchanges."""

    def run(self) -> None:
        """Write the page and print where it is."""
        from interplay.papers.preference.figures import figures

        games, table = _pool(self.traces, self.episodes, self.seed)
        ratings = _ratings(self.source, self.study, games, self.people, self.seed)
        print(figures(ratings, table, games, about=ratings.title, seed=self.seed).write(self.out))


@dataclass(frozen=True)
class G2Senses:
    """How far each reading of G2 is from the published column, the nearest first.

    Examples:
      interplay paper preference g2 --episodes 20
      interplay paper preference g2 --traces pool --json
    """

    traces: Path | None = None
    """Games of a pool that were played before."""
    episodes: int = 125
    """Games for each seating of each pair, where none were played before."""
    seed: int = 0
    """Seed of the games."""
    json: bool = False
    """Print one JSON object."""

    def run(self) -> None:
        """Print the senses."""
        from interplay.papers.preference import agent_pool as pool
        from interplay.papers.preference.g2_senses import g2_senses
        from interplay.traces import TraceSet

        games = TraceSet.open(self.traces) if self.traces else pool.play_pool(episodes=self.episodes, seed=self.seed)
        show(g2_senses(games), json=self.json)


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
