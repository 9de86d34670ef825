"""Pages of a challenge in a real Chromium: forms, entries, replays; axe-core finds nothing, columns are in view."""

import os
from pathlib import Path

import pytest

from tests.axe import complaints
from tests.challenge.test_challenge_pages import shown  # noqa: F401
from tests.study.conftest import chromium  # noqa: F401

pytestmark = pytest.mark.browser
SIZES = {"laptop": {"width": 1366, "height": 650}, "phone": {"width": 375, "height": 667}}


@pytest.fixture(params=SIZES)
def page(request, shown, chromium):  # noqa: F811
    context = chromium.new_context(viewport=SIZES[request.param])
    opened = context.new_page()
    opened.set_default_timeout(120_000)
    wrong = []
    opened.on("pageerror", lambda e: wrong.append(str(e)))
    opened.on("request", lambda r: None if r.url.startswith((shown.url, "data:")) else wrong.append(r.url))
    opened.size = request.param
    yield opened
    context.close()
    assert wrong == []


@pytest.fixture
def look(page, tmp_path):
    folder = Path(os.environ.get("INTERPLAY_SCREENSHOTS") or tmp_path)

    def check(name):
        page.screenshot(path=folder / f"challenge-{name}-{page.size}.png", full_page=True)
        found = complaints(page)
        assert found == [], f"{name}: " + "\n".join(found)
        over = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert over <= 0, f"{name} is {over} pixels too wide"

    return check


def test_a_team_comes_registers_and_begins(page, shown, look):  # noqa: F811
    page.goto(shown.url)
    look("leaderboard")
    if page.size == "laptop":  # the teamwork columns need no scrolling
        table = page.locator(".wide").first
        assert table.evaluate("node => node.scrollWidth <= node.clientWidth")
    page.click("text=What the columns mean")
    assert page.locator("dl.columns dt").count() >= 8
    page.click("nav >> text=Register")
    look("register")
    page.fill("#team", f"in a browser, {page.size}")
    page.fill("#contact", "us@example.org")
    page.click("button")
    look("registered")
    key = page.locator("dd code").first.inner_text()
    page.click("nav >> text=Begin an evaluation")
    page.fill("#key", "no such key")
    page.fill("#agent", "mine")
    page.fill("#plan", "We expect four games.\n\n<script>document.title = 'x'</script>")
    page.click("button")
    look("refused")
    assert page.input_value("#plan").startswith("We expect four games.")
    page.fill("#key", key)
    page.click("button")
    look("begun")
    page.click("dd a")
    look("entry-begun")


def test_an_entry_and_its_replay(page, shown, look):  # noqa: F811
    page.goto(f"{shown.url}/entries/{shown.keys['evaluation']}")
    look("entry")
    page.click("text=watch >> nth=0")
    page.wait_for_selector(".player .stage svg")
    before = page.locator("output.step").inner_text()
    page.click("button.forward")
    assert page.locator("output.step").inner_text() != before
    look("replay")
