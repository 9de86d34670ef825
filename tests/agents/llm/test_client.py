"""The OpenAI client against a real HTTP server: answers, retries, refusals, what is left out, calls in flight."""

import asyncio
import json

import pytest

from interplay.agents.llm.answers import TEXT, TEXTS, AnswerShape
from interplay.agents.llm.chat import Answer, ChatMessage, ChatRequest, ModelRefusal, RequestRejected, Unavailable
from interplay.agents.llm.client import EndpointConfig, OpenAIModel
from interplay.agents.llm.limits import Limits, Price, Prices, Usage, check
from interplay.agents.llm.models import ModelPool
from interplay.agents.llm.response_cache import CachedModel, ResponseCache
from interplay.errors import InterplayError
from tests.agents.llm.server import Fake, completion, error, serving

SHAPE = AnswerShape({"analysis": TEXT, "plan": TEXTS, "pick": ("a", "b")})
GOOD = json.dumps({"analysis": "x", "plan": ["wait(1)"], "pick": "a"})


def question(**changes) -> ChatRequest:
    return ChatRequest(
        **({"messages": (ChatMessage("user", "hello"),), "schema": SHAPE.schema(), "episode": 7} | changes)
    )


def ask(fake: Fake, *, times: int = 1, **line) -> list[Answer]:
    with serving(fake) as url:
        settings = {"retries": 2, "backoff_s": 0.01, "timeout_s": 5.0} | line
        prices = Prices({"fake/m": Price(1.0, 10.0)})
        model = OpenAIModel("fake/m", EndpointConfig(url, "key", **settings), prices)

        async def all_at_once():
            return await asyncio.gather(*(model.chat(question(ordinal=i)) for i in range(times)))

        return asyncio.run(all_at_once())


def test_an_answer_with_its_tokens_and_cost():
    fake = Fake(text=GOOD)
    (answer,) = ask(fake)
    assert (answer.text, answer.tokens_in, answer.tokens_out, answer.retries) == (GOOD, 100, 10, 0)
    assert answer.cost == pytest.approx((100 * 1 + 10 * 10) / 1e6)
    assert answer.latency_s is not None
    sent = fake.requests[0]
    schema = sent["response_format"]["json_schema"]["schema"]
    assert next(iter(schema["properties"])) == "analysis"  # reasoning comes first
    assert schema["additionalProperties"] is False
    assert (sent["model"], sent["seed"], sent["temperature"]) == ("m", 7, 0.0)


def test_errors_that_may_pass_are_tried_again():
    fake = Fake(lambda body, n: (200, completion(GOOD)) if n == 2 else ((500, 429)[n], error("try later")))
    (answer,) = ask(fake)
    assert (answer.retries, len(fake.requests)) == (2, 3)


def test_a_server_that_stays_down_is_given_up():
    fake = Fake(lambda body, n: (500, error("broken")))
    with pytest.raises(Unavailable, match="gave up after 3 tries"):
        ask(fake)
    assert len(fake.requests) == 3


def test_a_time_out_is_given_up():
    with pytest.raises(Unavailable, match=r"(?i)http://127.0.0.1:\d+.*timed out"):
        ask(Fake(text=GOOD, delay=0.5), timeout_s=0.05, retries=1)


def test_a_refused_key_is_not_tried_again():
    fake = Fake(lambda body, n: (401, error("bad key")))
    with pytest.raises(ModelRefusal, match="the key is refused"):
        ask(fake)
    assert len(fake.requests) == 1


def test_an_unknown_model_and_an_empty_account_are_refusals():
    with pytest.raises(ModelRefusal, match="knows no such model"):
        ask(Fake(lambda body, n: (404, error("no model m"))))
    with pytest.raises(ModelRefusal, match="it serves smollm2"):  # llama.cpp answers to any name
        ask(Fake(lambda body, n: (200, completion(GOOD) | {"model": "smollm2"})))
    with pytest.raises(ModelRefusal, match="no quota"):
        ask(Fake(lambda body, n: (429, error("pay first", "insufficient_quota"))))


def test_what_a_server_does_not_know_is_left_out_from_then_on():
    def picky(body, n):
        if "maxLength" in json.dumps(body):
            return 400, error("Invalid schema for response_format: 'maxLength' is not permitted")
        if "response_format" in body:
            return 400, error("response_format of type json_schema is not supported")
        if "max_tokens" in body:
            return 400, error("Unsupported parameter: 'max_tokens', use 'max_completion_tokens'")
        return 200, completion(GOOD, usage=False)

    fake = Fake(picky)
    (first,) = ask(fake)
    assert first.tokens_in is None  # a server that does not count says nothing, not zero
    assert first.cost is None
    assert fake.requests[-1]["max_completion_tokens"] == 1024
    assert len(fake.requests) == 4


def test_another_bad_request_and_a_page_of_html_end_it():
    fake = Fake(lambda body, n: (400, error("'max_tokens' is too large: the context length is exceeded")))
    with pytest.raises(RequestRejected, match="cannot take the question"):
        ask(fake)
    assert len(fake.requests) == 1  # a result, not an outage: nothing is tried again or left out
    with pytest.raises(Unavailable):
        ask(Fake(lambda body, n: (200, "<html>login</html>")))


def test_sixteen_slow_calls_are_in_flight_at_once_and_no_more():
    fake = Fake(text=GOOD, delay=0.3)
    answers = ask(fake, times=40, at_once=16)
    assert len(answers) == 40
    assert fake.most_at_once == 16


