"""Experiment logs of Collab-Overcooked, in the form of the benchmark and of two forks."""

from __future__ import annotations

import json

import pytest

from interplay.cli.main import run
from interplay.errors import InterplayError
from interplay.metrics.communication import AuditSettings, judge
from interplay.metrics.communication.collab_overcooked_logs import dish_of_order, read_experiment_logs
from interplay.metrics.communication.source import open_source

CLOSED = ["XXXPX", "I XaX", "CbX X", "D X O", "XBXSX"]
OPEN = ["XXXPX", "I  aX", "Cb  X", "D   O", "XBXSX"]


def drawn(rows) -> str:
    cells = {"a": "\u21910", "b": "\u21911"}
    return "".join("".join((cells.get(c) or c).strip().ljust(8) for c in row) + "\n\n" for row in rows)


def step(t: int, *dialogues, errors=(0, 0), observation=("", ""), rows=CLOSED, **more) -> dict:
    found = {
        "timestamp": t,
        "order_list": ["boiled_egg"],
        "map": drawn(rows),
        "statistical_data": {
            "communication": [{"call": 1, "turn": [e["say"] for e in d], "token": [40] * len(d)} for d in dialogues],
            "error": [{"validator_error": {"error_num": n, "error_message": ["no"] * n}} for n in errors],
        },
        "content": {"observation": list(observation), "content": [list(d) for d in dialogues]},
    }
    return found | more


def said(agent: int, say: str, **more) -> dict:
    return {"agent": agent, "analysis": "", "say": say} | more


def log(steps: list[dict], **changes) -> dict:
    acts = [
        [(7, "pickup(egg, counter)"), (9, "put_obj_in_utensil(pot0)"), (10, "cook(pot0)"),
         (13, "pickup(boiled_egg, pot0)"), (15, "deliver_soup()")],
        [(3, "pickup(egg, ingredient_dispenser)"), (5, "place_obj_on_counter()")],
    ]  # fmt: skip
    listed = [[{"timestamp": t, "action": a} for t, a in one] for one in acts]
    whole = {"total_timestamp": list(range(16)), "total_order_finished": ["boiled_egg"], "total_score": 20}
    return whole | {"total_action_list": listed, "content": steps} | changes


ASK = said(0, "Please pick up an egg and place it on the counter.", plan="Chef plan: request('pickup(egg)');wait(2)")
OBEY = said(1, "[NOTHING]", plan="Assistant plan: pickup(egg, ingredient_dispenser);place_obj_on_counter()")


def write(folder, whole: dict, name: str = "experiment_2026-01-01_00-00-00_boiled_egg.json"):
    path = folder / "gpt-4o__claude" / "boiled_egg" / name
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(whole, indent=4))
    return path


def test_the_benchmarks_form(tmp_path):
    refused = "Your action pickup(egg, counter) raised an error: nothing there"
    steps = [step(0, [ASK, OBEY]), step(1, errors=(1, 0), observation=(refused, ""))]
    (found,) = read_experiment_logs(write(tmp_path, log(steps)))
    assert [role.agent for role in found.roles] == ["gpt-4o", "claude"]
    assert found.task.dish == "boiled egg"
    assert (found.success, found.length, found.horizon) == (True, 16, 120)
    done = [(e.t, e.agent, str(e.act)) for e in found.of("exec")]
    assert done == [
        (3, 1, "pickup(egg, ingredient_dispenser)"), (5, 1, "place_obj_on_counter(egg)"),
        (7, 0, "pickup(egg, counter)"),
        (9, 0, "put_obj_in_utensil(egg, pot)"), (10, 0, "cook(egg, pot)"), (13, 0, "pickup(boiled(egg), pot)"),
        (15, 0, "deliver(boiled(egg))"),
    ]  # fmt: skip
    (message,) = found.of("message")
    assert (message.tokens, [str(a) for a in message.acts]) == (40, ["pickup(egg)"])
    assert [[str(a) for a in e.acts] for e in found.of("plan")] == [
        ["wait()"], ["pickup(egg, ingredient_dispenser)", "place_obj_on_counter()"],
    ]  # fmt: skip
    (verdict,) = found.of("verdict")
    assert (verdict.t, verdict.agent, str(verdict.act)) == (1, 0, "pickup(egg, counter)")
    assert [j.category for j in judge(found, AuditSettings())] == ["effective", "effective"]
    assert "cut" in found.roles[1].verbs
    assert "cut" not in found.roles[0].verbs
    assert "pot" not in (found.roles[1].places or ())


