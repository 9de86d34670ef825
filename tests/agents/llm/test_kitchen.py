"""Language models in the kitchen: the reference team, its degraded versions, bad answers, scaffolds, policies."""

import dataclasses
import json

import pytest

import interplay
from interplay import trust
from interplay.agents.dialogue import DialogueMessage
from interplay.agents.llm.limits import Limits
from interplay.agents.llm.scripted.reference import team_queues
from interplay.agents.llm.scripted.simple import Scripted
from interplay.agents.llm.settings import LLMSettings
from interplay.errors import InterplayError
from interplay.games.collab_kitchen.dishes import DISHES
from interplay.games.collab_kitchen.lineage import Execution, executions
from interplay.games.collab_kitchen.plan import plan_team
from interplay.games.registry import capability
from interplay.llm import RunPlan, run, solo, summary
from interplay.llm.plan import read_levels
from interplay.llm.run import Service
from interplay.traces import verify

FIRST = [d.name for d in DISHES.values() if d.number == 1]


def team(chef: str, assistant: str | None = None, **changes) -> RunPlan:
    names = {"chefs": (f"scripted/{chef}",), "assistants": (f"scripted/{assistant or chef}",)}
    return RunPlan(**(names | {"levels": (), "dishes": ("boiled egg",), "episodes": 1} | changes))


def one(plan: RunPlan, **keywords):
    (episode,) = run(plan, **keywords).traces
    return episode


def told(episode, kind):
    return [e.payload for e in episode.events if e.kind == kind]


def units(episode):
    return [u for m in told(episode, "message") for u in m["units"]]


@pytest.mark.parametrize("name", FIRST)
def test_the_reference_team_makes_a_dish_of_every_level_and_asks_for_each_act_once(name):
    game = interplay.make("kitchen/original", dish=name)
    shortest = len(plan_team(game, game.init()).actions)
    traces = run(team("reference", dishes=(name,))).traces
    (episode,) = traces
    assert episode.terminated
    assert shortest <= episode.length <= 1.2 * shortest + 1
    assert verify(traces).check().episodes == 1
    assert all(v["ok"] for v in told(episode, "verdict"))
    helped = [(d.verb, d.object) for d in executions(game, [game.init()], episode.actions) if d.seat == 1]
    assert [u["verb"] for u in units(episode)] == [verb for verb, _ in helped]
    assert [u["object"] for u in units(episode) if u["object"]] == [o for v, o in helped if v == "pickup"]


@pytest.mark.slow
@pytest.mark.parametrize(("layout", "most"), [("original", 1.2), ("rc", 1.2), ("nrc", 1.35)])
@pytest.mark.parametrize("name", list(DISHES))
def test_the_reference_team_makes_all_dishes(name, layout, most):
    game = interplay.make(f"kitchen/{layout}", dish=name)
    episode = one(team("reference", dishes=(name,), layout=layout))
    assert episode.terminated
    assert episode.length <= most * len(plan_team(game, game.init()).actions) + 2


@pytest.fixture(scope="module")
def calibration():
    names = ("reference", "chatty", "redundant", "deaf", "forgetful", "clumsy")
    return {n: one(team(n, dishes=("potato soup",))) for n in names}


def test_each_degradation_shows_where_it_should_and_nowhere_else(calibration):
    reference = calibration["reference"]
    asked = units(reference)
    for name in ("chatty", "redundant", "clumsy"):  # talk and slips change neither time nor what is asked
        assert calibration[name].length == reference.length
        assert units(calibration[name]) == asked
    silent = [m for m in told(reference, "message") if not m["units"]]
    assert silent == []
    assert sum(not m["units"] for m in told(calibration["chatty"], "message")) > 10
    please = [m for m in told(calibration["redundant"], "message") if m["text"].startswith("Please")]
    assert len(please) >= 5
    assert not calibration["deaf"].terminated
    assert set(calibration["deaf"].actions[:, 1].tolist()) == {0}
    assert calibration["forgetful"].terminated
    assert calibration["forgetful"].length > reference.length + 20
    assert len(units(calibration["forgetful"])) > len(asked)
    refused = {n: sum(not v["ok"] for v in told(e, "verdict")) for n, e in calibration.items()}
    assert refused.pop("clumsy") == 3
    assert set(refused.values()) == {0}


