"""A real model in the loop: SmolLM2-135M on this machine, asked through the real client for JSON by a schema.

What it achieves is printed as it is; what is proved is that prompts, schema, parser, verifier and traces hold.
"""

import json
import threading
import time
import urllib.request

import pytest

from interplay.agents.llm.kitchen.prompts import PLAN
from interplay.agents.llm.settings import LLMSettings
from interplay.llm import RunPlan, run, summary
from interplay.llm.run import Service
from interplay.traces import verify

pytestmark = pytest.mark.llm


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    pytest.importorskip("xllamacpp", reason="pip install 'interplay[local]'")
    from interplay.agents.llm.local import serving

    out = tmp_path_factory.mktemp("smollm2") / "run"
    plan = RunPlan(
        chefs=("local/smollm2",),
        assistants=("local/smollm2",),
        dishes=("boiled egg",),
        episodes=1,
        horizon=2,
        settings=LLMSettings(max_tokens=400, turn_cap=2, memory="none"),
    )
    with serving() as url:
        found = run(plan, out, service=Service(base_urls={"local": url}, at_once=1, timeout_s=300))
    return plan, out, found


def test_a_real_model_plays_an_episode_that_verifies(played):
    _, _, found = played
    (episode,) = found.traces
    calls = [e.payload for e in episode.events if e.kind == "call"]
    assert verify(found.traces).check().episodes == 1
    assert episode.length == 2 or episode.terminated
    assert calls
    assert all(c["tokens_in"] > 500 and c["tokens_out"] > 0 for c in calls)
    read = [c for c in calls if c["parse_ok"]]
    assert read, "with a schema at least one answer can be read"
    assert list(json.loads(read[0]["answer"])) == list(PLAN.fields)
    verdicts = [e.payload for e in episode.events if e.kind == "verdict"]
    print(f"\n{len(calls)} calls, {len(read)} read, {sum(v['ok'] for v in verdicts)} of {len(verdicts)} acts allowed")
    print(summary(found.traces).to_csv())
    print(read[0]["answer"])


def test_its_transcript_replays_offline_to_the_same_numbers(played):
    plan, out, found = played
    again = run(plan, replay=out)
    assert summary(again.traces).rows == summary(found.traces).rows
    assert [e.actions.tolist() for e in again.traces] == [e.actions.tolist() for e in found.traces]


def test_the_server_ends_while_an_answer_is_under_way():
    pytest.importorskip("xllamacpp", reason="pip install 'interplay[local]'")
    from interplay.agents.llm.local import serving

    said = {"role": "user", "content": "Count to ten thousand."}
    question = {"messages": [said], "max_tokens": 8000, "ignore_eos": True}  # it would stop after a sentence
    ended: list[BaseException] = []

    def ask(url):
        sent = urllib.request.Request(
            f"{url}/chat/completions", json.dumps(question).encode(), {"Content-Type": "application/json"}
        )
        try:
            urllib.request.urlopen(sent, timeout=600).read()
        except Exception as error:  # the connection is cut, whatever the client makes of it
            ended.append(error)

    with serving() as url:
        client = threading.Thread(target=ask, args=(url,), daemon=True)
        client.start()
        time.sleep(3)
        left = time.monotonic()
    assert time.monotonic() - left < 10
    client.join(10)
    assert ended
