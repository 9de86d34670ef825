"""What runs count, cost and forecast; what kitchen prompts tell; and the calls in a report."""

import json
import re

import pytest

import interplay
from interplay.agents.llm import templates
from interplay.agents.llm.chat import Answer
from interplay.agents.llm.limits import Price, Prices, Usage
from interplay.agents.llm.settings import LLMSettings
from interplay.cli.main import run as command
from interplay.errors import InterplayError, UnknownName
from interplay.games.collab_kitchen.dishes import INGREDIENTS
from interplay.llm import GamePlan, RunPlan, run, summary
from interplay.llm.forecast import forecast
from interplay.llm.run import Service
from interplay.llm.run_progress import spent
from interplay.metrics.model_calls import prediction_accuracy
from interplay.rollout.episode import RecordedEvent
from tests.agents.llm.server import Fake, completion, serving

WAIT = json.dumps({"analysis": "nothing to do", "plan": ["wait(3)"], "say": ""})


def plan(**changes) -> RunPlan:
    base = {"chefs": ("scripted/reference",), "assistants": ("scripted/reference",), "dishes": ("boiled egg",)}
    return RunPlan(**(base | {"levels": (), "episodes": 1} | changes))


@pytest.fixture(scope="module")
def cooked():
    """An egg, boiled by a team whose chef predicts its partner."""
    return run(plan(chefs=("scripted/reference?scaffold=proagent",))).traces


def values(traces, metric: str) -> dict[int, float]:
    rows = interplay.measure(traces, ["model_calls"])
    return {row["seat"]: row["value"] for row in rows if row["metric"] == metric}


# ---------------------------------------------------------------- counts
def test_scripts_have_no_tokens(cooked):
    assert values(cooked, "tokens_in") == {0: 0, 1: 0}
    assert summary(cooked).rows[0]["tokens"] == 0
    assert values(cooked, "fallback_share") == {0: 0, 1: 0}


def test_tokens_that_nobody_counted_are_told_apart(tmp_path):
    with serving(Fake(lambda body, n: (200, completion(WAIT, usage=body["model"] == "a")))) as url:
        found = run(
            plan(chefs=("fake/a",), assistants=("fake/b",), horizon=6), service=Service(base_urls={"fake": url})
        )
    meter = found.meter
    assert 0 < meter.tokens_estimated < meter.tokens
    assert "of them estimated" in spent(meter)
    assert values(found.traces, "tokens_in")[0] == 100 * values(found.traces, "calls")[0]
    assert values(found.traces, "tokens_in")[1] is None
    assert values(found.traces, "calls_without_usage") == {0: 0, 1: values(found.traces, "calls")[1]}
    assert values(found.traces, "tokens_estimated")[1] == meter.tokens_estimated
    row = summary(found.traces).rows[0]
    assert row["tokens"] is None
    assert row["tokens_estimated"] == meter.tokens_estimated
    assert values(found.traces, "latency_s")[0] > 0


def test_usage_counts_cached_and_reasoning_tokens():
    usage = Usage()
    usage.add("prompt", Answer(text="x", tokens_in=10, tokens_out=5, tokens_cached=8, tokens_reasoning=4))
    assert (usage.tokens, usage.tokens_cached, usage.tokens_reasoning, usage.tokens_estimated) == (15, 8, 4, 0)


def test_prices_have_a_date_and_cached_tokens_a_price(tmp_path):
    file = tmp_path / "prices.json"
    file.write_text('{"date": "2026-11-01", "prices": {"a/b": {"in": 2, "out": 4, "cached": 0.5}}}')
    prices = Prices.read(file)
    assert prices.date == "2026-11-01"
    answer = Answer(text="", tokens_in=1_000_000, tokens_out=1_000_000, tokens_cached=400_000)
    assert prices.cost_of("a/b", answer) == pytest.approx(0.6 * 2 + 0.4 * 0.5 + 4)
    file.write_text('{"date": "last week", "prices": {}}')
    with pytest.raises(InterplayError, match="YYYY-MM-DD"):
        Prices.read(file)
    with serving(Fake(text=WAIT)) as url:
        service = Service(base_urls={"fake": url}, prices=Prices({"fake/a": Price(1, 2)}, "2026-11-01"))
        run(plan(chefs=("fake/a",), horizon=3), tmp_path / "out", service=service)
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["meta"]["prices"]["date"] == "2026-11-01"


