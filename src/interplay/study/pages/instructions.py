"""A page to read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from interplay.study.pages.page_type import PageType, PageVisit
from interplay.study.protocol.model import Name, StudyPage
from interplay.study.protocol.validation import PageScope


class Instructions(StudyPage):
    """A page to read."""

    kind: Literal["instructions"]
    figures: tuple[Name, ...] = ()  # games whose start is drawn


class InstructionsPages(PageType[Instructions]):
    """Text with pictures of games."""

    spec = Instructions

    def validate(self, page: Instructions, scope: PageScope) -> None:
        """Raise a `ValueError` if a figure names no game."""
        for name in page.figures:
            scope.require(name, scope.protocol.games, "game")

    def show(self, page: Instructions, visit: PageVisit) -> Mapping[str, Any]:
        """Return the pictures."""
        return {"figures": [visit.figures[name] for name in page.figures if name in visit.figures]}
