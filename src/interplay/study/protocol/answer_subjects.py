"""What the answers to a page are about: which games, which partner.

An answer is about the games that count which were begun before it in the same turn of the repeats around its page;
outside of repeats, about all games before it. Practice games are never what an answer is about.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class PlayedGame(NamedTuple):
    """A game that a participant has begun."""

    page: str
    setting: str
    partner: str  # who really played along: a bot, where nobody was in the waiting room
    practice: bool


class About(NamedTuple):
    """What the answers to a page are about; stored with them."""

    partner: str | None = None  # if it is about one
    setting: str | None = None  # if all of its games have the same
    first: str | None = None  # if it is about two partners: who was met first
    second: str | None = None
    counted: int | None = None  # in a repeat: the last of its games, as a number among the games that count, from 1
    after: str | None = None  # the page of the last game before, practice or not


def about(page: str, games: Sequence[PlayedGame], partner: str | None = None) -> About:
    """Return what the answers to a page are about.

    Args:
        page: The page's id, with the turns of the repeats around it.
        games: The participant's games that were begun before the page was answered, in that order.
        partner: The partner that the repeats around the page name; for pages without a game before them.
    """
    counted = [game for game in games if not game.practice]
    near = [game for game in counted if is_near(page, game.page)]
    partners = list(dict.fromkeys(game.partner for game in near))
    settings = list(dict.fromkeys(game.setting for game in near))
    two = partners if len(partners) == 2 else [None, None]
    if len(partners) == 1:
        partner = partners[0]
    return About(
        partner=partner if len(partners) < 2 else None,
        setting=settings[0] if len(settings) == 1 else None,
        first=two[0],
        second=two[1],
        counted=counted.index(near[-1]) + 1 if "." in page and near else None,
        after=games[-1].page if games else None,
    )


def is_near(page: str, game: str) -> bool:
    """Return whether a game is in the same turn of the repeats around a page."""
    around = page.rpartition(".")[0]
    return not around or game.startswith(f"{around}.")


def played(rows: Iterable[tuple[str, str, str, bool]]) -> list[PlayedGame]:
    """Return games from rows of page, setting, partner and whether they were practice."""
    return [PlayedGame(page, setting, partner, bool(practice)) for page, setting, partner, practice in rows]
