"""What must not work: other people's visits, other sites' pages, made-up scores, copied actions, files outside."""

import http.client
import json
import socket
import threading
import time
from datetime import timedelta

import httpx
import pytest
import sqlalchemy as sa
import websockets.exceptions
import websockets.sync.client as sync

from interplay.server.schema import sessions
from interplay.study.db import game_rows
from interplay.study.db.schema import answers, events, games, people
from tests.study.security.conftest import fresh_source, hear

COOKIE = "interplay_study_secure"


def refused(secure, cookie, origin=None, source="127.0.0.1"):
    """Whether a socket is closed before it is opened."""
    headers, origin = {"cookie": cookie}, origin or secure.url
    try:
        sync.connect(secure.socket, origin=origin, additional_headers=headers, source_address=(source, 0)).close()
    except websockets.exceptions.InvalidStatus as error:
        return error.response.status_code == 403
    return False


def test_guessed_sessions_open_nothing(secure):
    someone = secure.visitor().to_game()
    guesses = [
        "",
        "x",
        "0" * 32,
        someone.token[:-1],
        someone.token + "A",
        someone.token.swapcase(),
        "é" * 8,
        "' OR 1=1",
    ]
    for guess in guesses:
        cookie = f"{COOKIE}={guess}".encode()
        headers = {"cookie": cookie, "x-csrf": someone.told["csrf"]}
        body = {"page": "rounds.1.game", "answers": {}}
        assert httpx.post(f"{secure.api}/answer", json=body, headers=headers).status_code == 401
        assert refused(secure, cookie.decode("latin-1"))
    assert len(someone.token) >= 32  # 192 random bits
    stored = {row["hash"] for row in secure.rows(sessions)}
    assert someone.token not in stored
    assert not any(someone.token in str(dict(row)) for row in secure.rows(sessions))


def test_sessions_end(secure):
    """A cookie that was stolen is worth nothing once the visit has ended, or was ended by the researcher."""
    someone = secure.visitor().to_game()
    subject = max(secure.rows(sessions), key=lambda row: row["id"])["subject"]
    long_ago = secure.base.clock.now() - timedelta(days=1)
    ended = sa.update(sessions).where(sessions.c.subject == subject).values(expires=long_ago)
    secure.base.database.write(lambda tx: tx.execute(ended))
    assert someone.post(page="rounds.1.game", answers={}).status_code == 401
    assert refused(secure, someone.cookie)


def test_cookies_are_out_of_reach_of_scripts_and_other_sites(secure):
    given = httpx.get(f"{secure.api}/state").headers["set-cookie"].lower()
    assert "httponly" in given
    assert "samesite=lax" in given
    assert "path=/" in given


def test_the_cookie_of_another_study_is_worth_nothing(secure):
    someone = secure.visitor()
    subject = max(secure.rows(sessions), key=lambda row: row["id"])["subject"]
    other = sa.update(sessions).where(sessions.c.subject == subject).values(data={"study": "other"})
    secure.base.database.write(lambda tx: tx.execute(other))
    assert someone.post(page="consent", answers={"agree": True}).status_code == 401


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1", "http://", "file://", "[::"])
def test_other_sites_can_open_no_socket_and_send_no_form(secure, origin):
    someone = secure.visitor()
    assert refused(secure, someone.cookie, origin)
    assert someone.post(page="consent", answers={"agree": True}, origin=origin).status_code == 403
    assert httpx.get(f"{secure.api}/state", headers={"origin": origin}).status_code == 403
    someone.state()
    assert someone.told["page"]["id"] == "consent"


def test_pictures_and_links_of_other_sites_begin_no_visit(secure):
    before = len(secure.rows(people))
    assert httpx.get(f"{secure.api}/state", headers={"sec-fetch-site": "cross-site"}).status_code == 403
    assert len(secure.rows(people)) == before


def test_forms_need_the_token_of_their_own_visit(secure):
    one, other = secure.visitor(), secure.visitor()
    for token in ("", "x", other.told["csrf"], one.told["csrf"][:-1], "é"):
        given = {"x-csrf": token.encode()}
        body = {"page": "consent", "answers": {"agree": True}}
        assert one.http.post(f"{secure.api}/answer", json=body, headers=given).status_code == 403
        assert one.http.post(f"{secure.api}/language", json={"language": "en"}, headers=given).status_code == 403
    assert one.state()["page"]["id"] == "consent"


