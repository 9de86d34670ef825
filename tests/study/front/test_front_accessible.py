"""axe-core finds nothing to complain about on any page, on a desktop and on a phone; Hanabi's moves are in view."""

from __future__ import annotations

import pytest

from tests.axe import complaints, needs_axe
from tests.study.front import pages
from tests.study.front.mock import Mock, serve

SIZES = {"laptop": {"width": 1366, "height": 650}, "phone": {"width": 375, "height": 667}}
PAGES = {
    **{page["kind"]: page for page in (pages.CONSENT, pages.FORM, pages.INSTRUCTIONS, pages.QUIZ, pages.RANKING)},
    "feedback": {**pages.QUIZ, "feedback": {"onions": "Three."}, "tries_left": 1},
    "wait": pages.WAIT,
    "done": pages.DONE,
    **{name: pages.game(name, real_time=name in ("overcooked", "rescue")) for name in
       ("overcooked", "rescue", "hanabi", "kitchen")},
}  # fmt: skip
pytestmark = [pytest.mark.browser, needs_axe]


@pytest.fixture(scope="module")
def served():
    mock = Mock()
    with serve(mock) as address:
        yield mock, address


@pytest.fixture
def look(chromium, served):
    """Open a page in a window of this size."""
    mock, address = served
    contexts = []

    def open_page(page, size):
        mock.reset([page])
        touch = {"has_touch": True, "is_mobile": True} if size == "phone" else {}
        context = chromium.new_context(viewport=SIZES[size], reduced_motion="reduce", **touch)
        contexts.append(context)
        shown = context.new_page()
        shown.goto(f"{address}/study/demo")
        shown.wait_for_selector("h1")
        if page["kind"] == "game":
            shown.wait_for_selector("[data-t]")
        return shown

    yield open_page
    for context in contexts:
        context.close()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing(look, keep, name, size):
    page = look(PAGES[name], size)
    wrong = complaints(page)
    assert wrong == [], "\n".join(wrong)
    keep(page, f"axe-{name}-{size}")


@pytest.mark.parametrize("size", SIZES)
def test_hanabis_moves_are_in_view(look, keep, size):
    """Own cards and partner's cards are chosen in turn: what can be done with them never has to be scrolled to."""
    page = look(PAGES["hanabi"], size)
    height = SIZES[size]["height"]
    for card in page.locator(".hanabi-board .card").all():
        card.click()
        for button in page.locator(".hanabi-board .play > .moves button").all():
            box = button.bounding_box()
            assert box is not None
            assert box["y"] >= 0, "above the window"
            assert box["y"] + box["height"] <= height, "below the window"
    page.screenshot(path=str(keep.folder / f"hanabi-view-{size}.png"))
