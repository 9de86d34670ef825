"""A game of another package: by its own board, or, where it declares none, by its picture and actions as buttons."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from interplay.agents.registry import AGENTS
from interplay.games.registry import GAMES

pytestmark = pytest.mark.browser

PACKAGE = Path(__file__).parents[3] / "examples" / "own_game"


@pytest.fixture
def served(serve, monkeypatch):
    monkeypatch.syspath_prepend(str(PACKAGE))
    monkeypatch.setitem(GAMES._table, "relay", "relay_game.family:FAMILY")
    monkeypatch.setitem(AGENTS._table, "relay", "relay_game.agents:Runners")

    def start(view, speed):
        import relay_game.family

        monkeypatch.setattr(relay_game.family, "FAMILY", replace(relay_game.family.FAMILY, browser_view=view))
        return serve((PACKAGE / "study.yaml").read_text(encoding="utf-8"), speed=speed)

    return start


MOVED = """t => document.querySelector('.scene-board').dataset.t !== t
    || document.querySelector('.game-end:not([hidden])') !== null"""


def carry(me) -> float:
    """Bring parcels to the shelf, by what the picture's words say, until the game is over."""
    me.playing()
    for _ in range(60):
        seen = me.page.wait_for_selector(".turn.yours, .game-end:visible .primary")
        if "turn" not in (seen.get_attribute("class") or ""):
            break
        words = me.page.get_attribute(".scene img", "alt")
        cell, hands = re.search(r"runner 1 is at cell (\d) (\S+)", words).groups()
        goal = 2 if hands == "with" else 0
        action = "act" if int(cell) == goal else "right" if int(cell) < goal else "left"
        t = me.page.get_attribute(".scene-board", "data-t")
        me.page.locator(f".moves button[data-action={action}]").click()
        me.page.wait_for_function(MOVED, arg=t)
    return me.over()


@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
def test_a_game_of_ones_own_is_played_by_buttons(arrive, served, phone):
    me = arrive(served(None, speed=20), phone=phone)
    me.consent()
    me.playing()
    me.page.wait_for_selector(".scene img")
    me.picture_now("own-game")
    assert carry(me) > 0


@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
def test_a_board_of_ones_own_is_played(arrive, served, phone):
    me = arrive(served("relay_game.view:VIEW", speed=1), phone=phone)
    me.consent()
    me.playing()
    me.page.wait_for_selector(".relay span")
    me.picture_now("own-board")
    t = me.page.get_attribute(".relay-board", "data-t")
    if phone:
        me.page.locator(".moves button[data-action=left]").tap()
    else:
        me.page.keyboard.press("ArrowLeft")
    me.page.wait_for_function("t => document.querySelector('.relay-board').dataset.t > t", arg=t)
    assert "runner 1" in me.page.get_attribute(".relay", "aria-label")
    me.over()
