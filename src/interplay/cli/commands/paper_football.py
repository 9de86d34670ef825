"""`interplay paper zsc football`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from interplay.cli.show import JsonOption, note, show
from interplay.errors import InterplayError


@dataclass(frozen=True, kw_only=True)
class FootballResults:
    """BR-Prox of ZSC-Eval's public football results with intervals, beside what the paper prints.

    Three players, the ego in each seat, pairs of partners in the other two. Intervals draw training seeds and partners.

    Examples:
      interplay paper zsc football --data football.csv.gz
      INTERPLAY_DATA=data interplay paper zsc football --json
    """

    data: Path | None = None
    """The table of public results; by default zsc_eval/football.csv.gz below the folder in INTERPLAY_DATA."""
    seed: int = 0
    """Seed of the bootstrap."""
    json: bool = False
    """Print one JSON object, with every cell."""

    def run(self) -> None:
        """Print a row for each method."""
        from interplay.papers import football

        path = self.data
        if path is None:
            folder = os.environ.get("INTERPLAY_DATA")
            if folder is None:
                raise InterplayError("--data: name the public table, or set INTERPLAY_DATA to the folder of the data")
            path = Path(folder) / football.FILE
        result = football.br_prox_of(path, seed=self.seed)
        more = {"cells": result.cells.rows} if self.json else {}
        show(football.comparison(result), json=self.json, **more)
        note("the paper's tables are over 168 combinations of partners, the public files name 108 best responses")


@dataclass(frozen=True, kw_only=True)
class FootballEngines(JsonOption):
    """Teams of football in the light engine and in the real one: goals, passes, assists, who helped whom.

    Agents that were trained in the light engine play in the real one without further training. A team is one agent in
    all three seats, or three agents joined by commas; NAME=FOLDER of a training run is a team for each of its seeds.
    The real engine is built by `make football`.

    Examples:
      interplay paper zsc football-engines --teams football/passer football/shooter --real 20
      interplay paper zsc football-engines --teams sp=runs/sp runs/sp/policies/run0.safetensors,random,random --real 20
    """

    teams: tuple[str, ...]
    """Teams: names of agents, files of trained policies, or NAME=FOLDER of a training run."""
    light: int = 200
    """Episodes of each team in the light engine."""
    real: int = 0
    """Episodes of each team in the real engine, about 300 steps a second; 0: none."""
    horizon: int | None = None
    """Steps of an episode in the real engine; by default 400."""
    seed: int = 0
    """Seed of all chance."""
    engine: str = "local"
    """Where episodes are played: local or ray."""

    def run(self) -> None:
        """Print a row for each method and engine, who helped whom, and how far the order of teams is the same."""
        from interplay.papers import football
        from interplay.training.algorithms.br import load_partners

        methods = {}
        for text in self.teams:
            name, _, who = text.rpartition("=")
            players = [load_partners(one) for one in who.split(",")]
            if len(players) > 1 and any(len(p) > 1 for p in players):
                raise InterplayError(
                    f"--teams {text}: a training run of several seeds is a team of its own, not a player"
                )
            methods[name or text] = [[a] * 3 for a in players[0]] if len(players) == 1 else [[p[0] for p in players]]
        both = football.in_both_engines(
            methods, light=self.light, real=self.real, seed=self.seed, horizon=self.horizon, engine=self.engine
        )
        others = {"teams": both.teams, "helps": both.helps, "carried": both.carried}
        if self.json:
            show(both.methods, json=True, **{name: table.rows for name, table in others.items()})
            return
        for table in (both.methods, both.helps, both.carried):
            if len(table):
                show(table, json=False)


@dataclass(frozen=True, kw_only=True)
class FootballTable(JsonOption):
    """BR-Prox and goals of agents in the light football: in each seat, with every set of a panel's partners.

    Examples:
      interplay paper zsc football-table --panel panels/football/panel --egos sp=runs/sp shooter=football/shooter
    """

    panel: Path
    """A panel's folder, as `python -m interplay.partners` makes it."""
    egos: tuple[str, ...]
    """METHOD=FOLDER of a training run (all its seeds), or METHOD=AGENT."""
    episodes: int = 100
    """Episodes of each ego, set of partners and seat."""
    seed: int = 7
    """Seed of all chance."""

    def run(self) -> None:
        """Print a row for each method."""
        from interplay.papers import football
        from interplay.partners.panel_file import read_panel
        from interplay.training.algorithms.br import load_partners

        egos = {}
        for text in self.egos:
            method, equals, name = text.partition("=")
            if not equals or not name:
                raise InterplayError(f"--egos {text}: write METHOD=FOLDER or METHOD=AGENT, as in sp=runs/sp")
            egos[method] = load_partners(name)
        show(football.own_table(read_panel(self.panel), egos, episodes=self.episodes, seed=self.seed), json=self.json)
