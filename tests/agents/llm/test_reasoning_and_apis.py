"""Both APIs against a real HTTP server, answers of reasoning models, patience, and the order of roles."""

import asyncio
import json

import pytest

from interplay.agents.llm.answers import TEXT, TEXTS, AnswerShape, split_calls, without_thinking
from interplay.agents.llm.anthropic_client import AnthropicModel
from interplay.agents.llm.chat import (
    Answer,
    ChatMessage,
    ChatRequest,
    ModelRefusal,
    RequestRejected,
    Unavailable,
    alternating,
)
from interplay.agents.llm.client import EndpointConfig, OpenAIModel
from interplay.agents.llm.endpoint import EndpointFailure, EndpointModel
from interplay.agents.llm.limits import Price, Prices
from interplay.agents.llm.models import ModelPool
from tests.agents.llm.server import Fake, completion, error, message, serving

SHAPE = AnswerShape({"analysis": TEXT, "plan": TEXTS})
GOOD = {"analysis": "x", "plan": ["wait(1)"]}
TALK = (ChatMessage("system", "rules"), ChatMessage("user", "state"), ChatMessage("user", "instruction"))


def question(**changes) -> ChatRequest:
    return ChatRequest(**({"messages": TALK, "schema": SHAPE.schema(), "temperature": 0.5} | changes))


def ask(kind: type[EndpointModel], fake: Fake, request: ChatRequest | None = None, **line) -> Answer:
    with serving(fake) as url:
        settings = {"retries": 2, "backoff_s": 0.01, "timeout_s": 5.0} | line
        model = kind("fake/m", EndpointConfig(url, "secret", **settings), Prices({"fake/m": Price(1.0, 10.0)}))
        return asyncio.run(model.chat(request or question()))


def test_anthropics_api_gets_a_tool_and_gives_its_input():
    used = {"input_tokens": 20, "cache_read_input_tokens": 70, "cache_creation_input_tokens": 10, "output_tokens": 10}
    fake = Fake(lambda body, n: (200, message({"type": "tool_use", "name": "answer", "input": GOOD}, usage=used)))
    answer = ask(AnthropicModel, fake)
    assert json.loads(answer.text) == GOOD
    assert (answer.tokens_in, answer.tokens_out, answer.tokens_cached) == (100, 10, 70)
    assert answer.cost == pytest.approx((100 * 1 + 10 * 10) / 1e6)
    (sent,), ((path, headers),) = fake.requests, fake.calls
    assert path == "/v1/messages"
    assert (headers["x-api-key"], headers["anthropic-version"]) == ("secret", "2023-06-01")
    assert sent["system"] == "rules"
    assert sent["messages"] == [{"role": "user", "content": "state\n\ninstruction"}]
    assert sent["tool_choice"] == {"type": "tool", "name": "answer"}
    assert "maxLength" not in json.dumps(sent["tools"])
    assert (sent["max_tokens"], sent["temperature"]) == (1024, 0.5)


def test_anthropics_thinking_has_its_budget_and_no_forced_tool():
    blocks = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": json.dumps(GOOD)}]
    fake = Fake(lambda body, n: (200, message(*blocks)))
    answer = ask(AnthropicModel, fake, question(reasoning_tokens=2000))
    assert json.loads(answer.text) == GOOD
    (sent,) = fake.requests
    assert sent["thinking"] == {"type": "enabled", "budget_tokens": 2000}
    assert sent["max_tokens"] == 3024
    assert not {"tools", "tool_choice", "temperature"} & sent.keys()


def test_anthropics_errors():
    overloaded = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    good = (200, message({"type": "text", "text": "hi"}))
    assert ask(AnthropicModel, Fake(lambda body, n: (529, overloaded) if n < 2 else good)).retries == 2
    with pytest.raises(Unavailable, match=r"529: Overloaded; gave up after 3 tries"):
        ask(AnthropicModel, Fake(lambda body, n: (529, overloaded)))
    with pytest.raises(ModelRefusal, match="the key is refused"):
        ask(AnthropicModel, Fake(lambda body, n: (401, error("invalid x-api-key"))))
    with pytest.raises(RequestRejected, match="prompt is too long"):
        ask(AnthropicModel, Fake(lambda body, n: (400, error("prompt is too long: 300000 tokens > 200000 maximum"))))
    with pytest.raises(ModelRefusal, match="no quota"):
        ask(AnthropicModel, Fake(lambda body, n: (429, error("Your credit balance is too low"))))
    with pytest.raises(Unavailable, match="answer that is none"):
        ask(AnthropicModel, Fake(lambda body, n: (200, "<html>login</html>")))
    with pytest.raises(Unavailable, match="gave up after 2 tries"):
        ask(AnthropicModel, Fake(text="", delay=0.5), timeout_s=0.05, retries=1)