def test_the_assistant_reads_no_recipe_and_nobody_is_told_to_need_help(calibration):
    calls = told(calibration["reference"], "call")
    assert any("potato soup" in c["prompt"] and "Recipe:" in c["prompt"] for c in calls if c["role"] == "chef")
    assert not any("potato soup" in c["prompt"] or "Recipe:" in c["prompt"] for c in calls if c["role"] == "assistant")
    nrc = one(team("idle", layout="nrc", horizon=2))
    for call in told(nrc, "call"):
        assert not any(word in call["prompt"] for word in ("alone", "by yourself", "only the chef", "cannot"))


@pytest.mark.parametrize(
    ("model", "error"), [("prose", "format"), ("half_json", "format"), ("unknown_verb", "unknown_verb")]
)
def test_an_answer_of_no_use_is_corrected_once_in_a_step_and_then_waited_out(model, error):
    episode = one(team(model, "idle", horizon=6))
    assert [c["purpose"] for c in told(episode, "call") if c["role"] == "chef"] == ["plan", "correct"] * 6
    refusals = [v for v in told(episode, "verdict") if not v["ok"]]
    assert {v["error"] for v in refusals} == {error}
    assert len(refusals) == 12
    assert set(episode.actions[:, 0].tolist()) == {0}
    assert (episode.length, episode.score) == (6, 0.0)
    assert told(episode, "end") == [{"reason": "horizon"}]


def test_an_endless_dialogue_is_cut_at_the_cap():
    episode = one(team("endless", horizon=3, settings=LLMSettings(turn_cap=4)))
    at_first = [e for e in episode.events if e.t == 0]
    assert sum(e.kind == "message" for e in at_first) == 4  # by both, in one dialogue
    cuts = [e.payload["turns"] for e in at_first if e.kind == "dialogue_cut"]
    assert cuts == [4]
    assert [m["turn"] for m in told(episode, "message")][:4] == [0, 1, 2, 3]
    assert episode.length == 3


def test_dialogue_policies():
    one_way = one(team("endless", horizon=3, settings=LLMSettings(dialogue="one_way")))
    assert not any(c["purpose"] == "reply" for c in told(one_way, "call"))
    assert told(one_way, "message")
    silent = one(team("endless", horizon=3, settings=LLMSettings(dialogue="silent")))
    assert told(silent, "message") == []
    assert all("say" not in c["prompt"].split("# Your answer")[1] for c in told(silent, "call"))
    assert silent.agents[0].config["dialogue"] == "silent"  # policies are recorded


def test_memory_policies():
    def past(memory):
        episode = one(team("reference", settings=LLMSettings(memory=memory)))
        return [c["prompt"].count("\nstep ") for c in told(episode, "call")][-1]

    assert past("none") == 0
    assert 0 < past("recent") <= 12
    assert past("full") >= past("recent")


def test_models_are_asked_only_when_their_plan_is_done():
    episode = one(team("idle", horizon=40))
    assert len(told(episode, "call")) == 4  # two seats, wait(20) each time


@pytest.mark.parametrize("name", ["proagent", "belief", "adaptive"])
def test_scaffolds_add_to_the_prompt_and_to_nothing_else(name, monkeypatch):
    monkeypatch.setattr(Scripted, "counted", True)
    plain = one(team("reference"))
    episode = one(team("reference", settings=LLMSettings(scaffold=name)))
    assert episode.actions.tolist() == plain.actions.tolist()
    calls = told(episode, "call")
    extra = [c for c in calls if c["scaffold"]]
    assert extra
    assert {c["purpose"] for c in extra} <= {"predict", "belief"}
    assert len([c for c in calls if not c["scaffold"]]) == len(told(plain, "call"))
    assert all(b["scaffold"] == name for b in told(episode, "belief"))
    title = "# Your belief about your partner" if name == "belief" else "# Your partner, as inferred"
    assert any(title in c["prompt"] for c in calls if not c["scaffold"])
    row = summary([episode]).rows[0]
    assert 0 < row["scaffold_tokens"] < row["tokens"]
    assert summary([plain]).rows[0]["scaffold_tokens"] is None


