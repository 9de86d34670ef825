"""How partners were rated, whether scales are reliable, and t tests of ratings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from interplay.errors import InterplayError
from interplay.stats import TestResult, cronbach_alpha, effect_interval, t_test_one_sample, t_test_paired, wilcoxon
from interplay.study.analysis.analysis_list import OneSample, Paired, Ratings, Sum
from interplay.study.analysis.data import Data
from interplay.study.analysis.figures import rating_figures
from interplay.study.analysis.mixed import estimate_row, margin_row, partner_fit, variances_row
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

RATED = (
    "Means and intervals are over people: someone who rated a partner twice counts once, with the mean. `answers` says "
    "how many ratings there were."
)
COMPARED = {
    "mixed": (
        "Whether partners differ: a linear mixed model with partners (and games) as fixed effects and people as random "
        "ones, Kenward and Roger's F. It is about these partners. `pairs` has the differences between them from the "
        "same model, d in standard deviations of one rating, p (Holm) corrected over the whole table."
    ),
    "ordinal": (
        "Whether partners differ: a cumulative-link mixed model (proportional odds) with partners (and games) as fixed "
        "effects and people as random ones. It is about these partners. `pairs` has their differences in log odds of a "
        "higher answer, d in standard deviations of the latent rating."
    ),
    "means": "",
}
TESTED = (
    "`people`: each person counts once, with the mean of their ratings. `answers`: every rating counts as if it were "
    "another person's, as studies often report it; with several ratings a person its p is too small. d is the "
    "difference in standard deviations. p (Holm) is corrected over the tests of this table that count in the same way."
)
PAIRED = (
    "Each person counts once, with the mean of their ratings on either side; who has ratings on one side only is "
    "counted under `unpaired` and not used. dz is the mean difference in standard deviations of the differences."
)


def rate(data: Data, part: Ratings) -> AnalysisResult:
    """Return means by partner and game, and how often each point of the scale was chosen."""
    summary: list[Row] = []
    spread: list[Row] = []
    for name in part.of:
        rows = data.ratings(name)
        about = [row for row in rows if row["partner"] is not None]
        for game, partner in _cells(about):
            mine = [r for r in about if r["partner"] == partner and (game is None or r["game"] == game)]
            means = list(person_means(Table(rows.columns, mine))[()].values())
            base = {"rating": name, "game": game, "partner": partner}
            values = [row["value"] for row in mine]
            statistics = {
                "sd": float(np.std(means, ddof=1)) if len(means) > 1 else None,
                "median": float(np.median(values)),
            }
            summary.append(
                {
                    **base,
                    **mean_row(means, bounds=data.bounds(name) or EVERYWHERE),
                    **statistics,
                    "people": len(means),
                    "answers": len(values),
                }
            )
            counted = Counter(values)
            spread += [{**base, "value": value, "times": counted[value]} for value in sorted(counted)]
    notes = tuple(f"nobody rated a partner on {name}" for name in part.of if name not in {r["rating"] for r in summary})
    tables = {
        "ratings": Table.of(summary, "Ratings by partner"),
        "spread": Table.of(spread, "How often each answer was given"),
    }
    if part.model != "means":
        tables |= _partners_compared(data, part)
    figures = rating_figures(data, tables["ratings"], part.of) if summary else ()
    about = " ".join(filter(None, (RATED, COMPARED[part.model])))
    return AnalysisResult(part.id, part.title or "Ratings", tables, figures, about, notes)


def _partners_compared(data: Data, part: Ratings) -> dict[str, Table]:
    """Return whether partners differ in each rating, and by how much every two of them do."""
    tests: list[Row] = []
    pairs: list[Row] = []
    for name in part.of:
        rows = [row for row in data.ratings(name) if row["partner"] is not None]
        if len({row["partner"] for row in rows}) > 1:
            test, differences = compare_partners(rows, part)
            tests.append({"rating": name, **test})
            pairs += [{"rating": name, **row} for row in differences]
    tables = {
        "differ": Table.of(with_holm(tests), "Do partners differ?"),
        "pairs": Table.of(with_holm(pairs), "Differences between partners (a - b)"),
    }
    return {name: table for name, table in tables.items() if len(table)}


def compare_partners(rows: Sequence[Row], part: Ratings) -> tuple[Row, list[Row]]:
    """Return the test of whether partners differ in one rating, and their differences.

    Args:
        rows: Ratings with person, partner, game and value.
        part: The analysis of the study file.
    """
    counts = {"people": len({r["person"] for r in rows}), "partners": len({r["partner"] for r in rows}), "n": len(rows)}
    try:
        fit = partner_fit(rows, model=part.model)
    except InterplayError as error:
        return {**counts, "p": None, "note": str(error)}, []
    test = fit.factor("partner")
    pairs = []
    for (a, b), made in fit.pairs("partner").items():
        row = {"a": a, "b": b, **estimate_row(made, "difference"), "d": made.estimate / fit.total_sd}
        pairs.append({**row, "bf10": made.bayes(fit.total_sd).bf10, **margin_row(made, part.margin)})
    f = {"f": test.f, "df1": test.df1, "df2": test.df2, "p": test.p}
    return {**counts, **f, **variances_row(fit.variances)}, pairs


def _cells(rows: Sequence[Row]) -> list[tuple[Any, Any]]:
    """Return the games and partners that were rated: each partner over all games, and by game if there are several."""
    partners = list(dict.fromkeys(row["partner"] for row in rows))
    games = list(dict.fromkeys(row["game"] for row in rows if row["game"] is not None))
    apart = [(game, partner) for game in games for partner in partners] if len(games) > 1 else []
    met = {(row["game"], row["partner"]) for row in rows}
    return [*((None, partner) for partner in partners), *(cell for cell in apart if cell in met)]


def reliability(data: Data, sums: Sequence[Sum], seed: int) -> list[Table]:
    """Return Cronbach's alpha of every scale, and what each question adds to it."""
    whole: list[Row] = []
    single: list[Row] = []
    for part in sums:
        items, who = [], []
        for answers in data.answers.groups("person", "page").values():
            values = {row["question"]: row["value"] for row in answers if row["question"] in part.of}
            if len(values) == len(part.of) and None not in values.values():
                turned = [data.points(q) + 1 - values[q] if q in part.reverse else values[q] for q in part.of]
                items.append(turned)
                who.append(answers.rows[0]["person"])
        base = {"scale": part.id, "questions": ", ".join(part.of)}

        def alpha(part: Sum = part, items: list = items, who: list = who) -> Row:
            result = cronbach_alpha(items or np.zeros((0, len(part.of))), who, seed=seed)
            single.extend(
                {"scale": part.id, "question": q, "alpha_without": a, "with_the_rest": r}
                for q, a, r in zip(part.of, result.without, result.item_rest, strict=True)
            )
            interval = {"alpha": result.alpha, "alpha_low": result.low, "alpha_high": result.high}
            return {**interval, "people": result.people, "answers": result.n}

        whole.append(base | attempt(alpha))
    return [
        Table.of(whole, "Scales: Cronbach's alpha, with intervals that draw people whole"),
        Table.of(single, "Questions of the scales: alpha without each, and its correlation with the sum of the rest"),
    ]


