"""Interdependence of a person and a partner: who initiated, who accepted, and how it changed over the session."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from interplay.stats import correlation_interval, within_fit
from interplay.study.analysis.analysis_list import InterdependenceAnalysis
from interplay.study.analysis.data import Data
from interplay.study.analysis.figures import session_figures, team_figures
from interplay.study.analysis.measures import Measured
from interplay.study.analysis.mixed import estimate_row, slope_fit
from interplay.study.analysis.result import AnalysisResult, attempt, mean_row, person_means
from interplay.table import Row, Table

HELPED = (
    "An offer (trigger) is something put where a teammate can use it. `person triggered`: offers of the person, in per "
    "cent of what the person did; `partner accepted`: of those, per cent that the partner took up; and the other way "
    "round. Means are over people. Score against hand-overs: the interval of r draws people whole, for these partners; "
    "slope and p are of a linear mixed model with people and partners drawn, `within` of the same model with each "
    "person's mean apart. Over the session: change from one game to the next within people, with intervals that count "
    "people."
)
MEASURED = (
    "score", "constructive", "non_constructive", "constructive_from_person", "constructive_from_partner",
    "person_triggered", "partner_accepted", "partner_triggered", "person_accepted",
)  # fmt: skip
OVER_TIME = ("score", "constructive", "person_triggered", "partner_accepted", "partner_triggered", "person_accepted")


def help_in_teams(data: Data, part: InterdependenceAnalysis, measured: Measured, *, seed: int = 0) -> AnalysisResult:
    """Return hand-overs and acceptance by partner, their relation to the score, and their change over the session."""
    title = part.title or "Who helped whom"
    games = list(data.counted())
    if data.traces is None:
        return AnalysisResult(part.id, title, {}, notes=("the traces of the games are not there",))
    numbers = {game["number"] for game in games}
    rows = [row for row in measured.team() if row["number"] in numbers]
    if not rows:
        return AnalysisResult(part.id, title, {}, notes=("no game that was played can tell who helped whom",))
    notes = []
    if len(rows) < len(games):
        notes.append(f"{len(games) - len(rows)} of {len(games)} games cannot tell who helped whom")
    table = Table.of(rows)
    tables = {
        "teams": Table.of(_teams(table), "Teams of people and partners"),
        "score": Table.of(_score(table, seed), "Score against constructive hand-overs, game by game"),
        "session": Table.of(_session(table), "Change from game to game within people"),
        "turns": Table.of(_turns(table), "Over the session, by game"),
    }
    figures = [*team_figures(tables["teams"], data.colours), *session_figures(tables["turns"])]
    return AnalysisResult(part.id, title, tables, figures, HELPED, tuple(notes))


def _teams(table: Table) -> list[Row]:
    rows: list[Row] = []
    for (game, partner), part in table.groups("game", "partner").items():
        row: Row = {"game": game, "partner": partner}
        for name in MEASURED:
            row |= mean_row(list(person_means(part, value=name).get((), {}).values()), name, _bounds(name))
        rows.append({**row, "people": len(set(part.column("person"))), "games": len(part)})
    return rows


def _bounds(name: str) -> tuple[float, float]:
    """Return the bounds of a measure's mean: counts are at least 0, shares at most 100."""
    low = -np.inf if name == "score" else 0.0
    return low, 100.0 if name.endswith("accepted") else np.inf


def _score(table: Table, seed: int) -> list[Row]:
    rows: list[Row] = []
    for (game,), part in table.groups("game").items():
        known = [row for row in part if row["constructive"] is not None]
        counts: Row = {"game": game, "games": len(known), "people": len({row["person"] for row in known})}
        rows.append(counts | attempt(lambda known=known: _correlated(known, seed)))
    return rows


def _correlated(rows: Sequence[Row], seed: int) -> Row:
    x, y, who = ([row[name] for row in rows] for name in ("constructive", "score", "person"))
    made = correlation_interval(x, y, {"person": who}, seed=seed, units=["person"])
    scored = [{**row, "value": row["score"]} for row in rows]

    def slope(within: bool) -> Row:
        fit = slope_fit(scored, "constructive", model="mixed", slopes=("person",), within=within)[0]
        row = estimate_row(fit, "within", "p_within") if within else estimate_row(fit, "slope")
        return {name: value for name, value in row.items() if name not in ("t", "df") or not within}

    fits = [attempt(lambda: slope(False)), attempt(lambda: slope(True))]
    notes = dict.fromkeys(fit.pop("note") for fit in fits if "note" in fit)
    remarks = {"note": "; ".join(notes)} if notes else {}
    return {"r": made.estimate, "r_low": made.low, "r_high": made.high, **fits[0], **fits[1], **remarks}


def _session(table: Table) -> list[Row]:
    rows: list[Row] = []
    for name in OVER_TIME:
        known = [row for row in table if row[name] is not None]
        counts: Row = {"measure": name, "games": len(known), "people": len({row["person"] for row in known})}
        rows.append(counts | attempt(lambda known=known, name=name: change_over_games(known, name)))
    return rows


def change_over_games(rows: Sequence[Row], name: str) -> Row:
    """Return the change of a measure from game to game within people.

    The kinds of games (setting and partner) are covariates, so that a session which happens to end with an easier one
    shows no learning.
    """
    kinds = list(dict.fromkeys((row["game"], row["partner"]) for row in rows))
    y, who = [row[name] for row in rows], [row["person"] for row in rows]
    covariates = [[row["turn"], *((row["game"], row["partner"]) == kind for kind in kinds[1:])] for row in rows]
    made = within_fit(y, np.array(covariates, float), who)[0]
    return {"per_game": made.slope, "per_game_low": made.low, "per_game_high": made.high, "p": made.p}


def _turns(table: Table) -> list[Row]:
    rows: list[Row] = []
    for (turn,), part in sorted(table.groups("turn").items()):
        row: Row = {"turn": turn}
        for name in OVER_TIME:
            row |= mean_row([v for v in part.column(name) if v is not None], name, _bounds(name))
        rows.append({**row, "people": len(set(part.column("person")))})
    return rows
