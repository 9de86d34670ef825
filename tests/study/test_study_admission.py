"""Who may take part: quotas, closing, tests, devices, signed ids, re-entry links, page times, pay of the dropped."""

import base64
import hashlib
import hmac
import json
import logging
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from fastapi.testclient import TestClient

from interplay.errors import InterplayError
from interplay.server.app import Base
from interplay.server.logs import log_to_stderr, scrubbed
from interplay.study.db import admission, participants, records
from interplay.study.db.connect import make_base, open_study_database
from interplay.study.db.schema import people, recruits, slots
from interplay.study.http.app import build
from interplay.study.http.recruiter_ids import RecruiterIds
from interplay.study.protocol.model import Completion
from interplay.study.protocol.reading import parse
from tests.manual_clock import ManualClock
from tests.study.texts import form, study

ASK = form("ask", "{id: why, type: text, label: Why}")


class Site:
    """A study without games, with a clock that moves by hand."""

    def __init__(self, folder, *, name="small", prefix="", pages=(ASK,), test=False, keys=None, **after):
        self.protocol = parse(study(name, *pages, after=after))
        self.database, self.clock = open_study_database(str(folder / f"{name}.db")), ManualClock()
        self.base = Base(self.database, self.clock, prefix=prefix)
        self.app = build(self.protocol, self.base, test=test, recruiter_keys=keys)
        self.api = f"{prefix}/api/study/{name}"

    def visitor(self, query=""):
        return Guest(self, query)

    def rows(self, table):
        return self.database.read(lambda tx: [row._mapping for row in tx.execute(table.select())])

    def write(self, work, *args, **more):
        return self.database.write(work, self.clock, self.protocol, *args, **more)


class Guest:
    def __init__(self, site, query=""):
        self.site, self.client = site, TestClient(site.app, base_url="http://study.example")
        self.reply = self.client.get(f"{site.api}/state{query}")
        self.state = self.reply.json()

    @property
    def page(self):
        return self.state["page"]

    def answer(self, page, answers, **more):
        body = {"page": page, "answers": answers, **more}
        self.reply = self.client.post(f"{self.site.api}/answer", json=body, headers={"x-csrf": self.state["csrf"]})
        if self.reply.status_code == 200:
            self.state = self.reply.json()
        return self.reply.status_code

    def agree(self, **more):
        return self.answer("consent", {"agree": True}, **more)


@pytest.fixture
def site(tmp_path):
    made = []

    def make(**how):
        one = Site(tmp_path, **how)
        entered = TestClient(one.app)
        entered.__enter__()
        made.append((one, entered))
        return one

    yield make
    for one, entered in made:
        entered.__exit__(None, None, None)
        one.database.close()


def test_a_full_study_takes_nobody_else_and_lets_the_others_finish(site):
    small = site(recruitment="{participants: 1}")
    one, two = small.visitor(), small.visitor()
    assert one.agree() == 200
    assert two.agree() == 409
    assert two.client.get(f"{small.api}/state").json()["page"]["id"] == "closed"
    late = small.visitor()
    assert (late.page["id"], late.page["code"]) == ("closed", None)
    assert len(small.rows(people)) == 2, "who comes too late is not stored"
    assert one.answer("ask", {"why": "so"}) == 200
    assert one.page["kind"] == "done"


def test_the_guides_example_is_a_part_of_a_study():
    guide = (Path(__file__).parents[2] / "docs" / "guide" / "study_operations.md").read_text(encoding="utf-8")
    example = guide.partition("```yaml\n")[2].partition("```")[0]
    protocol = parse(study("small", ASK) + example)
    assert protocol.recruitment.participants == 60
    assert protocol.recruitment.closed_text == "Thank you, we have enough people."


def test_a_study_closes_at_its_time_and_by_hand(site):
    small = site(recruitment='{closes: "2026-01-02T00:00:00+00:00", closed_text: Come next year}')
    assert small.visitor().page["id"] == "consent"
    small.write(admission.set_closed, True, by="me")
    assert "next year" in small.visitor().page["text"]
    small.write(admission.set_closed, False, by="me")
    assert small.visitor().page["id"] == "consent"
    small.clock.advance(2 * 24 * 3600)
    assert small.visitor().page["id"] == "closed"
    with pytest.raises(InterplayError, match="a time needs its zone"):
        parse(study("small", ASK, after={"recruitment": '{closes: "2026-01-02T00:00:00"}'}))


