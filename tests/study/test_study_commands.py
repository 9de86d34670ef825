"""`interplay study serve` and `simulate`, as they are typed."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from interplay.cli.main import run
from tests.server.conftest import fresh_address, postgres  # noqa: F401  the fixture
from tests.study.conftest import SMALL
from tests.study.texts import game, study

TINY = study(
    "tiny",
    game("game", "kitchen", "still"),
    games="{kitchen: {game: overcooked/cramped_room, options: {horizon: 12}}}",
    partners="{still: stay}",
    after={"payment": '{currency: EUR, formula: "3 + mean(scores)"}'},
)


@pytest.fixture
def tiny(tmp_path):
    file = tmp_path / "tiny.yaml"
    file.write_text(TINY)
    return file


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_serve_prints_its_address_and_answers_there(kind, tiny, request):
    port = free_port()
    options = ["--port", str(port), "--batch", "1"]
    if kind == "postgresql":
        options += ["--database", fresh_address(request.getfixturevalue("postgres"))]
    words = [sys.executable, "-m", "interplay.cli.main", "study", "serve", str(tiny), *options]
    with subprocess.Popen(words, cwd=tiny.parent, stderr=subprocess.PIPE, text=True, env=os.environ) as server:
        assert server.stderr is not None
        try:
            told = ""
            while "stop with Ctrl-C" not in told:
                line = server.stderr.readline()
                assert line, told
                told += line
            assert f"participants: http://127.0.0.1:{port}/study/tiny\n" in told
            assert re.search(rf"researchers: +http://127\.0\.0\.1:{port}/researcher\n", told)
            client = httpx.Client(transport=httpx.HTTPTransport(retries=20), base_url=f"http://127.0.0.1:{port}")
            assert "app.js" in client.get("/?x=1", follow_redirects=True).text
            assert "password" in client.get("/researcher").text
            state = client.get("/api/study/tiny/state").json()
            assert state["page"]["kind"] == "consent"
            sent = {"page": "consent", "answers": {"agree": True}, "seconds": 2}
            after = client.post("/api/study/tiny/answer", json=sent, headers={"x-csrf": state["csrf"]}).json()
            assert after["page"]["kind"] == "game"
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(30)
    assert (tiny.parent / "tiny.db").exists() == (kind == "sqlite")


def test_simulate_prints_a_row_for_everyone_and_keeps_what_it_is_told_to_keep(tiny, tmp_path, capsys):
    words = ["study", "simulate", str(tiny), "--participants", "2", "--speed", "20", "--json"]
    assert run([*words, "--out", str(tmp_path / "kept")]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [(row["participant"], row["pages"], row["games"]) for row in rows] == [(0, 3, 1), (1, 3, 1)]
    assert all(row["payment"] == f"EUR {3 + row['mean_score']:.2f}" for row in rows)
    assert (tmp_path / "kept" / "tiny.db").is_file()
    assert run(["replay", str(tmp_path / "kept" / "traces")]) == 0  # every trace verifies
    assert run([*words, "--out", str(tmp_path / "kept")]) == 2
    assert "exists" in capsys.readouterr().err


def test_a_study_can_be_checked_without_serving_it(tiny, capsys):
    assert run(["study", "serve", str(tiny), "--check"]) == 0
    assert "fine; 1 games, 1 partners" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "options", "told"),
    [
        ("partner: still}", [], r"tiny\.yaml, line 7: page 'game': partner 'stil' is not known"),
        ("", ["--batch", "0"], "numbers from 1"),
        ("", ["--database", "mysql://x"], "neither a path, sqlite:// nor postgresql://"),
        ("", ["--database", "postgresql://127.0.0.1:1/x"], "cannot open the database"),
        ("", ["--certificate", "nowhere.pem"], "TLS needs both|no such file"),
        ("", ["--port", "BUSY"], "cannot listen at 127.0.0.1, port"),
        ("", ["--port", "99999"], "cannot listen at"),
    ],
)
def test_what_cannot_be_served_is_told(change, options, told, tiny, capsys, monkeypatch):
    monkeypatch.chdir(tiny.parent)
    tiny.write_text(TINY.replace(change, change.replace("still", "stil")) if change else TINY)
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        given = [str(busy.getsockname()[1]) if word == "BUSY" else word for word in options]
        port = [] if "--port" in options else ["--port", str(free_port())]
        assert run(["study", "serve", str(tiny), *port, *given]) == 2
    assert re.search(told, capsys.readouterr().err)
    assert not Path("tiny.db").exists() or not Path("tiny.db").stat().st_size


@pytest.mark.parametrize(
    ("options", "told"),
    [(["--participants", "0"], "at least 1"), (["--at-once", "0"], "at least 1"), (["--speed", "0"], "above 0")],
)
def test_what_cannot_be_simulated_is_told(options, told, tiny, capsys):
    assert run(["study", "simulate", str(tiny), *options]) == 2
    assert told in capsys.readouterr().err


def test_games_that_cannot_be_played_are_told_with_their_name(tmp_path, capsys):
    file = tmp_path / "small.yaml"
    file.write_text(SMALL.replace("seat: alternate", "seat: 7"))
    assert run(["study", "serve", str(file), "--check"]) == 2
    assert "game 'cards': seat 7: hanabi/2p has seats 0 to 1" in capsys.readouterr().err
