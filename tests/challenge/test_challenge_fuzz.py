"""Random frames at the sockets, and requests made up from the OpenAPI description: nothing ever fails inside."""

import json
import random
import string

import httpx
import pytest
import schemathesis
import websockets.exceptions
import websockets.sync.client as sync
from hypothesis import HealthCheck, Phase, given, settings

from tests.challenge.talk import any_move, welcomed

CODES = {"bad_frame", "bad_request", "gone", "conflict", "illegal_action", "wrong_seat", "not_yours", "too_large"}


def rubbish(rng, depth=0):
    """Some JSON value."""
    kinds = ["int", "text", "bool", "null", "float"] + (["list", "object"] if depth < 3 else [])
    kind = rng.choice(kinds)
    if kind == "int":
        return rng.choice([0, 1, -1, 2**63, -(2**70), rng.randrange(100)])
    if kind == "text":
        return "".join(rng.choice(string.printable + "\x00é漢\ud83d") for _ in range(rng.randrange(12)))
    if kind in ("bool", "null", "float"):
        return {"bool": rng.random() < 0.5, "null": None, "float": rng.choice([0.5, 1e308, -0.0])}[kind]
    if kind == "list":
        return [rubbish(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {str(rubbish(rng, 3)): rubbish(rng, depth + 1) for _ in range(rng.randrange(4))}


def likely(rng, told):
    """A frame that is nearly right."""
    seats = [*any_move(told), "0", "2", "x"]
    move = {
        "game": rng.choice([told["game"], rubbish(rng)]),
        "seq": rng.choice([told["seq"], told["seq"] - 1, rubbish(rng)]),
        "actions": rng.choice([{rng.choice(seats): rng.choice([0, 20, -1, 99, rubbish(rng)])}, rubbish(rng)]),
    }
    frame = {"type": rng.choice(["act", "act", "next", "resume", rubbish(rng)]), "game": rubbish(rng)}
    frame |= {"moves": rng.choice([[move], [move, rubbish(rng)], rubbish(rng)]), "count": rng.choice([1, rubbish(rng)])}
    return {k: v for k, v in frame.items() if rng.random() < 0.9}


def fuzz_socket(served, key, path, rounds, seed):
    rng = random.Random(seed)
    heard, codes = set(), set()
    for _ in range(rounds):
        with welcomed(served.url, key, path=path) as talk:
            told = {"game": "none", "seq": 0, "steps": [{"seats": {}}]}
            if path.endswith("play"):
                told = (talk.next() or [told])[0]
            try:
                for _ in range(20):
                    frame = rng.choice([likely(rng, told), rubbish(rng), rng.randbytes(rng.randrange(40))])
                    text = frame if isinstance(frame, bytes) else json.dumps(frame)
                    talk.say(text)
                    answer = talk.hear()
                    found = [answer, *answer.get("games", ())]
                    heard |= {part["error"] for part in found if "error" in part}
            except websockets.exceptions.ConnectionClosed as closed:
                codes.add(closed.rcvd.code if closed.rcvd else None)
    assert codes <= {1003, 1007, 1008, 1009, 1013}, "the server failed"
    assert httpx.get(f"{served.url}/health").status_code == 200
    return heard


def test_random_frames_are_refused_in_words(served, caplog):
    keys = served.entry("fuzz")
    heard = fuzz_socket(served, keys["evaluation_key"], "/api/v1/play", 15, seed=1)
    assert heard <= CODES
    assert {"bad_frame", "bad_request"} <= heard
    assert not [r for r in caplog.records if r.levelname == "ERROR"]


def test_random_frames_in_the_published_protocol(served):
    keys = served.entry("fuzz published")
    rng = random.Random(2)
    base, codes = served.url.replace("http", "ws"), set()
    for _ in range(25):
        with sync.connect(f"{base}/play-next?submission_key={keys['evaluation_key']}") as socket:
            socket.recv()
            socket.recv()
            frame = rng.choice([json.dumps(rubbish(rng)), rng.randbytes(20), json.dumps({"agent_0": rubbish(rng)})])
            socket.send(frame)
            try:
                answer = json.loads(socket.recv())
                assert "error_details" in answer or "done" in answer
            except websockets.exceptions.ConnectionClosed as closed:
                codes.add(closed.rcvd.code if closed.rcvd else None)
    assert codes <= {1003, 1007, 1008}
    assert httpx.get(f"{served.url}/health").status_code == 200


@pytest.mark.slow
def test_many_random_frames(served):
    keys = served.entry("fuzz long")
    for seed in range(20):
        assert fuzz_socket(served, keys["evaluation_key"], "/api/v1/play", 25, seed) <= CODES


# What schemathesis checks by default, less what the description does not promise: that every input that fits it is
# taken (quotas and names are taken once), and that keys are checked first (bad input is told to anyone).
SKIPPED = ("ignored_auth", "positive_data_acceptance", "unsupported_method")


def fuzz_http(served, examples):
    """Every operation of the OpenAPI description, with good and bad input, by two kinds of key."""
    schema = schemathesis.openapi.from_url(f"{served.url}/api/openapi.json")
    keys = served.entry(f"fuzz http {examples}")
    names = [n for n in SKIPPED if n in schemathesis.checks.CHECKS.get_all_names()]
    skipped = [schemathesis.checks.CHECKS.get_one(name) for name in names]
    options = settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    tried = 0
    for key in (keys["team_key"], keys["evaluation_key"]):
        headers = {"authorization": f"Bearer {key}"}
        for found in schema.get_all_operations():

            def check(case):
                case.call_and_validate(headers=headers, excluded_checks=skipped)  # noqa: B023 - run at once

            options(given(case=found.ok().as_strategy())(check))()
            tried += 1
    return tried


def test_the_http_interface_keeps_its_description(served):
    assert fuzz_http(served, 5) >= 16
    assert httpx.get(f"{served.url}/health").status_code == 200


@pytest.mark.slow
def test_the_http_interface_keeps_its_description_at_length(served):
    assert fuzz_http(served, 300) >= 16


def test_the_description_is_complete(served):
    paths = httpx.get(f"{served.url}/api/openapi.json").json()["paths"]
    assert {"/api/v1/teams", "/api/v1/evaluations", "/api/v1/leaderboard", "/evaluation-info/{key}"} <= set(paths)
