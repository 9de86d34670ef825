"""Who is owed what, and the lists that recruiters take."""

import csv
import io

import pytest

from interplay.errors import InterplayError
from interplay.study.admin import payments
from tests.study.researcher.filling import protocol

ANN, BEN, DAN = (f"{start}0aa1b2c3d4e5f6a7b8c9" for start in ("5f1e", "60aa", "61bb"))


def test_marks_are_made_and_taken_back(filled_anywhere):
    study = filled_anywhere
    browser, ann = study.logged_in(), study.names["ann"]
    chosen = {"participant": [ann, study.names["ben"]]}
    assert browser.fill_in("/researcher/payments/mark", chosen).headers["location"] == "/researcher/payments?done=paid"
    rows = {row["participant"]: row for row in study.database.read(payments.rows, study.protocol)}
    assert rows[ann]["paid_by"] == "ana"
    assert rows[ann]["paid_amount"] == rows[ann]["payment"] > 5 - 1e-9
    assert rows[study.names["cat"]]["paid"] is None
    assert [line["subject"] for line in study.audit("paid")] == [study.names["ben"], ann]
    browser.fill_in("/researcher/payments/mark", chosen)  # twice is once
    assert len(study.audit("paid")) == 2
    assert "for 1 people" in browser.get("/researcher/payments").text
    back = browser.fill_in("/researcher/payments/unmark", {"participant": ann, "back": "participant"})
    assert back.headers["location"] == f"/researcher/participants/{ann}?done=unpaid"
    assert study.audit("not paid")[0]["subject"] == ann
    assert "for 2 people" in browser.get("/researcher/payments").text


def test_who_is_owed_nothing_cannot_be_paid(filled):
    browser = filled.logged_in()
    for name in ("dan", "eve"):
        answer = browser.fill_in("/researcher/payments/mark", {"participant": filled.names[name]})
        assert answer.status_code == 400
        assert "owed nothing" in answer.text
    assert browser.fill_in("/researcher/payments/mark", {"participant": "nobody"}).status_code == 400
    assert browser.fill_in("/researcher/payments/mark").status_code == 400


def test_the_table_can_be_downloaded(filled):
    answer = filled.logged_in().fill_in("/researcher/payments/csv")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [row["participant"] for row in rows] == [filled.names[name] for name in ("ann", "ben", "cat", "dan")]
    assert rows[3]["payment"] == ""
    assert rows[3]["code"] == "NOFIT"
    assert rows[0]["currency"] == "EUR"


def test_prolifics_list_becomes_its_bulk_lines(filled_anywhere):
    study = filled_anywhere
    owed = {row["participant"]: row["payment"] for row in study.database.read(payments.rows, study.protocol)}
    exported = (
        f"Submission id,Participant id,Status\ns1,{BEN},APPROVED\ns2,{ANN},APPROVED\ns3,{DAN},RETURNED\ns4,stranger,X\n"
    )
    found = study.database.write(payments.bulk, study.clock, study.protocol, exported, already=2.0)
    wanted = [(BEN, owed[study.names["ben"]] - 2), (ANN, owed[study.names["ann"]] - 2)]
    assert found.text == "".join(f"{one},{amount:.2f}\n" for one, amount in wanted)
    assert found.participants == (study.names["ben"], study.names["ann"])
    assert found.total == pytest.approx(sum(amount for _, amount in wanted))
    assert (found.unknown, found.unfinished, found.settled) == (("stranger",), 1, 0)
    study.database.write(payments.mark, study.clock, study.protocol, found.participants[:1], by="me")
    again = study.database.write(payments.bulk, study.clock, study.protocol, f"{ANN}\n\n{BEN}\n{ANN}\n")
    assert (again.participants, again.settled) == ((study.names["ann"],), 1)


def test_mturks_lines_have_its_columns(filled):
    study = filled.protocol.model_copy(
        update={"completion": filled.protocol.completion.model_copy(update={"recruiter": "mturk"})}
    )
    text = f'"HITId","AssignmentId","WorkerId"\n"h","a-1","{ANN}"\n'
    found = filled.database.write(payments.bulk, filled.clock, study, text)
    [line] = list(csv.DictReader(io.StringIO(found.text)))
    assert (line["WorkerId"], line["AssignmentId"]) == (ANN, "a-1")
    assert float(line["BonusAmount"]) == found.total


def test_the_page_makes_the_lines_and_keeps_no_id(filled):
    browser = filled.logged_in()
    answer = browser.fill_in("/researcher/payments/bulk", {"ids": f"{ANN}\nstranger", "already": "1.5"})
    assert answer.status_code == 200
    assert f"{ANN}," in answer.text
    assert "Ids that never came here: 1, stranger" in answer.text
    assert filled.names["ann"] in answer.text
    assert ANN not in str(filled.audit())
    for wrong in ({"ids": ""}, {"ids": "a,b\nc,d"}, {"ids": ANN, "already": "-1"}, {"ids": ANN, "already": "nan"}):
        assert browser.fill_in("/researcher/payments/bulk", wrong).status_code == 400


def test_lists_that_cannot_be_read_are_told():
    assert payments.read_ids("\ufeffParticipant id\nx\n y \n\n") == [("x", ""), ("y", "")]
    with pytest.raises(InterplayError, match="several columns"):
        payments.read_ids("a,b\n1,2")
    with pytest.raises(InterplayError, match="no id"):
        payments.read_ids(" \n")
    with pytest.raises(InterplayError, match="at most"):
        payments.read_ids("x\n" * 20_001)


def test_another_study_pays_nobody_of_this_one(filled, episodes):
    other = protocol("other")
    with pytest.raises(InterplayError, match="no participant"):
        filled.database.write(payments.mark, filled.clock, other, [filled.names["ann"]], by="me")
    found = filled.database.write(payments.bulk, filled.clock, other, ANN)
    assert found.unknown == (ANN,)
