"""Whether what a person sent answers the page, and what is to be stored of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from interplay.study.protocol.model import Consent, Protocol, Question, Quiz
from interplay.study.protocol.words import phrase

LONGEST = 4000  # characters of a text
Errors = dict[str, str]


def check_form(
    protocol: Protocol, questions: Sequence[Question], given: Mapping[str, Any], language: str
) -> tuple[dict[str, Any], Errors]:
    """Clean answers by question, and what is wrong with the others. A question left out is null."""
    clean: dict[str, Any] = {}
    errors: Errors = {str(name)[:40]: phrase("unknown", language) for name in given if name not in _ids(questions)}
    for question in questions:
        value = given.get(question.id)
        if value is None or value == "" or value == []:
            clean[question.id] = None
            if question.required:
                errors[question.id] = phrase("required", language)
            continue
        problem = _problem(protocol, question, value, language)
        if problem:
            errors[question.id] = problem
        else:
            clean[question.id] = sorted(value) if question.type == "multi" else value
    return clean, errors


def _ids(questions: Sequence[Question]) -> set[str]:
    return {question.id for question in questions}


def _problem(protocol: Protocol, question: Question, value: Any, language: str) -> str | None:
    values = {option.value for option in question.options}
    number = isinstance(value, int | float) and not isinstance(value, bool)
    match question.type:
        case "likert" | "two_sided":
            points = protocol.scales[question.scale or ""].points
            fine = isinstance(value, int) and number and 1 <= value <= points
            return None if fine else phrase("number", language, low=1, high=points)
        case "choice":
            return None if isinstance(value, str) and value in values else phrase("choice", language)
        case "multi":
            several = value if isinstance(value, list) else [None]
            fine = all(isinstance(v, str) and v in values for v in several) and len(set(several)) == len(several)
            return None if fine else phrase("choice", language)
        case "number":
            low = question.min if question.min is not None else -1e9
            high = question.max if question.max is not None else 1e9
            return None if number and low <= value <= high else phrase("number", language, low=low, high=high)
        case "text":
            most = int(question.max) if question.max is not None else LONGEST
            fine = isinstance(value, str) and len(value) <= most and "\x00" not in value
            return None if fine else phrase("text", language, high=most)


def check_consent(page: Consent, given: Mapping[str, Any], language: str) -> Errors:
    return {box.id: phrase("agree", language) for box in page.checkboxes if given.get(box.id) is not True}


def check_order(items: Sequence[str], given: Mapping[str, Any], language: str) -> tuple[list[str], Errors]:
    order = given.get("order")
    if not isinstance(order, list) or not all(isinstance(one, str) for one in order) or sorted(order) != sorted(items):
        return [], {"order": phrase("order", language)}
    return order, {}


def wrong_answers(page: Quiz, answers: Mapping[str, Any]) -> list[Question]:
    """The questions of a quiz that were not answered rightly."""

    def right(question: Question) -> bool:
        wanted = question.right_answer
        return answers.get(question.id) == (wanted if isinstance(wanted, str) else sorted(wanted or ()))

    return [question for question in page.questions if not right(question)]
