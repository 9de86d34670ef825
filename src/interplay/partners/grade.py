"""A grade: how an agent does with each partner of a panel, in every seat, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass

from interplay.agents.api import Agent
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
from interplay.stats.brprox.summary import BRProx
from interplay.table import Row, Table, mean
from interplay.traces import TraceSet

LEAST_EPISODES = 20


@dataclass(frozen=True)
class Grade:
    """What an agent achieves with a panel."""

    overall: Table  # one row: the inter-quartile mean over partners, seats and episodes with its interval
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
    one = interval_table(values, by=["agent", "game"], units=["partner"], fixed=["seat_of_agent"], **common)
    overall = one.rows[0]
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
            "mean": sum(values.column("score")) / len(values),
            "alone": sum(r["score"] for r in low_level) / len(low_level) if low_level else None,
            "partners": len(panel.partners),
            **({"sets": len(panel.sets)} if panel.sets else {}),
            "episodes": len(values),
            "privileged": ego.identity(game).privileged,
        }
    ]
    helped = teamwork(measured.measure(["score", "interdependence"]), values) if readable(game) else {}
    by = ["agent", "partner", "game", *scoring(game.id, game.options)]
    means = _means(values, by, seed)
    partners = Table.of([row | helped.get(row["partner"], {}) for row in means], "Partners")
    cells = _means(values, [*by, "seat_of_agent"], seed)
    near = proximity(panel, game, [(ego.name, 0, values)], seed)
    if near is not None:
        cells, partners = _with_ratios(panel, near, cells, partners)
        rows[0] |= headline(near, ego.name)
    overall = rows[0] | _pooled(helped)
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


def teamwork(measured: Table, values: Table) -> dict[str, Row]:
    """Return hand-overs by partner and per episode; empty for games that cannot tell.

    Counted are the hand-overs that reached a goal, given to the partner and got from it; what the partner offered; and
    the shares of its offers, in per cent, that it took back itself (parked) and that nobody used (ignored).

    Args:
        measured: Interdependence of the episodes.
        values: The episodes with the partner and the agent's seat.
    """
    if "giver" not in measured.columns:
        return {}
    ego_seat = {row["episode"]: (row["partner"], row["seat_of_agent"]) for row in values}
    sums: dict[str, dict[str, float]] = {}

    def add(partner: str, what: str, value: float | None) -> None:
        if value is not None:
            partner_sums = sums.setdefault(partner, {})
            partner_sums[what] = partner_sums.get(what, 0) + value

    for row in measured.where(window="unlimited"):
        partner, seat = ego_seat[row["episode"]]
        if row["metric"] == "constructive" and seat in (row["giver"], row["receiver"]):
            add(partner, "gives" if row["giver"] == seat else "gets", row["value"])
        elif row["metric"] in ("triggers", PARKED, IGNORED) and row["seat"] != seat:
            add(partner, row["metric"], row["value"])
    partners = list(dict.fromkeys(values.column("partner")))
    episodes = len(values) / len(partners)
    return {partner: _help(sums.get(partner, {}), episodes) for partner in partners}


def _help(sums: dict[str, float], episodes: float) -> Row:
    """Return columns of help; null where nothing can be handed over, or no partner offered anything."""
    offers = sums.get("triggers")
    shares = {f"{end}_percent": 100 * sums[end] / offers if offers else None for end in (PARKED, IGNORED)}
    per_episode = {name: sums[name] / episodes if name in sums else None for name in ("gives", "gets")}
    return {**per_episode, "partner_offers": None if offers is None else offers / episodes, **shares}


def _pooled(helped: dict[str, Row]) -> Row:
    """The same over all partners, who played equally many episodes."""
    if not helped:
        return {}
    rows = list(helped.values())

    offered = [r for r in rows if r["partner_offers"]]
    total = sum(r["partner_offers"] for r in offered)
    ends = (f"{end}_percent" for end in (PARKED, IGNORED))
    shares = {end: sum(r["partner_offers"] * r[end] for r in offered) / total if total else None for end in ends}
    return {**{name: mean(row[name] for row in rows) for name in ("gives", "gets")}, **shares}


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
    privileged = [any(a.identity(game).privileged for a in panel.agents_of(beside)) for beside in sets]
    rows = []
    for number, row in enumerate(scores):
        team = number // each
        rows.append(
            {
                "agent": ego.name,
                "partner": names[team // seats],
                "game": game.id,
                "seat_of_agent": team % seats,
                "episode": row["episode"],
                "score": row["value"],
                **scoring(game.id, game.options),
                "privileged": privileged[team // seats],
            }
        )
    return Table.of(rows, "Episodes")
