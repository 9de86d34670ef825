"""One small study with both kinds of games, made once: its partners are compiled for all tests together."""

import asyncio
import contextlib
import os
import shutil
import socket
import threading
import time
from dataclasses import dataclass
from typing import Any

import pytest
import uvicorn

from interplay.server.app import Base
from interplay.server.database import SERVER, open_database
from interplay.server.serve import Listen, config
from interplay.study.db.schema import HISTORY
from interplay.study.http.app import build
from interplay.study.protocol.reading import parse
from tests.study.texts import FIVE_EUROS, QUIZ, TWO_PARTNERS, consent, game, rounds, study

SMALL = study(
    "small",
    QUIZ + "    explanation: Count.\n",
    rounds(
        '{id: liked, type: likert, scale: agree, label: "Did you like {alias}?"}',
        '{id: why, type: text, label: "Why?", required: false, max: 20}',
    ),
    game("cards", "cards", "wild"),
    title="{en: Small, zh: 小}",
    languages="[en, zh]",
    scales="{agree: {points: 5, left: {en: disagree, zh: 不同意}, right: {en: agree, zh: 同意}}}",
    games="""
  kitchen: {game: overcooked/cramped_room, options: {horizon: 24}, tick_hz: 12, countdown_s: 0}
  cards: {game: hanabi/2p, seat: alternate, partner_delay_s: 0}""",
    **TWO_PARTNERS,
    first=consent("3", "{en: Consent, zh: 同意}", "{en: I agree, zh: 我同意}"),
    after={
        "end": "{en: Thanks, zh: 谢谢}",
        "payment": FIVE_EUROS,
        "completion": '{url: "https://example.org/back?cc={code}", recruiter: prolific, screened_code: NOFIT}',
    },
)


@dataclass
class Served:
    """The study on a real port."""

    url: str
    app: Any
    base: Base
    loop: Any = None

    @property
    def host(self):
        return self.app.state.study

    @property
    def api(self) -> str:
        return f"{self.url}/api/study/small"

    def rows(self, table):
        return self.base.database.read(lambda tx: [row._mapping for row in tx.execute(table.select())])


@contextlib.contextmanager
def serving(app, base):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = uvicorn.Server(config(app, Listen(port=port), largest_frame=64 * 1024))
    served = Served(f"http://127.0.0.1:{port}", app, base)

    async def main():
        served.loop = asyncio.get_running_loop()
        await server.serve()

    thread = threading.Thread(target=lambda: asyncio.run(main()), daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.02)
    yield served
    server.should_exit = True
    thread.join(30)


@contextlib.contextmanager
def opened(protocol, folder):
    """A study of its own database in a folder, with its games compiled, while it is served."""
    database = open_database(str(folder / "study.db"), (SERVER, HISTORY))
    base = Base(database)
    app = build(protocol, base, sizes=(1,))
    for engine in app.state.study.engines.values():
        engine.warm()
    with serving(app, base) as found:
        yield found
    database.close()


def within_a_minute(work):
    return asyncio.run(asyncio.wait_for(work, 60))


@pytest.fixture(scope="session")
def small():
    return parse(SMALL)


@pytest.fixture(scope="session")
def served(small, tmp_path_factory):
    database = open_database(str(tmp_path_factory.mktemp("study") / "small.db"), (SERVER, HISTORY))
    base = Base(database)
    with serving(build(small, base, sizes=(1, 4), speed=3), base) as found:
        yield found
    database.close()


FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


@pytest.fixture(scope="module")  # two at a time do not go together in one process
def chromium():
    """A real Chromium, driven by playwright; CHROMIUM names its program."""
    api = pytest.importorskip("playwright.sync_api", reason="the browser tests drive Chromium by playwright")
    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if not program:
        pytest.skip("no Chromium found; install one or name it in CHROMIUM")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()
