"""Questions with right answers, which screen participants out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, model_validator

from interplay.study.pages.form import check_questions, question_views, require_questions
from interplay.study.pages.page_type import Answers, Checked, PageType, PageVisit, SimulatedOpinion
from interplay.study.protocol.model import Question, StudyPage
from interplay.study.protocol.validation import PageScope


class Quiz(StudyPage):
    """Questions with right answers. Participants who need too many tries are screened out."""

    kind: Literal["quiz"]
    questions: tuple[Question, ...] = Field(min_length=1)
    tries: int = Field(default=2, ge=1, le=20)
    most_wrong: int = Field(default=0, ge=0)  # wrong answers that still pass

    @model_validator(mode="after")
    def _answerable(self) -> Quiz:
        for question in self.questions:
            if question.right_answer is None:
                raise ValueError(f"question {question.id!r} of a quiz has no right_answer")
        return self


def wrong_answers(page: Quiz, answers: Answers) -> list[Question]:
    """Return the questions of a quiz that were asked and not answered correctly."""
    asked = [question for question in page.questions if question.id in answers]
    return [question for question in asked if answers[question.id] != _right(question)]


def _right(question: Question) -> Any:
    wanted = question.right_answer
    return wanted if isinstance(wanted, str) else sorted(wanted or ())


class QuizPages(PageType[Quiz]):
    """A quiz shows what was wrong until it is passed or no tries are left."""

    spec = Quiz

    def validate(self, page: Quiz, scope: PageScope) -> None:
        """Check ids and scales of the questions."""
        require_questions(page.questions, scope)

    def show(self, page: Quiz, visit: PageVisit) -> Mapping[str, Any]:
        """Return the questions, what was wrong in the last try, and how many tries are left."""
        feedback = None
        if visit.failed is not None:
            wrong = wrong_answers(page, visit.failed)
            feedback = {q.id: visit.say(q.explanation) if q.explanation else "" for q in wrong}
        return {"questions": question_views(visit), "feedback": feedback, "tries_left": page.tries - visit.tries}

    def check(self, page: Quiz, visit: PageVisit, submitted: Answers) -> Checked:
        """Check the form of each answer by its question's type."""
        return check_questions(visit, submitted)

    def passed(self, page: Quiz, answers: Answers) -> bool:
        """Return whether few enough answers are wrong."""
        return len(wrong_answers(page, answers)) <= page.most_wrong

    def tries(self, page: Quiz) -> int:
        """Return how often the quiz may be tried."""
        return page.tries

    def simulate(self, page: Quiz, view: Mapping[str, Any], opinion: SimulatedOpinion) -> dict[str, Any]:
        """Give the right answers."""
        return {question.id: _right(question) for question in page.questions}
