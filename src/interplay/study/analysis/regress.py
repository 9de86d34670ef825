"""Ratings against what happened in the games that they are about, and against known measures of the partners."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from interplay.stats import Coefficient, clustered_fit, relations, within_fit
from interplay.stats.correlation import correlation_or_nan
from interplay.study.analysis.analysis_list import Regression
from interplay.study.analysis.data import Data, near_games
from interplay.study.analysis.figures import rating_scatter
from interplay.study.analysis.measures import Measured
from interplay.study.analysis.mixed import estimate_row, margin_row, slope_fit
from interplay.study.analysis.ranks import objective_rows
from interplay.study.analysis.result import AnalysisResult, attempt, with_holm
from interplay.table import Row, Table

RELATED = {
    "mixed": (
        "One measure at a time, in a linear mixed model with crossed random effects of people and partners. `slope`: "
        "points of the rating for one unit of the measure. p and interval answer whether it would hold for other "
        "people and other partners like these; `df` says on how much independent evidence they rest: where a measure "
        "is the same for all ratings of a partner, on the number of partners less two. `within`: the slope among one "
        "person's ratings, so that people who rate high or play well throughout do not make it. bf10: how much more "
        "likely the data are with a slope than without. p (Holm) is corrected over the tests of its column."
    ),
    "clustered": (
        "One measure at a time. `slope`: points of the rating for one unit of the measure, by least squares over all; "
        "intervals and p count people, not ratings (bias-reduced clustered errors), and hold for these partners only. "
        "`within`: the same after taking away each person's mean, so that people who rate high or play well throughout "
        "do not make the slope. p (Holm) is corrected over the tests of its column."
    ),
    "ordinal": (
        "One measure at a time, in a cumulative-link mixed model (proportional odds) with crossed random effects of "
        "people and partners. `slope`: log odds of a higher answer for one unit of the measure. p answers for other "
        "people and partners like these. p (Holm) is corrected over its column."
    ),
}


def regress(data: Data, part: Regression, measured: Measured, objective: Table | None, seed: int = 0) -> AnalysisResult:
    """Regress ratings on measures of their games, and on measures of the partners from elsewhere."""
    values = measured.games(part.measures)
    rows: list[Row] = []
    joined: list[Row] = []
    for name in part.of:
        rated = ratings_with_measures(data, name, values, part.measures)
        joined += [{"rating": name, **row} for row in rated]
        for measure in part.measures:
            whole = [row for row in rated if row[measure] is not None]
            rows.append({"rating": name, "measure": measure, **fit_measure(whole, measure, part)})
    corrected = with_holm(with_holm(rows), "p_within", "p_within_holm")
    columns = [c for c in COLUMNS if c in CLUSTERED or any(c in row for row in corrected)]
    tables = {"regression": Table.of(corrected, "Ratings against what happened in their games", columns=columns)}
    if objective is not None:
        tables |= _known_of_partners(data, part, objective, seed)
    figures = rating_scatter(Table.of(joined), part.of, part.measures, data.colours)
    return AnalysisResult(part.id, part.title or "Ratings against measures", tables, figures, RELATED[part.model])


COLUMNS = (
    "rating", "measure", "r", "slope", "slope_low", "slope_high", "t", "df", "p", "p_holm", "bf10", "margin",
    "p_equivalent", "p_not_worse", "within", "within_low", "within_high", "df_within", "p_within", "p_within_holm", "n",
    "people", "partners",
)  # fmt: skip
CLUSTERED = (
    "rating", "measure", "r", "slope", "slope_low", "slope_high", "p", "p_holm", "within", "within_low", "within_high",
    "p_within", "p_within_holm", "n", "people",
)  # fmt: skip


def ratings_with_measures(data: Data, name: str, values: Mapping[int, Row], measures: Sequence[str]) -> list[Row]:
    """Return ratings of partners with the means of the measures over the games that they are about."""
    games: dict[str, list[Row]] = {}
    for row in data.games:
        games.setdefault(row["person"], []).append(row)
    joined = []
    for row in data.ratings(name):
        if row["partner"] is None:
            continue
        near = [values[g["number"]] for g in near_games(row["page"], games[row["person"]]) if g["number"] in values]
        means = {}
        for measure in measures:
            known = [game_measures[measure] for game_measures in near if game_measures.get(measure) is not None]
            means[measure] = float(np.mean(known)) if known else None
        joined.append({**{k: row[k] for k in ("person", "partner", "game", "value")}, **means})
    return joined


def fit_measure(rows: Sequence[Row], measure: str, part: Regression) -> Row:
    """Return slope, slope within people, tests and counts for one rating and one measure, by the model of the plan.

    Args:
        rows: Ratings with person, partner, game, value and the measure.
        measure: The column that explains.
        part: The analysis of the study file.
    """
    if part.model == "clustered":
        return _clustered(rows, measure)
    counts: Row = {
        "n": len(rows),
        "people": len({row["person"] for row in rows}),
        "partners": len({row["partner"] for row in rows}),
    }
    if not rows:
        return {**counts, "note": "no game that was rated tells it"}
    spread = float(np.std([row[measure] for row in rows], ddof=1)) if len(rows) > 1 else 0.0

    def whole() -> Row:
        made, fit = slope_fit(rows, measure, model=part.model, slopes=part.slopes)
        r = correlation_or_nan(
            np.array([row[measure] for row in rows], float), np.array([row["value"] for row in rows], float)
        )
        row = {"r": r, **estimate_row(made, "slope"), **margin_row(made, part.margin)}
        return {**row, "bf10": made.bayes(fit.total_sd / spread).bf10}

    def within() -> Row:
        made, _ = slope_fit(rows, measure, model=part.model, slopes=part.slopes, within=True)
        row = estimate_row(made, "within", "p_within")
        return {**{k: v for k, v in row.items() if k not in ("t", "df")}, "df_within": made.df}

    fits = [attempt(whole), attempt(within)]
    notes = [made.pop("note") for made in fits if "note" in made]
    return {**fits[0], **fits[1], **counts, "note": "; ".join(dict.fromkeys(notes)) or None}


def _clustered(rows: Sequence[Row], measure: str) -> Row:
    y, x, who = [r["value"] for r in rows], [r[measure] for r in rows], [r["person"] for r in rows]
    counts: Row = {"n": len(rows), "people": len(set(who))}
    if not rows:
        return {**counts, "note": "no game that was rated tells it"}
    whole = attempt(lambda: _coefficient_row(clustered_fit(y, x, who)[0], "slope", "p"))
    own = attempt(lambda: _coefficient_row(within_fit(y, x, who)[0], "within", "p_within"))
    notes = [made.pop("note") for made in (whole, own) if "note" in made]
    own.pop("r", None)
    return {**whole, **own, **counts, "note": "; ".join(dict.fromkeys(notes)) or None}


def _coefficient_row(made: Coefficient, name: str, p: str) -> Row:
    return {"r": made.r, name: made.slope, f"{name}_low": made.low, f"{name}_high": made.high, p: made.p}


def _known_of_partners(data: Data, part: Regression, objective: Table, seed: int) -> dict[str, Table]:
    """Regress ratings on measures of the partners from elsewhere: one x for all ratings of a partner."""
    related: list[Row] = []
    for name in part.of:
        rated = [row for row in data.ratings(name) if row["partner"] is not None]
        rows: list[Row] = []
        measures: dict[str, None] = {}
        for game in dict.fromkeys(row["game"] for row in rated):
            known = {(r["partner"], r["measure"]): r["value"] for r in objective_rows(data, objective, game)}
            measures |= dict.fromkeys(measure for _, measure in known)
            rows += [
                {"agent": row["partner"], "rating": row["value"], **row}
                | {m: known.get((row["partner"], m)) for m in measures}
                for row in rated
                if row["game"] == game
            ]
        table = Table.of(rows)
        usable = [m for m in measures if any(value is not None for value in table.column(m))]
        if usable:
            made = relations(table, usable, seed=seed)
            related += [_known_row(name, table, row, part) for row in made]
    title = "Ratings against what is known of the partners (p over agents answers whether it would hold for others)"
    related = related if part.model == "clustered" else with_holm(related)
    return {"partners": Table.of(related, title)} if related else {}


def _known_row(name: str, table: Table, row: Row, part: Regression) -> Row:
    """Return one relation to a measure of partners, with slope and p by the model of the plan."""
    kept = {"rated": name, **{k: v for k, v in row.items() if k != "sample"}}
    if part.model == "clustered":
        return kept
    rows = [r for r in table if r[row["metric"]] is not None]
    bare = {k: None if k in ("slope", "slope_low", "slope_high", "p") else v for k, v in kept.items()}
    bare = {k: v for k, v in bare.items() if k not in ("p_bonferroni", "significant")}
    return bare | attempt(lambda: estimate_row(slope_fit(rows, row["metric"], model=part.model)[0], "slope"))