def play_out(wire, *frames):
    """Send these at the first tick, and see the game through."""
    hear(wire, "tick")
    for frame in frames:
        wire.send(json.dumps(frame))
    return hear(wire, "end", timeout=60)


def test_scores_cannot_be_forged(secure):
    someone = secure.visitor().to_game()
    page = someone.told["page"]["id"]
    assert someone.post(page=page, answers={"score": 500}).status_code == 409  # games are played, not answered
    assert someone.post(page=page, answers={}, score=500).status_code == 422
    assert someone.post(page="done", answers={}, payment=99).status_code == 422
    with someone.line() as wire:
        end = play_out(
            wire,
            {"type": "end", "score": 500, "next": True},
            {"type": "tick", "t": 39, "score": 500},
            {"type": "act", "seq": 1, "action": "stay", "score": 500, "reward": 500, "t": 39},
            {"type": "act", "seq": 2, "action": "serve"},
        )
    row = max(secure.rows(games), key=lambda row: row["id"])
    episode = game_rows.unpack(row["episode"])
    assert end["score"] == row["score"] == episode.score < 500
    assert episode.length == 40
    assert someone.state()["page"]["id"] == "rounds.1.after"


def test_a_copied_action_is_taken_once(secure):
    someone = secure.visitor().to_game()
    transcript = [json.dumps({"type": "act", "seq": seq, "action": "north"}) for seq in range(3)]
    transcript.append('{"type":"flag","seq":3,"id":"odd","t":0}')
    with someone.line() as wire:
        hear(wire, "tick")
        for _ in range(10):
            for frame in transcript:
                wire.send(frame)
        while hear(wire, "ack")["seq"] != 3:
            pass
    with someone.line() as wire:  # on another line, and from another place in the order
        start = hear(wire, "start")
        assert start["seq"] == 3
        for frame in reversed(transcript):
            wire.send(frame)
        assert {hear(wire, "ack")["seq"] for _ in range(4)} == {0, 1, 2, 3}
        hear(wire, "end", timeout=60)
    game = max(row["id"] for row in secure.rows(games))
    held = [row for row in secure.rows(events) if row["game"] == game]
    taken = [seq for row in held for seq in row["payload"].get("seqs", ())]
    assert sorted(taken) == [0, 1, 2, 3]
    assert sum(row["kind"] == "flag" for row in held) == 1


PATHS = [
    "/static/../web.py", "/static/..%2fweb.py", "/static/%2e%2e%2fweb.py", "/static/..%5cweb.py", "/static//etc/passwd",
    "/static/%2fetc%2fpasswd", "/static/app.js%00.html", "/static/.", "/static/..", "/static/build.json",
    "/study/../../etc/passwd", "/study/secure/../../x", "/study/other", "/api/study/other/state",
    "/api/study/secure/../other", "/api/openapi.json", "/docs", "/.env", "/secure.db",
    "/researcher/files/../gate.py", "/researcher/files/..%2fgate.py", "/researcher/files/%2fetc%2fpasswd",
    "/researcher/games/..%2f..%2fetc%2fpasswd/replay", "/researcher/games/-1/replay",
    "/researcher/participants/..%2f..",
]  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
def test_no_other_files_are_served(secure, path):
    wire = http.client.HTTPConnection(secure.url.removeprefix("http://"), source_address=(fresh_source(), 0))
    wire.putrequest("GET", path, skip_host=False)  # as written, with its dots
    wire.endheaders()
    answer = wire.getresponse()
    text = answer.read().decode("utf-8", "replace")
    assert answer.status in (302, 303, 307, 400, 401, 403, 404, 405), (answer.status, text[:200])
    assert "root:" not in text
    assert "import " not in text


