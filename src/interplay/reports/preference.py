"""A report on ratings: what people thought of a partner, against what the partner does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from interplay.reports.document import Figure, Report, Section, TableSection, Text
from interplay.reports.figures import FigureEstimate, interval_plot
from interplay.reports.table_report import table_sections
from interplay.stats.preference import RatingPrediction
from interplay.table import Table

SLOPES = {"slope": ("slope_low", "slope_high")}
LABELS = {
    "p_agents": "p over agents",
    "p_bonferroni": "p corrected",
    "r_squared": "R²",
    "error_of_mean": "error of mean",
}
RELATIONS = (
    "Each metric on its own. p counts ratings; where a metric belongs to the agent, p over agents is the one that "
    "answers whether it would hold for other agents. Significant: p below the Bonferroni threshold."
)
PREDICTIONS = (
    "R² of ratings that the model has not seen, against the plainest guess, the mean of the other ratings: below 0 the "
    "metrics mislead. p: the share of shuffled data sets in which the same procedure does as well. Chance: what only "
    "one shuffle in twenty exceeds. Half width: of the interval for one new rating; coverage: how often it holds."
)


def preference_report(
    tables: Mapping[str, Table],
    predictions: Sequence[tuple[str, RatingPrediction]] = (),
    *,
    title: str,
    intro: str = "",
    provenance: Mapping[str, Any] | None = None,
) -> Report:
    """Tables of relations (they have r and p) and any others, then the predictions."""
    sections: list[Section] = [Text(intro)] if intro else []
    for name, table in tables.items():
        if {"metric", "r", "p"} <= {*table.columns}:
            slopes = SLOPES if {"slope_low", "slope_high"} <= {*table.columns} else {}
            sections.append(TableSection(table, table.title, RELATIONS, name, slopes, LABELS))
        else:
            sections += table_sections(name, table)
    return Report(title, [*sections, *prediction_sections(predictions)], "", provenance or {})


def prediction_sections(predictions: Sequence[tuple[str, RatingPrediction]]) -> list[Section]:
    """What cross-validation says about each model, by name: one picture, one table, and the weights of each."""
    if not predictions:
        return []
    title = "Ratings that the model has not seen"
    drawing = interval_plot(
        [_estimate(name, predicted) for name, predicted in predictions],
        title=title, x_title="R² (0: no better than the mean)", reference=0.0,
    )  # fmt: skip
    rows = [{"metrics": name, **predicted.table().rows[0]} for name, predicted in predictions]
    about = [
        (name, predicted) for name, predicted in predictions if any(row["per_sd"] for row in predicted.coefficients)
    ]
    weights = [
        {"metrics": name, "rating": predicted.rating, **row}
        for name, predicted in about
        for row in predicted.coefficients
    ]
    parts: list[Section] = [
        Figure(drawing, title, PREDICTIONS, "predictions"),
        TableSection(Table.of(rows), "Predictions", "", "predictions", {"r_squared": ("low", "high")}, LABELS),
    ]
    if weights:
        caption = "Rating points per standard deviation of a metric, shrunk, in the model of all ratings"
        limits = {"per_sd": ("low", "high")}
        parts.append(TableSection(Table.of(weights), "Weights", caption, "weights", limits, {"per_sd": "per sd"}))
    return parts


def _estimate(name: str, made: RatingPrediction) -> FigureEstimate:
    group, note = f"{made.rating}, {made.left_out} left out", f"p = {made.p:.3f}"
    return FigureEstimate(name, made.r_squared.estimate, made.r_squared.low, made.r_squared.high, group, note)
