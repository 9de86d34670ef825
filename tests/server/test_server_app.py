"""The application before any tenant has moved in."""

import socket
import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from fastapi import Request, WebSocket
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from interplay.errors import InterplayError
from interplay.server import api_keys as keys
from interplay.server import audit
from interplay.server.api_error import ApiError
from interplay.server.app import LARGEST_BODY, Base, bearer, make_app
from interplay.server.database import DatabaseUnavailable, open_database
from interplay.server.serve import Listen, config, serving
from interplay.server.sockets import ClientDisconnected, Frames
from interplay.server.storable_text import DEEPEST, check_text, check_value


@pytest.fixture
def base(tmp_path, clock):
    made = open_database(str(tmp_path / "app.db"))
    yield Base(made, clock, guesses_per_minute=3)
    made.close()


@pytest.fixture
def client(base):
    app = make_app(base, "test")

    @app.get("/secret")
    async def secret(request: Request):
        return {"subject": (await base.key(request, ("team",))).subject}

    @app.post("/echo")
    async def echo(request: Request):
        return {"size": len(await request.body())}

    @app.websocket("/frames")
    async def frames(socket: WebSocket):
        await socket.accept()
        held = Frames(socket, base.clock, largest=100, per_second=5)
        try:
            while True:
                await held.send({"got": await held.receive()})
        except ApiError as refusal:
            await held.send(refusal.record())
            await held.close(1008)
        except ClientDisconnected:
            pass

    with TestClient(app) as opened:
        yield opened


def test_every_answer_has_its_headers(client):
    answer = client.get("/health")
    assert answer.json()["status"] == "ok"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert client.get("/nowhere").json() == {"error": "not_found", "message": "Not Found"}
    assert client.get("/nowhere").headers["x-frame-options"] == "DENY"
    for_people = client.get("/nowhere", headers={"accept": "text/html,*/*"})
    assert (for_people.status_code, "no such page" in for_people.text) == (404, True)
    assert for_people.headers["x-frame-options"] == "DENY"


