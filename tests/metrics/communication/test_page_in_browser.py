"""The page of judged messages in a real browser: the filter shows one outcome, by mouse and by keyboard."""

from __future__ import annotations

import pytest

from interplay.reports.communication import audit
from tests.chromium import opened
from tests.metrics.communication.scripts import transcript
from tests.metrics.communication.test_measures import COOKED, SERVED
from tests.metrics.communication.test_measures import TestTalk as Talk

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    file = audit([transcript(COOKED, **SERVED), transcript(Talk.script)]).report().write(
        tmp_path_factory.mktemp("audit") / "audit.html"
    )  # fmt: skip
    with opened(file) as shown:
        yield shown


def visible(page) -> list[str]:
    rows = page.locator(".judged tbody tr")
    return [row.get_attribute("class") for row in rows.all() if row.is_visible()]


def test_the_filter_shows_one_outcome(page):
    assert len(visible(page)) == 8
    for category, count in (("effective", 4), ("redundant", 1), ("unstructured", 1)):
        page.locator(".judged label", has_text=f"{category} {count}").first.click()
        assert visible(page) == [category] * count
    page.locator(".judged label", has_text="all 8").click()
    assert len(visible(page)) == 8


def test_by_keyboard(page):
    page.locator(".judged input[value=all]").focus()
    page.keyboard.press("ArrowRight")
    assert set(visible(page)) == {"effective"}
