"""ZSC-Eval's football: BR-Prox of its public results (its Tables 3 and 10), computed anew with intervals.

The public files hold, for each ego seat and each pair of partners in the other seats, the mean goals of the ego and of
the best response. The paper's tables are over 168 combinations, of which 108 have a best response that the files name
without doubt: so the numbers differ from the paper's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from interplay.agents.api import Agent
from interplay.agents.neural import NeuralPolicy
from interplay.errors import InterplayError
from interplay.games.football.pitch import SEAT_NAMES
from interplay.games.registry import make, make_recorded
from interplay.metrics.api import measure
from interplay.metrics.brprox.ratios import Cells, cells
from interplay.metrics.brprox.rows import read_rows
from interplay.papers.zsc import printed
from interplay.partners.panel import Panel
from interplay.partners.returns import panel_returns
from interplay.rollout.engine import run
from interplay.rollout.teams import Team
from interplay.stats.brprox.summary import BRProx, summarise
from interplay.stats.correlation import spearman
from interplay.stats.intervals import proportion_interval
from interplay.table import Row, Table
from interplay.traces import TraceSet

FILE = "zsc_eval/football.csv.gz"
LINKS = ("constructive", "irrelevant", "looping")  # kinds of passes that another takes
LEAST_TEAMS = 4  # in both engines, for their order to be compared
INCOMPLETE = ("fcp", "")  # a run of the public files that lacks more than half of its cells


def public_cells(path: str | Path) -> Cells:
    """Return the cells of the public file: egos with pairs of partners, each partner with its skill.

    Raises:
        InterplayError: The file lacks a column, or a partner's name does not end in a skill.
    """
    rows: list[tuple[str, Row]] = []
    for at, row in read_rows(path):
        missing = [c for c in ("partner_a", "partner_b", "population", "best_response_return") if c not in row]
        if missing:
            raise InterplayError(f"{path}, {at}: no column {missing[0]!r}; this is not the football table of ZSC-Eval")
        if (row["algorithm"], row["population"]) == INCOMPLETE:
            continue
        named = dict(row)
        for place in ("a", "b"):
            partner, _, skill = str(row[f"partner_{place}"]).rpartition("_")
            if skill not in ("mid", "final"):
                raise InterplayError(f"{path}, {at}: partner {row[f'partner_{place}']!r} has no skill, mid or final")
            named |= {f"partner_{place}": partner, f"skill_{place}": skill}
        rows.append((at, named))
    best: dict[tuple[Any, ...], tuple[str, Row]] = {}
    for at, row in rows:
        key = tuple(row[n] for n in ("ego_seat", "partner_a", "partner_b", "skill_a", "skill_b"))
        best.setdefault(key, (at, row | {"return": row["best_response_return"]}))
    return cells(rows, list(best.values()))  # type: ignore[arg-type] - rows with their lines, for messages


def br_prox_of(path: str | Path, *, seed: int = 0) -> BRProx:
    """Return BR-Prox of the public results; intervals draw training seeds and partners."""
    return summarise(public_cells(path), seed=seed)


def comparison(result: BRProx) -> Table:
    """Return a row for each method: the published BR-Prox and goals beside those of the public files."""
    tables = [{r["algorithm"]: r for r in printed.football(goals)} for goals in (False, True)]
    rows: list[Row] = []
    for row in result.summary:
        near, goals = (table.get(str(row["algorithm"]), {}) for table in tables)
        own = row["honest_iqm"]
        rows.append(
            {
                "method": row["algorithm"],
                "br_prox": own,
                "low": row["honest_low"],
                "high": row["honest_high"],
                "br_prox_zero_as_one": row["iqm"],
                "published": near.get("value"),
                "published_low": near.get("low"),
                "published_high": near.get("high"),
                "inside_published": near["low"] <= own <= near["high"] if near and own is not None else None,
                "goals": row["mean_return"],
                "published_goals": goals.get("value"),
                "cells": row["n"],
                "undefined": row["n_excluded"],
                "above_share": row["above_share"],
            }
        )
    return Table.of(sorted(rows, key=lambda r: -(r["br_prox"] or 0.0)), "ZSC-Eval's football, from its public results")


# Our own agents, trained in the light engine


def own_table(panel: Panel, egos: Mapping[str, Sequence[Agent]], *, episodes: int = 100, seed: int = 7) -> Table:
    """Return BR-Prox and goals of egos with a panel's sets of partners, in each seat.

    Args:
        panel: A panel of the light engine.
        egos: By method, an agent for each training seed.
        episodes: Of each ego, set of partners and seat.
        seed: Of all chance.

    Raises:
        InterplayError: The panel is of another game, or an ego is no policy.
    """
    game = make_recorded(panel.game["id"], panel.game["options"])
    rows = panel_returns(game, panel, egos, episodes=episodes, seed=seed)
    for row in rows:
        row["skill"] = row["skill"] or None
    first = [r for r in rows if (r["algorithm"], r["seed"]) == (rows[0]["algorithm"], rows[0]["seed"])]
    names = ("partner", "skill", "ego_seat")
    best = [{n: r[n] for n in names} | {n: r[f"best_response_{n}"] for n in ("return", "low", "high")} for r in first]
    result = summarise(cells(rows, best), seed=seed, propagate=True)
    columns = {"method": "algorithm", "br_prox": "honest_iqm", "low": "honest_low", "high": "honest_high"}
    columns |= {"goals": "mean_return", "above_share": "above_share", "cells": "n", "seeds": "n_seeds"}
    return Table.of(
        [{name: row[c] for name, c in columns.items()} for row in result.summary], "Egos in the light engine"
    )


@dataclass(frozen=True)
class BothEngines:
    """Teams in the light engine and in the real one."""

    methods: Table  # a row for each method and engine: goals with their interval, events and passes of an episode
    teams: Table  # the same for each team
    helps: Table  # who helped whom: for each method and engine the passes from seat to seat
    carried: Table  # how well the order of the teams in the light engine is that in the real one; no row without both


def in_both_engines(
    methods: Mapping[str, Sequence[Sequence[Any]]],
    *,
    light: int,
    real: int,
    seed: int = 0,
    horizon: int | None = None,
    engine: str = "local",
) -> BothEngines:
    """Return goals, passes and assists of teams in the light engine and in the real one.

    Args:
        methods: Teams of three agents each, by a name for the table: a team for each training seed, for example.
        light: Episodes of each team in the light engine.
        real: Episodes in the real engine; 0: none, as where it is not built.
        seed: Of all chance.
        horizon: Steps of an episode of the real engine; None: its own 400.
        engine: Where episodes are played: `local` or `ray`.

    Raises:
        InterplayError: A team has not three agents, or the real engine is asked for and not built.
    """
    games = {"light": (make("football/keepaway"), light)}
    if real:
        games["real"] = (make("football/3v1", **({} if horizon is None else {"horizon": horizon})), real)
    pooled, each, helps, halves = [], [], [], []
    for where, (game, episodes) in games.items():
        for name, teams in methods.items():
            about = {"team": name, "engine": where}
            made = []
            for number, agents in enumerate(teams, 1):
                team = Team.of(game, [_of_either_engine(one) for one in agents])
                played = run(game, [team], episodes=episodes, seed=seed, engine=engine)
                made.append(measure(TraceSet.in_memory(played), ["score", "events", "interdependence"]))
                each.append(about | {"seed": number} | _played(made[-1:]))
                halves.append([_played([_every_other(made[-1], first)]) for first in (0, 1)] if episodes > 1 else [])
            pooled.append(about | {"teams": len(teams)} | _played(made))
            helps += [about | row for row in _helps(made)]
    return BothEngines(
        methods=Table.of(pooled, "Teams in both engines"),
        teams=Table.of(each, "Team by team"),
        helps=Table.of(helps, "Who helps whom, per 100 episodes"),
        carried=Table.of(_carried(each, halves), "Light engine and real engine"),
    )


def _of_either_engine(one: Any) -> Any:
    """Return the agent without the note which engine it was trained in."""
    if not isinstance(one, Agent) or not isinstance(one.policy, NeuralPolicy):
        return one
    policy = one.policy
    return replace(one, policy=NeuralPolicy(policy.core, policy.reads, greedy=bool(policy.greedy)))


def _played(tables: Sequence[Table]) -> Row:
    """Return goals with their interval over episodes, and means per episode of what the teams did."""
    goals = [value for table in tables for value in table.where(metric="score").column("value")]
    interval = proportion_interval(int(sum(goals)), len(goals))  # an episode ends with its goal
    row: Row = {"episodes": len(goals), "goals": interval.estimate, "low": interval.low, "high": interval.high}

    def mean(**which: Any) -> float:
        return sum(r["value"] or 0 for table in tables for r in table.where(**which)) / len(goals)

    row |= {event: mean(metric="events", event=event) for event in ("pass", "catch", "shot", "assist")}
    row |= {kind: mean(metric=kind, window="unlimited") for kind in LINKS}
    return row | {"length": mean(metric="length")}


def _helps(tables: Sequence[Table]) -> list[Row]:
    """Return passes that arrived and those before a goal, from seat to seat, per 100 episodes."""
    episodes = sum(len(table.where(metric="score")) for table in tables)
    sums: dict[tuple[int, int], dict[str, float]] = {}
    for table in tables:
        for row in table.where(window="unlimited"):
            if row["metric"] in LINKS and row["giver"] is not None:
                of_pair = sums.setdefault((row["giver"], row["receiver"]), dict.fromkeys(LINKS, 0.0))
                of_pair[row["metric"]] += row["value"] or 0
    return [
        {
            "giver": SEAT_NAMES[giver],
            "receiver": SEAT_NAMES[receiver],
            "passes": 100 * sum(kinds.values()) / episodes,
            "before_a_goal": 100 * kinds["constructive"] / episodes,
            "round_in_a_loop": 100 * kinds["looping"] / episodes,
        }
        for (giver, receiver), kinds in sorted(sums.items())
        if any(kinds.values())
    ]


def _every_other(table: Table, first: int) -> Table:
    return Table.of([row for row in table.rows if row["episode"] % 2 == first])


def _carried(each: Sequence[Row], halves: Sequence[Sequence[Row]]) -> list[Row]:
    """Return the rank correlation of both engines over teams, for what teams did.

    Args:
        each: A row for each team and engine.
        halves: The same of every other episode, and of the others, for how far an engine agrees with itself.
    """
    at = {where: [i for i, row in enumerate(each) if row["engine"] == where] for where in ("light", "real")}
    if len(at["real"]) < LEAST_TEAMS:
        return []
    rows: list[Row] = []
    for what in ("goals", "pass", "catch", "shot", "constructive", "length"):
        x, y = ([each[i][what] for i in at[where]] for where in ("light", "real"))
        if len(set(x)) > 1 and len(set(y)) > 1:
            correlation = spearman(x, y)
            interval = {"low": correlation.low, "high": correlation.high, "p": correlation.p}
            itself = {f"{w}_with_itself": _reliability([[h[what] for h in halves[i]] for i in at[w]]) for w in at}
            rows.append({"of": what, "spearman": correlation.r, **interval, "teams": correlation.n, **itself})
    return rows


def _reliability(halves: Sequence[Sequence[float]]) -> float | None:
    """Return the rank correlation of two such runs of one engine: that of its halves, corrected by Spearman-Brown."""
    if not all(halves):
        return None
    x, y = zip(*halves, strict=True)
    if len(set(x)) < 2 or len(set(y)) < 2:
        return None
    r = spearman(x, y).r
    return 2 * r / (1 + r) if r > 0 else r