def test_large_bodies_are_refused_whether_declared_or_not(client):
    assert client.post("/echo", content=b"x" * LARGEST_BODY).json() == {"size": LARGEST_BODY}
    assert client.post("/echo", content=b"x" * (LARGEST_BODY + 1)).status_code == 413

    def pieces():
        for _ in range(LARGEST_BODY // 1000 + 2):
            yield b"x" * 1000

    assert client.post("/echo", content=pieces()).status_code == 413


def test_keys_and_guessing(client, base):
    key = base.database.write(keys.issue, base.clock, "team", "team:5").text
    right = {"authorization": f"Bearer {key}"}
    assert client.get("/secret", headers=right).json() == {"subject": "team:5"}
    assert client.get("/secret").status_code == 401
    wrong = {"authorization": "Bearer team.0000000000000000.guess"}
    assert [client.get("/secret", headers=wrong).status_code for _ in range(4)] == [401, 401, 401, 429]
    assert client.get("/secret", headers=right).status_code == 429  # the whole address has to wait
    base.clock.advance(60)
    assert client.get("/secret", headers=right).status_code == 200
    client.portal.call(base.refusals.settle)
    noted = base.database.read(audit.read, action="refused:unknown_key")
    assert len(noted) == 4
    assert "guess" not in str(noted.rows)


def test_bearer():
    assert bearer("Bearer abc") == bearer("bearer  abc") == "abc"
    assert bearer(None) is bearer("") is bearer("Basic abc") is bearer("Bearer ") is None


@pytest.mark.parametrize(
    ("send", "code"),
    [
        ("[]", "bad_frame"),
        ("{", "bad_frame"),
        ("x" * 101, "too_large"),
        ("[" * 99, "bad_frame"),
        ('{"a":NaN}', "bad_frame"),
    ],
)
def test_bad_frames_end_the_socket(client, send, code):
    with client.websocket_connect("/frames") as socket:
        socket.send_text('{"a": 1}')
        assert socket.receive_json() == {"got": {"a": 1}}
        socket.send_text(send)
        assert socket.receive_json()["error"] == code
        with pytest.raises(WebSocketDisconnect) as closed:
            socket.receive_json()
        assert closed.value.code == 1008


def test_binary_frames_and_floods_end_the_socket(client):
    with client.websocket_connect("/frames") as socket:
        socket.send_bytes(b"{}")
        assert socket.receive_json()["error"] == "bad_frame"
    with client.websocket_connect("/frames") as socket:
        for _ in range(11):
            socket.send_text("{}")
        answers = [socket.receive_json() for _ in range(11)]
    assert answers[-1]["error"] == "too_many"


def test_what_cannot_be_served_is_told(tmp_path):
    with pytest.raises(InterplayError, match="no such file"):
        config(None, Listen(certificate=tmp_path / "none.pem"))
    (tmp_path / "c.pem").write_text("")
    with pytest.raises(InterplayError, match="both"):
        config(None, Listen(certificate=tmp_path / "c.pem"))


def certificate(folder):
    """A certificate for 127.0.0.1, signed by itself."""
    now = datetime.now(UTC)
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    (folder / "server.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "server.key").write_bytes(key.private_bytes(*form))
    return folder / "server.pem", folder / "server.key"


def test_tls_without_a_proxy(base, tmp_path):
    """Some clients speak https:// and wss:// only."""
    import httpx

    chain, private = certificate(tmp_path)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        listen = Listen(port=probe.getsockname()[1], certificate=chain, private_key=private)
    trusted = ssl.create_default_context(cafile=str(chain))
    with serving(make_app(base, "tls"), listen) as (url, _):
        assert httpx.get(f"{url}/health", verify=trusted).json()["status"] == "ok"


def test_a_database_that_is_away_and_failures_are_told_apart(base):
    app = make_app(base, "test")

    @app.get("/away")
    async def away():
        raise DatabaseUnavailable

    @app.get("/broken")
    async def broken():
        raise RuntimeError("a secret of the server")

    with TestClient(app, raise_server_exceptions=False) as client:
        told = client.get("/away")
        assert (told.status_code, told.headers["retry-after"]) == (503, "2")
        told = client.get("/broken")
        assert told.status_code == 500
        assert told.json()["error"] == "failed"
        assert "secret" not in told.text
        assert "frame-ancestors 'none'" in told.headers["content-security-policy"]
        client.portal.call(base.refusals.settle)
    assert len(base.database.read(audit.read, action="refused:unavailable")) == 0


def test_visitors_that_come_too_often_are_turned_away(tmp_path, clock):
    database = open_database(str(tmp_path / "often.db"))
    base = Base(database, clock, requests_per_second=2, burst=5)
    app = make_app(base, "test")

    @app.websocket("/line")
    async def line(socket: WebSocket):
        await socket.accept()
        await socket.close()

    with TestClient(app) as client:
        assert [client.get("/health").status_code for _ in range(6)] == [200] * 5 + [429]
        refused = client.post("/health", content=b"x" * 1000)
        assert refused.json()["error"] == "too_many"
        assert refused.headers["x-content-type-options"] == "nosniff"
        assert int(refused.headers["retry-after"]) >= 1
        with pytest.raises(WebSocketDisconnect), client.websocket_connect("/line"):
            pass
        clock.advance(1)
        assert [client.get("/health").status_code for _ in range(3)] == [200, 200, 429]
    database.close()


def test_text_that_cannot_be_stored():
    assert check_text("漢字 \N{GRINNING FACE}")
    for text in ("\x00", "a\ud800", "\udfff"):
        with pytest.raises(ValueError, match="cannot be stored"):
            check_text(text)
        for value in ([text], {"a": {"b": [text]}}, {text: 1}):
            with pytest.raises(ValueError, match="cannot be stored"):
                check_value(value)
    deep: list = []
    for _ in range(DEEPEST + 1):
        deep = [deep]
    with pytest.raises(ValueError, match="values within values"):
        check_value(deep)
