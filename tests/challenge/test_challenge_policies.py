"""What the file decides: deadlines, faults, quotas, phases, registration; and part 2 step by step."""

from collections import Counter

import httpx
import pytest
import sqlalchemy as sa

from interplay.challenge import client, repository
from interplay.challenge.schema import submissions
from interplay.errors import InterplayError
from interplay.server.api_error import ApiError
from tests.challenge.talk import any_move, play_out, rows_of, talking, welcomed


def test_deadlines_forfeit_and_partners_wait_for_no_one(served, clock):
    keys = served.entry("late")
    with welcomed(served.url, keys["evaluation_key"]) as talk:
        (told,) = talk.next()
        clock.advance(30)
        after = talk.act(told["game"], 0, any_move(told))
        clock.advance(59)
        served.call(served.host.end_late())
        assert told["game"] in served.host.matches  # moved in time: the clock started anew
        clock.advance(2)
        served.call(served.host.end_late())
        assert talk.act(told["game"], 1, any_move(after))["error"] == "gone"
        assert talk.ask(type="next")["standing"]["DONE"] == 1
    row = next(r for r in rows_of(served, keys["evaluation"]) if r.status == "DONE")
    assert (row.forfeit, row.score) == (True, 0.0)
    from interplay.challenge.results import unpack
    from interplay.traces import TraceSet, verify
    from interplay.traces.export import from_record

    episode = from_record(unpack(row.episode))
    assert verify(TraceSet.in_memory([episode])).ok  # half a game is a sound trace, too
    assert episode.events[0].kind == "deadline"


def test_a_client_that_never_moves_has_not_begun(served, clock):
    """Its agent may have failed at the start: the game is dealt anew, so often and no more."""
    keys = served.entry("never moves")
    with welcomed(served.url, keys["evaluation_key"]) as talk:
        for _ in range(served.host.challenge.rules.most_voids):
            talk.next()
            clock.advance(61)
            served.call(served.host.end_late())
            assert not any(r.forfeit for r in rows_of(served, keys["evaluation"]))
        talk.next()
        clock.advance(61)
        served.call(served.host.end_late())
    rows = rows_of(served, keys["evaluation"])
    assert Counter((r.status, r.forfeit) for r in rows)["DONE", True] == 1


def test_games_may_be_dealt_anew_by_the_file(served, clock, monkeypatch):
    rules = served.host.challenge.rules.model_copy(update={"abandoned": "void", "most_voids": 1})
    monkeypatch.setattr(served.host, "challenge", served.host.challenge.model_copy(update={"rules": rules}))
    keys = served.entry("anew")
    decks = []
    with welcomed(served.url, keys["evaluation_key"]) as talk:
        for _ in range(2):
            (told,) = talk.next()
            decks.append(served.host.matches[told["game"]].table.live.recorder.start["deck"].tolist())
            clock.advance(61)
            served.call(served.host.end_late())
    rows = rows_of(served, keys["evaluation"])
    assert decks[0] != decks[1]  # another deck, or one could peek
    assert Counter((r.status, r.forfeit) for r in rows)["DONE", True] == 1
    assert max(r.voids for r in rows) == 1


def test_faults_of_the_server_do_not_count(served, monkeypatch):
    """A partner that breaks: the game is void, and dealt anew with other cards."""
    keys = served.entry("fault")
    engine = served.host.stages["2p"].engine
    with welcomed(served.url, keys["evaluation_key"]) as talk:
        (told,) = talk.next()
        with monkeypatch.context() as broken:
            broken.setattr(type(engine), "_think", lambda self, tables: 1 / 0)
            answer = talk.act(told["game"], 0, any_move(told))
        assert answer["error"] == "gone"
        (again,) = talk.next()
        assert again["game"] != told["game"]
        play_out(talk, again)
    rows = rows_of(served, keys["evaluation"])
    assert Counter((r.status, r.attempt) for r in rows) == {("TODO", 0): 28, ("DONE", 2): 1}


