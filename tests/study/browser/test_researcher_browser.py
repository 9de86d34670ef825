"""A researcher before a real Chromium chooses a password, watches a simulated study, replays, pays, exports, erases."""

from __future__ import annotations

import asyncio
import re
import threading
import zipfile

import pytest

from interplay.server.app import Base
from interplay.server.clock import SystemClock
from interplay.study.admin import researchers
from interplay.study.db import records
from interplay.study.db.connect import open_study_database
from interplay.study.http.app import build
from interplay.study.simulation.run import SimulatedParticipant, SimulatedWorlds
from interplay.traces import verify
from tests.axe import complaints
from tests.study.browser.person import DESKTOP, PHONE, WALK
from tests.study.conftest import serving
from tests.study.researcher.filling import fill, play_episodes, protocol

pytestmark = pytest.mark.browser
PASSWORD = "a password of mine"


class Ticking(SystemClock):
    """The real time, for a filler that would move it."""

    def advance(self, seconds):
        pass


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A study with a past, and one simulated person who plays right now."""
    setting = protocol().games["kitchen"].model_copy(update={"options": {"horizon": 150}})
    made = protocol(games={"kitchen": setting})
    database = open_study_database(str(tmp_path_factory.mktemp("researcher") / "tiny.db"))
    clock = Ticking()
    filler, names, _ = fill(database, clock, made, play_episodes())
    for at in range(4):
        filler.finish(filler.person(f"63dd0aa1b2c3d4e5f6a7b8c{at}"), about="I like cooking")
    base = Base(database)
    with serving(build(made, base, sizes=(1, 2)), base) as served:
        served.names, served.protocol = names, made
        yield served
    database.close()


@pytest.fixture
def someone_plays(study):
    """One simulated person goes through the study at the speed of people."""
    walker = SimulatedParticipant(study.protocol, study.url, 1, 3, SimulatedWorlds(study.protocol))
    thread = threading.Thread(target=lambda: asyncio.run(walker.go()), daemon=True)
    thread.start()
    yield walker
    thread.join(120)
    assert walker.visit.status == "done"


@pytest.fixture
def page(chromium, study):
    context = chromium.new_context(viewport=DESKTOP, accept_downloads=True)
    found = context.new_page()
    found.set_default_timeout(60_000)
    wrong = []
    found.on("pageerror", lambda e: wrong.append(str(e)))
    found.on("console", lambda m: wrong.append(m.text) if m.type in ("error", "warning") else None)
    found.on("request", lambda r: None if r.url.startswith((study.url, "data:", "blob:")) else wrong.append(r.url))
    yield found
    context.close()
    assert [told for told in wrong if "status of 401" not in told] == []  # which the browser tells of a wrong password


def look(page, pictures, name):
    """Pictures on a desktop and on a phone, and nothing on the page cut off, nameless or illegible."""
    for size, view in (("phone", PHONE), ("desktop", DESKTOP)):
        page.set_viewport_size(view)
        page.wait_for_function("width => innerWidth === width", arg=view["width"])
        page.screenshot(path=pictures / f"researcher-{name}-{size}.png", full_page=True)
        wrong = complaints(page)
        assert wrong == [], f"{name} on a {size}: " + "\n".join(wrong)
        assert page.evaluate("document.documentElement.scrollWidth") <= view["width"], f"{name} on a {size}"
    assert page.evaluate(WALK) == []


def test_a_researcher_watches_replays_pays_exports_and_erases(study, page, pictures, someone_plays, tmp_path):
    key = study.base.database.write(researchers.first_invitation, study.base.clock, "tiny")
    page.goto(f"{study.url}/researcher/invite?key={key}")
    look(page, pictures, "invited")
    page.fill("input[name=password]", PASSWORD)
    page.fill("input[name=again]", PASSWORD)
    page.click("button[type=submit]")

    # The monitor goes on by itself while someone plays.
    page.wait_for_selector("#running + table progress")
    assert page.url.endswith("/researcher/monitor")
    first = step(page)
    page.wait_for_function("t => Number(document.querySelector('#running + table progress').value) > t", arg=first)
    look(page, pictures, "monitor")

    page.click("nav >> text=Participants")
    assert page.locator("tbody tr").count() == 11
    look(page, pictures, "participants")
    ann = study.names["ann"]
    page.click(f"text={ann}")
    look(page, pictures, "participant")

    with page.expect_download() as got:
        page.click("text=Download")
    with zipfile.ZipFile(got.value.path()) as archive:
        archive.extractall(tmp_path)
    assert [row["participant"] for row in records.load(tmp_path / f"tiny-{ann}").participants] == [ann]

    page.click("nav >> text=Games")
    look(page, pictures, "games")
    page.click("text=replay >> nth=0")
    page.wait_for_selector(".player .stage svg")
    page.press(".player", "ArrowDown")
    page.wait_for_selector(".player:not([data-t='0'])")  # at the first mark
    page.screenshot(path=pictures / "researcher-replay.png", full_page=True)
    assert re.search(r"participant [0-9a-f]{12} in seat 0 with (still|wild)", page.inner_text("header"))
    page.go_back()

    for name in ("Design", "Payments", "Export", "Audit log"):
        page.click(f"nav >> text={name}")
        look(page, pictures, name.lower().replace(" ", "-"))

    page.click("nav >> text=Payments")
    page.check(f"input[value='{ann}']")
    page.click("text=Mark the chosen as paid")
    assert page.inner_text("[role=status]") == "Noted as paid."
    page.fill("textarea[name=ids]", "60aa0aa1b2c3d4e5f6a7b8c9\nunknown-id")
    page.click("text=Make the lines")
    assert "60aa0aa1b2c3d4e5f6a7b8c9," in page.input_value("textarea[readonly]")
    look(page, pictures, "payments-bulk")

    page.click("nav >> text=Export")
    page.check("input[value=parquet]")
    with page.expect_download() as got:
        page.click("text=Download a zip")
    with zipfile.ZipFile(got.value.path()) as archive:
        archive.extractall(tmp_path)
    assert verify(records.load(tmp_path / "tiny").traces).ok

    page.goto(f"{study.url}/researcher/participants/{ann}")
    page.fill("input[name=confirm]", ann)
    page.click("button.danger")
    assert "erased" in page.inner_text("[role=status]")
    assert ann not in page.inner_text("tbody")
    page.click("nav >> text=Audit log")
    page.select_option("select[name=action]", "erase")
    page.click("text=Show")
    assert ann in page.inner_text("tbody")

    page.click("text=Log out")
    page.goto(f"{study.url}/researcher/participants")
    assert page.locator("input[type=password]").count() == 1


def step(page):
    return page.evaluate("Number(document.querySelector('#running + table progress').value)")


def test_the_login_says_what_is_wrong(study, page, pictures):
    page.goto(f"{study.url}/researcher")
    page.fill("input[name=name]", "nobody")
    page.fill("input[name=password]", "nothing at all")
    page.click("button[type=submit]")
    assert page.inner_text("[role=alert]") == "name or password is wrong"
    look(page, pictures, "login")
