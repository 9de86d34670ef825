"""Keys, passwords, sessions, signatures: shown once, stored hashed, checked alike whatever is wrong."""

import asyncio
import contextlib
import hashlib
import hmac
import statistics
import time
from datetime import timedelta

import pytest
import sqlalchemy as sa
from starlette.requests import HTTPConnection

from interplay.errors import InterplayError
from interplay.server import accounts, sessions, signatures
from interplay.server import api_keys as keys
from interplay.server.api_error import ApiError
from interplay.server.audit import Refusals, read
from interplay.server.database import open_database
from interplay.server.rate_limits import Addresses, Buckets
from interplay.server.schema import keys as key_table


@pytest.fixture
def held(tmp_path):
    made = open_database(str(tmp_path / "id.db"))
    yield made
    made.close()


def test_a_key_opens_what_it_was_made_for_and_nothing_else(held, clock):
    new = held.write(keys.issue, clock, "evaluation", "submission:1")
    found = held.read(keys.check, clock, new.text, ("evaluation", "test"))
    assert (found.kind, found.subject) == ("evaluation", "submission:1")
    for text, kinds in [
        (new.text, ("team",)),
        (new.text.replace("evaluation.", "team."), ("team", "evaluation")),
        (new.text[:-1] + ("A" if new.text[-1] != "A" else "B"), ("evaluation",)),
        (new.text + ".more", ("evaluation",)),
        ("", ("evaluation",)),
        ("evaluation.' OR 1=1 --.x", ("evaluation",)),
        ("\x00" * 50, ("evaluation",)),
        ("é" * 400, ("evaluation",)),
    ]:
        with pytest.raises(ApiError, match="not known here") as refused:
            held.read(keys.check, clock, text, kinds)
        assert refused.value.status == 401


def test_the_secret_is_not_in_the_database(held, clock, tmp_path):
    new = held.write(keys.issue, clock, "team", "team:1")
    secret = new.text.split(".")[2]
    held.close()
    everything = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert secret.encode() not in everything
    assert hashlib.sha256(secret.encode()).hexdigest().encode() in everything


def test_revoked_and_expired_keys_are_unknown(held, clock):
    new = held.write(keys.issue, clock, "team", "team:1", clock.now() + timedelta(hours=1))
    other = held.write(keys.issue, clock, "team", "team:2")
    assert held.read(keys.check, clock, new.text, ("team",))
    clock.advance(3601)
    with pytest.raises(ApiError):
        held.read(keys.check, clock, new.text, ("team",))
    assert held.write(keys.revoke, clock, other.text.split(".")[1])
    assert not held.write(keys.revoke, clock, "nosuchkey")
    with pytest.raises(ApiError):
        held.read(keys.check, clock, other.text, ("team",))


def test_unknown_keys_are_compared_too(held, clock, monkeypatch):
    """Known or not, malformed or not: one look-up, one hash, one comparison in constant time."""
    new = held.write(keys.issue, clock, "team", "team:1")
    compared, compare = [], hmac.compare_digest

    def counted(a, b):
        compared.append((len(a), len(b)))
        return compare(a, b)

    monkeypatch.setattr(keys.hmac, "compare_digest", counted)
    for text in (new.text, "team.0000000000000000.wrong", "nonsense", new.text + "x"):
        with contextlib.suppress(ApiError):
            held.read(keys.check, clock, text, ("team",))
    assert compared == [(64, 64)] * 4


def test_the_time_of_a_check_does_not_tell_how_much_was_right(held, clock):
    """A wrong last character takes as long as a wrong first one, and as an unknown key, within the noise."""
    new = held.write(keys.issue, clock, "team", "team:1")
    kind, public, secret = new.text.split(".")
    first = f"{kind}.{public}.{'A' if secret[0] != 'A' else 'B'}{secret[1:]}"
    last = f"{kind}.{public}.{secret[:-1]}{'A' if secret[-1] != 'A' else 'B'}"
    unknown = f"{kind}.{'0' * 16}.{secret}"
    times: dict[str, list[float]] = {"first": [], "last": [], "unknown": []}
    with held.engine.connect().execution_options(reading=True) as tx, tx.begin():
        for _ in range(300):
            for name, text in (("first", first), ("last", last), ("unknown", unknown)):
                began = time.perf_counter()
                with pytest.raises(ApiError):
                    keys.check(tx, clock, text, ("team",))
                times[name].append(time.perf_counter() - began)
    middle = {name: statistics.median(values) for name, values in times.items()}
    assert abs(middle["first"] - middle["last"]) < 0.15 * middle["last"]
    assert middle["unknown"] > 0.5 * middle["last"]


