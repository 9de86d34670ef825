"""Runs of models in Hanabi and Overcooked: cache, limits, resume, outages, fallback moves, options in names."""

import itertools
import json

import pytest

import interplay
from interplay.agents.llm.limits import Limits, Price, Prices
from interplay.agents.llm.player import parse_model
from interplay.cli.commands.play import tell_fallbacks
from interplay.cli.main import run as command
from interplay.errors import InterplayError, UnknownName
from interplay.llm import GamePlan, game_summary, run
from interplay.llm.run import Service
from interplay.metrics.model_calls import fallback_share, fallback_warnings, seats_with_models
from interplay.traces import TraceSet, verify
from tests.agents.llm.server import Fake, completion, error, serving

GAME = {"game": "overcooked/cramped_room", "options": {"horizon": 8}}


def plan(**changes) -> GamePlan:
    return GamePlan(**({**GAME, "agents": ("llm:fake/a", "stay"), "episodes": 2} | changes))


def service(url: str, **changes) -> Service:
    return Service(**({"base_urls": {"fake": url}, "retries": 0, "backoff_s": 0.01, "timeout_s": 5.0} | changes))


def first_task(body, n):
    """The first task that is listed, or the first valid move of Hanabi."""
    schema = body["response_format"]["json_schema"]["schema"]["properties"]
    fields = {name: kind["enum"][0] if "enum" in kind else "" for name, kind in schema.items()}
    return 200, completion(json.dumps(fields))


def test_a_run_of_overcooked_is_cached_priced_and_resumed(tmp_path):
    fake = Fake(first_task)
    prices = Prices({"fake/a": Price(1, 2)})
    with serving(fake) as url:
        first = run(plan(), tmp_path / "out", service=service(url, prices=prices))
        asked = len(fake.requests)
        again = run(plan(), tmp_path / "out", service=service(url))
        more = run(plan(episodes=3), tmp_path / "out", service=service(url))
    assert (first.played, again.played, more.played) == (2, 0, 1)
    assert asked == first.meter.calls > 0
    assert verify(TraceSet.open(tmp_path / "out")).check().episodes == 3
    row = game_summary(first.traces).rows[0]
    assert row["fallback"] == 0
    assert row["cost"] == pytest.approx(asked * (100 * 1 + 10 * 2) / 1e6)
    assert row["tokens"] == pytest.approx(asked * 110 / 2)
    replayed = run(plan(), replay=tmp_path / "out")
    assert game_summary(replayed.traces).rows[0]["score"] == row["score"]
    assert replayed.meter.spent == 0


def test_limits_end_the_episode_and_outages_set_it_aside(tmp_path):
    with serving(Fake(first_task)) as url:
        found = run(plan(episodes=1), tmp_path / "a", service=service(url, limits=Limits(episode_tokens=100)))
    assert [e.events[-1].payload["reason"] for e in found.traces] == ["limit"]
    with serving(Fake(lambda body, n: (500, error("down")))) as url:
        down = run(plan(episodes=9), tmp_path / "b", service=service(url, at_once=1))
    assert (down.played, down.set_aside) == (0, 5)
    assert "500" in (down.stopped or "")
    with serving(Fake(lambda body, n: (400, error("maximum context length is 10 tokens")))) as url:
        long = run(plan(episodes=1), tmp_path / "c", service=service(url))
    assert (long.played, long.set_aside, long.stopped) == (1, 0, None)
    assert [e.events[-1].payload["reason"] for e in long.traces] == ["rejected"]


