"""Several agents on one panel with common chance: how much better one is than another, and with whom."""

from __future__ import annotations

import itertools
import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from interplay.agents.api import Agent
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.games.registry import scoring
from interplay.partners.describe import set_descriptions
from interplay.partners.panel import Panel
from interplay.rollout.teams import Team, ego_teams
from interplay.stats import interval_table
from interplay.table import Row, Table
from interplay.traces import TraceSet


@dataclass(frozen=True)
class Comparison:
    """How several agents differ that met the same partners in the same episodes."""

    agents: Table  # a row per agent: mean score over partners, seats and episodes, with its interval
    differences: Table  # a row per pair of agents: mean paired difference with its interval, and who wins how often
    by_partner: Table  # the same for each partner
    episodes: Table  # a row per agent, partner, seat and episode: what all of it is made of

    def _repr_html_(self) -> str:
        """The comparison as a notebook shows it."""
        return self.agents._repr_html_() + self.differences._repr_html_() + self.by_partner._repr_html_()


def teams(game: Game, agents: Sequence[Agent], panel: Panel) -> list[Team]:
    """Every agent in every seat with every partner, numbered by partner and seat alone: all meet the same chance.

    Raises:
        InterplayError: There are fewer than two agents, or two of one name.
    """
    names = [agent.name for agent in agents]
    if len(set(names)) < len(names) or len(names) < 2:
        raise InterplayError(f"compare at least two agents, each with a name of its own; given: {', '.join(names)}")
    made = []
    sets = [panel.agents_of(beside) for beside in panel.partner_sets(game.num_seats)]
    for agent in agents:
        for number, team in enumerate(ego_teams(game, agent, sets)):
            names = [one.identity(game) for one in sets[number // game.num_seats]]
            if len({one.name for one in names}) == 1:
                names = names[:1]
            beside = [value for one in names for value in (one.name, one.hash)]
            place = [game.id, dict(game.options), *beside, number % game.num_seats]
            made.append(replace(team, number=zlib.crc32(json.dumps(place, sort_keys=True).encode())))
    return made


def summarise(traces: TraceSet, game: Game, agents: Sequence[Agent], panel: Panel, seed: int) -> Comparison:
    """Compare the agents by the traces of `teams`, in the order in which those were played."""
    values = _values(traces, game, agents, panel)
    partners = panel.sampling_columns(game.num_seats)
    fixed = ["seat_of_agent", "skill"]
    units = {"units": ["+".join(partners)], "fixed": fixed, "statistic": "mean", "seed": seed}
    means = interval_table(values, by=["agent"], value="score", **units)
    pairs = _differences(values, [agent.name for agent in agents], [*partners, "skill"])
    overall = interval_table(pairs, by=["agent", "against"], value="difference", **units)
    alone = {"fixed": ["seat_of_agent"], "statistic": "mean", "seed": seed}
    rule = scoring(game.id, game.options)
    by_partner = interval_table(pairs, by=["agent", "against", "partner"], value="difference", **alone)
    parts = _with_rule(
        _with_wins(by_partner, pairs, ["agent", "against", "partner"], "The same, partner by partner"), rule
    )
    prefers = {name: about["prefers"] for name, about in set_descriptions(panel).items()}
    if any(prefers.values()):
        parts = Table.of([row | {"prefers": prefers[row["partner"]]} for row in parts], parts.title)
    return Comparison(
        agents=_with_rule(_named(means, "mean", "Mean score of each agent, with its interval over partners"), rule),
        differences=_with_rule(
            _with_wins(overall, pairs, ["agent", "against"], "Paired differences: agent minus against"), rule
        ),
        by_partner=parts,
        episodes=values,
    )


def _with_rule(table: Table, rule: Row) -> Table:
    return Table.of([row | rule for row in table], table.title)


def _values(traces: TraceSet, game: Game, agents: Sequence[Agent], panel: Panel) -> Table:
    summary, seats = traces.summary().rows, game.num_seats
    sets = panel.partner_sets(seats)
    names = [{"partner": panel.name_of(beside)} | panel.sampling_levels(beside, seats) for beside in sets]
    each = len(summary) // (len(agents) * len(names) * seats)
    rows = []
    for number, row in enumerate(summary):
        team = number // each
        agent, place = divmod(team, len(names) * seats)
        partner, seat = divmod(place, seats)
        rows.append(
            {
                "agent": agents[agent].name,
                **names[partner],
                "seat_of_agent": seat,
                "index": number % each,
                "episode": row["episode"],
                "score": row["score"],
            }
        )
    return Table.of(rows, "Episodes")


def _differences(values: Table, names: Sequence[str], partners: Sequence[str]) -> Table:
    """A row per pair of agents, partner, seat and episode that both played."""
    columns = ("partner", *partners, "seat_of_agent", "index")
    scores: dict[str, dict[tuple[Any, ...], float]] = {name: {} for name in names}
    for row in values:
        scores[row["agent"]][tuple(row[c] for c in columns)] = row["score"]
    rows: list[Row] = []
    for agent, against in itertools.combinations(names, 2):
        for cell, score in scores[agent].items():
            place = dict(zip(columns, cell, strict=True))
            rows.append({"agent": agent, "against": against, **place, "difference": score - scores[against][cell]})
    return Table.of(rows, "Paired differences")


def _named(intervals: Table, name: str, title: str) -> Table:
    keys = [c for c in intervals.columns if c not in ("estimate", "low", "high", "n", "resampled", "not_resampled")]
    rows = [
        {**{k: r[k] for k in keys}, name: r["estimate"], "low": r["low"], "high": r["high"], "episodes": r["n"]}
        for r in intervals
    ]
    return Table.of(rows, title)


def _with_wins(intervals: Table, pairs: Table, by: Sequence[str], title: str) -> Table:
    """How many of the paired episodes each of the two wins."""
    wins = {}
    for key, part in pairs.groups(*by).items():
        values = part.column("difference")
        wins[key] = {"wins": sum(v > 0 for v in values), "losses": sum(v < 0 for v in values)}
        wins[key]["ties"] = len(values) - wins[key]["wins"] - wins[key]["losses"]
    named = _named(intervals, "difference", title)
    return Table.of([row | wins[tuple(row[b] for b in by)] for row in named], title)
