"""A page of questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from interplay.study.pages import media
from interplay.study.pages.page_type import Answers, Checked, PageType, PageVisit, SimulatedOpinion
from interplay.study.protocol.answer_conditions import holds, names_in, with_facts
from interplay.study.protocol.answer_validation import check_form
from interplay.study.protocol.model import Question, StudyPage
from interplay.study.protocol.validation import PageScope


class Form(StudyPage):
    """A page of questions."""

    LATER = StudyPage.LATER | {"shuffle"}

    kind: Literal["form"]
    questions: tuple[Question, ...] = Field(min_length=1)
    shuffle: bool = False  # questions in an order that is drawn for each participant


def question_views(visit: PageVisit) -> list[dict[str, Any]]:
    """Return the questions of a page as the browser is sent them, in the participant's order.

    Questions with a condition on earlier pages that does not hold are left out; a condition on answers of the same
    page goes along for the browser.
    """
    from interplay.study.protocol.flow import ordered  # which needs the page types

    here = {question.id for question in visit.page.item.questions}
    known = {**visit.facts, "turn": visit.page.turn}
    views = []
    for asked in ordered(visit.page, visit.seed):
        if asked.when is not None and not names_in(asked.when) & here and not holds(asked.when, known):
            continue
        when = with_facts(asked.when, known, here) if asked.when is not None else None
        views.append(question_view(visit, asked) | {"when": when})
    return views


def check_questions(visit: PageVisit, submitted: Answers) -> Checked:
    """Check the answers to the questions that are asked; answers to hidden ones are dropped."""
    from interplay.study.protocol.flow import asked  # which needs the page types

    every = {question.id for question in visit.page.item.questions}
    questions = asked(visit.page, visit.facts, submitted, visit.seed)
    hidden = every - {question.id for question in questions}
    open_answers = {name: value for name, value in submitted.items() if name not in hidden}
    return Checked(*check_form(visit.protocol, questions, open_answers, visit.language))


def question_view(visit: PageVisit, asked: Question) -> dict[str, Any]:
    """Return a question as the browser is sent it."""
    from interplay.study.protocol.flow import options  # which needs the page types

    scale = visit.protocol.scales[asked.scale] if asked.scale else None
    ends = scale or asked
    return {
        "id": asked.id,
        "type": asked.type,
        "label": visit.say(asked.label),
        "required": asked.required,
        "points": scale.points if scale else None,
        "left": visit.say(ends.left) if ends.left is not None else None,
        "right": visit.say(ends.right) if ends.right is not None else None,
        "labels": [visit.say(label) for label in scale.labels] if scale else [],
        "options": [
            {"value": option.value, "label": visit.say(option.label)}
            for option in options(visit.page, asked, visit.seed)
        ],
        "min": asked.min,
        "max": asked.max,
        "step": asked.step,
        "media": media.view(visit.protocol, asked.media, visit.language) if asked.media else None,
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
        return {"questions": question_views(visit)}

    def check(self, page: Form, visit: PageVisit, submitted: Answers) -> Checked:
        """Check each answer by its question's type."""
        return check_questions(visit, submitted)

    def simulate(self, page: Form, view: Mapping[str, Any], opinion: SimulatedOpinion) -> dict[str, Any]:
        """Answer by the participant's opinion of the partners."""
        return {question["id"]: opinion.answer_question(question) for question in view["questions"]}
