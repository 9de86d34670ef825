"""The consent: the first page of every study."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from interplay.study.pages.page_type import Answers, Checked, PageType, PageVisit, SimulatedOpinion
from interplay.study.protocol.model import Name, StudyPage, StudyPart
from interplay.study.protocol.texts import Text
from interplay.study.protocol.validation import PageScope


class Checkbox(StudyPart):
    """A box that must be ticked to consent."""

    id: Name
    label: Text


class Consent(StudyPage):
    """The first page. The study begins when all boxes are ticked: sequences of the designs are assigned then."""

    kind: Literal["consent"]
    version: Annotated[str, Field(min_length=1, max_length=40)]
    checkboxes: tuple[Checkbox, ...] = Field(min_length=1)


class ConsentPages(PageType[Consent]):
    """Every box must be ticked."""

    spec = Consent

    def validate(self, page: Consent, scope: PageScope) -> None:
        """Raise a `ValueError` unless the page comes first."""
        if not scope.first:
            raise ValueError("there is one consent, and it comes first")

    def show(self, page: Consent, visit: PageVisit) -> Mapping[str, Any]:
        """Return the version and the boxes."""
        boxes = [{"id": box.id, "label": visit.say(box.label)} for box in page.checkboxes]
        return {"version": page.version, "checkboxes": boxes}

    def check(self, page: Consent, visit: PageVisit, submitted: Answers) -> Checked:
        """Return an error for each box that is not ticked."""
        errors = {b.id: visit.phrase("agree") for b in page.checkboxes if submitted.get(b.id) is not True}
        return Checked({box.id: True for box in page.checkboxes}, errors)

    def simulate(self, page: Consent, view: Mapping[str, Any], opinion: SimulatedOpinion) -> dict[str, Any]:
        """Tick every box."""
        return {box.id: True for box in page.checkboxes}
