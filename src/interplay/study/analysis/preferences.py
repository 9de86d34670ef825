"""Two-sided questions about the two partners that a person met: who is preferred to whom.

Answers count from the middle of their scale: below it the first partner is preferred, above it the second.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from interplay.stats import cronbach_alpha, design_fit, effect_interval, t_test_one_sample
from interplay.study.analysis.analysis_list import Preferences
from interplay.study.analysis.data import Data
from interplay.study.analysis.figures import preference_figures
from interplay.study.analysis.result import AnalysisResult, attempt, enough, mean_row, with_holm
from interplay.table import Row, Table

PREFERRED = (
    "The sum of the questions, 0 where none is preferred. Strength: by how much a partner is preferred to the average "
    "partner, by least squares over all comparisons; `second place` is what is added to whoever came second, whatever "
    "partner it was."
)


def prefer(data: Data, part: Preferences, *, seed: int = 0) -> AnalysisResult:
    """Compare pairs of partners, estimate the strength of each, and describe each question."""
    answered = comparisons(data, part.of)
    names = [n for n in data.partners if any(n in (row["first"], row["second"]) for row in answered)]
    title = part.title or "Preferences"
    asked = len({(r["person"], r["page"]) for r in data.answers if r["question"] in part.of})
    notes = []
    if asked > len(answered):
        notes.append(f"{asked - len(answered)} of {asked} comparisons lack an answer or are not about two partners")
    if not answered:
        return AnalysisResult(part.id, title, {}, notes=(*notes, "nobody compared two partners"))
    most = _most(data, part.of)
    ordered = Table.of(_ordered(answered, most), "By order: above 0 the second partner is preferred")
    tables = {
        "pairs": Table.of(with_holm(_pairs(answered, names, most)), "Who is preferred to whom, both orders together"),
        "strengths": Table.of(strengths(answered, names), "Strength of each partner"),
        "ordered": ordered,
        "by_question": Table.of(
            _by_question(data, answered, names, part.of), "Who is preferred to whom, question by question"
        ),
        "questions": Table.of(_questions(data, answered, part.of, seed), "Question by question"),
    }
    figures = preference_figures(answered, names, tables["strengths"], data.colours)
    return AnalysisResult(part.id, title, tables, figures, PREFERRED, tuple(notes))


def comparisons(data: Data, questions: Sequence[str]) -> list[Row]:
    """Return one row for each comparison: first, second, the sum from the middle, and every question's share."""
    rows = []
    for part in data.answers.groups("person", "page").values():
        values = {row["question"]: row["value"] for row in part if row["question"] in questions}
        row = part.rows[0]
        if len(values) == len(questions) and None not in values.values() and row["first"] is not None:
            moved = {q: values[q] - (data.points(q) + 1) / 2 for q in questions}
            rows.append({k: row[k] for k in ("person", "first", "second")} | moved | {"sum": sum(moved.values())})
    return rows


def _most(data: Data, questions: Sequence[str]) -> tuple[float, float]:
    """Return how far the sum of some questions can be from the middle, to either side."""
    most = sum((data.points(q) - 1) / 2 for q in questions)
    return -most, most


def _pairs(rows: Sequence[Row], names: Sequence[str], bounds: tuple[float, float]) -> list[Row]:
    pairs: list[Row] = []
    for a, b in combinations(names, 2):
        # Towards a, whichever of the two came first.
        for_a = [-r["sum"] if r["first"] == a else r["sum"] for r in rows if {r["first"], r["second"]} == {a, b}]
        if not for_a:
            continue
        first = sum((r["first"], r["second"]) == (a, b) for r in rows)
        pair: Row = {"partner": a, "over": b, **mean_row(for_a, "preference", bounds)}
        pair |= {"share_preferring": float(np.mean([x > 0 for x in for_a])), "people": len(for_a), "times_first": first}
        pairs.append(pair | attempt(lambda x=for_a: _tested(x)))
    return pairs


