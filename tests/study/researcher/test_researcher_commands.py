"""The researchers' side as it is typed."""

import json

import pytest

from interplay.cli.main import run
from interplay.study.db import records
from interplay.study.db.connect import open_study_database
from interplay.traces import TraceSet
from tests.study.researcher.conftest import PASSWORD

ANN = "5f1e0aa1b2c3d4e5f6a7b8c9"


@pytest.fixture
def typed(capsys):
    """Run a command line; what it printed, on both channels."""

    def run_it(*arguments, code=0):
        assert run([str(one) for one in arguments]) == code
        return capsys.readouterr()

    return run_it


def test_export_writes_a_folder(filled, typed, tmp_path):
    told = typed("study", "export", filled.address, "--out", tmp_path / "out", "--format", "json", "--json").out
    rows = {row["table"]: row["rows"] for row in json.loads(told)["rows"]}
    assert (rows["participants"], rows["games"], rows["traces"]) == (6, 7, 6)
    assert records.load(tmp_path / "out").games.rows == records.read(filled.database).games.rows
    assert len(TraceSet.open(tmp_path / "out" / "traces")) == 6
    assert filled.audit("export")[0]["actor"] == "command line"
    typed("study", "export", filled.address, "--out", tmp_path / "bare", "--no-traces")
    assert not (tmp_path / "bare" / "traces").exists()
    again = typed("study", "export", filled.address, "--out", tmp_path / "out", code=2)
    assert "not empty" in again.err
    one = filled.names["cat"]
    typed("study", "export", filled.address, "--out", tmp_path / "one", "--participant", one, "--format", "parquet")
    assert [row["participant"] for row in records.load(tmp_path / "one").participants] == [one]


def test_participants_are_listed(filled, typed):
    told = json.loads(typed("study", "participants", filled.address, "--status", "done", "--json").out)["rows"]
    assert [row["participant"] for row in told] == [filled.names[name] for name in ("ann", "ben", "cat")]
    shown = typed("study", "participants", filled.address).out
    assert all(name in shown for name in filled.names.values())


def test_payments_are_listed_marked_and_made_into_lines(filled, typed, tmp_path):
    typed("study", "payments", filled.address, "--mark", filled.names["ben"])
    rows = json.loads(typed("study", "payments", filled.address, "--json").out)["rows"]
    assert [row["paid_by"] for row in rows] == [None, "command line", None, None]
    (tmp_path / "ids.csv").write_text(f"Participant id\n{ANN}\nnobody\n")
    told = typed("study", "payments", filled.address, "--ids", tmp_path / "ids.csv", "--already", "1")
    assert told.out == f"{ANN},{rows[0]['payment'] - 1:.2f}\n"
    assert "1 ids never came here: nobody" in told.err
    typed("study", "payments", filled.address, "--unmark", filled.names["ben"])
    assert filled.audit("not paid")
    assert "cannot read" in typed("study", "payments", filled.address, "--ids", tmp_path / "none", code=2).err
    assert "owed nothing" in typed("study", "payments", filled.address, "--mark", filled.names["eve"], code=2).err


def test_erasing_is_asked_for_and_done(filled, typed):
    ann = filled.names["ann"]
    assert "--yes" in typed("study", "erase", filled.address, ann, code=2).err
    assert "no participant" in typed("study", "erase", filled.address, "nobody", "--yes", code=2).err
    told = json.loads(typed("study", "erase", filled.address, ann, "--yes", "--json").out)["rows"][0]
    assert (told["games"], told["kept"], told["clean"]) == (2, 0, True)
    kept = json.loads(
        typed("study", "erase", filled.address, filled.names["ben"], "--games", "keep", "--yes", "--json").out
    )["rows"][0]
    assert (kept["games"], kept["kept"]) == (0, 2)
    assert [row["subject"] for row in filled.audit("erase")] == [filled.names["ben"], ann]
    log = json.loads(typed("study", "audit", filled.address, "--action", "erase", "--json").out)["rows"]
    assert [row["subject"] for row in log] == [filled.names["ben"], ann]


def test_a_researcher_is_added_by_a_link(filled, typed):
    link = typed(
        "study", "researcher", "add", "bob", "--database", filled.address, "--url", "https://x.org/"
    ).out.strip()
    assert link.startswith("https://x.org/researcher/invite?key=invite.")
    browser = filled.client()
    assert "already" in typed("study", "researcher", "add", "bob", "--database", filled.address, code=2).err
    again = json.loads(typed("study", "researcher", "invite", "bob", "--database", filled.address, "--json").out)
    assert again["rows"][0]["link"] != link
    listed = json.loads(typed("study", "researcher", "list", "--database", filled.address, "--json").out)["rows"]
    assert [(row["researcher"], row["password"]) for row in listed] == [("ana", "set"), ("bob", "not yet chosen")]
    typed("study", "researcher", "disable", "ana", "--database", filled.address)
    assert browser.log_in("ana", PASSWORD).status_code == 401


def test_a_password_can_be_typed(filled, typed, monkeypatch):
    given = iter([PASSWORD + "!", PASSWORD + "!", "one password", "another one"])
    monkeypatch.setattr("getpass.getpass", lambda prompt: next(given))
    typed("study", "researcher", "add", "bob", "--database", filled.address, "--ask")
    assert filled.logged_in("bob", PASSWORD + "!")
    assert "differ" in typed("study", "researcher", "add", "cy", "--database", filled.address, "--ask", code=2).err


def test_what_cannot_be_is_told(filled, typed, tmp_path):
    nowhere = tmp_path / "nowhere.db"
    for command in (
        ("export", nowhere, "--out", tmp_path / "out"),
        ("participants", nowhere),
        ("payments", nowhere),
        ("erase", nowhere, "x", "--yes"),
        ("researcher", "list", "--database", nowhere),
        ("audit", nowhere),
    ):
        assert "there is no database" in typed("study", *command, code=2).err
    assert not nowhere.exists()
    empty = open_study_database(str(tmp_path / "empty.db"))
    empty.close()
    assert "holds no study yet" in typed("study", "participants", tmp_path / "empty.db", code=2).err
    assert "--database" in typed("study", "researcher", "list", code=2).err
    assert "name the researcher" in typed("study", "researcher", "add", "--database", filled.address, code=2).err
    assert "--most 0" in typed("study", "audit", filled.address, "--most", "0", code=2).err
    assert "'big'" in typed("study", "participants", filled.address, "--study", "big", code=2).err