def test_passwords(held, clock):
    held.write(accounts.create, clock, "ada", "researcher", "a long password")
    assert held.read(accounts.log_in, "ada", "a long password").role == "researcher"
    for name, password in (("ada", "wrong password"), ("bob", "a long password"), ("ada", "")):
        with pytest.raises(ApiError, match="name or password is wrong"):
            held.read(accounts.log_in, name, password)
    with pytest.raises(InterplayError, match="at least 10"):
        held.write(accounts.create, clock, "eve", "researcher", "short")
    with pytest.raises(InterplayError, match="already"):
        held.write(accounts.create, clock, "ada", "researcher", "another password")
    held.write(accounts.set_password, "ada", "changed password")
    assert held.read(accounts.log_in, "ada", "changed password")


def test_sessions_end_and_forms_need_their_token(held, clock):
    session, token = held.write(sessions.begin, clock, "participant:1", {"arm": 2})
    assert held.read(sessions.find, clock, token) == session
    assert len(token) >= 22  # at least 128 bits
    sessions.check_csrf(session, session.csrf)
    for wrong in (None, "", "x", session.csrf[:-1], "é"):
        with pytest.raises(ApiError, match="out of date"):
            sessions.check_csrf(session, wrong)
    assert held.read(sessions.find, clock, token).data == {"arm": 2}
    assert held.read(sessions.find, clock, token + "x") is None
    clock.advance(sessions.LIFE.total_seconds())
    assert held.read(sessions.find, clock, token) is None
    assert held.read(lambda tx: tx.execute(sa.text("SELECT hash FROM sessions")).scalar_one()) != token


def connection(**headers):
    pairs = [(k.encode(), v.encode()) for k, v in headers.items()]
    return HTTPConnection({"type": "http", "headers": pairs, "path": "/"})


def test_other_sites_are_refused():
    sessions.check_origin(connection(host="here.org"))
    sessions.check_origin(connection(host="here.org", origin="https://here.org"))
    sessions.check_origin(connection(host="inner", origin="https://here.org"), ("https://here.org",))
    for origin in ("https://evil.org", "null", "https://here.org.evil.org"):
        with pytest.raises(ApiError, match="other sites"):
            sessions.check_origin(connection(host="here.org", origin=origin))


def test_signatures(held, clock):
    signer = held.write(signatures.signer, clock)
    again = held.write(signatures.signer, clock)
    assert signer.public == again.public
    signed = signer.sign({"b": [1, 2.5, None], "a": "é"})
    assert signatures.verify(signed) == signed["content"]
    assert signatures.verify(signed, signer.public)
    changed = {**signed, "content": {**signed["content"], "a": "e"}}
    with pytest.raises(InterplayError, match="does not fit"):
        signatures.verify(changed)
    other = signatures.Signer(b"7" * 32)
    with pytest.raises(InterplayError, match="another key"):
        signatures.verify(other.sign({"a": 1}), signer.public)
    for broken in (
        {},
        {"content": 1, "signature": {}},
        {"content": 1, "signature": {**signed["signature"], "value": "?"}},
    ):
        with pytest.raises(InterplayError):
            signatures.verify(broken)


def test_buckets(clock):
    buckets = Buckets(clock, per_second=1, burst=3)
    assert [buckets.take("a") for _ in range(4)] == [True, True, True, False]
    assert buckets.take("b")
    assert buckets.exhausted("a")
    clock.advance(1)
    assert buckets.take("a")
    with pytest.raises(ApiError, match="too many guesses: wait 1 s"):
        buckets.require("a", "guesses")


def test_addresses_are_not_kept():
    names = Addresses()
    assert names.name("10.0.0.1") == names.name("10.0.0.1") != names.name("10.0.0.2")
    assert "10.0.0.1" not in names.name("10.0.0.1")
    assert Addresses().name("10.0.0.1") != names.name("10.0.0.1")


def test_refusals_are_noted_without_flooding(held, clock):
    async def many():
        refusals = Refusals(held, clock, per_minute=6, burst=5)
        for _ in range(100):
            refusals.note("address:x", "unknown_key", "no")
        clock.advance(10)
        refusals.note("address:x", "unknown_key", "no")
        await refusals.settle()

    asyncio.run(many())
    rows = held.read(read, action="refused:unknown_key").rows
    assert len(rows) == 6
    assert rows[0]["detail"]["left_out"] == 95


def test_kinds_of_keys_have_no_dots(held, clock):
    with pytest.raises(ValueError):
        held.write(keys.issue, clock, "a.b", "x")
    assert held.read(lambda tx: tx.execute(sa.select(sa.func.count()).select_from(key_table)).scalar_one()) == 0


def test_passwords_of_before_still_open():
    """Databases of 0.1.0 hold scrypt."""
    import base64
    import hashlib

    from interplay.server.accounts import hashed, matches

    salt = b"0123456789abcdef"
    digest = hashlib.scrypt(b"a long password", salt=salt, n=2**14, r=8, p=1, maxmem=64 * 2**20)
    stored = f"scrypt${base64.b64encode(salt).decode()}${base64.b64encode(digest).decode()}"
    assert matches("a long password", stored)
    assert not matches("another password", stored)
    assert matches("a long password", hashed("a long password"))
    assert not matches("another password", hashed("a long password"))
