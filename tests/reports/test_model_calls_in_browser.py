"""The viewer of model calls in a real browser: the search shows calls that hold all words."""

from __future__ import annotations

import os
import shutil

import pytest

import interplay
from interplay.llm import RunPlan, run

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    api = pytest.importorskip("playwright.sync_api", reason="the browser tests drive Chromium by playwright")
    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if not program:
        pytest.skip("no Chromium found; install one or name it in CHROMIUM")
    team = {"chefs": ("scripted/reference",), "assistants": ("scripted/prose",)}
    traces = run(RunPlan(**team, levels=(), dishes=("boiled egg",), episodes=1, horizon=4)).traces  # type: ignore[arg-type]
    file = tmp_path_factory.mktemp("calls") / "page.html"
    interplay.report(traces, file)
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        opened = browser.new_page(viewport={"width": 1200, "height": 900})
        opened.goto(file.as_uri())
        yield opened
        browser.close()


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
