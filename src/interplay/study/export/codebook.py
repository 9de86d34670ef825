"""The codebook of an export: what every column means, and every question with its text and values."""

from __future__ import annotations

import inspect
import re
from typing import Any

from interplay.study.analysis.plan import pages
from interplay.study.export import columns
from interplay.study.protocol.model import Protocol, Question
from interplay.study.protocol.words import say
from interplay.table import Row, Table

COLUMNS = ("table", "column", "page", "type", "text", "values", "meaning")


def codebook(protocol: Protocol) -> Table:
    """Return a row for every column of every table, and one for every question in every language of the study."""
    rows: list[Row] = []
    meanings = _meanings()
    for table, kinds in columns.COLUMNS.items():
        for column, kind in kinds.items():
            rows.append({"table": table, "column": column, "type": kind, "meaning": meanings.get((table, column), "")})
    for page in pages(protocol):
        for question in getattr(page, "questions", ()):
            for language in protocol.languages:
                rows.append(_question(protocol, page, question, language))
    return Table.of(rows, f"Codebook of {protocol.name}", columns=list(COLUMNS))


def _meanings() -> dict[tuple[str, str], str]:
    """Return the comments beside the columns in the source, which are what the columns mean."""
    table, meanings = "", {}
    for line in inspect.getsource(columns).splitlines():
        if begun := re.match(r'    "(\w+)": \{$', line):
            table = begun[1]
        elif entry := re.match(r'        "(\w+)": "\w+",(?:  # (.*))?$', line):
            meanings[table, entry[1]] = entry[2] or ""
    return meanings


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
