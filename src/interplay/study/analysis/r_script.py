"""An R script that repeats the models of an analysis with lme4, lmerTest and ordinal, on the same rows."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from interplay.errors import InterplayError
from interplay.study.analysis.data import Data
from interplay.study.analysis.measures import Measured
from interplay.study.analysis.mixed import SLOPE_RATINGS, games_factor, groupings
from interplay.study.analysis.regress import ratings_with_measures
from interplay.table import Row

HEAD = """# Repeats the mixed models of `interplay study analyse` from the rows beside this file.
# Needs lme4, lmerTest, pbkrtest and ordinal. Run it in its own folder: Rscript analysis.R
# It writes results.csv: analysis, rating, measure, estimate, p. Compare with the tables of the analysis.
suppressMessages({library(lmerTest); library(ordinal)})
results <- data.frame()
keep <- function(analysis, rating, measure, estimate, p)
  results <<- rbind(results, data.frame(analysis, rating, measure, estimate, p))
read <- function(file) {
  rows <- read.csv(file, stringsAsFactors = FALSE)
  for (name in c("person", "partner", "game")) rows[[name]] <- factor(rows[[name]])
  rows
}
"""
TAIL = """
write.csv(results, "results.csv", row.names = FALSE)
print(results)
"""


def write_r_script(data: Data, plan: Sequence[Any], folder: str | Path) -> Path:
    """Write analysis.R and the rows that it reads into a folder, and return the script's path.

    Ratings (do partners differ?) and regressions on measures of the games are repeated, each with the random effects
    that the analysis itself chose; analyses of other kinds are not.

    Args:
        data: The study as it was analysed, without those who are out.
        plan: The analyses.
        folder: A new or empty folder.

    Raises:
        InterplayError: The folder is not empty, or no analysis of the plan has a model that R repeats.
    """
    root = Path(folder)
    if root.exists() and any(root.iterdir()):
        raise InterplayError(f"{root} is there already and not empty: choose another folder")
    parts: list[str] = []
    measured = Measured(data)
    for part in plan:
        if part.kind == "ratings" and part.model in ("mixed", "ordinal"):
            parts += [_ratings(data, part, name, root) for name in part.of]
        elif part.kind == "regression" and part.model in ("mixed", "ordinal"):
            values = measured.games(part.measures)
            for name in part.of:
                rows = ratings_with_measures(data, name, values, part.measures)
                parts += [_regression(rows, part, name, measure, root) for measure in part.measures]
    parts = [part for part in parts if part]
    if not parts:
        raise InterplayError("no analysis of this study has a mixed or ordinal model that R could repeat")
    root.mkdir(parents=True, exist_ok=True)
    script = root / "analysis.R"
    script.write_text("\n".join([HEAD, *parts, TAIL]), encoding="utf-8")
    return script


def _write(rows: Sequence[Row], root: Path, name: str, measure: str | None = None) -> str:
    root.mkdir(parents=True, exist_ok=True)
    file = f"{name}.csv"
    with (root / file).open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["person", "partner", "game", "value", *(["slope"] if measure else [])])
        for row in rows:
            more = [repr(float(row[measure]))] if measure else []
            writer.writerow([row["person"], row["partner"], row["game"] or "none", repr(float(row["value"])), *more])
    return file


def _random(rows: Sequence[Row], *, partners: bool) -> list[str]:
    """Return the random intercepts that the analysis chooses for these rows."""
    names = {"person": "person", "partner": "partner", "person and partner": "person:partner"}
    return [f"(1 | {names[group]})" for group in groupings(rows, partners=partners)]


def _ratings(data: Data, part: Any, name: str, root: Path) -> str:
    rows = [row for row in data.ratings(name) if row["partner"] is not None]
    if len({row["partner"] for row in rows}) < 2 or not groupings(rows, partners=False):
        return ""
    file = _write(rows, root, f"{part.id}_{name}")
    fixed = ["partner", *games_factor(rows)]
    formula = " + ".join([*fixed, *_random(rows, partners=False)])
    where = f'"{part.id}", "{name}", "partner", NA'
    if part.model == "ordinal":
        less = " + ".join([*(fixed[1:] or ["1"]), *_random(rows, partners=False)])
        return (
            f'rows <- read("{file}"); rows$value <- factor(rows$value, ordered = TRUE)\n'
            f"keep({where}, anova(clmm(value ~ {less}, rows), clmm(value ~ {formula}, rows))[2, 6])\n"
        )
    return (
        f'rows <- read("{file}")\nfit <- lmer(value ~ {formula}, rows)\n'
        f'keep({where}, anova(fit, ddf = "Kenward-Roger")["partner", "Pr(>F)"])\n'
    )


def _regression(rated: Sequence[Row], part: Any, name: str, measure: str, root: Path) -> str:
    rows = [row for row in rated if row[measure] is not None]
    if len({row["partner"] for row in rows}) < 2 or len({row[measure] for row in rows}) < 2:
        return ""
    file = _write(rows, root, f"{part.id}_{name}_{measure}", measure)
    groups = groupings(rows, partners=True)
    people = len(set(groups.get("person", ())))
    slopes = [g for g in part.slopes if g in groups and (g != "person" or len(rows) >= SLOPE_RATINGS * people)]
    more = [f"(0 + centred | {group})" for group in slopes] if part.model == "mixed" else []
    formula = " + ".join(["slope", *games_factor(rows), *_random(rows, partners=True), *more])
    where = f'"{part.id}", "{name}", "{measure}"'
    if part.model == "ordinal":
        return (
            f'rows <- read("{file}"); rows$value <- factor(rows$value, ordered = TRUE)\n'
            f'made <- summary(clmm(value ~ {formula}, rows))$coefficients["slope", ]\n'
            f"keep({where}, made[1], made[4])\n"
        )
    return (
        f'rows <- read("{file}"); rows$centred <- rows$slope - mean(rows$slope)\n'
        f"fit <- lmer(value ~ {formula}, rows)\n"
        f'made <- coef(summary(fit, ddf = "Kenward-Roger"))["slope", ]\nkeep({where}, made[1], made[5])\n'
    )