def test_anthropic_without_tools_is_asked_in_words():
    def plain(body, n):
        return (
            (400, error("tools: not supported")) if "tools" in body else (200, message({"type": "text", "text": "{}"}))
        )

    fake = Fake(plain)
    assert ask(AnthropicModel, fake).text == "{}"
    assert len(fake.requests) == 2


def test_a_pool_chooses_the_api_by_the_provider(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    monkeypatch.setenv("MINE_BASE_URL", "http://localhost:1")
    pool = ModelPool()
    assert isinstance(pool.model("anthropic/claude")._model, AnthropicModel)
    assert isinstance(pool.model("mine/m")._model, OpenAIModel)
    monkeypatch.setenv("MINE_API", "anthropic")
    assert isinstance(ModelPool().model("mine/m")._model, AnthropicModel)


def test_openais_counts_of_cached_and_reasoning_tokens_and_room_for_thinking():
    body = completion("x")
    body["usage"] |= {"prompt_tokens_details": {"cached_tokens": 64}}
    body["usage"] |= {"completion_tokens_details": {"reasoning_tokens": 7}}
    fake = Fake(lambda sent, n: (200, body))
    answer = ask(OpenAIModel, fake, question(reasoning_tokens=500, reasoning_effort="low"))
    assert (answer.tokens_cached, answer.tokens_reasoning) == (64, 7)
    assert (fake.requests[0]["max_tokens"], fake.requests[0]["reasoning_effort"]) == (1524, "low")
    assert question().key("m") != question(reasoning_tokens=500).key("m")


def test_a_template_without_a_system_role_gets_it_in_the_first_message():
    def gemma(body, n):
        roles = [m["role"] for m in body["messages"]]
        return (400, error("System role not supported")) if "system" in roles else (200, completion("x"))

    fake = Fake(gemma)
    ask(OpenAIModel, fake)
    assert fake.requests[-1]["messages"] == [{"role": "user", "content": "rules\n\nstate\n\ninstruction"}]


def test_patience_goes_on_after_the_retries_and_waits_are_spread():
    fake = Fake(lambda body, n: (503, error("busy")) if n < 6 else (200, completion("x")))
    assert ask(OpenAIModel, fake, retries=0, patience_s=30.0).retries == 6
    with pytest.raises(Unavailable, match="gave up after 1 tries"):
        ask(OpenAIModel, Fake(lambda body, n: (503, error("busy"))), retries=0)
    model = OpenAIModel("fake/m", EndpointConfig("http://x", "k", backoff_s=1.0))
    waits = [model._wait(EndpointFailure("busy", 503), 2) for _ in range(200)]
    assert 2.0 <= min(waits) < 2.3
    assert 3.7 < max(waits) <= 4.0
    asked = [model._wait(EndpointFailure("busy", 429, retry_after="7"), 0) for _ in range(50)]
    assert min(asked) >= 7.0
    assert max(asked) <= 7.7


@pytest.mark.parametrize(
    ("text", "plan"),
    [
        (f'<think>{{"plan": []}} no</think>{json.dumps(GOOD)}', ["wait(1)"]),
        (f"so I think {{wrong}}</think>\n{json.dumps(GOOD)}", ["wait(1)"]),
        ('First {"analysis": "a", "plan": []} and then {"analysis": "b", "plan": ["cut()"]} done', ["cut()"]),
        ('{"analysis": "a, ]", "plan": ["cut()", "wait(1)",],}', ["cut()", "wait(1)"]),
        ('{"analysis": "a", "plan": "pickup(egg, counter); wait(1)"}', ["pickup(egg, counter)", "wait(1)"]),
        ('{"analysis": "a", "plan": "1. cut()\\n2. wait(1)"}', ["cut()", "wait(1)"]),
        ('{"analysis": "a", "plan": ["request(\'cut(board)\'), wait(3)"]}', ["request('cut(board)')", "wait(3)"]),
        ('{"analysis": "a", "plan": ["pickup(egg, counter),", "cut()"]}', ["pickup(egg, counter)", "cut()"]),
        ('Sure: {"analysis": {"deep": 1}} or {"analysis": "say \\"hi,\\"", "plan": []}', []),
    ],
)
def test_what_reasoning_models_write_is_read(text, plan):
    reading = SHAPE.read(text)
    assert reading.fields is not None, reading.error
    assert reading.fields["plan"] == plan
    assert reading.repaired


def test_half_an_object_after_a_whole_one_does_not_hide_it():
    reading = SHAPE.read(json.dumps(GOOD) + ' and {"analysis": "cut o')
    assert reading.fields == GOOD
    assert SHAPE.read("<think>endless").error is not None
    assert without_thinking("plain") == ("plain", False)
    assert split_calls("pickup(egg, counter), cut()") == ["pickup(egg, counter)", "cut()"]


def test_roles_alternate():
    joined = alternating((*TALK, ChatMessage("assistant", "a"), ChatMessage("user", "b")))
    assert [m.role for m in joined] == ["system", "user", "assistant", "user"]
