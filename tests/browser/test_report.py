"""The report in a real browser: it plays, steps, jumps, sorts, and asks nothing of the network.

Run with `pytest -m browser`; needs the package playwright and a Chromium (CHROMIUM names its program).
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from interplay.games.scene import Scene
from interplay.reports import (
    Figure,
    Mark,
    Point,
    Report,
    ReportReplay,
    TableSection,
    Text,
    heat_map,
    replay_data,
    scatter,
    timeline,
)
from interplay.table import Table
from tests.axe import complaints, needs_axe
from tests.chromium import launched

pytestmark = pytest.mark.browser


def episode(title: str) -> dict:
    """A dot that walks to the right; seat 1 scores at step 10."""

    def scene(state, seat=None):
        fill = "#aa0000" if seat is None else "#00aa00"
        return Scene(
            100,
            40,
            (("rect", 0, 0, 100, 40, "#eeeeee", 0),),
            (("group", int(state), 20, (("circle", 0, 0, 3, fill),)),),
        )

    game = SimpleNamespace(
        id="walk", num_seats=2, seat_names=("left", "right"), action_names=("go", "wait"), event_names=(), scene=scene
    )
    rewards = np.zeros((30, 2))
    rewards[9, 1] = 20
    states = list(range(31))
    return replay_data(
        game, states, np.zeros((30, 2), int), rewards, title=title, agents=["<b>a</b>", "</script>"], seat_views=True,
        marks=[Mark(5, 0, "hand-over", to=1)], remarks=[{"t": 4, "seat": 0, "kind": "message", "text": "<i>hi</i>"}],
    )  # fmt: skip


def report() -> Report:
    table = Table.of([{"agent": a, "score": s} for a, s in (("x", 9.5), ("y", None), ("z", 100.0), ("w", -3.0))])
    marks = [Mark(12, 0, "hand-over", to=1, until=14)]
    return Report(
        "Browser test",
        [
            Text("Watch [the second](#replay-1@7)."),
            TableSection(table, "Scores"),
            Figure(heat_map(["a" * 40, "b"], ["c", "d" * 40], [[1, 2], [3, 4]], title="h"), "Map"),
            Figure(scatter([Point(1, 2), Point(2, 1)], title="s", x_title="x", y_title="y"), "Scatter"),
            Figure(timeline(["a", "b"], marks, steps=30, title="t", episode=0), "Timeline"),
            ReportReplay([episode("first"), episode("second")]),
        ],
    )


@pytest.fixture(scope="module")
def chromium():
    with launched() as browser:
        yield browser


@pytest.fixture(scope="module")
def url(tmp_path_factory) -> str:
    return report().write(tmp_path_factory.mktemp("report") / "report.html").as_uri()


@needs_axe
def test_axe_finds_nothing(page):
    for summary in page.locator("details > summary").all():
        summary.click()
    assert complaints(page) == []


@pytest.fixture
def page(chromium, url):
    """A page of which every error, dialog and request from outside fails the test."""
    context = chromium.new_context(viewport={"width": 1200, "height": 900}, reduced_motion="reduce")
    opened = context.new_page()
    wrong: list[str] = []
    opened.on("pageerror", lambda e: wrong.append(str(e)))
    opened.on("console", lambda m: wrong.append(m.text) if m.type in ("error", "warning") else None)
    opened.on("request", lambda r: None if r.url.startswith(("file:", "data:")) else wrong.append(r.url))
    opened.on("dialog", lambda d: wrong.append(d.message))
    opened.goto(url)
    yield opened
    context.close()
    assert wrong == []


def at(page) -> tuple[str, int]:
    player = page.locator(".player")
    return player.get_attribute("data-episode"), int(player.get_attribute("data-t"))


def wait_until(page, reached) -> None:
    """Poll from here: the page's own policy forbids evaluating strings in it."""
    for _ in range(200):
        if reached(at(page)[1]):
            return
        page.wait_for_timeout(25)
    raise AssertionError(f"still at step {at(page)[1]} after five seconds")


