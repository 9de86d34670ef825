"""A real Chromium before a mock of the study's server. Needs playwright and a Chromium (CHROMIUM names its program).

INTERPLAY_SCREENSHOTS names a folder in which the pictures of every page are kept to be looked at.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.study.front.mock import Mock, serve

DESKTOP = {"width": 1200, "height": 860}
PHONE = {"width": 375, "height": 720}


@pytest.fixture(scope="session")
def server():
    mock = Mock()
    with serve(mock) as address:
        yield mock, address


@pytest.fixture
def mock(server):
    return server[0]


@pytest.fixture
def visit(chromium, server):
    """Open the study in a fresh browser; errors, warnings and requests to elsewhere fail the test."""
    mock, address = server
    contexts, wrong = [], []

    def open_page(pages, *, phone=False, ticks=10_000):
        mock.reset(pages, ticks=ticks)
        size = {"viewport": PHONE, "has_touch": True, "is_mobile": True} if phone else {"viewport": DESKTOP}
        context = chromium.new_context(**size, device_scale_factor=1, reduced_motion="reduce")
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on("pageerror", lambda e: wrong.append(str(e)))
        page.on("console", lambda m: wrong.append(m.text) if m.type in ("error", "warning") else None)
        page.on("request", lambda r: None if r.url.startswith((address, "data:")) else wrong.append(r.url))
        page.goto(f"{address}/study/demo")
        page.wait_for_selector("h1")
        return page

    open_page.wrong = wrong
    yield open_page
    for context in contexts:
        context.close()
    assert [w for w in wrong if "status of 4" not in w and "status of 5" not in w] == []  # refusals on purpose


@pytest.fixture(scope="session")
def keep(tmp_path_factory):
    """Save a picture of the page, and see that it is not empty and does not scroll sideways."""
    kept = os.environ.get("INTERPLAY_SCREENSHOTS")
    folder = Path(kept) if kept else tmp_path_factory.mktemp("screenshots")
    folder.mkdir(parents=True, exist_ok=True)

    def save(page, name):
        path = folder / f"{name}.png"
        page.screenshot(path=path, full_page=True)
        assert path.stat().st_size > 5000
        assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]

    save.folder = folder
    return save
