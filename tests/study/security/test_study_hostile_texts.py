"""Whatever a person can write reaches researchers as text: in pages, tables and downloads, and never as code."""

import dataclasses
import io
import json
import re
import zipfile

import pytest

from interplay.rollout.episode import RecordedEvent
from interplay.study.admin import replay, researchers
from interplay.study.db import participants
from interplay.study.db.connect import open_study_database
from interplay.study.db.game_rows import pack
from interplay.study.protocol.reading import parse
from tests.manual_clock import ManualClock
from tests.study.researcher.conftest import PASSWORD, Study
from tests.study.texts import form, study

TEXTS = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'; alert(1); //",
    "</textarea><svg onload=alert(1)>",
    "javascript:alert(1)",
    "{{ 7 * 7 }} {% raw %}",
    "=HYPERLINK(1)\u202e",
    "<!-- --!><iframe srcdoc=x>",
]
FORM = form("ask", "{id: why, type: text, label: Why, max: 200}")
MARKS = re.compile(r"<(?:script|img|svg|iframe|textarea|!--)[^>]*?(?:alert|onerror|onload|srcdoc|--!)", re.I)
PAGES = ("monitor", "participants", "games", "payments", "audit", "export")


@pytest.fixture
def hostile(tmp_path):
    database, clock = open_study_database(str(tmp_path / "hostile.db")), ManualClock()
    protocol = parse(study("small", FORM))
    found = Study(database, clock, protocol)
    database.write(participants.open_study, clock, protocol)
    found.numbers = []
    for text in TEXTS:
        number = database.write(participants.enter, clock, protocol, "en", text)[0].id
        database.write(participants.submit, clock, protocol, number, "consent", {"agree": True}, 1.0, recruit=text)
        assert not database.write(participants.submit, clock, protocol, number, "ask", {"why": text}, 1.0)
        found.numbers.append(number)
    yield found
    database.close()


def test_answers_are_shown_as_text(hostile):
    browser = hostile.logged_in()
    for number, text in zip(hostile.numbers, TEXTS, strict=True):
        public = hostile.database.read(participants.person, number).public
        page = browser.get(f"/researcher/participants/{public}").text
        assert not MARKS.search(page), text
        assert "49" not in re.findall(r"<td[^>]*>(\d+)</td>", page)
    for place in PAGES:
        assert not MARKS.search(browser.get(f"/researcher/{place}").text)


def test_names_at_the_login_and_in_the_audit_log_are_text(hostile):
    for text in TEXTS[:3]:
        guest = hostile.client()
        page = guest.fill_in("/researcher/login", {"name": text, "password": "x"}, page="/researcher")
        assert page.status_code == 401
        assert not MARKS.search(page.text)
        assert guest.get(f"/researcher/invite?key={text}").status_code in (400, 404)
    hostile.database.write(researchers.add, hostile.clock, "<b>eve</b>", password=PASSWORD)
    browser = hostile.logged_in("<b>eve</b>")
    for query in (
        "audit",
        "audit?action=%3Cscript%3E",
        "participants?status=%22%3E%3Cscript%3E",
        "games?setting=%3Csvg%3E",
    ):
        page = browser.get(f"/researcher/{query}").text
        assert "<b>eve</b>" not in page
        assert not MARKS.search(page)


def test_downloads_hold_the_texts_and_are_not_pages(hostile):
    browser = hostile.logged_in()
    answer = browser.fill_in("/researcher/export", {"format": "csv", "traces": "no"})
    assert answer.headers["content-type"] == "application/zip"
    assert "attachment" in answer.headers["content-disposition"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    files = zipfile.ZipFile(io.BytesIO(answer.content))
    name = next(name for name in files.namelist() if name.endswith("answers.csv"))
    table = files.read(name).decode()
    assert all(text.split('"')[0] in table for text in TEXTS)


def test_what_people_say_in_games_is_text_in_the_researchers_replay():
    """A chat message reaches the page as data of its player, which cannot end the script element that holds it."""
    import interplay

    world = interplay.make("kitchen/nrc", horizon=3)
    (episode,) = interplay.play(world, ["stay", "stay"], episodes=1)
    said = tuple(
        RecordedEvent(t=0, seq=seq, seat=0, kind="message", payload={"text": text, "to": 1})
        for seq, text in enumerate([*TEXTS, "</script><script>alert(1)</script>"], start=100)
    )
    html = replay.page(pack(dataclasses.replace(episode, events=(*episode.events, *said))), {"title": TEXTS[0]})
    assert not MARKS.search(html)
    (island,) = re.findall(r'<script type="application/json" class="episodes">(.*?)</script>', html, re.DOTALL)
    remarks = [remark["text"] for remark in json.loads(island)[0]["remarks"]]
    assert all(any(text in remark for remark in remarks) for text in TEXTS)
    assert len(re.findall(r"<script\b", html)) == 2  # the player's data, and the page's own