def test_whoever_only_tries_the_study_out_is_in_no_data(site):
    small = site(test=True, recruitment="{participants: 1}")
    for _ in range(2):  # and fills no place
        guest = small.visitor()
        assert guest.state["test"] is True
        assert guest.agree() == 200
        assert guest.answer("ask", {"why": "so"}) == 200
    assert {row["test"] for row in small.rows(people)} == {True}
    assert all(row["released"] for row in small.rows(slots))
    exported = records.load(small.database.address.removeprefix("sqlite:///"))
    assert len(exported.participants) == len(exported.answers) == 0


def test_devices_are_screened_before_the_consent(site):
    small = site(device="{min_width: 800, keyboard: true}")
    guest = small.visitor()
    assert guest.state["device"] == {"min_width": 800, "min_height": 0, "keyboard": True}
    assert guest.agree() == 403
    assert guest.agree(device={"width": 1200, "height": 700, "keyboard": False}) == 403
    assert guest.agree(device={"width": 600, "height": 700, "keyboard": True}) == 403
    assert guest.agree(device={"width": 1200, "height": 700, "keyboard": True}) == 200
    assert "device" not in guest.state


def test_a_page_may_be_sent_unanswered_when_its_time_is_over_and_not_before(site):
    small = site(pages=(ASK.replace("kind: form\n", "kind: form\nlimit_s: 30\n"),))
    guest = small.visitor()
    assert guest.agree() == 200
    assert guest.page["left_s"] == 30
    small.clock.advance(10)
    small.clock.at += timedelta(hours=3)  # the time of day says nothing
    assert guest.client.get(f"{small.api}/state").json()["page"]["left_s"] == 20
    assert guest.answer("ask", {"why": None}, timed_out=True) == 422
    small.clock.advance(20)
    assert guest.answer("ask", {"why": None}) == 422
    assert guest.answer("ask", {"why": None}, timed_out=True) == 200
    assert guest.page["kind"] == "done"


def test_those_who_stayed_away_are_paid_by_rule_and_get_a_code(site):
    small = site(payment='{currency: EUR, formula: "9"}', dropout='{payment: "2", text: Come back any time}')
    guest = small.visitor()
    guest.agree()
    small.clock.advance(60 * 61)
    assert small.database.write(participants.drop_away, small.clock, small.protocol) == 1
    page = guest.client.get(f"{small.api}/state").json()["page"]
    assert page["payment"] == "EUR 2.00"
    assert len(page["code"]) == 8
    assert "any time" in page["text"]


def test_a_researcher_lets_someone_back_in_once(site):
    small = site()
    guest = small.visitor()
    guest.agree()
    small.clock.advance(60 * 61)
    small.database.write(participants.drop_away, small.clock, small.protocol)
    (row,) = small.rows(people)
    link = small.write(admission.readmit, row["public"], by="ana")
    assert link.status == "dropped"
    assert guest.client.get(f"{small.api}/state").json()["page"]["id"] == "ask"  # the place is theirs again
    assert small.rows(people)[0]["status"] == "active", "who has consented is not new, also where no design is used"
    back = small.visitor(f"?enter={link.key}")
    assert back.page["id"] == "ask"
    assert guest.answer("ask", {"why": "old browser"}) == 401, "the old browser is out"
    assert back.answer("ask", {"why": "new browser"}) == 200
    assert small.visitor(f"?enter={link.key}").reply.status_code == 403, "a link works once"
    with pytest.raises(InterplayError, match="has finished"):
        small.write(admission.readmit, row["public"], by="ana")
    with pytest.raises(InterplayError, match="there is no participant"):
        small.write(admission.readmit, "nobody", by="ana")


def test_links_expire_and_older_ones_are_revoked(site):
    small = site()
    guest = small.visitor()
    guest.agree()
    public = small.rows(people)[0]["public"]
    old, new = (small.write(admission.readmit, public, by="ana").key for _ in range(2))
    assert small.visitor(f"?enter={old}").reply.status_code == 403
    small.clock.advance(8 * 24 * 3600)
    assert small.visitor(f"?enter={new}").reply.status_code == 403


def test_a_visit_with_anothers_id_shares_nothing_with_theirs(site):
    """Whoever consents first has the id; who came before them with it is somebody else."""
    small = site(completion="{recruiter: prolific}")
    thief, owner = (small.visitor("?PROLIFIC_PID=p1") for _ in range(2))
    assert owner.state["csrf"] != thief.state["csrf"]
    assert len(small.rows(people)) == 2
    assert not small.rows(recruits)
    assert owner.agree() == 200
    assert thief.client.get(f"{small.api}/state").json()["page"]["id"] == "consent"
    assert thief.agree() == 409
    assert small.visitor("?PROLIFIC_PID=p1").reply.status_code == 409
    assert len(small.rows(recruits)) == 1


