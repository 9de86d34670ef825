"""Whoever wants to stop taking part can, on every page: by mouse, by keyboard, by finger; and is asked once."""

from __future__ import annotations

import pytest

from tests.study.browser.person import WALK
from tests.study.front import pages as p
from tests.study.front.test_front_games import actions, playing, until

pytestmark = pytest.mark.browser

LEFT = p.base("done", "The end", "<p>You have stopped.</p>", code="PART", url=None, payment=None, erasable=True)
STOP, NO, YES = "header button.stop", "dialog .primary", "dialog .grave"


def stopped(page) -> None:
    page.wait_for_selector("h1:text-is('The end')")


@pytest.mark.parametrize("phone", [False, True], ids=["desktop", "phone"])
@pytest.mark.parametrize(
    "shown", [p.FORM, p.INSTRUCTIONS, p.QUIZ, p.RANKING, p.WAIT, p.game("overcooked"), p.game("hanabi")],
    ids=lambda page: page.get("game", page["kind"]),
)  # fmt: skip
def test_it_is_in_reach_on_every_page_and_at_its_end(visit, mock, keep, shown, phone):
    page = visit([dict(shown), LEFT], phone=phone)
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    place = page.locator(STOP).bounding_box()
    assert place["y"] >= 0
    assert place["y"] + place["height"] < page.viewport_size["height"]
    (page.tap if phone else page.click)(STOP)
    page.wait_for_selector("dialog h2")
    assert page.evaluate(WALK) == []
    keep(page, f"stop-{shown.get('game', shown['kind'])}-{'phone' if phone else 'desktop'}")
    assert mock.left == []
    (page.tap if phone else page.click)(YES)
    stopped(page)
    assert mock.left == ["withdraw"]
    assert page.locator(STOP).count() == 0
    assert page.inner_text("output.code") == "PART"


def test_by_keyboard_and_no_is_what_comes_first(visit, mock):
    page = visit([p.FORM, LEFT])
    page.fill("#q-q6", "kept")
    page.locator(STOP).focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog")
    page.keyboard.press("Enter")  # who is in a hurry stays
    page.wait_for_selector("dialog", state="detached")
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    assert (mock.left, page.input_value("#q-q6")) == ([], "kept")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    stopped(page)
    assert mock.left == ["withdraw"]


def test_tab_leads_to_it(visit):
    page = visit([p.game("overcooked"), LEFT])
    seen = []
    for _ in range(40):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.className"))
    assert "stop" in seen


def test_who_stays_in_a_game_has_its_keys_again(visit, mock):
    page = visit([p.game("overcooked"), LEFT])
    playing(page, mock)
    page.click(STOP)
    page.keyboard.press("ArrowRight")  # while it is asked, nobody moves
    page.click(NO)
    page.wait_for_selector("dialog", state="detached")
    page.keyboard.press("ArrowRight")
    until(page, lambda: mock.game.where == (2, 1), "the step")
    page.keyboard.press("Space")
    page.wait_for_selector("text=You hold: onion")
    assert page.locator("dialog").count() == 0
    assert actions(mock) == ["east", "interact"]


def test_who_declines_the_consent_is_asked_once_too(visit, mock):
    page = visit([p.CONSENT, p.FORM, {**LEFT, "code": None, "erasable": False}])
    assert page.locator(STOP).count() == 0
    page.click("button.decline")
    page.click(YES)
    stopped(page)
    assert (mock.left, mock.answers) == (["withdraw"], [])


def test_nothing_is_left_in_the_browser(visit):
    page = visit([p.FORM, LEFT])
    page.fill("#q-q6", "a secret")
    page.click(STOP)
    page.click(YES)
    stopped(page)
    assert "a secret" not in page.evaluate("JSON.stringify(localStorage)")


@pytest.mark.parametrize("owed", [None, "EUR 2.00"])
def test_who_has_stopped_may_be_erased(visit, mock, keep, owed):
    page = visit([p.FORM, {**LEFT, "payment": owed}])
    page.click(STOP)
    page.click(YES)
    stopped(page)
    keep(page, "stopped-desktop")
    page.click(".erase button")
    assert ("can no longer be paid" in page.inner_text("dialog")) == (owed is not None)
    page.click(NO)
    page.wait_for_selector("dialog", state="detached")
    assert mock.left == ["withdraw"]
    page.click(".erase button")
    page.click(YES)
    page.wait_for_selector("text=All is erased.")
    assert mock.left == ["withdraw", "erase"]
    assert page.locator(".erase").count() == 0


def test_a_reply_that_was_on_its_way_does_not_bring_the_study_back(visit, mock):
    """An answer that is slow to be taken comes back after the person has stopped."""
    page = visit([p.INSTRUCTIONS, p.FORM, LEFT])
    slow = []
    page.route("**/answer", lambda route: slow.append((route, route.fetch())))
    page.click("main .primary")
    until(page, lambda: slow, "the answer")
    page.click(STOP)
    page.click(YES)
    stopped(page)
    [(route, response)] = slow
    assert response.json()["page"]["kind"] == "form"
    route.fulfill(response=response)
    page.wait_for_timeout(500)
    assert page.locator("h1").inner_text() == "The end"
