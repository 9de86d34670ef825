"""One small study with both kinds of games, made once: its partners are compiled for all tests together."""

import asyncio
import contextlib
from dataclasses import dataclass
from typing import Any

import pytest

from interplay.server import serve
from interplay.server.app import Base
from interplay.server.database import SERVER, open_database
from interplay.study.db.schema import HISTORY
from interplay.study.http.app import build
from interplay.study.protocol.reading import parse
from tests.chromium import launched
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
    with serve.serving(app, largest_frame=64 * 1024) as (url, loop):
        yield Served(url, app, base, loop)


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


@pytest.fixture(scope="module")  # two at a time do not go together in one process
def chromium():
    """A real Chromium, driven by playwright; CHROMIUM names its program."""
    with launched() as browser:
        yield browser
