"""A page on which participants divide points among options, such as how much each partner contributed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from interplay.study.pages.page_type import Answers, Checked, PageType, PageVisit, SimulatedOpinion
from interplay.study.protocol.model import Option, StudyPage


class Allocation(StudyPage):
    """How the page is written in a study file."""

    kind: Literal["allocation"]
    points: int = Field(default=100, ge=1, le=1000)
    options: tuple[Option, ...] = Field(min_length=2)


class AllocationPages(PageType[Allocation]):
    spec = Allocation
    script = "own_page:allocation.js"

    def show(self, page: Allocation, visit: PageVisit) -> Mapping[str, Any]:
        options = [{"value": option.value, "label": visit.say(option.label)} for option in page.options]
        return {"points": page.points, "options": options}

    def check(self, page: Allocation, visit: PageVisit, submitted: Answers) -> Checked:
        values = {option.value: submitted.get(option.value) for option in page.options}
        whole = {name: value for name, value in values.items() if type(value) is int and value >= 0}
        errors = {name: "Please give a whole number of points, 0 or more." for name in values if name not in whole}
        if not errors and sum(whole.values()) != page.points:
            last = page.options[-1].value
            errors = {last: f"The points must add up to {page.points}, not {sum(whole.values())}."}
        return Checked(whole, errors)

    def simulate(self, page: Allocation, view: Mapping[str, Any], opinion: SimulatedOpinion) -> dict[str, Any]:
        cuts = sorted(opinion.chance.randint(0, page.points) for _ in page.options[1:])
        shares = [b - a for a, b in zip([0, *cuts], [*cuts, page.points], strict=True)]
        return dict(zip((option.value for option in page.options), shares, strict=True))