def test_the_command_plays_hanabi_and_says_why_it_stopped(tmp_path, capsys):
    arguments = ["llm", "play", "--game", "hanabi/2p", "--episodes", "1", "--retries", "0", "--json"]
    with serving(Fake(lambda body, n: (503, error("maintenance until Monday")))) as url:
        line = ["--base-url", f"fake={url}", "--out", str(tmp_path / "a")]
        code = command([*arguments, *line, "--episodes", "6", "--agents", "llm:fake/a", "llm:fake/a"])
    told = capsys.readouterr()
    assert code == 2
    assert "maintenance until Monday" in told.err
    assert "maintenance until Monday" in json.loads(told.out)["stopped"]
    with serving(Fake(text="I would rather not.")) as url:
        line = ["--base-url", f"fake={url}", "--out", str(tmp_path / "b")]
        code = command([*arguments, *line, "--agents", "llm:fake/a?max_tokens=64&conventions=true", "hanabi/smart"])
    told = capsys.readouterr()
    assert code == 0
    row = json.loads(told.out)["rows"][0]
    assert row["agents"] == "llm:fake/a[max_tokens=64,conventions=True] | hanabi/smart"
    assert row["fallback"] == 1
    assert "100% of the models' moves were made by default" in told.err


def test_a_correction_keeps_the_roles_in_turn():
    fake = Fake(text="no JSON")
    with serving(fake) as url:
        run(plan(game="hanabi/2p", agents=("llm:fake/a", "llm:fake/a"), options={}, episodes=1), service=service(url))
    roles = [[m["role"] for m in r["messages"]] for r in fake.requests]
    assert ["system", "user", "assistant", "user"] in roles
    assert all(a != b for one in roles for a, b in itertools.pairwise(one))


def test_scores_of_plays_show_the_share_of_fallback_moves():
    game = interplay.make("overcooked/cramped_room", horizon=6)
    traces = interplay.play(game, ["llm:scripted/prose", "llm:scripted/first"], episodes=1)
    (row,) = interplay.api.team_scores(traces).rows
    assert 0.1 < row["fallback"] < 1
    assert row["fallback"] == fallback_share(list(traces))
    assert "made by default" in fallback_warnings([row])[0]
    assert fallback_warnings([row | {"fallback": 0.1}]) == []
    prose, first = seats_with_models(traces[0])
    assert (prose.values()["fallback_share"], first.values()["fallback_share"]) == (1, 0)
    (bots,) = interplay.api.team_scores(interplay.play(game, ["stay", "stay"], episodes=1)).rows
    assert "fallback" not in bots


def test_options_stand_in_names():
    model, options = parse_model("openai/gpt-4o?max_tokens=2048&conventions=true&temperature=0.5&deadline_s=3")
    assert model == "openai/gpt-4o"
    assert options == {"max_tokens": 2048, "conventions": True, "temperature": 0.5, "deadline_s": 3.0}
    agent = interplay.agent("llm:scripted/first?deadline_s=3&memory=full", memory="none")
    assert agent.policy.deadline_s == 3
    assert agent.policy.settings.memory == "full"
    assert agent.name == "llm:scripted/first[memory=full,deadline_s=3.0]"
    with pytest.raises(UnknownName, match="max_token"):
        parse_model("a/b?max_token=3")
    with pytest.raises(InterplayError, match="write a number"):
        parse_model("a/b?max_tokens=many")
    with pytest.raises(InterplayError, match="true or false"):
        parse_model("a/b?conventions=1")
    with pytest.raises(InterplayError, match="has no value"):
        parse_model("a/b?conventions")


def test_plays_warn_of_fallbacks_and_end_with_a_code_if_a_model_cannot_be_asked(capsys):
    game = interplay.make("overcooked/cramped_room", horizon=4)

    def told(model: str) -> tuple[int, str]:
        measured = interplay.api.measured_traces(interplay.play(game, [model, "stay"], episodes=1))
        code = tell_fallbacks(interplay.api.team_scores(measured), measured)
        return code, capsys.readouterr().err

    code, words = told("llm:scripted/prose")
    assert code == 0
    assert "100% of the models' moves were made by default" in words
    code, words = told("llm:tests.agents.llm.test_other_games:Locked")
    assert code == 2
    assert "a model could not be asked any more: the key is refused" in words
    assert told("llm:scripted/first") == (0, "")
