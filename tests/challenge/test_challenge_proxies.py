"""The challenge that hides proxies: its file is sound, games with it run, and no one is told who the partners are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from interplay.challenge import admin, client
from interplay.challenge.http_app import build
from interplay.challenge.spec import Challenge, load
from interplay.cli.main import run
from interplay.server.app import Base
from tests.challenge.conftest import serving
from tests.challenge.talk import any_move, welcomed
from tests.manual_clock import ManualClock

FILE = Path(__file__).parents[2] / "challenges" / "hanabi_proxies.yaml"
ROSTER = Path(__file__).parents[2] / "benchmarks" / "hanabi_learning" / "roster.json"
GAMES = 3


def test_the_hidden_partners_are_the_rosters_proxies_and_three_players_are_no_people():
    found, listed = load(FILE), json.loads(ROSTER.read_text())
    for setting in found.settings:
        names = listed[setting.name]["proxies"]
        proxies = [f"greedy:trained/hanabi/{setting.name}/{name}" for name in names]
        assert list(setting.partners) == proxies
        assert setting.games == 1000
    assert "bots that play by the H-Group conventions" in " ".join(found.text.split())
    assert "stand for no people" in " ".join(found.text.split())


def test_the_file_passes_its_check_which_names_no_partner(capsys, tmp_path):
    assert run(["challenge", "check", str(FILE), "--json"]) == 0
    out = capsys.readouterr().out
    two, three = json.loads(out)["rows"]
    assert (two["partners"], two["line_ups"], two["games_per_line_up"]) == (2, 4, [250, 250])
    assert (three["partners"], three["line_ups"], three["games_per_line_up"]) == (2, 18, [55, 56])
    assert not any(partner in out for setting in load(FILE).settings for partner in setting.partners)
    wrong = tmp_path / "wrong.yaml"
    spoilt = FILE.read_text().replace("partners: [greedy:trained/hanabi/2p/", "partners: [trained/hanabi/2p/none-")
    wrong.write_text(spoilt)
    assert run(["challenge", "check", str(wrong)]) == 2
    assert "setting '2p'" in capsys.readouterr().err


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    """The challenge with a few games of two players, on a real port."""
    told = load(FILE).model_dump()
    told["settings"] = [dict(s, games=GAMES) for s in told["settings"] if s["name"] == "2p"]
    told["prediction"], told["plans"] = [], "open"
    told["phases"] = [dict(phase, traces="when_done") for phase in told["phases"]]
    database = admin.open_challenge_database(str(tmp_path_factory.mktemp("proxies") / "books.db"))
    base = Base(database, ManualClock(), guesses_per_minute=10_000)
    with serving(build(Challenge.model_validate(told), base, sizes=(2,), capacity=8), base) as found:
        for stage in found.host.stages.values():
            stage.engine.warm("belief")  # compiling takes longer than a client waits on a busy machine
        yield found
    database.close()


def test_an_evaluation_runs_and_nobody_is_told_who_the_partners_are(few):
    keys, heard = few.entry("ours"), []
    with welcomed(few.url, keys["evaluation_key"]) as talk:
        games = {told["game"]: told for told in talk.next(GAMES)}
        heard += games.values()
        assert len(games) == GAMES
        while games:
            moves = [{"game": n, "seq": t["seq"], "actions": any_move(t)} for n, t in games.items()]
            for told in talk.ask(type="act", moves=moves)["games"]:
                assert "error" not in told, told
                heard.append(told)
                games[told["game"]] = told
                if told["done"]:
                    del games[told["game"]]
    few.settled()
    path = f"/api/v1/evaluations/{keys['evaluation']}"
    signed = client.call(few.url, "GET", f"{path}/result", keys["evaluation_key"])
    assert signed["content"]["settings"][0]["games"] == GAMES
    traces = client.call(few.url, "GET", f"{path}/traces", keys["evaluation_key"]).text
    public = [client.call(few.url, "GET", f"/api/v1/{what}") for what in ("challenge", "leaderboard")]
    everything = json.dumps([heard, signed, public]) + traces
    secrets = [*few.host.challenge.settings[0].partners, "trained/", "safetensors"]
    secrets += [identity.hash for identity in few.host.stages["2p"].identities]
    assert all(secret for secret in secrets)
    assert [secret for secret in secrets if secret in everything] == []