def test_scaffolds_read_plain_english_and_hear_the_verifier():
    game = interplay.make("kitchen/original", dish="boiled egg")
    read = capability(game, "request_reader")
    said = [
        DialogueMessage(
            t=0, sender=0, to=1, text="Please pick up an egg and put it on the counter so I can boil it in pot0."
        ),
        DialogueMessage(t=6, sender=0, to=1, text="Don't get another egg. Could you bring me a dish?"),
    ]
    acts = [Execution(2, 1, "pickup", "egg", "egg#1", "ingredient_dispenser")]
    asked = read(game, said, acts)
    assert [(r.act.verb, r.act.object) for r in asked] == [
        ("pickup", "egg"),
        ("place_obj_on_counter", "egg"),
        ("place_obj_on_counter", "dish"),
    ]
    assert [r.fits(acts[0]) for r in asked] == [True, False, False]
    clumsy = one(team("reference", "clumsy", settings=LLMSettings(scaffold="belief")))
    updates = [e.payload["prompt"] for e in clumsy.events if e.kind == "call" and e.payload["purpose"] == "belief"]
    assert any("was refused" in prompt for prompt in updates)


def test_the_published_prompts_ask_for_one_action():
    episode = one(team("reference", settings=LLMSettings(prompts="published", scaffold="proagent")))
    calls = [c for c in told(episode, "call") if not c["scaffold"]]
    assert episode.terminated
    assert {call["template"] for call in calls} == {"kitchen/published"}
    assert set(json.loads(calls[0]["answer"])) == {"action", "target", "message"}
    assert "[user]\n# Your partner, as inferred" in calls[0]["prompt"]  # the scaffold's block comes first


def test_actions_can_be_chosen_from_those_possible_now():
    episode = one(team("reference", settings=LLMSettings(actions="choose")))
    answers = [json.loads(call["answer"]) for call in told(episode, "call")]
    assert episode.terminated
    assert {tuple(answer) for answer in answers} == {("analysis", "action", "say")}
    assert all(verdict["ok"] for verdict in told(episode, "verdict"))
    assert '"action": the one action' in told(episode, "call")[0]["prompt"]
    with pytest.raises(InterplayError, match="prompts published do not ask for it"):
        LLMSettings(actions="choose", prompts="published")


def test_the_belief_is_computed_from_the_trace():
    episode = one(team("reference", settings=LLMSettings(scaffold="belief")))
    beliefs = [e.payload for e in episode.events if e.kind == "belief" and e.seat == 0]
    assert beliefs[0]["recent_fulfillment"] is None  # nothing was asked yet: null, not 0
    assert beliefs[-1]["recent_fulfillment"] == 1.0
    assert beliefs[-1]["recent_latency"] == 3.0  # asked in step 0, picked up in 2, put down in 4
    assert {b["held_object"] for b in beliefs} == {"nothing", "egg"}


def test_the_adaptive_order_learns_from_what_the_partner_did():
    episode = one(team("reference", settings=LLMSettings(scaffold="adaptive")))
    weights = [e.payload["weights"] for e in episode.events if e.kind == "belief" and e.seat == 0]
    assert weights[0] == [0.5, 0.5]
    assert all(sum(w) == pytest.approx(1, abs=0.01) for w in weights)


def test_a_limit_of_tokens_ends_the_episode_cleanly_and_it_is_scored(monkeypatch):
    monkeypatch.setattr(Scripted, "counted", True)
    traces = run(team("reference"), service=Service(limits=Limits(episode_tokens=5000))).traces
    (episode,) = traces
    (end,) = told(episode, "end")
    assert end["reason"] == "limit"
    assert "episode_tokens" in end["message"]
    assert 0 < episode.length < 16
    assert (episode.score, episode.terminated) == (0.0, False)
    assert verify(traces).check().episodes == 1
    assert summary(traces).rows[0]["limit"] == 1


