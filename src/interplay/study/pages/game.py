"""One game with one partner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from interplay.games.registry import make_recorded
from interplay.study.pages.page_type import PageType, PageVisit
from interplay.study.protocol.model import Name, StudyPage, StudyPart
from interplay.study.protocol.texts import Text
from interplay.study.protocol.validation import PageScope


class Flag(StudyPart):
    """A button that participants may press during a game."""

    id: Name
    label: Text


class PlayPage(StudyPage):
    """One game with one partner.

    Game and partner may come from a design: `$NAME` is the present value of that factor. With the id of a waiting room
    as its partner, the game is played with the participants who were met there.
    """

    kind: Literal["game"]
    game: str
    partner: str
    practice: bool | Literal["first"] = False  # `first`: in the first turn of the innermost repeat
    flags: tuple[Flag, ...] = ()


class GamePages(PageType[PlayPage]):
    """A game is played over a socket; how it looks is said by its `BrowserView`."""

    spec = PlayPage
    answered = False

    def validate(self, page: PlayPage, scope: PageScope) -> None:
        """Raise a `ValueError` if the game or the partner is not known here."""
        scope.require_value(page.game, scope.protocol.games, "game")
        scope.require_partner(page.partner)

    def show(self, page: PlayPage, visit: PageVisit) -> Mapping[str, Any]:
        """Return what the browser needs to open the game: the board, the socket, the partner's alias, the flags."""
        from interplay.study.live.browser_views import browser_view

        setting = visit.protocol.games[visit.page.value(page.game)]
        view = browser_view(make_recorded(setting.game, setting.options))
        alias = visit.aliases[visit.page.value(page.partner)].record(visit.language)
        return {
            "game": view.board,
            "real_time": view.real_time,
            "socket": f"/api/study/{visit.protocol.name}/play",
            "alias": {name: alias[name] for name in ("label", "colour", "shape")},
            "flags": [{"id": flag.id, "label": visit.say(flag.label)} for flag in page.flags],
            "practice": visit.page.practice,
        }
