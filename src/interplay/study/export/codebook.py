"""The codebook of an export: what every column means, and every question with its text and values."""

from __future__ import annotations

from typing import Any

from interplay.study.analysis.analysis_list import pages
from interplay.study.export import columns
from interplay.study.protocol.model import Protocol, Question
from interplay.study.protocol.texts import say
from interplay.table import Row, Table

COLUMNS = ("table", "column", "page", "type", "text", "values", "meaning")


def codebook(protocol: Protocol) -> Table:
    """Return a row for every column of every table, and one for every question in every language of the study."""
    rows: list[Row] = []
    for table, kinds in columns.COLUMNS.items():
        for column, kind in kinds.items():
            rows.append({"table": table, "column": column, "type": kind, "meaning": columns.MEANINGS[table][column]})
    for page in pages(protocol):
        for question in getattr(page, "questions", ()):
            for language in protocol.languages:
                rows.append(_question(protocol, page, question, language))
    return Table.of(rows, f"Codebook of {protocol.name}", columns=list(COLUMNS))


def _question(protocol: Protocol, page: Any, question: Question, language: str) -> Row:
    facts = [f"page {page.kind}"]
    if question.right_answer is not None:
        facts.append(f"right answer: {question.right_answer}")
    if question.attention is not None:
        facts.append(f"attention check: {question.attention}")
    if question.when is not None:
        facts.append(f"asked when {question.when}")
    if not question.required:
        facts.append("may be left open")
    return {
        "table": "answers", "column": question.id, "page": page.id, "type": f"{question.type} ({language})",
        "text": say(question.label, language), "values": _values(protocol, question, language),
        "meaning": "; ".join(facts),
    }  # fmt: skip


def _values(protocol: Protocol, question: Question, language: str) -> str:
    if question.scale is not None:
        scale = protocol.scales[question.scale]
        if scale.labels:
            return "; ".join(f"{n} = {say(label, language)}" for n, label in enumerate(scale.labels, start=1))
        return f"1 = {say(scale.left, language)}; {scale.points} = {say(scale.right, language)}"
    if question.options:
        return "; ".join(f"{option.value} = {say(option.label, language)}" for option in question.options)
    if question.min is not None or question.max is not None:
        low, high = question.min, question.max
        return f"from {'any' if low is None else low} to {'any' if high is None else high}"
    return ""
