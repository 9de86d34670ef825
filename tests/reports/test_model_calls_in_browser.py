"""The viewer of model calls in a real browser: the search shows calls that hold all words."""

from __future__ import annotations

import pytest

import interplay
from interplay.llm import RunPlan, run
from tests.chromium import opened

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    team = {"chefs": ("scripted/reference",), "assistants": ("scripted/prose",)}
    traces = run(RunPlan(**team, levels=(), dishes=("boiled egg",), episodes=1, horizon=4)).traces  # type: ignore[arg-type]
    file = tmp_path_factory.mktemp("calls") / "page.html"
    interplay.report(traces, file)
    with opened(file) as shown:
        yield shown


def test_the_search_shows_calls_with_all_words(page):
    calls = page.locator(".calls article")
    everything = calls.count()
    page.locator(".calls input[type=search]").fill("NOT READ correct")
    shown = [call for call in calls.all() if call.is_visible()]
    assert 0 < len(shown) < everything
    assert all("not read" in call.inner_text() for call in shown)
    assert page.locator(".calls .count").inner_text() == str(len(shown))
    page.locator(".calls input[type=search]").fill("")
    assert len([call for call in calls.all() if call.is_visible()]) == everything
