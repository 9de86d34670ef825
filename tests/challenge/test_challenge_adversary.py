"""What must not work: more games than the budget, two moves in one turn, other people's games, hidden cards."""

import contextlib
import json
import threading
from collections import Counter

import httpx
import numpy as np
import pytest
import websockets.exceptions
import websockets.sync.client as sync

from interplay.games.hanabi import encode
from interplay.server import audit
from tests.challenge import wire_client
from tests.challenge.talk import any_move, play_out, rows_of, talking, welcomed


@pytest.fixture(scope="module")
def keys(served):
    return served.entry("adversary")


@pytest.fixture(scope="module")
def others(served):
    """Another team, with a game in play."""
    return served.entry("others")


def noted(served, code):
    served.call(served.base.refusals.settle())
    return served.base.database.read(audit.read, action=f"refused:{code}")


@pytest.mark.slow
def test_fifty_clients_cannot_play_one_game_more(served):
    """Fifty connections on one key, all asking at once for more than there is."""
    keys = served.entry("fifty")
    heard, most = [], []
    rng = np.random.default_rng(0)
    draw = threading.Lock()

    def pick(legal):
        with draw:
            return int(rng.choice(np.flatnonzero(legal)))

    def one():
        with welcomed(served.url, keys["evaluation_key"]) as talk:
            while True:
                answer = talk.ask(type="next", count=2)
                most.append(answer["standing"]["ACTIVE"])
                if not answer["games"]:
                    return
                for told in answer["games"]:
                    play_out(talk, told, pick)
                    heard.append(told["game"])

    threads = [threading.Thread(target=one) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = rows_of(served, keys["evaluation"])
    assert Counter(heard).most_common(1)[0][1] == 1
    assert len(heard) == len(rows) == 29
    assert {r.status for r in rows} == {"DONE"}
    assert {r.attempt for r in rows} == {1}
    assert max(most) <= served.host.challenge.rules.concurrency
    with welcomed(served.url, keys["evaluation_key"]) as talk:
        assert talk.next(10) == []


def test_two_clients_on_one_game_cannot_act_twice(served, keys):
    with welcomed(served.url, keys["evaluation_key"]) as one, welcomed(served.url, keys["evaluation_key"]) as two:
        (told,) = one.next()
        game, move = told["game"], any_move(told)
        assert two.act(game, 0, move)["error"] == "not_yours"
        first = one.act(game, 0, move)
        assert first["seq"] == 1
        assert one.act(game, 0, move) == first  # the same move again: the same answer, nothing is played
        seat, action = next(iter(move.items()))
        legal = told["steps"][-1]["seats"][seat]["legal"]
        other = next((a for a, ok in enumerate(legal) if ok and a != action), None)
        if other is not None:
            assert one.act(game, 0, {seat: other})["error"] == "conflict"
        assert one.act(game, 5, any_move(first))["error"] == "conflict"
        taken = two.ask(type="resume", game=game)["games"][0]
        assert taken["seq"] == 1
        assert one.act(game, 1, any_move(first))["error"] == "not_yours"
        last = two.act(game, 1, any_move(taken))
        assert last["seq"] == 2
        play_out(two, last)


def test_racing_moves_are_played_once(served, keys):
    """The same move sent many times in one frame, and another one among them."""
    with welcomed(served.url, keys["evaluation_key"]) as talk:
        (told,) = talk.next()
        move = {"game": told["game"], "seq": 0, "actions": any_move(told)}
        answers = talk.ask(type="act", moves=[move] * 20)["games"]
        assert all(a == answers[0] for a in answers)
        assert answers[0]["seq"] == 1
        match = served.host.matches[told["game"]]
        assert match.seq == 1


def test_wrong_moves_are_refused_and_change_nothing(served, keys):
    with welcomed(served.url, keys["evaluation_key"]) as talk:
        (told,) = talk.next()
        game, steps = told["game"], served.host.matches[told["game"]].table.live.t
        move = any_move(told)
        (seat,) = move
        legal = told["steps"][-1]["seats"][seat]["legal"]
        wrong_seat = next(str(s) for s in range(3) if str(s) not in told["steps"][-1]["seats"])
        for actions, code in (
            ({seat: legal.index(0)}, "illegal_action"),
            ({seat: -1}, "illegal_action"),
            ({seat: 10**18}, "illegal_action"),
            ({wrong_seat: 0, **move}, "wrong_seat"),
            ({wrong_seat: 0}, "wrong_seat"),
            ({}, "bad_request"),
            ({seat: "0"}, "bad_request"),
            ({seat: True}, "bad_request"),
            ({seat: 1.5}, "bad_request"),
            ({"-1": 0}, "bad_request"),
            ({"²": 0}, "bad_request"),
        ):
            assert talk.act(game, told["seq"], actions)["error"] == code, actions
        for frame, code in (
            ({"type": "act", "moves": []}, "bad_request"),
            ({"type": "act", "moves": "all"}, "bad_request"),
            ({"type": "act"}, "bad_request"),
            ({"type": "next", "count": 0}, "bad_request"),
            ({"type": "next", "count": 10**9}, "bad_request"),
            ({"type": "next", "count": "1; DROP TABLE games"}, "bad_request"),
            ({"type": "resume", "game": "../../etc/passwd"}, "gone"),
            ({"type": "resume", "game": {"$ne": 1}}, "gone"),
            ({"type": "give_me_the_deck"}, "bad_request"),
            ({}, "bad_request"),
        ):
            assert talk.ask(**frame)["error"] == code, frame
        for move_frame in (None, 7, [], {"game": game}, {"game": game, "seq": "0", "actions": {}}):
            assert talk.ask(type="act", moves=[move_frame])["games"][0]["error"] == "bad_request"
        assert served.host.matches[game].table.live.t == steps
    assert len(noted(served, "illegal_action")) >= 1
    assert len(noted(served, "wrong_seat")) >= 1


def test_other_peoples_games_are_out_of_reach(served, keys, others):
    with welcomed(served.url, others["evaluation_key"]) as theirs, welcomed(served.url, keys["evaluation_key"]) as mine:
        (told,) = theirs.next()
        assert mine.act(told["game"], 0, any_move(told))["error"] == "gone"
        assert mine.ask(type="resume", game=told["game"])["error"] == "gone"
        assert theirs.act(told["game"], 0, any_move(told))["seq"] == 1


def test_other_peoples_results_are_out_of_reach(served, keys, others):
    """By a wrong key nothing can be learnt, not even whether an evaluation exists."""
    for what in ("result", "traces"):
        path = f"/api/v1/evaluations/{others['evaluation']}/{what}"
        foreign = httpx.get(served.url + path, headers={"authorization": f"Bearer {keys['team_key']}"})
        unknown = httpx.get(
            f"{served.url}/api/v1/evaluations/0123456789ab/{what}",
            headers={"authorization": f"Bearer {keys['team_key']}"},
        )
        assert (foreign.status_code, foreign.json()) == (unknown.status_code, unknown.json())
        assert foreign.status_code == 404
        assert httpx.get(served.url + path).status_code == 401
        test = httpx.get(served.url + path, headers={"authorization": f"Bearer {others['test_key']}"})
        assert test.status_code == 401  # test keys open games, not results
    assert httpx.get(f"{served.url}/plans/{others['evaluation']}").status_code == 403


def test_keys_open_only_their_own_doors(served, keys):
    for key in (None, "", "x", keys["team_key"], keys["evaluation_key"] + "x", "evaluation.0.0", "' OR '1'='1"):
        with talking(served.url, key) as talk:
            assert talk.hear()["error"] == "unknown_key"
            with pytest.raises(websockets.exceptions.ConnectionClosed):
                talk.hear()
    with talking(served.url, keys["test_key"], path="/api/v1/predict") as talk:
        assert talk.hear()["error"] == "unknown_key"
    answer = httpx.post(
        f"{served.url}/api/v1/evaluations",
        json={"agent": "a", "plan": "p"},
        headers={"authorization": f"Bearer {keys['evaluation_key']}"},
    )
    assert answer.status_code == 401
    assert len(noted(served, "unknown_key")) >= 1
    everything = json.dumps(served.base.database.read(audit.read, most=100_000).rows)
    for held in (keys["evaluation_key"], keys["team_key"]):
        assert held.split(".")[2] not in everything


def test_other_sites_cannot_open_sockets(served, keys):
    headers = {"authorization": f"Bearer {keys['evaluation_key']}"}
    address = served.url.replace("http", "ws") + "/api/v1/play"
    with sync.connect(address, additional_headers=headers, origin="https://evil.example") as socket:
        assert json.loads(socket.recv())["error"] == "not_allowed"


@pytest.mark.parametrize("frame", ["", "no json", "[1]", '"text"', "null", "{" * 5000, '{"type": NaN}', b"\x00\xff"])
def test_malformed_frames_close_the_socket(served, keys, frame):
    with welcomed(served.url, keys["evaluation_key"]) as talk:
        talk.say(frame)
        assert talk.hear()["error"] == "bad_frame"
        with pytest.raises(websockets.exceptions.ConnectionClosed):
            talk.hear()


def test_huge_frames_close_the_socket(served, keys):
    with welcomed(served.url, keys["evaluation_key"]) as talk:
        talk.say('{"type": "' + "x" * 300_000 + '"}')
        with pytest.raises(websockets.exceptions.ConnectionClosedError) as closed:
            talk.hear()
        assert closed.value.rcvd.code == 1009


def test_published_messages_that_are_wrong(served, keys):
    url = wire_client.test_url(served.url, keys["test_key"], 2, [0])

    def answer_to(make):
        with sync.connect(url) as socket:
            socket.recv()
            first = json.loads(socket.recv())
            frame = make(first)
            socket.send(frame if isinstance(frame, str) else json.dumps(frame))
            answer = json.loads(socket.recv())
            with pytest.raises(websockets.exceptions.ConnectionClosed):
                socket.recv()
            return answer["error_details"]

    assert "not legal" in answer_to(lambda f: {"agent_0": f["agent_0"]["legal_moves"].index(0)})
    assert "you hold agent_0" in answer_to(lambda f: {"agent_1": 0})
    assert "give an action for agent_0" in answer_to(lambda f: {})
    assert "whole number" in answer_to(lambda f: {"agent_0": "0"})
    assert "not JSON" in answer_to(lambda f: "{")
    for bad, told in (
        (wire_client.test_url(served.url, keys["test_key"], 9, [0]), "num_players"),
        (wire_client.test_url(served.url, keys["test_key"], "x", [0]), "whole numbers"),
        (wire_client.test_url(served.url, keys["test_key"], 2, [0, 5]), "seats"),
        (wire_client.test_url(served.url, keys["test_key"], 2, []), "seats"),
        (wire_client.test_url(served.url, "x", 2, [0]), "not known here"),
        (wire_client.next_url(served.url, keys["test_key"]), "not known here"),
    ):
        with sync.connect(bad) as socket, contextlib.suppress(websockets.exceptions.ConnectionClosedError):
            answer = {}
            while True:
                answer = json.loads(socket.recv())
        assert told in answer["error_details"]
    assert httpx.get(f"{served.url}/evaluation-info/{keys['test_key']}").status_code == 401
    assert httpx.get(f"{served.url}/evaluation-info/..%2f..%2fetc").status_code in (401, 404)


def test_nothing_that_is_sent_tells_hidden_cards(served):
    """Two worlds that differ only in what the candidate's seats may not see (own cards, deck) send the same frames."""
    import jax

    from interplay.challenge.array_encoding import pack_view
    from interplay.challenge.candidate_table import candidate_view
    from interplay.rollout.live import LiveTable

    stage = served.host.stages["2p"]
    engine, game = stage.engine, stage.game
    deck = np.asarray(game.start(game.init(jax.random.key(3)))["deck"])
    other = deck.copy()
    other[[0, 1, 2, 3, 4, *range(10, 50)]] = other[[2, 0, 4, 1, 3, *range(49, 9, -1)]]  # own hand and deck, reordered
    sent = []
    for cards in (deck, other):
        state = game.init(jax.random.key(0), deck=cards)
        for encoding in ("hle", "belief", "seen"):
            table = LiveTable((1, 2), {1: "0"}, encoding=encoding)
            table.state, table.legal, table.turn = state, np.asarray(game.legal(state)), np.asarray(game.to_move(state))
            table.observation = jax.tree_util.tree_map(np.asarray, game.observe(state, encoding))
            sent.append(json.dumps(pack_view(candidate_view(table), "lists")))
    assert sent[:3] == sent[3:]
    assert engine.game is game


def test_frames_hold_nothing_but_the_seats_own_view(served, keys):
    """Every field of every frame of a whole game is known, and observations are those of the seat alone."""
    with welcomed(served.url, keys["evaluation_key"], encoding="seen") as talk:
        (told,) = talk.next()
        match = served.host.matches[told["game"]]
        heard = play_out(talk, told)
    opening = {"game", "setting", "name", "options", "seats", "encoding", "seq", "steps", "done", "score"}
    assert set(heard[0]) == opening
    assert all(set(h) == {"game", "seq", "steps", "done", "score"} for h in heard[1:])
    own = {str(seat) for seat in match.table.candidate}
    for told in heard:
        for step in told["steps"]:
            assert set(step) == {"t", "taken", "seats"}
            assert set(step["seats"]) == set(step["taken"]) | own == own
            for seat, view in step["seats"].items():
                assert set(view) == {"observation", "legal", "turn"}
                assert set(view["observation"]) == set(encode.HanabiObservation.__dataclass_fields__)
                hand = view["observation"]["hands"][int(seat)]
                assert all(card < 0 for card in hand)  # its own cards are hidden
    text = json.dumps(heard)
    for secret in ("deck_order", "chance", "secret", "partner", "simple", "random"):
        assert secret not in text


def test_privileged_views_are_refused(served, keys):
    for encoding in ("state", "nonsense", "../seen", "%00"):
        with talking(served.url, keys["evaluation_key"], encoding=encoding) as talk:
            assert talk.hear()["error"] == "bad_request"
    with talking(served.url, keys["evaluation_key"], arrays="pickle") as talk:
        assert talk.hear()["error"] == "bad_request"
