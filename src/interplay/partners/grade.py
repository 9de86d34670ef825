"""A grade: how an agent does with each partner of a panel, in every seat, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from interplay.agents.api import Agent
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.games.registry import scoring
from interplay.metrics.interdependence.metric import counted_channels, readable
from interplay.metrics.interdependence.records import IGNORED, PARKED
from interplay.metrics.measured_traces import MeasuredTraces
from interplay.partners.describe import set_descriptions
from interplay.partners.leaderboard import standing
from interplay.partners.panel import Panel
from interplay.partners.proximity import by_cell, headline, proximity
from interplay.rollout.teams import Team, ego_teams
from interplay.stats import interval_table
from interplay.stats.bootstrap import bootstrap_counts
from interplay.stats.brprox.summary import BRProx
from interplay.stats.resampling_design import design
from interplay.table import Row, Table, mean
from interplay.traces import TraceSet

LEAST_EPISODES = 20
OFFERS = "triggers"  # the metric that counts what a seat puts within reach of another


@dataclass(frozen=True)
class Grade:
    """What an agent achieves with a panel."""

    overall: Table  # one row: inter-quartile mean and mean over partners, seats and episodes with their intervals
    partners: Table  # a row per partner: mean score with interval
    cells: Table  # a row per partner and seat of the agent
    values: Table  # a row per episode
    measured: MeasuredTraces  # what all of it is made of
    standing: Table | None = None  # the agent among the panel's baselines
    proximity: BRProx | None = None  # BR-Prox in full, where the panel has best responses for this game

    def _repr_html_(self) -> str:
        """The grade as a notebook shows it."""
        tables = [self.overall, self.partners, *([self.standing] if self.standing is not None else [])]
        return "".join(table._repr_html_() for table in tables)


def teams(game: Game, ego: Agent, panel: Panel) -> list[Team]:
    """The agent in every seat with every partner of the panel, or with every set of partners."""
    return ego_teams(game, ego, [panel.agents_of(beside) for beside in panel.partner_sets(game.num_seats)])


def summarise(traces: TraceSet, game: Game, ego: Agent, panel: Panel, seed: int) -> Grade:
    """Grade the agent by the traces of `teams`, in the order in which those were played."""
    measured = MeasuredTraces(traces, most=len(traces))
    values = _values(measured.scores, game, ego, panel)
    common = {"seed": seed, "value": "score"}
    units = {"units": ["+".join(panel.sampling_columns(game.num_seats))], "fixed": ["seat_of_agent", "skill"]}
    overall, average = (
        interval_table(values, by=["agent", "game"], statistic=statistic, **units, **common).rows[0]
        for statistic in ("iqm", "mean")
    )
    low_level = [r for r in values if r["partner"] == "stay"]
    rows = [
        {
            "agent": ego.name,
            "game": game.id,
            "panel": panel.name,
            **scoring(game.id, game.options),
            "iqm": overall["estimate"],
            "low": overall["low"],
            "high": overall["high"],
            "mean": average["estimate"],
            "mean_low": average["low"],
            "mean_high": average["high"],
            "alone": sum(r["score"] for r in low_level) / len(low_level) if low_level else None,
            "partners": len(panel.partners),
            **({"sets": len(panel.sets)} if panel.sets else {}),
            "episodes": len(values),
            "privileged": ego.identity(game).privileged,
        }
    ]
    helping = help_by_episode(measured.measure(["score", "interdependence"]), values) if readable(game) else {}
    helped = teamwork(helping, values)
    by = ["agent", "partner", "game", *scoring(game.id, game.options)]
    means = _means(values, by, seed)
    partners = Table.of([row | helped.get(row["partner"], {}) for row in means], "Partners")
    cells = _means(values, [*by, "seat_of_agent"], seed)
    near = proximity(panel, game, [(ego.name, 0, values)], seed)
    if near is not None:
        cells, partners = _with_ratios(panel, near, cells, partners)
        rows[0] |= headline(near, ego.name)
    overall = rows[0] | _pooled(helped, _help_intervals(helping, values, units, seed))
    return Grade(
        overall=Table.of([overall], "Grade"),
        partners=partners,
        cells=cells,
        values=values,
        measured=measured,
        standing=standing(panel, overall, counted_channels(game)),
        proximity=near,
    )


def _with_ratios(panel: Panel, near: BRProx, cells: Table, partners: Table) -> tuple[Table, Table]:
    """Cells with BR-Prox and the best response that it is measured by; partners with its mean over seats."""
    ratio_rows, about = by_cell(panel, near), set_descriptions(panel)
    wide, ratios = [], {}
    for row in cells:
        cell = ratio_rows.get((row["partner"], row["seat_of_agent"]), {})
        if cell.get("honest") is not None:
            ratios.setdefault(row["partner"], []).append(cell["honest"])
        worth = {"best_response": cell.get("best_response_return"), "ratio": cell.get("ratio")}
        wide.append(row | {"br_prox": cell.get("honest"), **worth, "prefers": about[row["partner"]]["prefers"]})
    of_partners = []
    for row in partners:
        own = ratios.get(row["partner"])
        of_partners.append(row | {"br_prox": sum(own) / len(own) if own else None} | about[row["partner"]])
    return Table.of(wide, cells.title), Table.of(of_partners, partners.title)


def help_by_episode(measured: Table, values: Table) -> dict[Any, dict[str, float]]:
    """Return hand-overs of every episode that has any; empty for games that cannot tell.

    Counted are the hand-overs that reached a goal, given to the partner and got from it; what the partner offered; and
    how much of that it took back itself (parked) and nobody used (ignored).

    Args:
        measured: Interdependence of the episodes.
        values: The episodes with the agent's seat.
    """
    if "giver" not in measured.columns:
        return {}
    ego_seat = {row["episode"]: row["seat_of_agent"] for row in values}
    sums: dict[Any, dict[str, float]] = {episode: {} for episode in ego_seat}

    def add(episode: Any, what: str, value: float | None) -> None:
        if value is not None:
            sums[episode][what] = sums[episode].get(what, 0) + value

    for row in measured.where(window="unlimited"):
        seat = ego_seat[row["episode"]]
        if row["metric"] == "constructive" and seat in (row["giver"], row["receiver"]):
            add(row["episode"], "gives" if row["giver"] == seat else "gets", row["value"])
        elif row["metric"] in (OFFERS, PARKED, IGNORED) and row["seat"] != seat:
            add(row["episode"], row["metric"], row["value"])
    return sums


def teamwork(helping: Mapping[Any, Mapping[str, float]], values: Table) -> dict[str, Row]:
    """Return hand-overs by partner and per episode, and the shares of its offers that were parked and ignored."""
    if not helping:
        return {}
    partners: dict[str, Row] = {}
    for (partner,), part in values.groups("partner").items():
        episodes = [helping[episode] for episode in part.column("episode")]
        known = {name for episode in episodes for name in episode}
        partners[partner] = _help({n: sum(e.get(n, 0) for e in episodes) for n in known}, len(episodes))
    return partners


def _help_intervals(helping: Mapping[Any, Mapping[str, float]], values: Table, units: Row, seed: int) -> Row:
    """Return limits of what `_pooled` gives, with partners drawn; null where too few offer anything."""
    if not helping:
        return {}
    drawn = [column for unit in units["units"] for column in unit.split("+")]
    columns = {name: values.column(name) for name in [*drawn, *units["fixed"]]}
    plan = design(columns, len(values), **units)
    helped = [helping[episode] for episode in values.column("episode")]
    counted = {
        name: np.array([e.get(name, 0.0) for e in helped]) for name in ("gives", "gets", OFFERS, PARKED, IGNORED)
    }
    everything = np.ones(len(values))
    ratios = {"gives": ("gives", everything, 1), "gets": ("gets", everything, 1)}
    ratios |= {f"{end}_percent": (end, counted[OFFERS], 100) for end in (PARKED, IGNORED)}
    limits: Row = {}
    for name, (what, among, scale) in ratios.items():
        above, below = scale * counted[what], among

        def ratio(counts: np.ndarray, above: np.ndarray = above, below: np.ndarray = below) -> np.ndarray:
            total = counts @ below
            return np.divide(counts @ above, total, out=np.full(len(counts), np.nan), where=total > 0)

        try:
            interval = bootstrap_counts(ratio, plan, seed=seed)
            limits[name] = (interval.low, interval.high)
        except InterplayError:  # hardly any partner offers anything
            limits[name] = (None, None)
    return limits


def _help(sums: dict[str, float], episodes: float) -> Row:
    """Return columns of help; null where nothing can be handed over, or no partner offered anything."""
    offers = sums.get(OFFERS)
    shares = {f"{end}_percent": 100 * sums[end] / offers if offers else None for end in (PARKED, IGNORED)}
    per_episode = {name: sums[name] / episodes if name in sums else None for name in ("gives", "gets")}
    return {**per_episode, "partner_offers": None if offers is None else offers / episodes, **shares}


def _pooled(helped: dict[str, Row], limits: Mapping[str, tuple[float | None, float | None]]) -> Row:
    """The same over all partners, who played equally many episodes, with intervals."""
    if not helped:
        return {}
    rows = list(helped.values())
    offered = [r for r in rows if r["partner_offers"]]
    total = sum(r["partner_offers"] for r in offered)
    ends = (f"{end}_percent" for end in (PARKED, IGNORED))
    shares = {end: sum(r["partner_offers"] * r[end] for r in offered) / total if total else None for end in ends}
    pooled: Row = {}
    for name, value in ({n: mean(row[n] for row in rows) for n in ("gives", "gets")} | shares).items():
        low, high = limits[name] if value is not None else (None, None)
        pooled |= {name: value, f"{name}_low": low, f"{name}_high": high}
    return pooled


def _means(values: Table, by: list[str], seed: int) -> Table:
    fixed = [] if "seat_of_agent" in by else ["seat_of_agent"]
    intervals = interval_table(values, by=by, fixed=fixed, seed=seed, value="score", statistic="mean")
    privileged = {r["partner"]: r["privileged"] for r in values}
    rows: list[Row] = [
        {
            **{b: r[b] for b in by},
            "mean": r["estimate"],
            "low": r["low"],
            "high": r["high"],
            "episodes": r["n"],
            "privileged": privileged[r["partner"]],
        }
        for r in intervals
    ]
    return Table.of(rows, "Partners")


def _values(scores: Table, game: Game, ego: Agent, panel: Panel) -> Table:
    """One row per episode: whom the agent played with, in which seat, and the score."""
    seats, sets = game.num_seats, panel.partner_sets(game.num_seats)
    each = len(scores) // (len(sets) * seats)
    names = [panel.name_of(beside) for beside in sets]
    levels = [panel.sampling_levels(beside, seats) for beside in sets]
    privileged = [any(a.identity(game).privileged for a in panel.agents_of(beside)) for beside in sets]
    rows = []
    for number, row in enumerate(scores):
        team = number // each
        rows.append(
            {
                "agent": ego.name,
                "partner": names[team // seats],
                **levels[team // seats],
                "game": game.id,
                "seat_of_agent": team % seats,
                "episode": row["episode"],
                "score": row["value"],
                **scoring(game.id, game.options),
                "privileged": privileged[team // seats],
            }
        )
    return Table.of(rows, "Episodes")