def one_sample(data: Data, part: OneSample) -> AnalysisResult:
    """Test ratings against a value, with each person counted once and with each rating counted once."""
    rows: list[Row] = []
    for name in part.of:
        against = part.against if part.against is not None else data.middle(name)
        ratings, ends = data.ratings(name), data.bounds(name) or EVERYWHERE
        levels = [None] if part.by is None else list(part.only or dict.fromkeys(ratings.column(part.by)))
        for level in levels:
            mine = ratings if part.by is None else ratings.where(**{part.by: level})
            base: Row = {"rating": name} | ({part.by: level} if part.by else {}) | {"against": against}
            rows += [
                base | {"unit": unit} | attempt(lambda values=values, to=against, ends=ends: _against(values, to, ends))
                for unit, values in (
                    ("people", list(person_means(mine).get((), {}).values())),
                    ("answers", [float(row["value"]) for row in mine]),
                )
            ]
    corrected = [
        row for unit in ("people", "answers") for row in with_holm([row for row in rows if row["unit"] == unit])
    ]
    title = part.title or "Against a value"
    return AnalysisResult(
        part.id, title, {"one_sample": Table.of(corrected, f"{title}: one-sample t tests")}, about=TESTED
    )


def _against(values: Sequence[float], against: float | None, bounds: tuple[float, float] = EVERYWHERE) -> Row:
    enough(values)
    test = t_test_one_sample(values, mean=0.0 if against is None else against)
    moved = np.asarray(values) - (against or 0.0)
    ranked = float(wilcoxon(moved, np.zeros(len(moved))).p) if np.any(moved != 0) else None
    row = {"n": test.n[0], **mean_row(values, bounds=bounds)}
    return row | _t(test, "d") | {"p_wilcoxon": ranked}


def _t(test: TestResult, effect: str) -> Row:
    low, high = effect_interval(test.statistic, test.n[0])
    size = {effect: test.effect, f"{effect}_low": low, f"{effect}_high": high}
    return {"t": test.statistic, "df": test.df, "p": test.p} | size


def paired(data: Data, part: Paired) -> AnalysisResult:
    """Compare ratings of the same people between two levels of a factor."""
    rows: list[Row] = []
    for name in part.of:
        means = person_means(data.ratings(name), part.factor)
        levels = list(part.levels) or [key[0] for key in means if key[0] is not None]
        for a, b in combinations(levels, 2):
            first, second = means.get((a,), {}), means.get((b,), {})
            both = [who for who in first if who in second]
            base = {"rating": name, "a": a, "b": b, "n": len(both), "unpaired": len({*first, *second}) - len(both)}
            x, y = [first[who] for who in both], [second[who] for who in both]
            rows.append(base | attempt(lambda x=x, y=y: _difference(x, y)))
    title = part.title or f"Between {part.factor}s"
    table = Table.of(with_holm(rows), f"{title}: paired t tests (a - b)")
    return AnalysisResult(part.id, title, {"paired": table}, about=PAIRED)


def _difference(x: Sequence[float], y: Sequence[float]) -> Row:
    enough(x)
    test = t_test_paired(x, y)
    row = {"mean_a": float(np.mean(x)), "mean_b": float(np.mean(y)), "difference": test.estimate}
    row |= {"difference_low": test.low, "difference_high": test.high}
    return row | _t(test, "dz") | {"p_wilcoxon": wilcoxon(x, y).p}
