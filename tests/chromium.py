"""A real Chromium, driven by playwright; CHROMIUM names its program."""

import contextlib
import os
import shutil

import pytest

FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


@contextlib.contextmanager
def launched():
    """A browser while the block runs; the test is skipped where there is none."""
    api = pytest.importorskip("playwright.sync_api", reason="the browser tests drive Chromium by playwright")
    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if not program:
        pytest.skip("no Chromium found; install one or name it in CHROMIUM")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


@contextlib.contextmanager
def opened(file):
    """The page of a file in a browser of its own."""
    with launched() as browser:
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        page.goto(file.as_uri())
        yield page
