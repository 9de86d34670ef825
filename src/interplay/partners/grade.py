"""A grade: how an agent does with each partner of a panel, in every seat, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass

from interplay.agents.api import Agent
from interplay.games.api import Game
from interplay.metrics.api import measure
from interplay.partners.panels import Panel
from interplay.play.lineups import LineUp, pair_line_ups
from interplay.stats import interval_table
from interplay.table import Row, Table
from interplay.traces import TraceSet

LEAST_EPISODES = 20


@dataclass(frozen=True)
class Grade:
    """What an agent achieves with a panel."""

    overall: Table  # one row: the inter-quartile mean over partners, seats and episodes with its interval
    partners: Table  # a row per partner: mean score with interval
    cells: Table  # a row per partner and seat of the agent
    values: Table  # a row per episode


def line_ups(game: Game, ego: Agent, panel: Panel) -> list[LineUp]:
    """The agent in every seat with every partner of the panel."""
    return pair_line_ups(game, ego, panel.partners)


def summarise(traces: TraceSet, game: Game, ego: Agent, panel: Panel, seed: int) -> Grade:
    """The grade that the traces of `line_ups` amount to, in the order in which those were played."""
    values = _values(traces, game, ego, panel)
    common = {"seed": seed, "value": "score"}
    one = interval_table(values, by=["agent", "game"], units=["partner"], fixed=["seat_of_agent"], **common)
    overall = one.rows[0]
    low_level = [r for r in values if r["partner"] == "stay"]
    rows = [
        {
            "agent": ego.name,
            "game": game.id,
            "panel": panel.name,
            "iqm": overall["estimate"],
            "low": overall["low"],
            "high": overall["high"],
            "mean": sum(values.column("score")) / len(values),
            "alone": sum(r["score"] for r in low_level) / len(low_level) if low_level else None,
            "partners": len(panel.partners),
            "episodes": len(values),
            "privileged": ego.identity(game).privileged,
        }
    ]
    return Grade(
        overall=Table.of(rows, "Grade"),
        partners=_means(values, ["agent", "partner", "game"], seed),
        cells=_means(values, ["agent", "partner", "game", "seat_of_agent"], seed),
        values=values,
    )


def _means(values: Table, by: list[str], seed: int) -> Table:
    fixed = [] if "seat_of_agent" in by else ["seat_of_agent"]
    found = interval_table(values, by=by, fixed=fixed, seed=seed, value="score", statistic="mean")
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
        for r in found
    ]
    return Table.of(rows, "Partners")


def _values(traces: TraceSet, game: Game, ego: Agent, panel: Panel) -> Table:
    """One row per episode: whom the agent played with, in which seat, and the score."""
    scores = measure(traces, ["score"]).where(metric="score")
    seats = game.num_seats
    each = len(scores) // (len(panel.partners) * seats)
    rows = []
    for number, row in enumerate(scores):
        line_up = number // each
        partner = panel.partners[line_up // seats]
        rows.append(
            {
                "agent": ego.name,
                "partner": partner.name,
                "game": game.id,
                "seat_of_agent": line_up % seats,
                "episode": row["episode"],
                "score": row["value"],
                "privileged": partner.identity(game).privileged,
            }
        )
    return Table.of(rows, "Episodes")
