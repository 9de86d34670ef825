"""Runs of teams over real HTTP: outages, resume, replay, calls in flight, and Ctrl-C."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from interplay.agents.llm.limits import Limits, Price, Prices
from interplay.cli.main import run as command
from interplay.errors import InterplayError
from interplay.llm import RunPlan, run, summary
from interplay.llm.run import Service
from interplay.traces import TraceSet, verify
from tests.agents.llm.server import Fake, completion, error, serving

WAIT = json.dumps({"analysis": "nothing to do", "plan": ["wait(3)"], "say": ""})


def plan(**changes) -> RunPlan:
    base = {"chefs": ("fake/a",), "assistants": ("fake/b",), "levels": (1,), "episodes": 4, "horizon": 6}
    return RunPlan(**(base | changes))


def service(url: str, **changes) -> Service:
    settings = {"base_urls": {"fake": url}, "retries": 1, "backoff_s": 0.01, "timeout_s": 5.0} | changes
    return Service(**settings)


def reasons(traces) -> list[str]:
    return [e.events[-1].payload["reason"] for e in traces]


def test_a_run_over_http_is_kept_and_asks_nothing_twice(tmp_path):
    fake = Fake(text=WAIT)
    with serving(fake) as url:
        first = run(plan(), tmp_path / "out", service=service(url))
        asked = len(fake.requests)
        again = run(plan(), tmp_path / "out", service=service(url))
        more = run(plan(episodes=5), tmp_path / "out", service=service(url))
    assert (first.planned, first.played, again.played, more.played) == (4, 4, 0, 1)
    assert asked == 4 * 2 * 2  # episodes, seats, waits of three steps: no two episodes share an answer
    assert len(fake.requests) == asked + 4
    assert verify(TraceSet.open(tmp_path / "out")).check().episodes == 5
    assert {e.index for e in more.traces} == set(range(5))
    seeds = {r["seed"] for r in fake.requests}
    assert len(seeds) == 5 * 2


def test_a_transcript_replays_offline_to_the_same_numbers(tmp_path):
    def respond(body, number):
        answer = {
            "analysis": str(number),
            "plan": [f"wait({1 + number % 3})"],
            "say": "hello" if number % 4 == 0 else "",
        }
        return 200, completion(json.dumps(answer))

    prices = Prices({"fake/a": Price(1, 2), "fake/b": Price(3, 4)})
    with serving(Fake(respond)) as url:
        found = run(plan(), tmp_path / "out", service=service(url, prices=prices))
    again = run(plan(), tmp_path / "again", replay=tmp_path / "out")
    rows = [summary(sorted(r.traces, key=lambda e: e.index)).rows for r in (found, again)]
    assert rows[0] == rows[1]
    assert again.meter.cost == pytest.approx(found.meter.cost)
    assert found.meter.spent == pytest.approx(found.meter.cost)
    assert again.meter.spent == 0
    with pytest.raises(InterplayError, match=r"no run to replay: it has no calls.jsonl"):
        run(plan(), replay=tmp_path)
    other = run(plan(seed=1), replay=tmp_path / "out")
    assert other.stopped is not None
    assert "replays only with the settings and seed" in other.stopped


@pytest.mark.parametrize(
    ("status", "message", "reason"), [(401, "bad key", "refused"), (404, "no such model", "refused")]
)
def test_a_refusal_stops_the_run_and_the_episodes_are_scored_and_set_aside(tmp_path, status, message, reason):
    out = tmp_path / "out"
    fake = Fake(lambda body, n: (200, completion(WAIT)) if n < 5 else (status, error(message)))
    with serving(fake) as url:
        found = run(plan(), out, service=service(url, at_once=1))
    assert found.stopped is not None
    assert (found.played, found.set_aside) == (1, 1)
    aside = TraceSet.open(out / "set-aside")
    assert reasons(aside) == [reason]
    assert [(e.score, e.length) for e in aside] == [(0.0, 0)]
    with serving(Fake(text=WAIT)) as url:
        later = run(plan(), out, service=service(url))
    assert (later.played, len(later.traces), later.stopped) == (3, 4, None)


def test_a_server_that_fails_for_a_while_costs_nothing_but_time(tmp_path):
    out = tmp_path / "out"
    fake = Fake(lambda body, n: (500, error("broken")) if 6 <= n < 8 else (200, completion(WAIT)))
    with serving(fake) as url:
        found = run(plan(), out, service=service(url, at_once=1))
        assert (found.played, found.set_aside, found.stopped) == (3, 1, None)
        assert reasons(TraceSet.open(out / "set-aside")) == ["unavailable"]
        before = len(fake.requests)
        later = run(plan(), out, service=service(url))
    assert len(later.traces) == 4
    assert len(fake.requests) - before < 4  # what it had been told before the failure is remembered


def test_a_server_that_stays_down_stops_the_run(tmp_path):
    fake = Fake(lambda body, n: (500, error("broken")))
    with serving(fake) as url:
        found = run(plan(episodes=30), tmp_path / "out", service=service(url, at_once=1, retries=0))
    assert (found.played, found.set_aside) == (0, 5)
    assert "500" in (found.stopped or "")


def test_a_command_whose_only_episode_is_missing_says_so_and_exits_with_a_code(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("DEAD_BASE_URL", "http://127.0.0.1:9/v1")
    arguments = ["llm", "run", "--chef", "dead/x", "--assistant", "scripted/idle", "--levels", "1", "--episodes", "1"]
    assert command([*arguments, "--retries", "0", "--out", str(tmp_path / "out")]) == 2
    assert "missing: dead/x" in capsys.readouterr().err


def test_a_comparison_with_solo_play_that_lacks_episodes_says_so_and_exits_with_a_code(monkeypatch, capsys):
    fake = Fake(lambda body, n: (500, error("broken")) if n == 0 else (200, completion(WAIT)))
    with serving(fake) as url:
        monkeypatch.setenv("FAKE_BASE_URL", url)
        arguments = ["--models", "fake/a", "--layouts", "nrc", "--levels", "1", "--episodes", "2"]
        assert command(["llm", "solo", *arguments, "--retries", "0", "--at-once", "1"]) == 2
    assert "1 of 2 episodes are missing: fake/a" in capsys.readouterr().err


def test_time_outs_end_the_episode(tmp_path):
    with serving(Fake(text=WAIT, delay=0.4)) as url:
        found = run(plan(episodes=1), tmp_path / "out", service=service(url, timeout_s=0.05, retries=0))
    assert found.set_aside == 1
    assert reasons(TraceSet.open(tmp_path / "out" / "set-aside")) == ["unavailable"]


def test_a_cut_off_answer_is_a_format_error():
    with serving(Fake(lambda body, n: (200, completion(WAIT, "length")))) as url:
        (episode,) = run(plan(episodes=1, horizon=2), service=service(url)).traces
    errors = {e.payload["parse_error"] for e in episode.events if e.kind == "call"}
    assert errors == {"the answer was cut off: it is too long. Write a shorter one"}


def test_the_runs_budget_stops_it_and_a_larger_one_goes_on(tmp_path):
    out = tmp_path / "out"
    with serving(Fake(text=WAIT)) as url:
        found = run(plan(), out, service=service(url, at_once=1, limits=Limits(run_tokens=800)))
        assert "run_tokens" in (found.stopped or "")
        assert (found.played, found.set_aside) == (2, 1)  # 4 calls of 110 tokens each
        later = run(plan(), out, service=service(url))
    assert len(later.traces) == 4


def test_sixteen_slow_models_are_kept_busy():
    fake = Fake(text=WAIT, delay=0.25)
    with serving(fake) as url:
        found = run(plan(episodes=24, horizon=3), service=service(url, at_once=16))
    assert found.played == 24
    assert fake.most_at_once == 16


def test_a_matrix_in_one_command(tmp_path, capsys):
    models = ["scripted/reference", "scripted/idle"]
    arguments = ["--chefs", *models, "--assistants", *models, "--levels", "1-2", "--episodes", "1", "--json"]
    assert command(["llm", "run", *arguments, "--out", str(tmp_path / "m")]) == 0
    printed = json.loads(capsys.readouterr().out)
    cells = {(r["chef"], r["assistant"], r["level"]): r["success"] for r in printed["rows"]}
    assert len(cells) == 8
    assert [k for k, v in cells.items() if v] == [("scripted/reference",) * 2 + (level,) for level in (1, 2)]
    assert printed["used"]["calls"] > 0


def test_bad_command_lines_say_what_is_wrong(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    base = ["llm", "run", "--assistant", "scripted/idle", "--out", str(tmp_path / "x")]
    cases = [
        (["--chef", "openai/gpt-4o"], "OPENAI_API_KEY"),
        (["--chef", "scripted/idle", "--levels", "9"], "level 9"),
        (["--chef", "scripted/idle", "--base-url", "localhost"], "write provider=URL"),
        (["--chef", "scripted/idle", "--replay", str(tmp_path)], "no run to replay"),
        (["--chef", "scripted/idle", "--at-once", "0"], "at_once: 0; at least 1"),
        (["--chef", "scripted/idle", "--timeout-s", "0"], "timeout_s: 0.0"),
        (["--chef", "scripted/idle", "--prices", str(tmp_path / "none.json")], "none.json: there is no such file"),
    ]
    for arguments, message in cases:
        assert command([*base, *arguments]) == 2
        assert message in capsys.readouterr().err
        assert not (tmp_path / "x").exists()


def test_ctrl_c_loses_nothing(tmp_path):
    out = tmp_path / "out"
    fake = Fake(text=WAIT, delay=0.02)
    with serving(fake) as url:
        arguments = ["llm", "run", "--chef", "fake/a", "--assistant", "fake/b", "--levels", "1", "--episodes", "400"]
        arguments += ["--horizon", "6", "--base-url", f"fake={url}", "--out", str(out), "--at-once", "4"]
        heed = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "  # jobs of shells ignore it
        code = heed + "import sys; from interplay.cli.main import main; main(sys.argv[1:])"
        process = subprocess.Popen([sys.executable, "-c", code, *arguments], stderr=subprocess.PIPE, text=True)
        limit = time.monotonic() + 120
        while len(fake.requests) < 60 and time.monotonic() < limit:
            time.sleep(0.1)
        os.kill(process.pid, signal.SIGINT)
        _, told = process.communicate(timeout=60)
        assert process.returncode == 130
        assert "goes on" in told
        kept = len(TraceSet.open(out))
        lines = (out / "calls.jsonl").read_text().count("\n")
        assert kept >= 8
        assert len(fake.requests) - 4 <= lines <= len(fake.requests)  # at most what was in flight is unanswered
        before = len(fake.requests)
        found = run(plan(episodes=kept + 4), out, service=service(url))
    assert len(found.traces) == kept + 4
    assert len(fake.requests) - before <= 4 * 4  # nothing that was played is asked again