def _by_question(data: Data, rows: Sequence[Row], names: Sequence[str], questions: Sequence[str]) -> list[Row]:
    """Return the same matrix for every question, above 0 where `partner` is preferred."""
    entries: list[Row] = []
    for question in questions:
        for a, b in combinations(names, 2):
            both = [row for row in rows if {row["first"], row["second"]} == {a, b}]
            for_a = [-row[question] if row["first"] == a else row[question] for row in both]
            if for_a:
                entry = {"question": question, "partner": a, "over": b}
                entries.append(
                    {**entry, **mean_row(for_a, "preference", _most(data, [question])), "people": len(for_a)}
                )
    return entries


def _tested(values: Sequence[float]) -> Row:
    enough(values)
    made = t_test_one_sample(values)
    low, high = effect_interval(made.statistic, made.n[0])
    return {"t": made.statistic, "df": made.df, "d": made.effect, "d_low": low, "d_high": high, "p": made.p}


def _ordered(rows: Sequence[Row], bounds: tuple[float, float]) -> list[Row]:
    by_order: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        by_order.setdefault((row["first"], row["second"]), []).append(row["sum"])
    return [
        {"first": a, "second": b, **mean_row(values, "for_second", bounds), "people": len(values)}
        for (a, b), values in by_order.items()
    ]


def strengths(rows: Sequence[Row], names: Sequence[str]) -> list[Row]:
    """Return partners' strengths by least squares: they sum to 0, with a term for the order.

    The intervals hold for unequal variances.
    """

    def design(order: Sequence[str]) -> np.ndarray:
        def sides(row: Row, name: str) -> float:
            return float(row["second"] == name) - float(row["first"] == name)

        columns = [[sides(row, name) - sides(row, order[-1]) for row in rows] for name in order[:-1]]
        return np.array([*columns, [1.0] * len(rows)]).T

    def made(order: Sequence[str]) -> list[Row]:
        fits = design_fit([row["sum"] for row in rows], design(order), [row["person"] for row in rows])
        coefficients = [{"strength": c.slope, "strength_low": c.low, "strength_high": c.high, "p": c.p} for c in fits]
        return [{"what": name, **row} for name, row in zip([*order[:-1], "second place"], coefficients, strict=True)]

    def both() -> Row:
        # The last partner has no coefficient of its own, so the model is fitted again with another one last.
        first, swapped = made(names), made([*names[1:], names[0]])
        last = next(row for row in swapped if row["what"] == names[-1])
        return {"rows": [*first[:-1], last, first[-1]]}

    fitted = attempt(both)
    if "note" in fitted:
        return [{"what": name, "note": fitted["note"]} for name in names]
    rows_of = {row["what"]: row for row in fitted["rows"]}
    count = {n: sum(n in (r["first"], r["second"]) for r in rows) for n in names} | {"second place": len(rows)}
    ranked = sorted(names, key=lambda n: -rows_of[n]["strength"])
    return [{**rows_of[name], "people": count[name]} for name in (*ranked, "second place")]


def _questions(data: Data, rows: Sequence[Row], questions: Sequence[str], seed: int) -> list[Row]:
    items = np.array([[row[q] for q in questions] for row in rows])
    whole = attempt(lambda: {"alpha": cronbach_alpha(items, [r["person"] for r in rows], seed=seed)})
    entries = []
    for k, question in enumerate(questions):
        entry: Row = {"question": question, "text": data.label(question)}
        entry |= mean_row(list(items[:, k]), "for_second", _most(data, [question]))
        entry["sd"] = float(np.std(items[:, k], ddof=1)) if len(items) > 1 else None
        entry["with_the_rest"] = whole["alpha"].item_rest[k] if "alpha" in whole else None
        entries.append(entry)
    alpha = whole.get("alpha")
    entry = {"question": "all", "text": "the sum; Cronbach's alpha beside it", "people": len(rows)}
    entry |= mean_row([row["sum"] for row in rows], "for_second", _most(data, questions))
    entry |= {"alpha": alpha.alpha if alpha else None, "alpha_low": alpha.low if alpha else None,
             "alpha_high": alpha.high if alpha else None, "note": whole.get("note")}  # fmt: skip
    return [*entries, entry]