def test_ids_are_required_where_the_study_says_so(site):
    small = site(completion="{recruiter: prolific, require_id: true}")
    assert small.visitor().reply.status_code == 403
    assert small.visitor("?PROLIFIC_PID=p1").page["id"] == "consent"
    with pytest.raises(InterplayError, match="name the `recruiter`"):
        parse(study("small", ASK, after={"completion": "{require_id: true}"}))


def test_who_is_turned_away_is_told_why_in_the_studys_words(tmp_path):
    begun = "You have begun this study already. Please go on in the browser in which you began."
    said = {
        "languages": "[en, de]",
        "title": "{en: Small, de: Klein}",
        "words": f"{{{json.dumps(begun)}: {{de: Schon begonnen}}}}",
    }
    text = study("small", ASK, **said, after={"completion": "{recruiter: prolific, require_id: true}"})
    database = open_study_database(str(tmp_path / "small.db"))
    with TestClient(build(parse(text), Base(database))) as client:

        def come(query, language):
            reply = TestClient(client.app).get(f"/api/study/small/state{query}", headers={"accept-language": language})
            return reply.status_code, reply.json()

        status, state = come("", "en")
        assert (status, state["page"]["kind"]) == (403, "done")
        assert "recruiter's link" in state["page"]["text"]
        assert "recruiter's link" in state["message"]
        first = client.get("/api/study/small/state?PROLIFIC_PID=p1").json()
        body = {"page": "consent", "answers": {"agree": True}}
        assert client.post("/api/study/small/answer", json=body, headers={"x-csrf": first["csrf"]}).status_code == 200
        status, state = come("?PROLIFIC_PID=p1", "de")
        assert (status, state["page"]["title"], state["page"]["text"]) == (409, "Klein", "<p>Schon begonnen</p>")
        status, state = come("?enter=bad", "en")
        assert (status, "not good any more" in state["page"]["text"]) == (403, True)
    database.close()


def test_a_keyed_hash_signs_an_id(site, tmp_path):
    key = tmp_path / "secret"
    key.write_text("0123456789abcdef\n")
    small = site(completion="{recruiter: mturk, signature: hmac}", keys=key)
    good = hmac.new(b"0123456789abcdef", b"w1", hashlib.sha256).hexdigest()
    for query in ("", "?workerId=w1", "?workerId=w1&signature=00", f"?workerId=w2&signature={good}"):
        assert small.visitor(query).reply.status_code == 403, query
    assert small.visitor(f"?workerId=w1&signature={good}").page["id"] == "consent"
    with pytest.raises(InterplayError, match="--recruiter-keys"):
        build(small.protocol, make_base(small.database))


KEY = rsa.generate_private_key(65537, 2048)


def encoded(content):
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def token(claims, key=KEY, **header):
    text = f"{encoded({'alg': 'RS256', 'kid': 'k1', **header})}.{encoded(claims)}"
    return f"{text}.{encoded(key.sign(text.encode(), padding.PKCS1v15(), hashes.SHA256()))}"


def test_only_tokens_of_the_recruiter_are_taken(tmp_path):
    numbers, clock = KEY.public_key().public_numbers(), ManualClock()
    row = {"kty": "RSA", "kid": "k1", "n": encoded(numbers.n.to_bytes(256)), "e": encoded(b"\x01\x00\x01")}
    file = tmp_path / "keys.json"
    file.write_text(json.dumps({"keys": [row]}))
    ids = RecruiterIds(Completion(recruiter="prolific", signature="jwt"), clock, file)
    now = clock.now().timestamp()
    claims = {"exp": now + 60, "aud": "https://study.example", "prolific": {"PROLIFIC_PID": "p1"}}

    def read(text, who="p1", host="study.example"):
        return ids.read({"PROLIFIC_PID": who, "prolific_token": text}, host)

    assert read(token(claims)) == "p1"
    other = rsa.generate_private_key(65537, 2048)
    unsigned = f"{encoded({'alg': 'none', 'kid': 'k1'})}.{encoded(claims)}."
    wrong = [
        "", "x", "a.b.c", unsigned, token(claims, other), token(claims, kid="k2"), token(claims)[:-4],
        token(claims | {"exp": now - 1}), token(claims | {"aud": "https://evil.example"}), token({}), token([1]),
        token(claims | {"prolific": {"PROLIFIC_PID": "p2"}}), token(claims, alg="HS256"), "x" * 5000,
    ]  # fmt: skip
    for text in wrong:
        with pytest.raises(Exception, match="not made by the recruiter"):
            read(text)
    for who, host in (("p2", "study.example"), ("p1", "evil.example")):
        with pytest.raises(Exception, match="not made by the recruiter"):
            read(token(claims), who, host)
    # A token for another host opens that host's name in a request, but not a study that names its own.
    named = Completion(recruiter="prolific", signature="jwt", audience="study.example")
    ids, elsewhere = RecruiterIds(named, clock, file), token(claims | {"aud": "https://evil.example"})
    assert read(token(claims), host="evil.example") == "p1"
    with pytest.raises(Exception, match="not made by the recruiter"):
        read(elsewhere, host="evil.example")
    with pytest.raises(ValueError, match="audience"):
        Completion(recruiter="mturk", signature="hmac", audience="study.example")
    file.write_text("{}")
    with pytest.raises(InterplayError, match="no JSON web key set"):
        RecruiterIds(Completion(recruiter="prolific", signature="jwt"), clock, file)


