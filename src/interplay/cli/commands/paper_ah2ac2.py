"""`interplay paper ah2ac2 ...`: the tables of the ad-hoc human-AI coordination challenge."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from interplay.cli.show import JsonOption, note, show
from interplay.errors import InterplayError


def _players(players: int) -> None:
    if players not in (2, 3):
        raise InterplayError(f"--players {players}: the paper has 2 and 3")


@dataclass(frozen=True)
class Ah2ac2Table1(JsonOption):
    """Agents with hidden proxies: a challenge's leaderboard with the published values.

    Examples:
      interplay challenge baselines hanabi_proxies
      interplay paper ah2ac2 table1
    """

    challenge: Path = Path("hanabi_proxies")
    """The challenge file, or the name of a challenge that comes with the package."""
    database: Annotated[str | None, tyro.conf.arg(aliases=["--db"])] = None
    """Its database; by default NAME.db here."""

    def run(self) -> None:
        """Print the table."""
        from interplay.challenge import admin, baselines
        from interplay.challenge.spec import load
        from interplay.papers.ah2ac2.proxies import leaderboard_table

        challenge = load(self.challenge)
        address = self.database or admin.default_address(challenge)
        if "://" not in address and not Path(address).is_file():
            raise InterplayError(f"there is no database {address}: run `interplay challenge baselines` first")
        database = admin.open_challenge_database(address)
        show(leaderboard_table(baselines.board(challenge, database).rows), json=self.json)
        database.close()


@dataclass(frozen=True)
class Ah2ac2Table2(JsonOption):
    """Proxies and their clone with themselves, by their likeliest moves.

    Examples:
      interplay paper ah2ac2 table2 --players 3 --games 500
    """

    players: int = 2
    """2 or 3."""
    games: int = 1000
    """Games of each."""
    agents: tuple[str, ...] = ()
    """Others than the clone and the proxies that come with interplay."""

    def run(self) -> None:
        """Print the table."""
        from interplay.papers.ah2ac2.proxies import self_play_table

        _players(self.players)
        show(self_play_table(self.players, self.games, self.agents), json=self.json)


@dataclass(frozen=True)
class Ah2ac2Table3(JsonOption):
    """How well agents predict people's moves: nats and accuracy of rule bots, clones, proxies, trained agents.

    Works on any imported games. The clones that come with interplay learnt from the games of 2017; with --split 3 only
    the people that `bc-1` and `proxy-1` never met count, with --split 2 those that `proxy-2` never met.

    Examples:
      interplay import hanabi-humans FOLDER --out humans
      interplay paper ah2ac2 table3 humans --agent human --split 3
      interplay import ah2ac2 FILE --out challenge
      interplay paper ah2ac2 table3 challenge --players 3
    """

    traces: Annotated[Path, tyro.conf.Positional]
    """Imported games, a trace set."""
    players: int = 2
    """2 or 3."""
    agent: str | None = None
    """Whose decisions count, such as human; by default everybody's."""
    split: int | None = None
    """Only games of people that this split's clones never met."""
    policies: tuple[str, ...] = ()
    """Who is asked; by default random, all rule bots and the trained agents on this machine."""
    games: int | None = None
    """At most so many games, drawn by a fixed seed."""

    def run(self) -> None:
        """Print the table."""
        from interplay.papers.ah2ac2.human_move_prediction import default_policies, people_table
        from interplay.traces import TraceSet

        _players(self.players)
        policies = self.policies or default_policies(self.players)
        table = people_table(
            TraceSet.open(self.traces), policies, players=self.players, agent=self.agent, split=self.split,
            most=self.games, tell=note,
        )  # fmt: skip
        show(table, json=self.json)


@dataclass(frozen=True)
class Ah2ac2Table4(JsonOption):
    """How people and proxies behave: information per play and communicativeness.

    Examples:
      interplay paper ah2ac2 table4 --people humans --games 200
    """

    players: int = 2
    """2 or 3."""
    games: int = 1000
    """Games of each agent with itself."""
    people: Path | None = None
    """Imported games of people."""
    agent: str = "human"
    """Whose decisions count in them."""
    agents: tuple[str, ...] = ()
    """Others than the clone and the proxies that come with interplay."""

    def run(self) -> None:
        """Print the table."""
        from interplay.papers.ah2ac2.proxies import behaviour_table
        from interplay.traces import TraceSet

        _players(self.players)
        people = TraceSet.open(self.people) if self.people is not None else None
        show(behaviour_table(self.players, self.games, people, self.agent, self.agents), json=self.json)


@dataclass(frozen=True)
class ResultsPage:
    """Write docs/results/hanabi_learning.md from what the scripts in benchmarks/hanabi_learning left behind.

    Examples:
      interplay paper ah2ac2 page
    """

    def run(self) -> None:
        """Write the page and its pictures."""
        from interplay.papers.ah2ac2.page import write_page
        from interplay.papers.ah2ac2.stage_results import RESULTS

        if not RESULTS.is_dir():
            raise InterplayError("this needs a checkout of the repository: benchmarks/hanabi_learning/results")
        note(f"page: {write_page()}")
