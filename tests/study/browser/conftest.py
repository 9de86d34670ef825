"""A real Chromium before the real server. Needs playwright and a Chromium (CHROMIUM names its program).

INTERPLAY_SCREENSHOTS names a folder in which the pictures of every page are kept to be looked at.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest
import yaml

from interplay.server.app import Base
from interplay.server.database import SERVER, open_database
from interplay.study.db.schema import HISTORY
from interplay.study.http.app import build
from interplay.study.protocol.reading import parse
from tests.study.browser.person import DESKTOP, PHONE, Person
from tests.study.conftest import serving

STUDIES = Path(__file__).parents[3] / "studies"


def quick(study: str, /, *, steps: int | None = None, **changes) -> str:
    """A study of ours whose games last fewer steps; all else is as its file says, but for `changes`."""
    data = yaml.safe_load((STUDIES / f"{study}.yaml").read_text(encoding="utf-8"))
    for setting in data["games"].values():
        if steps is not None:
            setting["options"] = {**setting.get("options", {}), "horizon": steps}
    return yaml.safe_dump({**data, **changes}, allow_unicode=True, sort_keys=False)


@pytest.fixture(scope="session")
def serve(tmp_path_factory):
    """Serve a study from its text; once made it is there for all tests that ask for the same."""
    held = {}
    with contextlib.ExitStack() as stack:

        def start(text: str, *, speed: float = 1.0):
            if (text, speed) not in held:
                protocol = parse(text)
                database = open_database(str(tmp_path_factory.mktemp(protocol.name) / "study.db"), (SERVER, HISTORY))
                stack.callback(database.close)
                base = Base(database)
                app = build(protocol, base, sizes=(1, 2), speed=speed)
                served = stack.enter_context(serving(app, base))
                held[text, speed] = served
            return held[text, speed]

        yield start


@pytest.fixture(scope="session")
def pictures(tmp_path_factory):
    kept = os.environ.get("INTERPLAY_SCREENSHOTS")
    folder = Path(kept) if kept else tmp_path_factory.mktemp("screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
def arrive(chromium, pictures):
    """Someone comes with a fresh browser. Errors, warnings and requests to elsewhere fail the test."""
    contexts, wrong = [], []

    def come(served, *, phone: bool = False, query: str = "", language: str = "en-GB") -> Person:
        size = {"viewport": PHONE, "has_touch": True, "is_mobile": True} if phone else {"viewport": DESKTOP}
        context = chromium.new_context(**size, locale=language, device_scale_factor=2 if phone else 1)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)  # the first game of a kind is compiled while someone waits for it
        page.on("pageerror", lambda e: wrong.append(str(e)))
        page.on("console", lambda m: wrong.append(m.text) if m.type in ("error", "warning") else None)
        page.on("request", lambda r: None if r.url.startswith((served.url, "data:", "blob:")) else wrong.append(r.url))
        page.goto(f"{served.url}/study/{served.host.protocol.name}{query}")
        page.wait_for_selector("main[data-page]")
        return Person(page, served, pictures, phone)

    come.wrong = wrong
    yield come
    for context in contexts:
        context.close()
    assert wrong == []