def test_a_solo_cook_is_enough_where_cooperation_is_not_required():
    plan = RunPlan(chefs=("x/y",), assistants=("x/y",), levels=(1,), episodes=1)
    table, _ = solo(["scripted/reference"], alone="scripted/soloist", plan=plan)
    rc, nrc = table.rows
    assert (rc["layout"], rc["team_success"], rc["solo_feasible"], rc["time"]) == ("rc", 1.0, 0.0, None)
    assert (nrc["layout"], nrc["team_success"], nrc["solo_feasible"]) == ("nrc", 1.0, 1.0)
    assert 28 <= nrc["chef_steps"] <= 30
    assert 19 <= nrc["assistant_steps"] <= 21
    assert nrc["time"] == pytest.approx(nrc["team_steps"] / nrc["assistant_steps"])


def test_a_stranger_off_the_plan_is_planned_around():
    game = interplay.make("kitchen/original", dish="boiled egg")
    assert team_queues(game, game.init()) is not None
    episode = one(team("reference", "first", horizon=12))  # a partner who does nothing
    assert episode.length == 12
    assert len(units(episode)) >= 2


def test_three_cooks_are_addressed_by_name():
    layout = "XXXPXX/I X1 X/C2X  O/D3X  X/XBXSXX"
    episode = one(team("reference", dishes=("boiled potato~slices",), options={"layout": layout}))
    assert episode.terminated
    assert {m["to"] for m in told(episode, "message")} <= {1, 2}
    quiet = {1, 2} - {m["to"] for m in told(episode, "message")}
    assert all(set(episode.actions[:, seat].tolist()) == {0} for seat in quiet)


class Stubborn(Scripted):
    """Wants an egg, whoever stands in the way."""

    name = "stubborn"

    def fill(self, ask):
        return super().fill(ask) | {"plan": ["pickup(egg, ingredient_dispenser)"]}


def test_an_act_that_is_held_up_for_long_is_refused_so_that_the_cook_thinks_again():
    plan = team("idle", horizon=25, options={"layout": "XXXPXXX/I2  1 S/XXXXXXX"})
    trust.admit([f"llm:{__name__}:Stubborn"])
    plan = dataclasses.replace(plan, chefs=(f"llm:{__name__}:Stubborn",))
    episode = one(plan)
    refused = [(e.t, e.payload["error"]) for e in episode.events if e.kind == "verdict" and not e.payload["ok"]]
    assert {error for _, error in refused} == {"blocked"}
    assert refused[0][0] >= 8
    assert episode.length == 25


def test_names_and_settings_are_checked():
    with pytest.raises(InterplayError, match="level 7"):
        RunPlan(chefs=("a/b",), assistants=("a/b",), levels=(7,))
    with pytest.raises(InterplayError, match="unknown dish 'fried egg'"):
        RunPlan(chefs=("a/b",), assistants=("a/b",), dishes=("fried egg",))
    with pytest.raises(InterplayError, match=r"unknown memory 'long'"):
        LLMSettings(memory="long")
    with pytest.raises(InterplayError, match=r"unknown scaffold 'tom'"):
        run(team("idle", settings=LLMSettings(scaffold="tom")))
    with pytest.raises(InterplayError, match=r"unknown option of a language model 'scafold'"):
        interplay.agent("llm:scripted/idle", scafold="belief")
    assert read_levels("1-3,6") == (1, 2, 3, 6)
    for text in ("", "a", "3-1", "1-"):
        with pytest.raises(InterplayError, match="levels"):
            read_levels(text)


def test_interplay_play_lets_models_talk_too():
    traces = interplay.play("kitchen/original", ["llm:scripted/reference", "llm:scripted/reference"], episodes=2)
    assert [e.terminated for e in traces] == [True, True]
    assert told(traces[0], "message")
