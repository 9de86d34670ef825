"""The server is killed under a participant's hands, in a form and in a game: the browser waits and goes on."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import zlib

import orjson
import pytest
import sqlalchemy as sa

from interplay.study.db.schema import games
from interplay.traces.export import from_record
from interplay.traces.replay import game_of, replay
from tests.study.texts import form, game, study

pytestmark = pytest.mark.browser

STUDY = study(
    "fragile",
    form("about", "{id: age, type: number, label: Your age, min: 18, max: 99}", title="About you"),
    game("game", "kitchen", "greedy"),
    games="{kitchen: {game: overcooked/cramped_room, options: {horizon: 90}}}",
    partners="{greedy: overcooked/greedy}",
)


class Server:
    """`interplay study serve` in a process of its own, which can be killed and started again."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "fragile.yaml").write_text(STUDY)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        words = [sys.executable, "-m", "interplay.cli.main", "study", "serve", "fragile.yaml", "--batch", "1"]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen([*words, "--port", str(self.port)], cwd=self.folder, stderr=pipe, text=True)
        told = ""
        while "stop with Ctrl-C" not in told:
            line = self.process.stderr.readline()
            assert line, told
            told += line

    def kill(self) -> None:
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stderr.close()


@pytest.fixture
def server(tmp_path):
    found = Server(tmp_path)
    found.start()
    yield found
    found.kill()


def test_a_killed_server_costs_nobody_anything(chromium, server):
    page = chromium.new_page()
    page.set_default_timeout(90_000)
    page.goto(f"{server.url}/study/fragile")
    page.check("#q-agree")
    page.click("main .primary")
    page.fill("#q-age", "31")
    server.kill()
    page.click("main .primary")
    page.wait_for_selector("text=The server cannot be reached. Your answers are kept")
    server.start()
    page.wait_for_selector("main[data-page=game]")
    page.wait_for_function("() => Number(document.querySelector('.grid-board')?.dataset.t) > 12")
    page.keyboard.press("ArrowLeft")
    pressed = int(page.get_attribute(".grid-board", "data-t"))
    page.wait_for_function("t => Number(document.querySelector('.grid-board').dataset.t) > t + 3", arg=pressed)
    before = int(page.get_attribute(".grid-board", "data-t"))
    server.kill()
    page.wait_for_selector("text=Connection lost")
    server.start()
    page.wait_for_selector(".line-state", state="hidden")
    again = page.wait_for_function("t => Number(document.querySelector('.grid-board').dataset.t) > t", arg=before)
    assert again
    page.wait_for_selector(".game-end:visible .primary")
    shown = float(page.inner_text(".game-info output"))
    page.context.close()

    engine = sa.create_engine(f"sqlite:///{server.folder / 'fragile.db'}")
    with engine.connect() as tx:
        row = tx.execute(sa.select(games)).one()
    episode = from_record(orjson.loads(zlib.decompress(row.episode)))
    assert episode.length == 90
    assert float(replay(game_of(episode), episode).steps.reward.sum()) == row.score == shown
    engine.dispose()