def test_quotas_and_phases(served, monkeypatch, clock):
    from datetime import timedelta

    base, host = served.base, served.host
    phase = host.challenge.phases[0].model_copy(
        update={
            "evaluations": host.challenge.phases[0].evaluations.model_copy(update={"per_day": 1, "total": 2}),
            "closes": clock.now() + timedelta(days=3),
            "results": "owner",
            "traces": "after_phase",
        }
    )
    strict = host.challenge.model_copy(update={"phases": (phase,)})
    monkeypatch.setattr(host, "challenge", strict)
    made = served.team("quota")
    team = base.database.read(lambda tx: tx.exec_driver_sql("SELECT id FROM teams WHERE name = 'quota'").scalar_one())

    def enter():
        return base.database.write(repository.enter, clock, strict, host.choices, team, "a", "p")

    first = enter()
    with pytest.raises(ApiError, match="1 evaluations a day"):
        enter()
    clock.advance(86_401)
    enter()
    clock.advance(86_401)
    with pytest.raises(ApiError, match="allows 2 evaluations"):
        enter()
    path = f"/api/v1/evaluations/{first['evaluation']}"
    board = client.call(served.url, "GET", "/api/v1/leaderboard")["content"]["rows"]
    assert any(r["evaluation"] == first["evaluation"] for r in board)  # begun, therefore listed
    with pytest.raises(InterplayError, match="no result yet"):
        client.call(served.url, "GET", f"{path}/result", made["team_key"])
    with pytest.raises(InterplayError, match="after the phase"):
        client.call(served.url, "GET", f"{path}/traces", made["team_key"])
    clock.advance(86_401)
    assert client.call(served.url, "GET", f"{path}/traces", made["team_key"]).content == b""  # nothing was played
    with pytest.raises(ApiError, match="no phase"):
        enter()
    with welcomed(served.url, first["evaluation_key"]) as talk:
        assert "not open now" in talk.ask(type="next")["message"]


def test_registration_can_be_closed_and_is_limited(served, monkeypatch):
    body = {"team": "by http", "contact": "x"}
    made = httpx.post(f"{served.url}/api/v1/teams", json=body)
    assert made.status_code == 201
    assert made.json()["team_key"].startswith("team.")
    assert httpx.post(f"{served.url}/api/v1/teams", json=body).status_code == 409
    for wrong in ({}, {"team": ""}, {"team": "a\x00b", "contact": "x"}, {"team": "x" * 81, "contact": "x"}, []):
        assert httpx.post(f"{served.url}/api/v1/teams", json=wrong).status_code == 422
    codes = {httpx.post(f"{served.url}/api/v1/teams", json=body | {"team": f"t{i}"}).status_code for i in range(12)}
    assert 429 in codes
    # A name is data, never SQL or HTML.
    nasty = served.team("Robert'); DROP TABLE teams;--<script>")
    assert nasty["team"].endswith("<script>")


def test_connections_of_a_key_are_limited():
    from interplay.challenge.play_socket import Connections
    from interplay.server.api_keys import Key

    held = Connections(2)
    key = Key(1, "a", "evaluation", "submission:1")
    held.enter(key)
    held.enter(key)
    with pytest.raises(ApiError, match="2 connections are open"):
        held.enter(key)
    held.leave(key)
    held.enter(key)


def test_prediction_cannot_be_peeked_or_taken_back(served):
    keys = served.entry("peek")
    with talking(served.url, keys["evaluation_key"], path="/api/v1/predict") as talk:
        assert "opens when all games" in talk.hear()["message"]
    served.base.database.write(
        lambda tx: tx.execute(
            sa.update(submissions).where(submissions.c.public == keys["evaluation"]).values(status="played")
        )
    )
    with welcomed(served.url, keys["evaluation_key"], path="/api/v1/predict") as talk:
        opened = talk.ask(type="next", count=3)["games"]
        assert len(opened) == 3
        assert {g["seat"] for g in opened} == {0, 1}
        told = opened[0]
        assert "action" not in told["steps"][-1]  # the one that is asked for
        size = len(told["steps"][-1]["legal"])
        even = [1 / size] * size

        def answer(seq, odds):
            return talk.ask(type="predict", answers=[{"game": told["game"], "seq": seq, "probabilities": odds}])[
                "games"
            ][0]

        for odds in (even[:-1], [2.0, *even[1:]], [-1.0, 2.0, *[0.0] * (size - 2)], ["x"] * size, None, [None] * size):
            assert answer(0, odds)["error"] == "bad_request"
        assert answer(1, even)["error"] == "conflict"
        after = answer(0, even)
        assert after["seq"] == 1
        assert answer(0, even) == after
        sure = [0.0] * size
        sure[after["before"]] = 1.0
        assert answer(0, sure)["error"] == "conflict"  # too late to know better
        assert after["steps"][0]["t"] == told["steps"][-1]["t"] + 1
        with welcomed(served.url, keys["evaluation_key"], path="/api/v1/predict") as second:
            assert second.ask(type="next", count=3)["games"] == []
            frame = {"game": told["game"], "seq": 1, "probabilities": even}
            assert second.ask(type="predict", answers=[frame])["games"][0]["error"] == "not_yours"
    with welcomed(served.url, keys["evaluation_key"], path="/api/v1/predict") as talk:
        again = talk.ask(type="next", count=3)["games"][0]
        assert again["seq"] == 1
        assert "action" not in again["steps"][-1]
        assert all("action" in step for step in again["steps"][:-1])
