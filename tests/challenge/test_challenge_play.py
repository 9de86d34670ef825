"""Whole evaluations, by our client and by one that follows the published messages."""

import asyncio
import json
from collections import Counter
from types import SimpleNamespace

import httpx
import numpy as np
import pytest
from websockets.exceptions import ConnectionClosedError

from interplay.challenge import admin, client, repository
from interplay.challenge.results import digest
from interplay.challenge.verify_result import check
from interplay.errors import InterplayError
from interplay.traces import TraceSet, read_jsonl, verify
from tests.challenge import wire_client
from tests.challenge.talk import any_move, play_out, welcomed


@pytest.fixture(scope="module")
def whole(served):
    """An evaluation that our client has played to its end, in three sittings, and then predicted."""
    keys = served.entry("whole", "simple with noise")
    agents = {"": "hanabi/simple+0.3"}
    first = client.play(served.url, keys["evaluation_key"], agents, most=4, at_once=3, seed=1)
    assert first["games"]["DONE"] == 4
    with welcomed(served.url, keys["evaluation_key"], encoding="seen", arrays="base64") as talk:
        talk.next(2)  # begun, and left behind
    second = client.play(served.url, keys["evaluation_key"], agents, seed=2)
    assert (second["status"], second["games"]["DONE"]) == ("played", 29)
    served.settled()
    return keys


def result(served, keys):
    path = f"/api/v1/evaluations/{keys['evaluation']}/result"
    return client.call(served.url, "GET", path, keys["evaluation_key"])


def test_the_schedule_was_kept(served, whole):
    rows = served.base.database.read(
        lambda tx: tx.exec_driver_sql(
            "SELECT g.setting, g.line_up, g.status, g.attempt, g.seats FROM games g JOIN submissions s "
            f"ON s.id = g.submission WHERE s.public = '{whole['evaluation']}'"
        ).all()
    )
    for setting, choices, games in (("2p", 4, 10), ("3p", 18, 19)):
        counts = Counter(r.line_up for r in rows if r.setting == setting)
        assert sum(counts.values()) == games
        assert len(counts) == choices
        assert max(counts.values()) - min(counts.values()) <= 1
    assert {r.status for r in rows} == {"DONE"}
    assert {r.attempt for r in rows} == {1}  # what was left behind was taken up, not dealt anew


def test_the_result_is_signed_and_its_traces_give_it(served, whole, tmp_path):
    signed = result(served, whole)
    content = signed["content"]
    assert content["plan_sha256"] == whole["plan_sha256"]
    assert [s["games"] for s in content["settings"]] == [10, 19]
    assert [s["games_per_line_up"] for s in content["settings"]] == [[2, 3], [1, 2]]
    for setting in content["settings"]:
        assert setting["mean_low"] is None or setting["mean_low"] <= setting["mean"] <= setting["mean_high"]
        assert 0 <= setting["bombs"] <= setting["games"]
        assert setting["forfeits"] == 0
        assert 0 <= setting["teamwork"]["communicativeness/candidate"] <= 1
        assert setting["teamwork"]["communicativeness/partners"] is not None
    file, lines = tmp_path / "result.json", tmp_path / "traces.jsonl"
    client.save(signed, file)
    path = f"/api/v1/evaluations/{whole['evaluation']}/traces"
    lines.write_bytes(client.call(served.url, "GET", path, whole["team_key"]).content)
    public = client.call(served.url, "GET", "/api/v1/challenge")["public_key"]
    found = check(file, public, lines)
    assert all(row["fine"] for row in found), found.rows
    assert {row["checked"] for row in found} >= {"signature", "replay", "games", "score of 2p", "score of 3p"}

    unknown = {row["checked"]: row for row in check(file)}["signed by the host"]
    assert not unknown["fine"]  # whoever made the file may have signed it
    assert unknown["found"].startswith("unsigned by the host")
    changed = json.loads(file.read_text())
    changed["content"]["settings"][0]["mean"] += 1
    client.save(changed, file)
    assert not check(file, public).rows[0]["fine"]
    client.save(signed, file)
    swapped = lines.read_text().splitlines()
    lines.write_text("\n".join([swapped[1], swapped[0], *swapped[2:]]))
    assert not all(row["fine"] for row in check(file, public, lines))


def test_bombs_and_means_are_those_of_the_traces(served, whole, tmp_path):
    """Counted again from the host's own trace set, by the game's rules."""
    traces = admin.traces(served.base.database, served.host.challenge, whole["evaluation"], tmp_path / "set")
    assert verify(traces).ok
    content = result(served, whole)["content"]
    for setting in content["settings"]:
        mine = [e for e in traces if e.game_id == setting["game"]]
        assert np.mean([e.score for e in mine]) == pytest.approx(setting["mean"])
        assert np.median([e.score for e in mine]) == pytest.approx(setting["median"])
        bombed, game = 0, served.host.stages[setting["setting"]].game
        for episode in mine:
            state = game.init(None, deck=episode.start["deck"])
            for actions in episode.actions:
                state, _ = game.step(state, actions)
            bombed += int(state.lives) == 0
        assert bombed == setting["bombs"]
    assert {i.name for e in traces for i in e.agents} == {"candidate", "random", "hanabi/simple"}
    with pytest.raises(InterplayError, match="no evaluation"):
        admin.traces(served.base.database, served.host.challenge, "nowhere", tmp_path / "none")