def test_predictions_are_checked_against_what_the_partner_did_next(cooked):
    (accuracy,) = values(cooked, "prediction_accuracy").values()
    assert 0 <= accuracy <= 1
    from interplay.games.collab_kitchen.lineage import Execution

    def belief(t: int, predicted: str | None) -> RecordedEvent:
        return RecordedEvent(t=t, seq=0, seat=0, kind="belief", payload={"about": 1, "predicted": predicted})

    done = [Execution(2, 1, "pickup", "egg", "egg#1", "counter"), Execution(5, 1, "cut", "egg", "egg#1", "board")]
    beliefs = [belief(0, "pickup(egg, counter)"), belief(2, "cut(chopping_board)"), belief(3, "cut(chopping_board)")]
    assert prediction_accuracy(beliefs, done) == pytest.approx(2 / 3)
    assert prediction_accuracy([belief(6, "cut(chopping_board)"), belief(0, None)], done) is None


def test_a_forecast_asks_nobody_and_learns_from_what_was_played(tmp_path, capsys):
    team = {"chefs": ("fake/a",), "assistants": ("fake/b",), "levels": (1,), "dishes": (), "horizon": 6, "episodes": 2}
    prices = Prices({"fake/a": Price(1, 2), "fake/b": Price(1, 2)}, "2026-11-01")
    before = forecast(plan(**team), prices=prices)
    assert [row["model"] for row in before] == ["fake/a", "fake/b", "all"]
    assert {row["basis"] for row in before} == {"stand-in", None}
    assert before.rows[2]["cost"] == pytest.approx(before.rows[0]["cost"] + before.rows[1]["cost"])
    with serving(Fake(text=WAIT)) as url:
        run(plan(**team), tmp_path / "out", service=Service(base_urls={"fake": url}))
    later = forecast(plan(**team | {"episodes": 4}), tmp_path / "out", prices)
    assert [row["basis"] for row in later] == ["played", "played", None]
    assert later.rows[0]["episodes"] == 2
    assert later.rows[0]["tokens_in"] == 2 * 2 * 100  # episodes, waits of three steps
    arguments = ["llm", "run", "--chef", "fake/a", "--assistant", "scripted/idle", "--levels", "1", "--episodes", "1"]
    assert command([*arguments, "--horizon", "3", "--forecast", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["model"], row["cost"]) == ("fake/a", None)


def test_a_forecast_of_hanabi_is_of_whole_games():
    (row,) = forecast(GamePlan(game="hanabi/2p", agents=("llm:fake/a", "llm:fake/a"), episodes=1))
    assert 50 <= row["calls"] <= 100  # who plays the first card on offer is out of lives after a few turns


# ---------------------------------------------------------------- prompts
def prompts(traces) -> list[dict]:
    return [e.payload for episode in traces for e in episode.events if e.kind == "call" and not e.payload["scaffold"]]


def test_examples_name_no_food_and_actions_are_all_told_or_none(cooked):
    for call in prompts(cooked):
        listed = re.sub(r"The ingredient_dispenser has: .*", "", call["prompt"].split("[user]")[0])
        assert not [name for name in INGREDIENTS if re.search(rf"\b{name}\b", listed)]
    first = prompts(cooked)[1]["prompt"]
    assert "pickup(X, ingredient_dispenser), with any ingredient in place of X" in first
    none = run(plan(settings=LLMSettings(actions="none"))).traces
    assert not [call for call in prompts(none) if "right now" in call["prompt"]]


def test_reach_is_told_and_the_version_is_recorded(cooked):
    chef = prompts(cooked)[0]["prompt"]
    assert "You can reach: pot, counter, oven, serving_hatch." in chef
    assert "The assistant can reach: counter, ingredient_dispenser, chopping_board, dish_dispenser, blender." in chef
    assert {call["template"] for call in prompts(cooked)} == {"kitchen/3"}
    assert "\n\n\n" not in chef
    with pytest.raises(UnknownName, match="version of the kitchen prompts"):
        templates.fill("kitchen", "0", "system")


@pytest.mark.parametrize("actions", ["all", "choose"])
def test_version_4_tells_the_same_with_all_that_never_changes_first(actions):
    told = {
        version: [
            call["prompt"] for call in prompts(run(plan(settings=LLMSettings(actions=actions, prompts=version))).traces)
        ]
        for version in ("3", "4")
    }
    assert len(told["3"]) == len(told["4"])
    for before, after in zip(told["3"], told["4"], strict=True):
        lines = before.partition("# Kitchen\n")[2].partition("\n\n")[0].splitlines()
        assert not set(lines) - set(after.splitlines())
    chef = [prompt.split("\n\n[user]\n") for prompt in told["4"] if prompt.startswith("[system]\nYou are the chef")]
    assert len({system for system, _ in chef}) == 1
    assert "Recipe:" in chef[0][0]
    assert not [now for _, now in chef if "Recipe:" in now or "Counters that others reach" in now]
    assert "\n\n\n" not in chef[0][0]
    assert f'\n- "{"action" if actions == "choose" else "plan"}": ' in chef[0][0]
    assert '\n- "say": ' in chef[0][0]


def test_version_5_asks_who_does_not_know_the_recipe_for_what_was_asked_and_tells_the_past_in_its_order():
    told = [call["prompt"] for call in prompts(run(plan(settings=LLMSettings(prompts="5"))).traces)]
    chef, assistant = (
        [p for p in told if p.startswith(f"[system]\nYou are the {who}")] for who in ("chef", "assistant")
    )
    assert all("what the dish still needs" in prompt for prompt in chef)
    assert not [p for p in assistant if "what the dish still needs" in p]
    assert all("what you were last asked to do" in prompt for prompt in assistant)
    assert [p for p in assistant if re.search(r"# What was last said to you\nstep \d+, chef: request", p)]
    for prompt in told:
        past = prompt.partition("# What happened\n")[2].partition("\n\n")[0]
        steps = [int(step) for step in re.findall(r"^step (\d+):", past, re.MULTILINE)]
        assert steps == sorted(steps)
    assert not [prompt for prompt in told if "\n\n\n" in prompt]


def test_each_seat_has_its_own_scaffold(cooked):
    scaffolds = {e.seat for e in cooked[0].events if e.kind == "belief"}
    assert scaffolds == {0}
    assert [i.name for i in cooked[0].agents] == ["llm:scripted/reference[proagent]", "llm:scripted/reference"]


def test_the_open_room_and_a_kitchen_of_ones_own():
    found = run(plan(layout="open"))
    assert summary(found.traces).rows[0]["success"] == 1
    own = run(plan(layout="XXPXX/I 1 O/C 2 S/XDBXX"))
    assert own.traces[0].game_id == "kitchen/custom"
    assert summary(own.traces).rows[0]["success"] == 1
    game = interplay.make("kitchen/open")
    assert all(game.layout.reaches(seat, s) for seat in (0, 1) for s in game.layout.stations if s.letter in "PIOCDBS")


# ---------------------------------------------------------------- report
def test_the_report_shows_every_call(cooked, tmp_path):
    page = interplay.report(cooked, tmp_path / "page.html").html
    assert "Language models" in page
    assert 'type="search"' in page
    assert page.count("<article>") == sum(e.kind == "call" for e in cooked[0].events)
    assert "prompts kitchen/3" in page
    assert '#replay-0@0"' in page
    assert "verdict: pickup(egg, ingredient_dispenser): ok" in page


def test_the_report_warns_of_fallbacks(tmp_path):
    found = run(plan(assistants=("scripted/prose",), horizon=6))
    page = interplay.report(found.traces, tmp_path / "page.html").html
    assert "moves were made by default" in page
    assert "not read: the answer is not a JSON object" in page