def test_other_peoples_data_is_out_of_reach(secure):
    one, other = secure.visitor().to_game(), secure.visitor().to_game()
    with one.line() as wire:
        hear(wire, "end", timeout=60)
    one.state()
    one.answer(liked=2)
    # No address holds anyone's number: all there is follows from the cookie. Others' pages are conflicts.
    assert other.post(page="rounds.1.after", answers={"liked": 1}).status_code == 409
    for extra in ({"person": 1}, {"participant": "x"}):
        assert other.http.get(f"{secure.api}/state", params=extra).json()["page"]["id"] == "rounds.1.game"
    text = json.dumps(other.state()) + json.dumps(one.state())
    for row in secure.rows(people):
        assert row["public"] not in text
    newest = sorted(row["id"] for row in secure.rows(people))[-2:]
    held = [row for row in secure.rows(answers) if row["page"] == "rounds.1.after" and row["person"] in newest]
    assert [(row["person"], row["answers"]["liked"]) for row in held] == [(newest[0], 2)]


def test_one_client_cannot_take_the_others_time(secure):
    """A thousand requests a second and more from one address: refused early, while others play and answer."""
    bystander, counts, stop = secure.visitor().to_game(), {}, threading.Event()
    place, attacker = secure.url.removeprefix("http://"), fresh_source()

    def flood():
        """Fifty requests at a time, as fast as they are answered."""
        request = f"GET /api/study/secure/state HTTP/1.1\r\nHost: {place}\r\n\r\n".encode()
        host, _, port = place.partition(":")
        with socket.create_connection((host, int(port)), source_address=(attacker, 0)) as wire:
            while not stop.is_set():
                wire.sendall(request * 50)
                heard = b""
                while heard.count(b"HTTP/1.1 ") < 50 or not heard.endswith(b"}"):
                    heard += wire.recv(1 << 16)
                for status in (200, 429):
                    counts[status] = counts.get(status, 0) + heard.count(b"HTTP/1.1 %d" % status)

    threads = [threading.Thread(target=flood, daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    began = time.monotonic()
    with bystander.line() as wire:
        hear(wire, "end", timeout=60)
    took = time.monotonic() - began
    assert bystander.state()["page"]["id"] == "rounds.1.after"
    stop.set()
    for thread in threads:
        thread.join()
    secure.exhaust(attacker)
    assert refused(secure, bystander.cookie, source=attacker)  # sockets are requests, too
    assert sum(counts.values()) % 50 == 0  # nothing else was answered
    assert counts[200] <= 60 + 0.5 * took + 1  # visits that one address may begin
    assert counts[429] > 0  # how many depends on the speed of the machine
    assert took < 20  # two seconds of play, on however busy a machine


def test_a_person_holds_one_line(secure):
    someone = secure.visitor().to_game()
    with someone.line() as first:
        hear(first, "tick")
        with someone.line() as second:
            hear(second, "tick")
            hear(first, "elsewhere")
            with pytest.raises(websockets.exceptions.ConnectionClosed):
                hear(first, "end")
            hear(second, "end", timeout=60)


def researcher_routes(secure):
    """Every address of the researchers' side, with numbers and names that there are."""
    public = secure.rows(people)[-1]["public"]
    for path, methods in secure.app.openapi()["paths"].items():
        if path.startswith(("/researcher/", "/api/researcher")) and path.split("/")[2] not in (
            "files",
            "login",
            "invite",
        ):
            for method in methods:
                yield method.upper(), path.replace("{public}", public).replace("{number}", "1")


def test_the_researchers_side_is_closed_to_those_who_take_part(secure):
    someone = secure.visitor().to_game()
    routes = list(researcher_routes(secure))
    assert len(routes) >= 12
    names = ("interplay_researcher", "interplay_session", "interplay_login", COOKIE)
    cookie = "; ".join(f"{name}={someone.token}" for name in names)
    for method, path in routes:
        headers = {"cookie": cookie, "x-csrf": someone.told["csrf"], "origin": secure.url}
        body = {"csrf": someone.told["csrf"]} if method == "POST" else None
        with httpx.Client(transport=httpx.HTTPTransport(local_address=fresh_source())) as client:
            told = client.request(method, secure.url + path, headers=headers, data=body)
        assert told.status_code in (302, 303, 401, 403, 404, 405), (method, path, told.status_code)
        assert "secretive_otter" not in told.text
        assert secure.rows(people)[-1]["public"] not in told.text
