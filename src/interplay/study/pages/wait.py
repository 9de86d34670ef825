"""A waiting room, in which participants meet each other."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from interplay.study.pages.page_type import PageType
from interplay.study.protocol.model import Name, StudyPage
from interplay.study.protocol.validation import PageScope


class Wait(StudyPage):
    """A waiting room.

    Participants who are here at the same time go on together, and play the games whose `partner` is this page's id.
    Whoever waited long enough, and whoever was left, plays with the partner of `otherwise`.
    """

    kind: Literal["wait"]
    people: int = Field(default=2, ge=2, le=6)  # of one group
    patience_s: float = Field(default=120.0, gt=0, le=3600)
    otherwise: Name
    someone_leaves: Literal["bot", "end"] = "bot"  # after `grace_s`: a bot plays on, or the game ends with its score


class WaitPages(PageType[Wait]):
    """Participants leave the page together; the server adds how long they wait at most."""

    spec = Wait
    answered = False

    def validate(self, page: Wait, scope: PageScope) -> None:
        """Raise a `ValueError` if the room stands within a repeat over a design, or its names are not right."""
        scope.require(page.otherwise, scope.protocol.partners, "otherwise: partner")
        scope.open_room(page.id)