def test_a_dish_is_filled_with_what_is_in_the_utensil(tmp_path):
    acts = [(1, "pickup(egg, counter)"), (2, "put_obj_in_utensil(pot0)"), (3, "cook(pot0)"),
            (9, "fill_dish_with_food(pot0)"), (11, "deliver_soup()")]  # fmt: skip
    lists = [[{"timestamp": t, "action": a} for t, a in acts], []]
    (found,) = read_experiment_logs(write(tmp_path, log([step(0, [ASK, OBEY])], total_action_list=lists)))
    done = [str(e.act) for e in found.of("exec")]
    assert done[-2:] == ["fill_dish_with_food(boiled(egg), pot)", "deliver(boiled(egg))"]


def test_the_fork_with_models_and_an_open_room(tmp_path):
    models = [{"model": "gpt-4o", "agent_type": "a-tom"}, {"model": "gemma", "agent_type": "baseline"}]
    steps = [step(0, [], [said(1, "Go on. [END]", plan="Assistant plan: wait(1)")], rows=OPEN, agent_models=models)]
    (found,) = read_experiment_logs(write(tmp_path, log(steps, total_order_finished=[])))
    assert [role.agent for role in found.roles] == ["a-tom_gpt-4o", "gemma"]
    assert all("cut" in role.verbs and "pot" in (role.places or ()) for role in found.roles)
    assert not found.success
    assert [e.text for e in found.of("message")] == ["Go on."]


def test_the_fork_with_formal_talk(tmp_path):
    ask = "Collab(request(Assistant, pickup(egg, ingredient_dispenser));request(Assistant, place_obj_on_counter()))"
    steps = [step(0, [said(0, ask, action=f"Action: {ask}"), said(1, "[NOTHING]", action="Action: wait(1)")])]
    (found,) = read_experiment_logs(write(tmp_path, log(steps)))
    (message,) = found.of("message")
    assert message.acts_only
    assert [str(a) for a in message.acts] == ["pickup(egg, ingredient_dispenser)", "place_obj_on_counter()"]
    assert [j.category for j in judge(found, AuditSettings())] == ["effective", "effective"]


def test_a_folder_of_logs_is_audited_as_it_is(tmp_path, capsys):
    write(tmp_path, log([step(0, [ASK, OBEY])]))
    run(["llm", "audit", str(tmp_path), "--by", "all", "--metrics", "units", "follow_rate", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert [(r["metric"], r["mean"]) for r in found["rows"]] == [("units", 2), ("follow_rate", 1)]


@pytest.mark.parametrize(
    ("order", "name"),
    [
        ("baked_bell_pepper", "baked bell_pepper"),
        ("boiled_green_bean_slices", "boiled green_bean~slices"),
        ("baked_potato_soup", "potato soup"),
        ("sliced_eggplant_and_chickpea_stew", "eggplant and chickpea stew"),
        ("mashed_sweet_potato_and_bean_patty", "sweet_potato and bean patty"),
        ("zucchini_green_pea_and_onion_patty", "zucchini, green_pea and onion patty"),
    ],
)
def test_orders_name_dishes(order, name):
    assert dish_of_order(order).name == name


def test_an_order_that_nobody_knows(tmp_path):
    path = write(tmp_path, log([step(0)], total_order_finished=["fried_rice"]))
    with pytest.raises(InterplayError, match="the order 'fried_rice' is none of the kitchen's dishes"):
        read_experiment_logs(path)


def test_a_folder_with_nothing_to_audit(tmp_path):
    (tmp_path / "notes.json").write_text("{}")
    with pytest.raises(InterplayError, match=r"neither a trace set .* nor experiment logs"):
        open_source(tmp_path)


def test_a_log_is_known_by_its_name_whatever_the_order_of_its_keys(tmp_path):
    whole = log([step(0, [ASK, OBEY])])
    path = write(tmp_path, dict(reversed(whole.items())))
    assert len(open_source(tmp_path)) == len(open_source(path)) == 1
    (tmp_path / "experiment_2.json").write_text('{"a": 1}')
    with pytest.raises(InterplayError, match=r"experiment_2.json: no experiment log"):
        open_source(tmp_path)
