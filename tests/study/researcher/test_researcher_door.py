"""Who gets in and how: passwords, invitations, tokens in forms, rates, and that all of it is noted."""

import sqlite3

import pytest

from interplay.errors import InterplayError
from interplay.server.schema import accounts, sessions
from interplay.study.admin import researchers
from interplay.study.admin.auth import BEFORE, COOKIE, LIFE
from tests.study.researcher.conftest import PASSWORD

DEEDS = {
    "/researcher/logout": {},
    "/researcher/payments/mark": {"participant": "ann"},
    "/researcher/payments/unmark": {"participant": "ann"},
    "/researcher/payments/csv": {},
    "/researcher/payments/bulk": {"ids": "5f1e0aa1b2c3d4e5f6a7b8c9"},
    "/researcher/export": {"format": "csv"},
    "/researcher/participants/ann/erase": {"confirm": "ann", "games": "erase"},
}


def test_the_cookie_is_out_of_scripts_and_other_sites_reach(held):
    browser = held.client()
    answer = browser.log_in("ana", PASSWORD)
    told = next(v for v in answer.headers.get_list("set-cookie") if v.startswith(COOKIE + "="))
    for part in ("HttpOnly", "SameSite=strict", "Path=/researcher", f"Max-Age={int(LIFE.total_seconds())}"):
        assert part.lower() in told.lower()
    token = told.partition("=")[2].partition(";")[0]
    assert len(token) >= 32
    assert answer.headers["location"] == "/researcher/monitor"
    stored = held.database.read(lambda tx: [row.hash for row in tx.execute(sessions.select())])
    assert token not in stored


def test_passwords_are_hashed(held):
    stored = held.database.read(lambda tx: [row.password for row in tx.execute(accounts.select())])
    assert stored[0].startswith("$argon2id$")
    raw = open(held.address, "rb").read()  # noqa: SIM115
    assert PASSWORD.encode() not in raw


def test_wrong_names_and_passwords_are_told_alike_and_noted(filled):
    browser = filled.client()
    told = {browser.log_in(*pair).text for pair in (("ana", "wrong password"), ("nobody", PASSWORD))}
    assert all("name or password is wrong" in page for page in told)
    assert browser.log_in("ana", "").status_code == 401
    browser.get("/researcher")
    log = filled.logged_in().get("/researcher/audit").text
    assert "refused:unknown_key" in log
    assert "login" in log


def test_guessing_is_slowed_down_and_goes_on_later(filled):
    browser = filled.client()
    codes = [browser.log_in("ana", f"wrong password {at}").status_code for at in range(12)]
    assert codes[:10] == [401] * 10
    assert set(codes[10:]) == {429}
    assert browser.log_in("ana", PASSWORD).status_code == 429  # the right one, too
    filled.clock.advance(60)
    assert browser.log_in("ana", PASSWORD).status_code == 303


@pytest.mark.parametrize("path", DEEDS)
def test_every_deed_needs_its_token(filled, path):
    browser = filled.logged_in()
    name = filled.names["ann"]
    path, fields = path.replace("ann", name), {k: v.replace("ann", name) for k, v in DEEDS[path].items()}
    before = filled.audit()
    for given in ({}, {"csrf": ""}, {"csrf": "0" * 64}, {"csrf": filled.logged_in().token()}):
        assert browser.post(path, data={"some": "field"} | fields | given).status_code == 403, given
    elsewhere = browser.fill_in(path, fields, headers={"origin": "https://evil.example"})
    assert elsewhere.status_code == 403
    assert [row for row in filled.audit() if row["action"] in ("erase", "export", "paid", "logout")] == [
        row for row in before if row["action"] in ("erase", "export", "paid", "logout")
    ]
    assert browser.get("/researcher/monitor").status_code == 200


def test_the_login_form_needs_its_token_too(filled):
    browser = filled.client()
    fields = {"name": "ana", "password": PASSWORD}
    assert browser.post("/researcher/login", data=fields).status_code == 403
    assert browser.fill_in("/researcher/login", fields | {"csrf": "0" * 64}, page="/researcher").status_code == 403
    token = browser.token("/researcher")
    browser.cookies.delete(BEFORE)
    assert browser.post("/researcher/login", data=fields | {"csrf": token}).status_code == 403


