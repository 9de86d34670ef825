"""Every page shows what is in the participants, and only to researchers of this study."""

import re

import pytest

from interplay.server import sessions
from interplay.study.admin import researchers
from interplay.study.admin.auth import COOKIE
from interplay.study.db import participants, records
from interplay.study.db.withdrawals import withdraw
from tests.study.researcher.conftest import PASSWORD, Study
from tests.study.researcher.filling import Filler, protocol

PAGES = ("monitor", "monitor/now", "participants", "games", "design", "payments", "export", "audit")
POSTS = ("logout", "payments/mark", "payments/unmark", "payments/csv", "payments/bulk", "export")


@pytest.fixture(scope="module")
def browser(held):
    return held.logged_in()


def text(browser, path):
    answer = browser.get(f"/researcher/{path}")
    assert answer.status_code == 200, answer.text
    assert "<script>" not in answer.text
    assert "<b>the cook</b>" not in answer.text  # escaped
    assert answer.headers["content-security-policy"].startswith(
        "default-src 'none'; style-src 'self'; script-src 'self'"
    )
    return answer.text


def test_the_monitor_tells_who_is_where(browser, held):
    shown = text(browser, "monitor")
    assert held.names["eve"] in shown
    assert "rounds.1.game" in shown
    assert held.names["fay"] in shown
    assert held.names["ann"] not in shown  # done
    assert "/researcher/files/monitor.js" in shown
    part = text(browser, "monitor/now")
    assert held.names["eve"] in part
    assert "<html" not in part


def test_participants_come_with_state_progress_and_cell(browser, held):
    shown = text(browser, "participants")
    assert all(name in shown for name in held.names.values())
    assert shown.count('class="status done"') == 3
    assert "NOFIT" not in shown
    screened = text(browser, "participants?status=screened")
    assert held.names["dan"] in screened
    assert held.names["ann"] not in screened
    assert re.search(r'class="cell">rounds [12]<', text(browser, "participants?status=done"))
    assert text(browser, "participants?status=nonsense").count('class="id"') == 6


def test_one_participant_has_answers_games_events_and_payment(browser, held):
    shown = text(browser, f"participants/{held.names['ann']}")
    assert "I am ann &lt;b&gt;the cook&lt;/b&gt;" in shown
    assert "version 3 in en" in shown
    assert shown.count("/replay") == 2
    assert "leave" in shown
    assert "EUR" in shown
    assert browser.get("/researcher/participants/nobody").status_code == 404


def test_who_stopped_taking_part_is_shown_with_the_page(filled):
    filled.database.write(withdraw, filled.clock, filled.protocol, filled.numbers["eve"], 7)
    browser = filled.logged_in()
    assert re.search(r'class="figure">1</span> <span class="status withdrawn"', text(browser, "monitor"))
    assert "rounds.1.game" in text(browser, "participants?status=withdrawn")
    shown = text(browser, f"participants/{filled.names['eve']}")
    assert "stopped at rounds.1.game" in shown
    assert 'class="status abandoned"' in shown


def test_games_can_be_told_apart(browser, held):
    assert text(browser, "games").count("/replay") == 7
    assert text(browser, "games?partner=wild").count(">replay<") == 3
    assert text(browser, "games?partner=nonsense").count("/replay") == 7
    assert "stay" in text(browser, "games")  # agents' names are for researchers


def test_the_design_tells_how_full_it_is(browser, held):
    shown = text(browser, "design")
    assert "2 of 2 sequences handed out" in shown
    assert "still → wild" in shown
    assert "wild → still" in shown


def test_payments_have_the_rule_and_the_sums(browser, held):
    shown = text(browser, "payments")
    assert "5 + mean(scores)" in shown
    assert "NOFIT" in shown
    assert "for 3 people" in shown


def test_export_and_audit_are_there(browser, held):
    assert "interplay study export" in text(browser, "export")
    shown = text(browser, "audit")
    assert "login" in shown
    assert "testclient" not in shown  # no addresses


def test_pages_carry_their_own_files_and_no_others(browser):
    assert browser.get("/researcher/files/researcher.css").headers["content-type"].startswith("text/css")
    for name in ("pages.py", "..%2fpages.py", "templates%2fpage.html.j2", "nothing.css"):
        assert browser.get(f"/researcher/files/{name}").status_code == 404


@pytest.mark.parametrize("path", [*PAGES, "participants/x", "games/1/replay"])
def test_no_page_without_a_login(held, path):
    answer = held.client().get(f"/researcher/{path}")
    assert answer.status_code == 401
    assert held.names["ann"] not in answer.text
    assert "password" in answer.text


