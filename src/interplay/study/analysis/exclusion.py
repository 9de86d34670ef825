"""Exclusion of participants: who is in, who is out, and why. The table lists every participant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from interplay.study.analysis.analysis_list import Exclude
from interplay.study.analysis.data import PEOPLE, Data, near_games
from interplay.table import Row, Table

UNFINISHED = {
    "new": "did not consent",
    "active": "has not finished",
    "screened": "screened out by the quiz",
    "dropped": "left, and the place was given away",
    "withdrawn": "stopped taking part",
    "declined": "did not consent",
    "erased": "asked to be erased",
}


def sort_people(data: Data, rule: Exclude | None) -> Data:
    """Return the data with everyone marked as in or out, without the answers of those who are out.

    Args:
        data: The study.
        rule: The rule of the study file; None leaves out only those who did not finish.
    """
    rule = rule or Exclude(kind="exclude", id="exclude")
    scaled = {q.id for q in data.questions.values() if q.scale}
    answers: dict[str, list[Row]] = {}
    for row in data.answers:
        answers.setdefault(row["person"], []).append(row)
    rows: list[Row] = []
    for person in data.people:
        mine = answers.get(person["person"], [])
        on_scales = [row for row in mine if row["question"] in scaled]
        # Those who did not finish have this one reason, by which they are counted.
        why = _unfinished(person, rule) or [
            *_attention(mine, rule), *_checks(data, mine, rule), *_haste(on_scales, rule), *_sameness(on_scales, rule),
        ]  # fmt: skip
        rows.append({**person, "included": not why, "why": "; ".join(why) or None})
    kept = data.of_people(row["person"] for row in rows if row["included"])
    if rule.unattended is not None:
        kept = kept.attended(rule.unattended)
    return replace(kept, people=Table(PEOPLE, rows))


def _unfinished(person: Row, rule: Exclude) -> list[str]:
    status = person["status"]
    chosen = {"active": rule.unfinished, "withdrawn": rule.withdrawn}
    if status == "done" or chosen.get(status) == "in":
        return []
    return [UNFINISHED.get(status, f"status {status}")]


def _attention(answers: Sequence[Row], rule: Exclude) -> list[str]:
    reasons = []
    for question, right in rule.attention.items():
        values = [row["value"] for row in answers if row["question"] == question]
        if not values:
            reasons.append(f"attention: {question} was not reached")
        elif wrong := [value for value in values if str(value) != str(right)]:
            reasons.append(f"attention: {question} answered {wrong[0]!r}, not {right!r}")
    return reasons


def _checks(data: Data, answers: Sequence[Row], rule: Exclude) -> list[str]:
    if rule.failed_checks is None:
        return []
    checks = {q.id: q.attention for q in data.questions.values() if q.attention is not None}
    failed = [
        row["question"] for row in answers if row["question"] in checks and row["value"] != checks[row["question"]]
    ]
    return [f"{len(failed)} attention checks failed"] if len(failed) > rule.failed_checks else []


def _haste(on_scales: Sequence[Row], rule: Exclude) -> list[str]:
    times = list({row["page"]: row["seconds"] for row in on_scales if row["seconds"] is not None}.values())
    if rule.least_seconds is None or not times:
        return []
    middle = float(np.median(times))
    if middle >= rule.least_seconds:
        return []
    return [f"hasty: {middle:g} s in the middle for a form, at least {rule.least_seconds:g} asked for"]


def _sameness(on_scales: Sequence[Row], rule: Exclude) -> list[str]:
    values = [row["value"] for row in on_scales if row["question"] not in rule.attention]
    if not rule.same_answers or len(values) < 5 or len(set(values)) > 1:
        return []
    return [f"the answer {values[0]} to all {len(values)} questions on scales"]


def people_tables(data: Data) -> list[Table]:
    """Return how many are in and out by reason, and a table of every participant."""
    why = Counter(row["why"] or "in the analysis" for row in data.people)
    total = len(data.people)
    counted = Table.of(
        [{"what": what, "people": n, "share": n / total} for what, n in why.most_common()], "Who is in and who is out"
    )
    answers = Counter(row["person"] for row in data.answers if row["value"] is not None)
    games = Counter(row["person"] for row in data.games if row["done"])
    open_games = Counter(row["person"] for row in data.games if not row["done"])
    each = [
        {
            "person": row["person"],
            "in": row["included"],
            "why_not": row["why"],
            "status": row["status"],
            "language": row["language"],
            "answers": answers[row["person"]] if row["included"] else None,
            "games": games[row["person"]] if row["included"] else None,
            "unfinished_games": open_games[row["person"]] if row["included"] else None,
        }
        for row in data.people
    ]
    return [counted, Table.of(each, "Every person")]


def stopped(data: Data) -> Table:
    """Count by page how many stopped taking part; those who declined to begin are not among them."""
    where = Counter(row["stopped_on"] for row in data.people if row["status"] == "withdrawn")
    rows: list[Row] = [
        {"page": page, "people": n} for page, n in sorted(where.items(), key=lambda entry: str(entry[0]))
    ]
    return Table.of(rows, "Who stopped taking part, by page", columns=["page", "people"])


def gaps(data: Data) -> Table:
    """Count what is missing from those who are in: open questions, unfinished games, answers without a game."""
    rows: list[Row] = []
    for (question,), part in data.answers.groups("question").items():
        empty = [row["person"] for row in part if row["value"] is None]
        if empty:
            rows.append({"what": f"no answer to {question}", "times": len(empty), "people": len(set(empty))})
    forms = _rating_forms(data)
    rated = [row for row in data.answers if row["form"] in forms]
    games: dict[str, list[Row]] = {}
    for row in data.games:
        games.setdefault(row["person"], []).append(row)
    lost = [row for row in rated if not near_games(row["page"], games.get(row["person"], []))]
    if lost:
        rows.append(
            {"what": "answers about a partner without a game on record", "times": len(lost),
             "people": len({row["person"] for row in lost})}
        )  # fmt: skip
    open_games = [row for row in data.games if not row["done"]]
    if open_games:
        who = len({row["person"] for row in open_games})
        rows.append({"what": "games that were not played to their end", "times": len(open_games), "people": who})
    rows += [{"what": note, "times": None, "people": None} for note in data.notes]
    return Table.of(rows, "What is missing from those who are in", columns=["what", "times", "people"])


def _rating_forms(data: Data) -> set[str]:
    """Return the forms that are about a partner for any participant."""
    return {row["form"] for row in data.answers if row["partner"] is not None or row["first"] is not None}
