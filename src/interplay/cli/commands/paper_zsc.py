"""`interplay paper zsc ...`: figures and tables of ZSC-Eval, ours with the published values beside them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated

import tyro

from interplay.cli.show import JsonOption, note, show

Layouts = Annotated[tuple[str, ...], tyro.conf.Positional]


@dataclass(frozen=True)
class _Result(JsonOption):
    """A result that the function of its name in `papers.zsc.figures` makes from the options that were set."""

    def run(self) -> None:
        """Print the table."""
        from interplay.papers.zsc import figures

        options = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "json"}
        make = getattr(figures, type(self).__name__.removeprefix("Zsc").lower())
        show(make(**{name: value for name, value in options.items() if value not in ((), None)}), json=self.json)


@dataclass(frozen=True)
class ZscFigure2(_Result):
    """Figure 2b: how diverse the best responses are to subsets selected by BR-Div and by P-Div, by size.

    Needs the candidates' behaviour, which comes with the shipped panels. The paper draws its values and prints none.

    Examples:
      interplay paper zsc figure2
      interplay paper zsc figure2 coordination_ring --json
    """

    layouts: Layouts = ("counter_circuit", "coordination_ring")
    """Layouts with a shipped panel."""
    seed: int = 0
    """Seed of the selections."""


@dataclass(frozen=True)
class ZscFigure3:
    """Figure 3: how partners of several kinds act, on two principal components of what they do.

    Clones of people, self-play agents, scripted chefs and evaluation partners each play with themselves.

    Examples:
      interplay paper zsc figure3
      interplay paper zsc figure3 --layout counter_circuit --episodes 2 --json
    """

    layout: str = "coordination_ring"
    """A layout with several shipped panels."""
    episodes: int = 4
    """Episodes of every partner with itself, in each seat."""
    seed: int = 0
    """Seed of the episodes."""
    json: bool = False
    """Print one JSON object: all points, and how far each kind spreads."""

    def run(self) -> None:
        """Play, project, and print how far each kind spreads."""
        from interplay.papers.zsc.figures import figure3, spread_of

        points = figure3(self.layout, episodes=self.episodes, seed=self.seed)
        spread = spread_of(points)
        if self.json:
            show(points, json=True, spread=spread.rows)
            return
        show(spread, json=False)
        note(points.title)


@dataclass(frozen=True)
class ZscFigure4(_Result):
    """Figure 4: BR-Prox of the methods in kitchens of one recipe, with 95 % intervals, published ranges beside.

    Intervals draw seeds and partners again. The scripted chef `greedy` is a row of every layout.

    Examples:
      interplay paper zsc figure4
      interplay paper zsc figure4 forced_coordination --json
    """

    layouts: Layouts = ()
    """Layouts; all of one recipe by default."""


@dataclass(frozen=True)
class ZscFigure5(_Result):
    """Figure 5: BR-Prox of the methods in kitchens of several recipes, with 95 % intervals, published ranges beside.

    Examples:
      interplay paper zsc figure5
      interplay paper zsc figure5 counter_circuit_multi --json
    """

    layouts: Layouts = ()
    """Layouts; all of several recipes by default."""


@dataclass(frozen=True)
class ZscFigure6(_Result):
    """Figure 6: BR-Prox with expert and with moderate partners.

    The paper splits partners by the median of their self-play returns; partners with preferences mostly score nothing
    with themselves, so that the split by what their best response returns stands beside it.

    Examples:
      interplay paper zsc figure6
      interplay paper zsc figure6 coordination_ring --json
    """

    layouts: Layouts = ()
    """Layouts; all nine by default."""


@dataclass(frozen=True)
class ZscTable2(_Result):
    """Table 2: ranks of five methods by kinds of evaluation partners, and how they agree with people's ranks.

    People's ranks are the printed ones; nobody played with our agents.

    Examples:
      interplay paper zsc table2
      interplay paper zsc table2 --json
    """


@dataclass(frozen=True)
class _FootballResult(_Result):
    table: Annotated[Path | None, tyro.conf.Positional] = None
    """Returns with best responses, as `interplay brprox` reads them (the public football results, or yours)."""


@dataclass(frozen=True)
class ZscTable3(_FootballResult):
    """Table 3: BR-Prox in football, printed; and of a table of returns, if one is given.

    Examples:
      interplay paper zsc table3
      interplay paper zsc table3 football.csv.gz
    """


@dataclass(frozen=True)
class ZscTable10(_FootballResult):
    """Table 10: goals in football, printed; and of a table of returns, if one is given.

    Examples:
      interplay paper zsc table10
      interplay paper zsc table10 football.csv.gz
    """


@dataclass(frozen=True)
class ZscTable9(_Result):
    """Table 9: in what share of layouts each method takes each rank, printed and ours.

    Examples:
      interplay paper zsc table9
      interplay paper zsc table9 --json
    """


@dataclass(frozen=True)
class ZscTable11(_Result):
    """Table 11: E3T by its balance parameter, printed in football; ours where it was trained.

    Examples:
      interplay paper zsc table11
      interplay paper zsc table11 --json
    """


@dataclass(frozen=True)
class ZscConvert(JsonOption):
    """Result files of the ZSC-Eval repository as one table for `interplay brprox`, with the right best responses.

    Examples:
      interplay paper zsc convert ZSC-Eval/zsceval/scripts/overcooked/eval/results random1 --out random1.csv
      interplay paper zsc convert results unident_s --selected 3 7 12 20 --out unident_s.csv
    """

    folder: Annotated[Path, tyro.conf.Positional]
    """The repository's folder eval/results."""
    layout: Annotated[str, tyro.conf.Positional]
    """The repository's name of a layout, such as random1."""
    selected: tuple[int, ...] = ()
    """Numbers of the candidates behind partners 1, 2, ...; by default the published selection of the layout."""
    out: Path = Path("br_prox.csv")
    """The table to write."""

    def run(self) -> None:
        """Write the table, and print BR-Prox of what is in it."""
        from interplay.metrics.brprox.table import read_table
        from interplay.papers.zsc.convert import convert
        from interplay.partners.returns import write_rows
        from interplay.reports.brprox import on_screen
        from interplay.stats.brprox.summary import summarise

        write_rows(self.out, convert(self.folder, self.layout, self.selected))
        summary = summarise(read_table(self.out), seed=0).summary
        show(summary if self.json else on_screen(summary), json=self.json)
        note(f"table: {self.out}")