@pytest.mark.parametrize("path", [*POSTS, "participants/x/erase"])
def test_no_deed_without_a_login(held, path):
    answer = held.client().post(f"/researcher/{path}", data={"csrf": "0" * 64})
    assert answer.status_code == 401


def test_a_participants_visit_opens_nothing(held):
    _, _, token = held.database.write(participants.enter, held.clock, held.protocol, "en", None)
    browser = held.client()
    browser.cookies.set(COOKIE, token)
    assert browser.get("/researcher/participants").status_code == 401


@pytest.fixture
def other(held, episodes):
    """Another study in the same database, with a researcher of its own."""
    study = protocol("other")
    filler = Filler(held.database, held.clock, study, episodes)
    made = Study(held.database, held.clock, study, add=False)
    made.number = filler.person()
    made.name = filler.public(made.number)
    return made


def test_another_studys_visit_and_researcher_are_refused(held, other):
    name = f"only-other-{other.number}"
    held.database.write(researchers.add, held.clock, name, study="other", password=PASSWORD)
    there = other.logged_in(name)
    assert there.get("/researcher/participants").status_code == 200
    here = held.client()
    here.cookies.set(COOKIE, there.cookies[COOKIE], path="/researcher")
    assert here.get("/researcher/participants").status_code == 401
    assert held.client().log_in(name, PASSWORD).status_code == 401
    both = other.logged_in("ana")  # an account of all studies; its visit is of one
    here.cookies.clear()
    here.cookies.set(COOKIE, both.cookies[COOKIE], path="/researcher")
    assert here.get("/researcher/participants").status_code == 401


def test_another_studys_people_and_games_are_not_shown(held, other, browser):
    assert other.name not in text(browser, "participants")
    assert browser.get(f"/researcher/participants/{other.name}").status_code == 404
    theirs = other.logged_in("ana")
    assert theirs.get("/researcher/games/1/replay").status_code == 404
    assert theirs.get(f"/researcher/participants/{held.names['ann']}").status_code == 404
    answer = theirs.fill_in(f"/researcher/participants/{held.names['ann']}/erase",
                         {"confirm": held.names["ann"], "games": "erase"})  # fmt: skip
    assert answer.status_code == 400
    assert held.names["ann"] in text(browser, "participants")


def test_a_guessed_cookie_opens_nothing(held):
    browser = held.client()
    for guess in ("", "x" * 32, "0", "'; --", sessions.csrf_token("x")):
        browser.cookies.clear()
        browser.cookies.set(COOKIE, guess, path="/researcher")
        assert browser.get("/researcher/participants").status_code == 401


def test_what_no_one_would_type_breaks_nothing(filled_anywhere):
    browser = filled_anywhere.logged_in()
    for path in (
        "participants/%00", "participants/a'b", "participants/" + "x" * 3000, "games?setting=%00&partner=%ED%A0%80",
        "audit?action=%00", "participants?from=-1", "participants?from=99999999", "games?from=abc",
        "games?from=99999999",
        "participants?status=%00", "monitor?done=%00", "games/99999999999/replay", "invite?key=%00", "invite?key=a.b.c",
    ):  # fmt: skip
        assert browser.get(f"/researcher/{path}").status_code in (200, 404), path
    assert filled_anywhere.client().log_in("a\x00b", "c\x00d").status_code == 400
    for path, fields in (
        ("payments/mark", {"participant": "a\x00b"}),
        ("payments/bulk", {"ids": "a\x00b"}),
        ("export", {"format": "csv", "participant": "../../etc"}),
        ("participants/%00/erase", {"confirm": "\x00", "games": "erase"}),
    ):
        assert browser.fill_in(f"/researcher/{path}", fields).status_code == 400, path


def test_a_page_of_games_is_the_same_as_all_of_them(filled_anywhere):
    database, study = filled_anywhere.database, filled_anywhere.protocol
    rows, total = database.read(records.some_games, study, "", "", 0, 100)
    wanted = records.read(database).games.rows[::-1]
    assert total == len(wanted) == 7
    assert [row | {"episode": None} for row in rows] == [row | {"episode": None} for row in wanted]
    part, total = database.read(records.some_games, study, "kitchen", "wild", 1, 2)
    assert [row["game"] for row in part] == [row["game"] for row in wanted if row["partner"] == "wild"][1:3]
    assert total == sum(row["partner"] == "wild" for row in wanted)
    assert database.read(records.some_games, study, "nothing", "", 0, 100) == ([], 0)