@pytest.mark.parametrize(
    ("text", "finish", "error_"),
    [
        ("I would say we start.", "stop", "not a JSON object"),
        ('{"analysis": "x", "plan": ["wai', "stop", "not a JSON object"),
        (GOOD, "length", "cut off"),
        ('{"analysis": "x", "plan": []}', "stop", "'pick' is missing"),
        ('{"analysis": "x", "plan": 3, "pick": "a"}', "stop", "'plan' must be a list"),
        ("<think>hm, so many", "length", "thinking took all the room"),
        ('{"analysis": "x", "plan": [], "pick": "c"}', "stop", "must be one of: a, b"),
        ('{"analysis": 3, "plan": [], "pick": "a"}', "stop", "'analysis' must be a text"),
        ('["a list"]', "stop", "not a JSON object"),
        (json.dumps({"analysis": "", "plan": ["x"] * 99, "pick": "a"}), "stop", "more than 12"),
    ],
)
def test_answers_are_checked_whatever_the_server_promised(text, finish, error_):
    reading = SHAPE.read(text, finish)
    assert not reading.ok
    assert error_ in (reading.error or "")


def test_json_between_words_is_found_and_noted():
    reading = SHAPE.read(f"Here you are:\n```json\n{GOOD}\n```")
    assert reading.ok
    assert reading.repaired
    assert SHAPE.read(GOOD).repaired is False


class Counting:
    name = "fake/count"

    def __init__(self):
        self.asked = 0

    async def chat(self, ask):
        self.asked += 1
        return Answer(text=str(self.asked), tokens_in=1, tokens_out=2, latency_s=0.5, cost=0.25)


def test_the_journal_tells_questions_apart_by_everything(tmp_path):
    model = Counting()
    journal = ResponseCache(tmp_path / "calls.jsonl")
    heard = CachedModel(model, journal)
    questions = [
        question(),
        question(episode=8),
        question(seat=1),
        question(ordinal=1),
        question(temperature=0.5),
        question(messages=(ChatMessage("user", "other"),)),
        question(game="other"),
        question(schema=None),
    ]
    first = [asyncio.run(heard.chat(q)) for q in questions]
    assert model.asked == len(questions)
    again = [asyncio.run(heard.chat(q)) for q in questions]
    assert model.asked == len(questions)
    assert [a.text for a in again] == [a.text for a in first]
    assert all(a.cached for a in again)
    assert (again[0].latency_s, again[0].cost) == (0.5, 0.25)


def test_a_journal_survives_a_kill_in_mid_line(tmp_path):
    path = tmp_path / "calls.jsonl"
    journal = ResponseCache(path)
    asyncio.run(CachedModel(Counting(), journal).chat(question()))
    journal.close()
    path.write_text(path.read_text() + '{"key": "half')
    later = ResponseCache(path)
    asyncio.run(CachedModel(Counting(), later).chat(question(episode=9)))
    later.close()
    assert len(ResponseCache(path)) == 2


def test_offline_nobody_is_asked(tmp_path):
    model = Counting()
    with pytest.raises(ModelRefusal, match="replays only with the settings and seed"):
        asyncio.run(CachedModel(model, ResponseCache(tmp_path / "none.jsonl"), offline=True).chat(question()))
    assert model.asked == 0


def test_a_foreign_file_is_no_journal(tmp_path):
    path = tmp_path / "calls.jsonl"
    path.write_text('{"question": 1}\n')
    with pytest.raises(InterplayError, match="line 1: not an answer of a journal"):
        ResponseCache(path)


def test_names_keys_and_endpoints(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("MINE_BASE_URL", raising=False)
    with pytest.raises(InterplayError, match="set the environment variable OPENAI_API_KEY"):
        ModelPool().model("openai/gpt-4o")
    with pytest.raises(InterplayError, match="set MINE_BASE_URL"):
        ModelPool().model("mine/model")
    with pytest.raises(InterplayError, match="write provider/model"):
        ModelPool().model("gpt-4o")
    with pytest.raises(InterplayError, match="unknown scripted model 'refrence'; did you mean reference"):
        ModelPool().model("scripted/refrence")
    monkeypatch.setenv("MINE_BASE_URL", "http://localhost:1/v1")
    assert ModelPool().model("mine/org/model").name == "mine/org/model"
    with pytest.raises(InterplayError, match="needs the price of mine/model"):
        ModelPool(limits=Limits(run_cost=1.0)).model("mine/model")


def test_limits_and_prices(tmp_path):
    meter = Usage()
    meter.add("prompt", Answer(text="four", tokens_in=60, tokens_out=40, cost=0.5))
    check(Limits(episode_tokens=101), meter, Usage())
    with pytest.raises(InterplayError, match="episode_tokens: 100 of 100"):
        check(Limits(episode_tokens=100), meter, Usage())
    with pytest.raises(InterplayError, match=r"run_cost: 0.5 of 0.4"):
        check(Limits(run_cost=0.4), Usage(), meter)
    with pytest.raises(InterplayError, match="above zero"):
        Limits(episode_cost=0)
    table = tmp_path / "prices.json"
    table.write_text('{"a/b": {"in": 2, "out": 4}}')
    prices = Prices.read(table)
    assert prices.cost("a/b", 10**6, 10**6) == 6.0
    assert prices.cost("a/c", 1, 1) is None
    table.write_text('{"a/b": 3}')
    with pytest.raises(InterplayError, match="write"):
        Prices.read(table)