def test_the_owner_gets_traces_without_the_partners_names(served, whole):
    path = f"/api/v1/evaluations/{whole['evaluation']}/traces"
    text = client.call(served.url, "GET", path, whole["evaluation_key"]).text
    assert "simple" not in text
    episodes = list(read_jsonl(text.splitlines()))
    assert verify(TraceSet.in_memory(episodes)).ok
    assert {i.name for e in episodes for i in e.agents} == {"candidate", "partner 1", "partner 2"}
    assert len({digest(json.loads(line)) for line in text.splitlines()}) == 29


def test_the_leaderboard_shows_it(served, whole):
    signed = client.call(served.url, "GET", "/api/v1/leaderboard")
    entry = next(r for r in signed["content"]["rows"] if r["evaluation"] == whole["evaluation"])
    assert entry["rank"] is not None
    assert entry["agent"] == "simple with noise"
    page = httpx.get(served.url).text
    assert "simple with noise" in page
    assert whole["plan_sha256"][:8] in page
    assert "<script" not in page
    assert httpx.get(f"{served.url}/plans/{whole['evaluation']}").text == "a plan"
    assert "hanabi/simple" not in page + json.dumps(signed)


def test_prediction_is_scored_as_the_metric_scores_it(served, whole):
    """Teacher-forced cross-entropy of the same policy, computed from the library's games by our own metric."""
    from interplay.agents.registry import agent
    from interplay.metrics.action_prediction import predict_actions
    from interplay.traces import replay_batches

    done = client.predict(served.url, whole["evaluation_key"], {"": "hanabi/simple+0.3"}, at_once=2)
    assert done["status"] == "done"
    served.settled()
    found = result(served, whole)["content"]["prediction"][0]
    stage, library = served.host.stages["2p"], served.app.state.forecasts.libraries["2p"]
    (batch,) = replay_batches(stage.game, library.episodes)
    told = predict_actions(stage.game, agent("hanabi/simple+0.3").policy.bind(stage.game), batch)
    loss = []
    for n, episode in enumerate(library.episodes):
        seat = n % 2
        steps = [t for t in range(episode.length) if told.decides[n, t, seat]]
        loss += [-told.log_odds[n, t, seat] for t in steps]
    assert found["decisions"] == len(loss)
    assert found["cross_entropy"] == pytest.approx(np.mean(loss), abs=1e-4)
    assert found["games"] == 3


def test_published_messages_play_a_whole_evaluation(served):
    keys = served.entry("published")
    url = wire_client.next_url(served.url, keys["evaluation_key"])
    before = wire_client.evaluation_info(served.url, keys["evaluation_key"])
    assert {e["status"] for e in before["all_envs"]} == {"TODO"}
    assert before["human_ai_eval_done"] is False

    async def all_of_them():
        gate = asyncio.Semaphore(8)

        async def one():
            async with gate:
                return await wire_client.play_one(url)

        return await asyncio.gather(*(one() for _ in range(29)))

    played = asyncio.run(all_of_them())
    info = wire_client.evaluation_info(served.url, keys["evaluation_key"])
    assert info["human_ai_eval_done"] is True
    assert info["current_env"] is None
    assert [e["num_players"] for e in info["all_envs"]] == [2] * 10 + [3] * 19
    assert sorted(e["score"] for e in info["all_envs"]) == sorted(round(score) for _, score, _ in played)
    assert len({told["game_id"] for told, _, _ in played}) == 29
    assert {tuple(told["candidate_controlling"]) for told, _, _ in played if told["num_players"] == 3} == {
        tuple(f"agent_{i}" for i in seats) for seats in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2))
    }
    with pytest.raises(RuntimeError, match="all games of this evaluation are played"):
        asyncio.run(wire_client.play_one(url))


def test_published_observations_are_the_games_own(served):
    """Sizes as the published agents expect them: one number for each action, one vector for each seat."""
    keys = served.team("published tests")
    url = wire_client.test_url(served.url, keys["test_key"], 3, [0, 2])
    game = served.host.stages["3p"].game
    seen = []

    def agent(obs, legal_moves):
        seen.append((len(obs), len(legal_moves)))
        return wire_client.first_legal(obs, legal_moves)

    info, _, _ = asyncio.run(wire_client.play_one(url, agent))
    assert info == {"num_players": 3, "candidate_controlling": ["agent_0", "agent_2"], "is_debug": True, "game_id": 0}
    assert set(seen) == {(game.encodings["belief"].shape[0], len(game.action_names))}


