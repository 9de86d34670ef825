"""`interplay paper interdependence ...`: the tables and figures of the paper on interdependence."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from interplay.cli.show import JsonOption, note, show

if TYPE_CHECKING:
    from interplay.table import Table


@dataclass(frozen=True)
class _AgentTable(JsonOption):
    number: ClassVar[int]
    names: ClassVar[tuple[str, ...]]

    methods: tuple[str, ...] = ("fcp", "mep", "hsp", "cole", "bc")
    """Methods whose seeds are under test; every seed on this machine plays."""
    episodes: int = 10
    """Episodes of each team and seating."""
    seed: int = 0
    """Seed of all chance."""

    def run(self) -> None:
        """Play, count and print the table."""
        from interplay.papers.interdependence import experiment

        played = experiment.episodes_of(self.number, methods=self.methods, episodes=self.episodes, seed=self.seed)
        made = experiment.table(played, names=self.names, seed=self.seed)
        show(made if self.json else experiment.for_people(made), json=self.json)
        for line in experiment.statements(self.number, made):
            note(line)


@dataclass(frozen=True)
class InterdependenceTable1(_AgentTable):
    """Table 1: trained agents with a scripted cooperative partner, published values beside.

    In counter circuit the partner passes onions; in forced coordination it hands over all that is needed (the paper has
    no such row). Hand-overs through counters, pots and both; intervals over seeds.

    Examples:
      interplay paper interdependence table1
      interplay paper interdependence table1 --methods hsp fcp --episodes 4 --json
    """

    number: ClassVar[int] = 1
    names: ClassVar[tuple[str, ...]] = ("1a", "1b")


@dataclass(frozen=True)
class InterdependenceTable2(_AgentTable):
    """Table 2: trained agents in self-play, published values beside.

    Examples:
      interplay paper interdependence table2
    """

    number: ClassVar[int] = 2
    names: ClassVar[tuple[str, ...]] = ("2",)


@dataclass(frozen=True)
class InterdependenceTable3(_AgentTable):
    """Table 3: trained agents with models of people (three clones of people), published values beside.

    Examples:
      interplay paper interdependence table3 --episodes 4
    """

    number: ClassVar[int] = 3
    names: ClassVar[tuple[str, ...]] = ("3",)


@dataclass(frozen=True)
class InterdependenceTable4:
    """Table 4: people. Without traces: the 76 games of people with people that come with interplay.

    With the traces of `interplay import overcooked-web`: people with agents, by agent, and for each person who offered
    and what became of it.

    Examples:
      interplay paper interdependence table4
      interplay paper interdependence table4 --traces traces --json
    """

    traces: Path | None = None
    """Folder of imported rounds."""
    seed: int = 0
    """Seed of the bootstrap."""
    json: bool = False
    """Print one JSON object; with traces, `people` holds the rows by person."""

    def run(self) -> None:
        """Count and print the table."""
        from interplay.papers.interdependence import experiment
        from interplay.traces import TraceSet

        traces = None if self.traces is None else TraceSet.open(self.traces)
        played = experiment.people(traces)
        made = experiment.table(played, unit="episode", names=() if traces is None else ("4a", "4c"), seed=self.seed)
        if traces is None:
            show(made if self.json else experiment.for_people(made), json=self.json)
            note("people with people; the paper paired people with its agents: its values stand in --traces tables")
            return
        persons = experiment.by_person(traces)
        if self.json:
            show(made, json=True, people=persons.rows)
            return
        show(experiment.for_people(made), json=False)
        show(persons, json=False)


@dataclass(frozen=True)
class InterdependenceCorrelations(JsonOption):
    """Pearson's r of reward and constructive hand-overs, by kitchen and channel, beside the published r.

    Over episodes of trained agents with models of people (as in Table 3), and over games of people with people; with
    --traces over imported rounds of people with agents.

    Examples:
      interplay paper interdependence correlations
      interplay paper interdependence correlations --traces traces
    """

    traces: Path | None = None
    """Folder of imported rounds."""
    episodes: int = 3
    """Episodes of each team and seating of trained agents."""
    seed: int = 0
    """Seed of all chance."""

    def run(self) -> None:
        """Count and print the correlations."""
        from interplay.papers.interdependence import experiment
        from interplay.papers.interdependence.tables import correlations
        from interplay.table import Table
        from interplay.traces import TraceSet

        if self.traces is not None:
            show(correlations(experiment.people(TraceSet.open(self.traces))), json=self.json)
            return
        agents = experiment.episodes_of(3, episodes=self.episodes, seed=self.seed)
        sources = {"agents with models of people": agents, "people with people": experiment.people()}
        rows = [{"who": who, **row} for who, played in sources.items() for row in correlations(played)]
        show(Table.of(rows, "Reward against constructive hand-overs"), json=self.json)


@dataclass(frozen=True)
class InterdependenceFigure3(JsonOption):
    """Figure 3: agents that are paid for hand-overs, over the price, beside agents that are not.

    Self-play in two kitchens, five seeds. Prices are paid at the delivery, as in the paper, or at the hand-over;
    counters and pots both pay, or counters alone. Prints (and draws, with --out) hand-overs and returns at the end of
    training, with intervals over seeds: of the runs that come with interplay, or, with --runs, of those in a folder,
    where what is missing is trained (on a GPU; --scale makes everything smaller, and a killed run goes on).

    Examples:
      interplay paper interdependence figure3 --out figure3
      interplay paper interdependence figure3 --runs runs/figure3
      interplay paper interdependence figure3 --runs /tmp/try --scale 0.002 --seeds 2 --layouts cramped_room
      interplay paper interdependence figure3 --runs runs/figure3 --no-train --json
      interplay paper interdependence figure3 --earlier
    """

    runs: Path | None = None
    """Folder of training runs; none: the runs that come with interplay."""
    earlier: bool = False
    """Print the earlier run with FCP, MEP and HSP, whose curves come with interplay, and train nothing."""
    layouts: tuple[str, ...] = ("counter_circuit", "forced_coordination")
    """Kitchens."""
    prices: tuple[float, ...] = (0.0, 0.1, 0.3, 1.0, 3.0)
    """Alpha: what a hand-over pays giver and receiver; a soup pays 20."""
    seeds: int = 5
    """Runs of each condition and price."""
    scale: float = 1.0
    """Share of the steps."""
    train: bool = True
    """Train what is missing; else only draw what is there."""
    out: Path | None = None
    """Folder for the drawings."""

    def run(self) -> None:
        """Train, read the logs, print the table and draw the figure."""
        from interplay.papers.interdependence import figure3

        if self.earlier:
            show(figure3.earlier(), json=self.json)
            return
        made = figure3.table(figure3.shipped() if self.runs is None else self._trained(self.runs))
        show(made, json=self.json)
        if self.out is not None:
            for path in figure3.write(made, self.out):
                note(f"figure: {path}")

    def _trained(self, runs: Path) -> Table:
        from interplay.papers.interdependence import figure3

        conditions = figure3.conditions(self.layouts)
        if self.train:
            for condition in conditions:
                figure3.train(condition, runs, prices=self.prices, seeds=self.seeds, scale=self.scale)
        return figure3.read(runs, conditions)
