"""From people in browsers to tables: stand-ins walk through a served study, and its database is analysed."""

import asyncio

import pytest

from interplay.server.app import Base
from interplay.server.database import SERVER, open_database
from interplay.study.analysis.run import analyse
from interplay.study.db import records
from interplay.study.db.schema import HISTORY
from interplay.study.http.app import build
from interplay.study.simulation.run import SimulatedParticipant, SimulatedWorlds
from tests.study.conftest import serving

pytestmark = pytest.mark.slow  # games in real time, which a busy machine cannot keep up with


def test_a_database_of_walks_is_analysed(small, tmp_path):
    file = tmp_path / "small.db"
    database = open_database(str(file), (SERVER, HISTORY))
    base = Base(database)
    worlds = SimulatedWorlds(small)

    async def walk(url):
        return [await SimulatedParticipant(small, url, number, 5, worlds).go() for number in range(3)]

    with serving(build(small, base, sizes=(1, 4), speed=3), base) as served:
        walks = asyncio.run(walk(served.url))
    database.close()
    held = records.load(str(file))
    found = {result.id: result for result in analyse(held).results}
    assert {row["what"]: row["people"] for row in found["people"].tables["counts"]} == {"in the analysis": 3}
    data = analyse(held).data
    assert sorted(row["score"] for row in data.counted()) == sorted(s for w in walks for s in w.scores)
    ratings = found["ratings"].tables["ratings"]
    assert {row["partner"] for row in ratings} == {"still", "wild"}
    assert all(row["people"] == 3 for row in ratings)
    ranks = found["ranks"].tables["ranks"]
    assert [row["place"] for row in ranks] == [1, 2]
    teams = found["interdependence"].tables["teams"]
    assert {(row["game"], row["partner"], row["games"]) for row in teams} == {
        ("kitchen", "still", 3), ("kitchen", "wild", 3),
    }  # fmt: skip
    assert {row["partner_triggered"] for row in teams if row["partner"] == "still"} <= {None, 0.0}
    assert any("cannot tell" in note for note in found["interdependence"].notes)  # Hanabi has no hand-overs
