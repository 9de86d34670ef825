"""A page of questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from interplay.study.pages.page_type import Answers, Checked, PageType, PageVisit, SimulatedOpinion
from interplay.study.protocol.answers import check_form
from interplay.study.protocol.model import Question, StudyPage
from interplay.study.protocol.validation import PageScope


class Form(StudyPage):
    """A page of questions."""

    kind: Literal["form"]
    questions: tuple[Question, ...] = Field(min_length=1)


def question_view(visit: PageVisit, asked: Question) -> dict[str, Any]:
    """Return a question as the browser is sent it."""
    scale = visit.protocol.scales[asked.scale] if asked.scale else None
    return {
        "id": asked.id,
        "type": asked.type,
        "label": visit.say(asked.label),
        "required": asked.required,
        "points": scale.points if scale else None,
        "left": visit.say(scale.left) if scale else None,
        "right": visit.say(scale.right) if scale else None,
        "labels": [visit.say(label) for label in scale.labels] if scale else [],
        "options": [{"value": option.value, "label": visit.say(option.label)} for option in asked.options],
        "min": asked.min,
        "max": asked.max,
    }


def require_questions(questions: tuple[Question, ...], scope: PageScope) -> None:
    """Raise a `ValueError` where two questions have one id, or one names a scale that is not there."""
    ids = [question.id for question in questions]
    if len(set(ids)) != len(ids):
        raise ValueError(f"{scope.where}two questions have the same id")
    for question in questions:
        if question.scale is not None:
            scope.require(question.scale, scope.protocol.scales, f"question {question.id!r}: scale")


class FormPages(PageType[Form]):
    """Questions without right answers."""

    spec = Form

    def validate(self, page: Form, scope: PageScope) -> None:
        """Check ids and scales of the questions."""
        require_questions(page.questions, scope)

    def show(self, page: Form, visit: PageVisit) -> Mapping[str, Any]:
        """Return the questions."""
        return {"questions": [question_view(visit, question) for question in page.questions]}

    def check(self, page: Form, visit: PageVisit, submitted: Answers) -> Checked:
        """Check each answer by its question's type."""
        return Checked(*check_form(visit.protocol, page.questions, submitted, visit.language))

    def simulate(self, page: Form, view: Mapping[str, Any], opinion: SimulatedOpinion) -> dict[str, Any]:
        """Answer by the participant's opinion of the partners."""
        return {question["id"]: opinion.answer_question(question) for question in view["questions"]}
