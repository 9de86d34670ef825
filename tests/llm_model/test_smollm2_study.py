"""A person beside a real model in a study: what they write reaches its prompt, and nobody waits for it for ever."""

import asyncio

import pytest

from interplay import trust
from interplay.agents.llm.player import LLMPlayer
from interplay.agents.llm.settings import LLMSettings
from interplay.server.app import Base
from interplay.server.database import SERVER, open_database
from interplay.study.db import game_rows
from interplay.study.db.schema import HISTORY, games
from interplay.study.http.app import build
from interplay.study.protocol.reading import parse
from interplay.traces.replay import game_of, replay
from tests.study.conftest import serving as served_by
from tests.study.visitor import Visitor

pytestmark = pytest.mark.llm
trust.admit(["tests.llm_model.test_smollm2_study:small"])  # as --trust would

STUDY = """
name: beside
title: Beside a model
games:
  patient: {game: kitchen/nrc, options: {horizon: 1}, partner_delay_s: 0, think_s: 300}
  hurried: {game: kitchen/nrc, options: {horizon: 2}, partner_delay_s: 0, think_s: 0.2}
partners: {model: "tests.llm_model.test_smollm2_study:small"}
flow:
  - {kind: consent, id: consent, title: Consent, version: "1", checkboxes: [{id: agree, label: I agree}]}
  - {kind: game, id: patient, title: Patient, game: patient, partner: model}
  - {kind: game, id: hurried, title: Hurried, game: hurried, partner: model}
"""


def small():
    return LLMPlayer("local/smollm2", LLMSettings(max_tokens=64, turn_cap=2, memory="none"))


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    pytest.importorskip("xllamacpp", reason="pip install 'interplay[local]'")
    from interplay.agents.llm.local import serving

    async def play(url):
        async with Visitor(url, "beside") as me:
            await me.answer(agree=True)
            for name in ("patient", "hurried"):
                assert me.page["id"] == name
                async with me.game() as line:
                    seq = (await line.until("start"))["seq"]
                    await line.send(type="chat", seq=seq + 1, text="Please bring me an egg.")
                    await line.send(type="act", seq=seq + 2, action="wait(3)")
                    await line.until("end", timeout=500)
                await me.look()

    database = open_database(str(tmp_path_factory.mktemp("beside") / "b.db"), (SERVER, HISTORY))
    base = Base(database)
    with pytest.MonkeyPatch.context() as patch, serving() as address:
        patch.setenv("LOCAL_BASE_URL", address)
        with served_by(build(parse(STUDY), base, sizes=(1,)), base) as served:
            asyncio.run(asyncio.wait_for(play(served.url), 900))
            rows = {row["page"]: row for row in served.rows(games)}
    database.close()
    return {page: game_rows.unpack(row["episode"]) for page, row in rows.items()}


def test_what_a_person_writes_reaches_the_models_prompt(played):
    episode = played["patient"]
    calls = [r.payload for r in episode.events if r.kind == "call"]
    assert calls
    assert all(call["tokens_out"] > 0 for call in calls)
    assert any("Please bring me an egg." in call["prompt"] for call in calls)
    assert not [r for r in episode.events if r.kind == "deadline"]
    assert len(replay(game_of(episode), episode).states) == episode.length + 1


def test_a_real_model_is_not_waited_for_for_ever(played):
    episode = played["hurried"]
    assert episode.length == 2
    assert [r for r in episode.events if r.kind == "deadline" and r.seat == 1]
    assert (episode.actions[:, 1] == 0).any()
