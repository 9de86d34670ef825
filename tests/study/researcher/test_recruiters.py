"""Prolific's API against a stand-in on this machine with its rules: pages, refusals, payments that count twice."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from interplay.cli.main import run
from interplay.errors import InterplayError
from interplay.study.admin import payments, recruiters

ANN, BEN, DAN = (f"{start}0aa1b2c3d4e5f6a7b8c9" for start in ("5f1e", "60aa", "61bb"))
STUDY, TOKEN = "60d9aadeb86739de712faee0", "secret-token"


class Prolific(BaseHTTPRequestHandler):
    """The part of the API that is used. Two submissions a page."""

    def _do(self) -> None:
        site = self.server.site  # type: ignore[attr-defined]
        length = int(self.headers.get("content-length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        site["asked"].append((self.command, self.path, body))
        if self.headers["authorization"] != f"Token {TOKEN}":
            return self._reply(401, {"error": "bad token"})
        match self.path.partition("?")[0].strip("/").split("/")[2:]:
            case ["studies", study, "submissions"] if study == STUDY:
                first = int(self.path.partition("offset=")[2] or 0)
                rows = [{"id": i, "participant_id": p, "status": s} for i, (p, s) in site["submissions"].items()]
                more = first + 2 < len(rows)
                href = site["next"] + f"/api/v1/studies/{STUDY}/submissions/?offset={first + 2}" if more else None
                return self._reply(200, {"results": rows[first : first + 2], "_links": {"next": {"href": href}}})
            case ["submissions", "bonus-payments"]:
                batch = f"b{len(site['batches'])}"
                known = {participant for participant, _ in site["submissions"].values()}
                lines = [line.split(",") for line in body["csv_bonuses"].splitlines()]
                if any(participant not in known for participant, _ in lines):
                    return self._reply(400, {"error": "not in this study"})
                site["batches"][batch] = {participant: float(amount) for participant, amount in lines}
                return self._reply(201, {"id": batch, "total_amount": 0})
            case ["bulk-bonus-payments", batch, "pay"]:
                for participant, amount in site["batches"][batch].items():
                    site["paid"][participant] = site["paid"].get(participant, 0) + amount
                return self._reply(site["pay_status"], {})
            case ["submissions", submission, "transition"]:
                participant, _ = site["submissions"][submission]
                site["submissions"][submission] = (participant, "APPROVED")
                return self._reply(200, {"id": submission, "status": "APPROVED"})
        return self._reply(404, {"error": "no such thing"})

    do_GET = do_POST = _do  # noqa: N815

    def _reply(self, status: int, body: object) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def site():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Prolific)
    address = f"http://127.0.0.1:{server.server_address[1]}"
    submissions = {
        "s1": (ANN, "AWAITING REVIEW"),
        "s2": (BEN, "APPROVED"),
        "s3": (DAN, "AWAITING REVIEW"),
        "s4": ("stranger", "AWAITING REVIEW"),
    }
    server.site = {  # type: ignore[attr-defined]
        "address": address, "next": "", "submissions": submissions, "batches": {}, "paid": {}, "asked": [],
        "pay_status": 200,
    }  # fmt: skip
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server.site  # type: ignore[attr-defined]
    server.shutdown()
    server.server_close()


def api(site, token=TOKEN):
    return recruiters.ProlificApi(token, STUDY, site["address"])


def planned(study, site, already=2.0):
    submissions = api(site).submissions()
    return study.database.write(recruiters.plan, study.clock, study.protocol, submissions, already=already)


def settle(study, site, plan, **what):
    return recruiters.settle(
        study.database,
        study.clock,
        study.protocol,
        api(site),
        plan,
        by="ana",
        **({"approve": True, "bonus": True} | what),
    )


def test_who_finished_is_approved_and_paid_once(filled, site):
    owed = {row["participant"]: row["payment"] for row in filled.database.read(payments.rows, filled.protocol)}
    plan = planned(filled, site)
    assert [item.approve for item in plan] == [True, False, False, False]  # approved before; screened out; never came
    assert plan[3].participant is None
    approved, total = settle(filled, site, plan)
    wanted = {ANN: owed[filled.names["ann"]] - 2, BEN: owed[filled.names["ben"]] - 2}
    assert approved == 1
    assert site["paid"] == pytest.approx(wanted, abs=0.005)
    assert total == pytest.approx(sum(wanted.values()), abs=0.01)
    assert [line["subject"] for line in filled.audit("approve")] == [filled.names["ann"]]
    again = planned(filled, site)
    assert not any(item.approve or item.bonus for item in again)
    assert settle(filled, site, again) == (0, 0.0)
    assert site["paid"] == pytest.approx(wanted, abs=0.005)


def test_who_gets_no_reward_from_the_recruiter_is_paid_all_by_bonus_and_once(filled, site):
    owed = {row["participant"]: row["payment"] for row in filled.database.read(payments.rows, filled.protocol)}
    site["submissions"] |= {"s0": (ANN, "RETURNED"), "s1": (ANN, "AWAITING REVIEW"), "s2": (BEN, "TIMED-OUT")}
    plan = planned(filled, site)
    settle(filled, site, plan)
    wanted = {ANN: owed[filled.names["ann"]] - 2, BEN: owed[filled.names["ben"]]}
    assert site["paid"] == pytest.approx(wanted, abs=0.005)
    assert sum(bool(item.bonus) for item in plan) == 2


@pytest.mark.parametrize("reply", [{}, {"results": [{"id": "s1"}]}, []])
def test_a_reply_of_another_form_is_told(site, monkeypatch, reply):
    monkeypatch.setattr(recruiters.ProlificApi, "_ask", lambda *_: reply)
    with pytest.raises(InterplayError, match="reply has no"):
        api(site).submissions()


def test_a_payment_whose_reply_is_lost_is_not_made_again(filled, site):
    site["pay_status"] = 503  # it was paid, and the reply says otherwise
    with pytest.raises(InterplayError, match=r"marked as paid.*--unmark"):
        settle(filled, site, planned(filled, site), approve=False)
    site["pay_status"] = 200
    assert settle(filled, site, planned(filled, site), approve=False) == (0, 0.0)
    assert len(site["batches"]) == 1


def test_bonuses_that_cannot_be_set_up_mark_nobody(filled, site):
    plan = planned(filled, site)
    site["submissions"].pop("s2")
    with pytest.raises(InterplayError, match="400"):
        settle(filled, site, plan, approve=False)
    assert all(row["paid"] is None for row in filled.database.read(payments.rows, filled.protocol))


def test_the_token_goes_to_prolific_only(filled, site):
    site["next"] = "http://elsewhere.example"
    with pytest.raises(InterplayError, match="another host"):
        api(site).submissions()
    with pytest.raises(InterplayError, match="401"):
        api(site, "wrong").submissions()
    with pytest.raises(InterplayError, match="PROLIFIC_TOKEN"):
        api(site, " ")
    with pytest.raises(InterplayError, match="no id"):
        recruiters.ProlificApi(TOKEN, "../users/me", site["address"])


def test_the_command_only_says_what_it_would_do(filled, site, monkeypatch, capsys):
    monkeypatch.setenv("PROLIFIC_TOKEN", TOKEN)
    database = filled.database.engine.url.render_as_string(hide_password=False).removeprefix("sqlite:///")
    words = ["study", "settle", database, "--prolific", STUDY, "--address", site["address"], "--already", "2", "--json"]
    assert run(words) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["approve"] for row in rows] == [True, False, False, False]
    assert {method for method, _, _ in site["asked"]} == {"GET"}
    assert ANN not in json.dumps(rows)
