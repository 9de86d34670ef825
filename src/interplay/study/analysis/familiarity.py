"""Ratings of participants who knew the game, and of those who did not."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from interplay.stats import spearman, t_test_welch
from interplay.study.analysis.analysis_list import Familiarity
from interplay.study.analysis.data import Data
from interplay.study.analysis.figures import group_figures
from interplay.study.analysis.result import (
    EVERYWHERE,
    AnalysisResult,
    attempt,
    enough,
    mean_row,
    person_means,
    with_holm,
)
from interplay.table import Row, Table

GROUPED = (
    "Each person counts once, with the mean of their ratings. Differences by Welch's t test; p (Holm) is corrected "
    "over all of them."
)


def familiar(data: Data, part: Familiarity) -> AnalysisResult:
    """Compare ratings between groups, by partner, and correlate them with an answer on a scale (Spearman)."""
    said = {r["person"]: r["value"] for r in data.answers if r["question"] == part.by and r["value"] is not None}
    group = {who: _group(value, part.split) for who, value in said.items()}
    silent = len({r["person"] for r in data.people if r["included"]} - set(said))
    notes = (f"{silent} people did not answer {part.by}, and are in no group",) if silent else ()
    names = sorted({*group.values()}, key=str)
    means: list[Row] = []
    tests: list[Row] = []
    trend: list[Row] = []
    for name in part.of:
        rows = data.ratings(name)
        cells = {None: person_means(rows).get((), {})}
        cells |= {key[0]: people for key, people in person_means(rows, "partner").items() if key[0] is not None}
        for partner, people in cells.items():
            base = {"rating": name, "partner": partner or "all partners"}
            by_group = {g: [v for who, v in people.items() if group.get(who) == g] for g in names}
            for g, values in by_group.items():
                if values:
                    means.append(
                        {
                            **base,
                            "group": g,
                            **mean_row(values, bounds=data.bounds(name) or EVERYWHERE),
                            "people": len(values),
                        }
                    )
            if len(names) == 2:
                low, high = (by_group[g] for g in names)
                tests.append({**base, "a": names[1], "b": names[0], "people": len(low) + len(high)}
                             | attempt(lambda x=high, y=low: _welch(x, y)))  # fmt: skip
            numbers = {who: said[who] for who in people if isinstance(said.get(who), int | float)}
            if numbers:
                x, y = list(numbers.values()), [people[who] for who in numbers]
                trend.append({**base, "people": len(x)} | attempt(lambda x=x, y=y: _spearman(x, y)))
    counted = Counter(said.values())
    order = sorted(counted, key=str)
    tables = {
        "answers": Table.of(
            [{"answer": v, "group": _group(v, part.split), "people": counted[v]} for v in order], data.label(part.by)
        ),
        "means": Table.of(means, f"Ratings by {part.by}"),
        "difference": Table.of(with_holm(tests), f"Difference between groups of {part.by} (a - b)"),
        "trend": Table.of(with_holm(trend), f"Spearman of ratings with {part.by}"),
    }
    made = {name: table for name, table in tables.items() if len(table)}
    figures = group_figures(made["means"], part.by, data.colours) if "means" in made else ()
    return AnalysisResult(part.id, part.title or f"Ratings by {part.by}", made, figures, GROUPED, notes)


def _group(value: Any, split: float | None) -> str:
    if split is None or not isinstance(value, int | float):
        return str(value)
    return f"from {split:g}" if value >= split else f"below {split:g}"


def _welch(x: list[float], y: list[float]) -> Row:
    enough(x, y)
    made = t_test_welch(x, y)
    row = {"mean_a": float(np.mean(x)), "mean_b": float(np.mean(y)), "difference": made.estimate}
    row |= {"difference_low": made.low, "difference_high": made.high, "d": made.effect}
    return row | {"t": made.statistic, "df": made.df, "p": made.p}


def _spearman(x: list[float], y: list[float]) -> Row:
    enough(x, least=3)
    made = spearman(x, y)
    return {"spearman": made.r, "spearman_low": made.low, "spearman_high": made.high, "p": made.p}