def dot(page) -> str:
    return page.locator(".stage g g").get_attribute("transform")


def test_steps_by_button_and_key(page):
    assert at(page) == ("0", 0)
    page.click(".forward")
    assert at(page) == ("0", 1)
    assert dot(page) == "translate(1 20)"
    page.locator(".player").focus()
    for key, t in (("ArrowRight", 2), ("Shift+ArrowRight", 12), ("ArrowLeft", 11), ("ArrowUp", 10), ("ArrowUp", 5),
                   ("ArrowDown", 10), ("End", 30), ("Home", 0)):  # fmt: skip
        page.keyboard.press(key)
        assert at(page)[1] == t, key


def test_space_plays_and_pauses(page):
    page.select_option(".speed", "60")
    page.locator(".player").focus()
    page.keyboard.press(" ")
    wait_until(page, lambda t: t > 3)
    page.keyboard.press(" ")
    stopped = at(page)[1]
    page.wait_for_timeout(150)
    assert at(page)[1] == stopped
    page.click(".play")
    wait_until(page, lambda t: t == 30)
    assert page.locator(".play").get_attribute("aria-label") == "Play"  # it stops at the end


def test_score_actions_and_talk_follow_the_step(page):
    assert page.inner_text(".points") == "0"
    page.evaluate("interplay.jump(0, 10)")
    assert page.inner_text(".points") == "20"
    assert "right, +20 points" in page.inner_text(".happening")
    assert page.locator(".seats li").nth(1).inner_text().split("\n")[0] == "</script>"
    assert "20 points" in page.locator(".seats li").nth(1).inner_text()
    assert page.locator(".talk li").inner_text().endswith("<i>hi</i>")
    assert page.locator(".talk i, .seats b").count() == 0


def test_links_marks_and_addresses_jump(page, url):
    page.click("text=the second")
    assert at(page) == ("1", 7)
    assert dot(page) == "translate(7 20)"
    page.locator("svg a.mark").last.click()
    assert at(page) == ("0", 12)
    page.locator(".ticks button").first.click()
    assert at(page) == ("0", 5)
    page.goto("about:blank")
    page.goto(url + "#replay-1@22")
    assert at(page) == ("1", 22)
    assert page.locator(".player").evaluate("p => p.getBoundingClientRect().top < innerHeight")


def test_seat_views_can_be_chosen(page):
    assert page.locator(".view option").all_inner_texts() == ["everything", "left", "right"]
    page.select_option(".view", "1")
    assert page.locator(".stage g circle").get_attribute("fill") == "#00aa00"


def test_scrubbing(page):
    page.locator(".scrub").fill("17")
    assert at(page)[1] == 17


def test_tables_sort_with_nulls_last(page):
    def column():
        return page.locator("tbody tr td:first-child").all_inner_texts()

    page.click("th.num .sort")
    assert column() == ["z", "x", "w", "y"]
    page.click("th.num .sort")
    assert column() == ["w", "x", "z", "y"]
    page.click("th:first-child .sort")
    assert column() == ["w", "x", "y", "z"]
    assert page.locator("th[aria-sort]").count() == 1


@pytest.mark.parametrize("width", [360, 768, 1400])
def test_the_page_never_scrolls_sideways(page, width):
    page.set_viewport_size({"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_dark_mode_by_system_and_by_button(chromium, url, page):
    def background(where):
        return where.evaluate("getComputedStyle(document.body).backgroundColor")

    assert background(page) == "rgb(255, 255, 255)"
    page.click(".theme")
    dark = background(page)
    assert dark != "rgb(255, 255, 255)"
    context = chromium.new_context(color_scheme="dark")
    other = context.new_page()
    other.goto(url)
    assert background(other) == dark
    context.close()


def test_the_first_frame_is_there_without_scripts(chromium, url):
    context = chromium.new_context(java_script_enabled=False)
    plain = context.new_page()
    plain.goto(url)
    assert plain.locator(".stage circle").count() == 1
    context.close()