def test_forms_that_are_none_are_refused(filled):
    browser = filled.logged_in()
    assert browser.post("/researcher/export", json={"csrf": browser.token()}).status_code == 400
    kind = {"content-type": "application/x-www-form-urlencoded"}
    assert browser.post("/researcher/export", content=b"\xff\xfe=1", headers=kind).status_code in (400, 403)
    assert browser.post("/researcher/export", content=b"a=1&" * 6000, headers=kind).status_code == 400
    assert browser.post("/researcher/export", content=b"x" * 300_000, headers=kind).status_code == 413


def test_logging_out_ends_the_visit(filled):
    browser = filled.logged_in()
    token = browser.cookies[COOKIE]
    assert browser.fill_in("/researcher/logout").status_code == 303
    browser.cookies.set(COOKIE, token, path="/researcher")
    assert browser.get("/researcher/monitor").status_code == 401
    assert filled.audit("logout")


def test_visits_end_after_some_hours(filled):
    browser = filled.logged_in()
    filled.clock.advance(LIFE.total_seconds() - 61)
    assert browser.get("/researcher/monitor").status_code == 200
    filled.clock.advance(120)
    assert browser.get("/researcher/monitor").status_code == 401


def test_someone_who_is_shut_out_is_out_at_once(filled):
    browser = filled.logged_in()
    filled.database.write(researchers.disable, filled.clock, "ana")
    assert browser.get("/researcher/monitor").status_code == 401
    assert filled.client().log_in("ana", PASSWORD).status_code == 401


def test_an_invitation_works_once(filled):
    filled.database.write(researchers.add, filled.clock, "bob")
    key = filled.database.write(researchers.invite, filled.clock, "bob")
    page = f"/researcher/invite?key={key}"
    browser = filled.client()
    assert "bob" in browser.get(page).text
    chosen = {"key": key, "password": "a password of bob's", "again": "a password of bob's"}
    assert browser.fill_in("/researcher/invite", chosen | {"again": "another"}, page=page).status_code == 400
    short = browser.fill_in("/researcher/invite", chosen | {"password": "short", "again": "short"}, page=page)
    assert short.status_code == 400
    assert "at least 10" in short.text
    answer = browser.fill_in("/researcher/invite", chosen, page=page)
    assert answer.status_code == 303
    assert browser.get("/researcher/monitor").status_code == 200
    assert filled.client().get(page).status_code == 404
    assert filled.logged_in("bob", chosen["password"])
    again = filled.client()
    assert again.fill_in("/researcher/invite", chosen, page="/researcher").status_code == 401


def test_invitations_run_out_and_new_ones_replace_old_ones(filled):
    filled.database.write(researchers.add, filled.clock, "bob")
    first = filled.database.write(researchers.invite, filled.clock, "bob")
    second = filled.database.write(researchers.invite, filled.clock, "bob")
    browser = filled.client()
    assert browser.get(f"/researcher/invite?key={first}").status_code == 404
    assert browser.get(f"/researcher/invite?key={second}").status_code == 200
    filled.clock.advance(researchers.INVITED.total_seconds())
    assert browser.get(f"/researcher/invite?key={second}").status_code == 404
    assert browser.get("/researcher/invite").status_code == 404
    stored = sqlite3.connect(filled.address).execute("SELECT hash FROM keys").fetchall()
    assert all(second.rpartition(".")[2] != row[0] for row in stored)


def test_a_study_nobody_can_see_invites_its_first_researcher(filled):
    assert filled.database.write(researchers.first_invitation, filled.clock, "tiny") is None  # ana can
    filled.database.write(researchers.disable, filled.clock, "ana")
    key = filled.database.write(researchers.first_invitation, filled.clock, "tiny")
    again = filled.database.write(researchers.first_invitation, filled.clock, "tiny")
    assert key != again
    browser = filled.client()
    assert browser.get(f"/researcher/invite?key={key}").status_code == 404
    assert "researcher" in browser.get(f"/researcher/invite?key={again}").text
    filled.database.write(researchers.add, filled.clock, "other", study="another", password=PASSWORD)
    assert filled.database.write(researchers.first_invitation, filled.clock, "tiny")


def test_names_that_cannot_be_are_told(filled):
    for name in ("", " ", "a\nb", "x" * 81):
        with pytest.raises(InterplayError, match="name"):
            filled.database.write(researchers.add, filled.clock, name)
    with pytest.raises(InterplayError, match="already"):
        filled.database.write(researchers.add, filled.clock, "ana")
    with pytest.raises(InterplayError, match="no researcher"):
        filled.database.write(researchers.invite, filled.clock, "nobody")
    with pytest.raises(InterplayError, match="10 characters"):
        filled.database.write(researchers.add, filled.clock, "zoe", password="short")