def test_cookies_are_per_study_and_per_path(site):
    one, two = site(prefix="/lab"), site(prefix="/lab", name="other")
    guest = one.visitor()
    cookie = guest.reply.headers["set-cookie"]
    assert cookie.startswith("interplay_study_small=")
    assert "Path=/lab/" in cookie
    assert two.visitor().reply.headers["set-cookie"].startswith("interplay_study_other=")
    assert guest.client.get("/lab/study/small").status_code == 200
    assert guest.client.get("/study/small").status_code == 404
    assert guest.client.get("/lab/", follow_redirects=False).headers["location"] == "/lab/study/small"


def test_several_studies_are_served_side_by_side(tmp_path):
    database = open_study_database(str(tmp_path / "both.db"))
    protocols = [parse(study(name, ASK)) for name in ("first", "second")]
    app = build(protocols, Base(database, prefix="/lab"))
    with TestClient(app) as client:
        for name in ("first", "second"):
            state = client.get(f"/lab/api/study/{name}/state").json()
            body = {"page": "consent", "answers": {"agree": True}}
            reply = client.post(f"/lab/api/study/{name}/answer", json=body, headers={"x-csrf": state["csrf"]})
            assert reply.json()["page"]["id"] == "ask"
            assert f'<li><a href="/lab/researcher/{name}">' in client.get("/lab/researcher").text
            login = client.get(f"/lab/researcher/{name}").text
            assert f'action="/lab/researcher/{name}/login"' in login
    counts = {p.name: len(database.read(records.everyone, p.name)[1]) for p in protocols}
    assert counts == {"first": 1, "second": 1}
    database.close()


SECRETS = [
    "invite.0123456789abcdef.abcdefghijklmnopqrstuvwxyz0123456789",
    "cookie: interplay_study_small=abcdefghij",
    "GET /study/x?PROLIFIC_PID=5f3c2b1a&enter=reentry.0123456789abcdef.abcdefghijklmnopqrstuvwxyz012345",
    "postgresql+psycopg://me:hunter22@host/studies",
    "from 192.168.7.11",
    "from 2001:db8::7:11 and [2001:db8:0:0:0:0:7:11]:443",
]


@pytest.mark.parametrize("text", SECRETS)
def test_logs_hold_no_secrets(text):
    for secret in ("abcdefghij", "5f3c2b1a", "hunter22", "192.168", "db8", "7:11"):
        assert secret not in scrubbed(text)
    assert scrubbed("20:48:23 tests/test_a.py::test_b: step 3") == "20:48:23 tests/test_a.py::test_b: step 3"


def test_a_line_of_the_log_is_json_without_secrets(capsys):
    log_to_stderr("json")
    log = logging.getLogger("interplay.study")
    try:
        raise ValueError("from 192.168.7.11")
    except ValueError as error:
        log.exception("refused cookie: interplay_study_small=abcdefghij", extra={"game": 3, "seat": None, "why": error})
    line = capsys.readouterr().err
    fields = json.loads(line)
    assert (fields["level"], fields["logger"], fields["game"], fields["seat"]) == ("error", "interplay.study", 3, None)
    assert "Traceback" in fields["error"]
    assert "192.168" not in line
    assert "abcdefghij" not in line
    for handler in logging.getLogger("interplay").handlers:
        logging.getLogger("interplay").removeHandler(handler)
    logging.getLogger("interplay").propagate = True


def test_metrics_count_people_and_are_told_on_this_machine_only(site):
    small = site()
    small.visitor().agree()
    local = TestClient(small.app, client=("127.0.0.1", 5))
    told = local.get("/metrics").text
    assert 'interplay_participants{study="small",status="active"} 1' in told
    assert "# TYPE interplay_events_total counter" in told
    assert local.get("/health").json()["status"] == "ok"
    assert TestClient(small.app, client=("::1", 5)).get("/metrics").status_code == 200
    for visitor, headers in ((("192.0.2.7", 5), {}), (("127.0.0.1", 5), {"x-forwarded-for": "192.0.2.7"})):
        assert TestClient(small.app, client=visitor).get("/metrics", headers=headers).status_code == 403