def test_a_dropped_connection_is_taken_up_where_it_was(served):
    """In our protocol by any connection of the key, with all that was seen before."""
    keys = served.entry("dropped")
    with welcomed(served.url, keys["evaluation_key"]) as talk:
        (first,) = talk.next()
        heard = [first, talk.act(first["game"], 0, any_move(first))]
    with welcomed(served.url, keys["evaluation_key"]) as talk:
        (again,) = talk.next()
        assert again["game"] == first["game"]
        assert again["seq"] == 1
        assert again["steps"] == [step for told in heard for step in told["steps"]]
        play_out(talk, again)
        assert talk.ask(type="next")["standing"]["DONE"] == 1


def test_the_answer_to_the_last_move_can_be_had_again(served):
    keys = served.entry("last answer")
    with welcomed(served.url, keys["evaluation_key"]) as talk:
        heard = play_out(talk, talk.next()[0])
    before, last = heard[-2], heard[-1]
    with welcomed(served.url, keys["evaluation_key"]) as talk:
        assert talk.act(last["game"], before["seq"], any_move(before)) == last
        assert talk.act(last["game"], last["seq"], {})["error"] == "gone"
        assert talk.ask(type="next")["standing"]["DONE"] == 1


def test_a_dropped_published_connection_is_taken_up_too(served):
    import websockets.sync.client as sync

    keys = served.entry("dropped published")
    url = wire_client.next_url(served.url, keys["evaluation_key"])
    with sync.connect(url) as socket:
        socket.recv()
        first = json.loads(socket.recv())
        held = first["info"]["candidate_controlling"]
        socket.send(json.dumps({c: first[c]["legal_moves"].index(1) for c in held}))
        after = json.loads(socket.recv())
    with sync.connect(url) as socket:
        socket.recv()
        again = json.loads(socket.recv())
        assert again["info"] == first["info"]
        assert again[held[0]] == after[held[0]]


def test_agents_are_checked_before_a_game_is_begun(served):
    keys = served.entry("unfit")
    for agents, told in (
        ({"": "overcooked/greedy"}, "play kitchens"),
        ({"": "hanabi/cheat"}, "may not see"),
        ({"2p": "hanabi/simple"}, "no agent for the setting '3p'"),
    ):
        with pytest.raises(InterplayError, match=told):
            client.play(served.url, keys["evaluation_key"], agents)
    standing = client.call(served.url, "GET", "/api/v1/evaluation", keys["evaluation_key"])["games"]
    assert standing["TODO"] == 29


def test_players_play_too(served):
    """Any Python object: here a function of the observation and the legal mask."""
    keys = served.entry("function")
    standing = client.play(served.url, keys["evaluation_key"], {"": "tests.challenge.a_player:player"}, most=3)
    assert standing["games"]["DONE"] == 3
    with pytest.raises(InterplayError, match="opens when all games"):
        client.predict(served.url, keys["evaluation_key"], {"": "random"})


def test_no_server():
    with pytest.raises(InterplayError, match="cannot reach"):
        client.call("http://127.0.0.1:9", "GET", "/")
    with pytest.raises(InterplayError, match="neither http"):
        client.socket_address("ftp://x", "/")
    assert client.read_agents(["a", "2p=b"]) == {"": "a", "2p": "b"}
    assert repository.TEST == "test"


class _DroppedSocket:
    """A server that deals one game, takes its move, and drops the connection."""

    def __init__(self, games: list[str]):
        self.frames: list[dict] = [{"type": "welcome"}]
        self.dealt = [[games.pop()] if games else []]

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        pass

    async def send(self, text: str):
        frame, step = json.loads(text), {"t": 0, "seats": {"0": {"turn": True}}}
        if frame["type"] == "act":
            self.frames.append({"games": [{"game": move["game"], "done": True} for move in frame["moves"]]})
        elif self.dealt:
            dealt = [{"game": name, "seats": [0], "seq": 0, "steps": [step]} for name in self.dealt.pop()]
            self.frames.append({"games": dealt})

    async def recv(self) -> str:
        if not self.frames:
            raise ConnectionClosedError(None, None)
        return json.dumps(self.frames.pop(0))


class _AnyAgent:
    def forget(self, name):
        pass

    async def act(self, messages):
        return np.zeros((len(messages), 1))


def test_a_connection_may_drop_any_number_of_times_between_answers(monkeypatch):
    games = [f"g{i}" for i in range(3 * client.PATIENCE)]
    finished: list[int] = []

    async def at_once(seconds):
        pass

    monkeypatch.setattr(client, "connect", lambda *_, **__: _DroppedSocket(games))
    monkeypatch.setattr(client.asyncio, "sleep", at_once)
    candidate = SimpleNamespace(agent=lambda dealt: _AnyAgent())
    lanes = client._Lanes("ws://nowhere", "key", candidate, 1, len(games), finished.append)  # pyright: ignore
    asyncio.run(lanes.play(1))
    assert len(finished) == 3 * client.PATIENCE
