"""Games in plain Python, and partners that are any Python object: played step by step, recorded all the same."""

import asyncio
import json

import numpy as np
import pytest

from interplay.agents.api import Agent, FunctionPlayer, Identity
from interplay.challenge.app_state import make_stage
from interplay.challenge.array_encoding import pack, pack_view, unpack_batch
from interplay.challenge.candidate_table import CandidateTable
from interplay.challenge.spec import ChallengeSetting
from interplay.errors import InterplayError
from interplay.rollout.live import PartnerFault, live_engine
from interplay.rollout.live_python import TEXT, PythonEngine
from interplay.traces import TraceSet, verify


def first(observation, legal):
    return int(np.flatnonzero(legal)[0])


def illegal(observation, legal):
    return int(np.flatnonzero(~legal)[0])


async def play_out(engine, table, skip):
    looks = await table.begin(engine, skip)
    seen = list(looks)
    while not looks[-1].done:
        actions = {s: first(None, m) for s, m in looks[-1].legal.items() if looks[-1].turn[s]}
        looks = await table.advance(engine, actions, skip)
        seen += looks
    table.live.close()
    return seen


def test_players_as_partners(served):
    """Hanabi with one partner that is a function: the same looks, a trace that replays."""
    game = served.host.stages["2p"].game
    partner = Agent("function", FunctionPlayer(first, encoding="hle"))
    engine = live_engine(game, {"0": partner}, sizes=(1,))
    for skip in (True, False):
        table = CandidateTable((0, None), (1, 2), "belief")
        seen = asyncio.run(play_out(engine, table, skip))
        assert [look.t for look in seen] == list(range(table.live.t + 1))
        episode = table.episode([partner.identity(game)], Identity("candidate", "", False), 0)
        assert verify(TraceSet.in_memory([episode])).ok
    engine.close()


def test_a_partner_that_breaks_the_rules_is_a_fault(served):
    game = served.host.stages["2p"].game
    engine = live_engine(game, {"0": Agent("bad", FunctionPlayer(illegal, encoding="hle"))}, sizes=(1,))
    with pytest.raises(PartnerFault):
        asyncio.run(play_out(engine, CandidateTable((0, None), (1, 2), "belief"), True))
    engine.close()


def test_the_kitchen_is_told_as_text():
    """Its states are Python objects and cannot be sent; the game as text can."""
    setting = ChallengeSetting(name="k", game="kitchen/rc", partners=("random",), games=4)
    stage = make_stage(setting)
    assert isinstance(stage.engine, PythonEngine)
    assert TEXT in stage.encodings
    assert "state" not in stage.encodings
    table = CandidateTable((None, 0), (3, 4), TEXT)
    looks = asyncio.run(play_out(stage.engine, table, True))
    told = pack_view(looks[0], "base64")
    assert told["seats"]["0"]["observation"] == stage.game.render(stage.game.init(None), 0)
    assert json.dumps(told)
    episode = table.episode(stage.identities, Identity("candidate", "", False), 0)
    assert verify(TraceSet.in_memory([episode])).ok
    for engine in (stage.engine, stage.tests):
        engine.close()


def test_settings_that_cannot_be_played_are_told():
    for change, told in (
        ({"game": "hanabi/9p"}, "unknown game"),
        ({"partners": ("hanabi/nobody",)}, "unknown agent"),
        ({"partners": ("overcooked/greedy",)}, "setting 'x'"),
        ({"partners": (), "panel": "nothing"}, "unknown panel"),
    ):
        setting = ChallengeSetting(**({"name": "x", "game": "hanabi/2p", "partners": ("random",), "games": 1} | change))
        with pytest.raises(InterplayError, match=told):
            make_stage(setting, sizes=(1,))


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint32", "bool"])
def test_arrays_come_back_as_they_went(dtype):
    array = (np.random.default_rng(0).random((3, 4)) * 100).astype(dtype)
    for how in ("base64", "lists"):
        back = unpack_batch([json.loads(json.dumps(pack(array, how)))], array)[0]
        assert back.dtype == array.dtype
        assert np.array_equal(back, array)
    with pytest.raises(InterplayError, match="cannot be sent"):
        pack(np.array([object()]), "lists")


def test_the_command_makes_the_challenge_ready_before_it_serves(tmp_path, monkeypatch, capsys):
    """Everything up to the open port: the file, the database, the partners, and programs compiled for every view."""
    from interplay.cli.main import run
    from interplay.rollout.live_compiled import CompiledEngine

    file = tmp_path / "small.yaml"
    file.write_text(
        "name: small\ntitle: Small\nphases: [{name: main}]\n"
        "settings: [{name: room, game: overcooked/cramped_room, partners: [stay], games: 2}]\n"
    )
    warmed, served = [], []
    monkeypatch.setattr(CompiledEngine, "warm", lambda self, encoding=None: warmed.append(encoding))
    monkeypatch.setattr("interplay.server.serve.run", lambda app, listen, base: served.append(app.state.host))
    command = ["challenge", "serve", str(file), "--database", str(tmp_path / "small.db"), "--batch", "1", "--port", "0"]
    assert run(command) == 0, capsys.readouterr().err
    assert warmed == list(served[0].stages["room"].encodings)
