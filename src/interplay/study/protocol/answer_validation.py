"""Validation of what a participant sends in answer to a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from interplay.study.protocol.model import Protocol, Question
from interplay.study.protocol.texts import phrase

LONGEST = 4000  # characters of a text
Errors = dict[str, str]


def check_form(
    protocol: Protocol, questions: Sequence[Question], submitted: Mapping[str, Any], language: str
) -> tuple[dict[str, Any], Errors]:
    """Check the answers to the questions of a form or quiz.

    Args:
        protocol: The study.
        questions: The questions of the page.
        submitted: The answers by question.
        language: The language of the error messages.

    Returns:
        Clean answers by question, None for one left out; and what is wrong with the others.
    """
    clean: dict[str, Any] = {}
    known = {question.id for question in questions}
    unknown = phrase("unknown", language, protocol.words)
    errors: Errors = {str(name)[:40]: unknown for name in submitted if name not in known}
    for question in questions:
        value = submitted.get(question.id)
        if value is None or value == "" or value == []:
            clean[question.id] = None
            if question.required:
                errors[question.id] = phrase("required", language, protocol.words)
            continue
        problem = _problem(protocol, question, value, language)
        if problem:
            errors[question.id] = problem
        else:
            clean[question.id] = sorted(value) if question.type == "multi" else value
    return clean, errors


def _problem(protocol: Protocol, question: Question, value: Any, language: str) -> str | None:
    values = {option.value for option in question.options}
    number = isinstance(value, int | float) and not isinstance(value, bool)
    match question.type:
        case "likert" | "two_sided":
            points = protocol.scales[question.scale or ""].points
            fine = isinstance(value, int) and number and 1 <= value <= points
            return None if fine else phrase("number", language, protocol.words, low=1, high=points)
        case "choice":
            return None if isinstance(value, str) and value in values else phrase("choice", language, protocol.words)
        case "multi":
            several = value if isinstance(value, list) else [None]
            fine = all(isinstance(v, str) and v in values for v in several) and len(set(several)) == len(several)
            return None if fine else phrase("choice", language, protocol.words)
        case "number" | "slider":
            low = question.min if question.min is not None else -1e9
            high = question.max if question.max is not None else 1e9
            return (
                None
                if number and low <= value <= high
                else phrase("number", language, protocol.words, low=low, high=high)
            )
        case "text":
            most = int(question.max) if question.max is not None else LONGEST
            fine = isinstance(value, str) and len(value) <= most and "\x00" not in value
            return None if fine else phrase("text", language, protocol.words, high=most)


def failed_checks(questions: Sequence[Question], answers: Mapping[str, Any]) -> int:
    """Return how many attention checks among the questions were answered otherwise than by someone who reads."""
    return sum(q.attention is not None and answers.get(q.id) != q.attention for q in questions if q.id in answers)
