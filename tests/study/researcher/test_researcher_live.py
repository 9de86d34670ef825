"""The researchers' side of a study that runs: the monitor tells of games in play, a replay is drawn by a process of its
own, and whoever is erased in the middle of a game is gone, while everyone else plays on."""

import asyncio
import json
import re

import httpx
import orjson
import pytest
import sqlalchemy as sa
from websockets.asyncio.client import connect

from interplay.server.app import Base
from interplay.server.clock import SystemClock
from interplay.server.replay_worker import POLICY
from interplay.study.admin import researchers
from interplay.study.db.connect import open_study_database
from interplay.study.db.schema import events, games, people
from interplay.study.http.app import build
from tests.study.conftest import serving
from tests.study.researcher.conftest import PASSWORD
from tests.study.researcher.filling import Filler, protocol


class Ticking(SystemClock):
    def advance(self, seconds):
        pass


@pytest.fixture(scope="module")
def study(tmp_path_factory, episodes):
    setting = protocol().games["kitchen"].model_copy(update={"options": {"horizon": 2000}})
    made = protocol(games={"kitchen": setting})
    database = open_study_database(str(tmp_path_factory.mktemp("live") / "tiny.db"))
    filler = Filler(database, Ticking(), made, episodes)
    done = filler.person()
    filler.finish(done)
    database.write(researchers.add, SystemClock(), "ana", password=PASSWORD)
    base = Base(database)
    with serving(build(made, base, sizes=(1, 2)), base) as served:
        served.done = filler.public(done)
        yield served
    database.close()


class Participant:
    """Someone who is in a game, by HTTP and a socket."""

    def __init__(self, study):
        self.study = study
        self.client = httpx.AsyncClient(timeout=60)
        self.api = f"{study.url}/api/study/tiny"

    async def come(self):
        state = (await self.client.get(f"{self.api}/state")).json()
        for given in ({"agree": True}, {"sum": "2"}, {"about": "someone"}):
            body = {"page": state["page"]["id"], "answers": given}
            answer = await self.client.post(
                f"{self.api}/answer", json=body, headers={"x-csrf": state["csrf"], "origin": self.study.url}
            )
            state = answer.json()
        assert state["page"]["kind"] == "game"
        cookie = "; ".join(f"{name}={value}" for name, value in self.client.cookies.items())
        address = self.api.replace("http", "ws", 1) + "/play"
        self.wire = await connect(address, additional_headers={"cookie": cookie}, origin=self.study.url)
        await self.wire.send(json.dumps({"type": "hello", "seen": -1}))
        await self.tick(3)
        return self

    async def tick(self, wanted):
        """Read until so many more steps were played."""
        first = None
        async for text in self.wire:
            told = orjson.loads(text)
            if told["type"] == "tick":
                first = told["t"] if first is None else first
                if told["t"] >= first + wanted:
                    return

    async def leave(self):
        await self.wire.close()
        await self.client.aclose()


async def researcher(study):
    client = httpx.AsyncClient(base_url=study.url, timeout=120, headers={"origin": study.url})
    page = await client.get("/researcher")
    fields = {"name": "ana", "password": PASSWORD, "csrf": token(page.text)}
    assert (await client.post("/researcher/login", data=fields)).status_code == 303
    return client


def token(page):
    return re.search(r'name="csrf" value="([0-9a-f]+)"', page)[1]


def rows(study, table):
    return study.base.database.read(lambda tx: tx.execute(sa.select(table)).all())


@pytest.mark.slow
def test_a_running_game_is_watched_and_its_player_erased_while_another_plays_on(study):
    async def all_of_it():
        ana = await researcher(study)
        one, two = await Participant(study).come(), await Participant(study).come()
        first, second = (row for row in rows(study, people) if row.status == "active")
        shown = (await ana.get("/researcher/monitor/now")).text
        assert first.public in shown
        assert second.public in shown
        assert shown.count(">here<") == 2
        assert "still" in shown or "wild" in shown
        seen = int(re.search(r'aria-label="step (\d+) of 2000"', shown)[1])
        assert seen >= 3

        page = (await ana.get(f"/researcher/participants/{first.public}")).text
        fields = {"csrf": token(page), "confirm": first.public, "games": "erase"}
        answer = await ana.post(f"/researcher/participants/{first.public}/erase", data=fields)
        assert answer.status_code == 303, answer.text
        async for _ in one.wire:  # until it is closed
            pass
        assert not [row for row in rows(study, people) if row.id == first.id]
        for table in (games, events):
            assert not [row for row in rows(study, table) if row.person == first.id]

        await two.tick(5)  # plays on, and what they do is stored
        assert not study.host.event_log.behind
        assert [row for row in rows(study, events) if row.person == second.id and row.kind == "step"]
        shown = (await ana.get("/researcher/monitor/now")).text
        assert first.public not in shown
        game = next(row.id for row in rows(study, games) if row.person == second.id)
        so_far = await ana.get(f"/researcher/games/{game}/replay")  # of a game that is not over
        assert "not over" in so_far.text
        assert re.search(r'"steps":([1-9]|\d\d+),', so_far.text)
        state = (await one.client.get(f"{one.api}/state")).json()
        assert state["page"]["id"] == "consent"  # to the study, they are new
        await two.leave()
        await one.client.aclose()
        await ana.aclose()

    asyncio.run(all_of_it())


def test_a_finished_game_is_replayed_in_a_page_that_can_do_no_harm(study):
    async def all_of_it():
        ana = await researcher(study)
        games_page = (await ana.get(f"/researcher/participants/{study.done}")).text
        path = re.search(r"/researcher/games/\d+/replay", games_page)[0]
        answer = await ana.get(path)
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-security-policy"] == POLICY
        assert "sandbox allow-scripts" in POLICY
        assert "That was odd" in answer.text
        assert f"participant {study.done} in seat 0" in answer.text
        assert (await ana.get("/researcher/games/999999/replay")).status_code == 404
        assert (await ana.get("/researcher/games/x/replay")).status_code == 422
        await ana.aclose()

    asyncio.run(all_of_it())
