"""The numbers of an episode, each from a transcript small enough to count by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interplay.errors import InterplayError
from interplay.metrics.communication import AuditSettings, detail, parse_transcripts, rows
from interplay.metrics.communication.definitions import DEFINITIONS, HEADLINES
from interplay.metrics.communication.process import ites, prefix, tes
from tests.metrics.communication.scripts import ASSISTANT, CHEF, lines, transcript

# Boiled potato slices, as the reference has it.
COOKED = """
0 chef: Pick up the potato and cut it, then bring it to me.
1 assistant does pickup potato ingredient_dispenser potato#1
3 assistant does put_obj_in_utensil potato chopping_board potato#1
4 assistant does cut potato chopping_board potato#1
7 assistant does pickup potato~slices chopping_board potato#1
9 assistant does place_obj_on_counter potato~slices counter potato#1
11 chef does pickup potato~slices counter potato#1
13 chef does put_obj_in_utensil potato~slices pot potato#1
14 chef does cook potato~slices pot potato#1
18 chef does pickup boiled(potato~slices) pot potato#1
21 chef does deliver boiled(potato~slices) serving_hatch potato#1
"""
SERVED = {"length": 22, "success": True, "rewards": [[21, 20.0]]}


def numbers(
    script: str, settings: AuditSettings | None = None, seat: int | None = None, **header
) -> dict[str, float | None]:
    found = list(rows(transcript(script, **header), settings or AuditSettings()))
    mine = [r for r in found if r["seat"] == seat and r["metric"] != "reason"]
    return {f"{r['metric']}@{r['window']}": r["value"] for r in mine} | {
        r["metric"]: r["value"] for r in mine if r["window"] == (settings or AuditSettings()).window_name
    }


class TestTalk:
    script = """
    0 chef: We cook potatoes.
    1 chef: Pick up the potato and cut it.
    2 assistant does pickup potato ingredient_dispenser potato#1
    3 assistant fails cut chopping_board utensil_empty
    6 assistant does cut potato chopping_board potato#1
    8 chef: Cut the potato.
    9 chef: Bring me the potato.
    40 assistant does place_obj_on_counter potato~slices counter potato#1
    """

    def test_follow_rate_both_ways(self):
        found = numbers(self.script)
        assert (found["messages"], found["units"]) == (4, 4)
        assert (found["effective"], found["assisted"], found["redundant"], found["ineffective"]) == (1, 1, 1, 1)
        assert found["unstructured"] == 1
        assert found["follow_rate"] == 2 / 4
        assert found["follow_rate_all"] == 2 / 5
        assert found["follow_rate_needed"] == 2 / 3

    def test_other_rates(self):
        found = numbers(self.script)
        assert found["parse_rate"] == 4 / 4
        assert found["parsed_messages"] == 3 / 4
        assert found["delayed_rate"] == 1 / 4
        assert found["redundancy"] == 1 / 4
        assert found["assisted_rate"] == 1 / 4
        assert found["latency"] == (1 + 5) / 2
        assert found["verifier_burden"] == 1

    def test_by_speaker(self):
        assert numbers(self.script, seat=0)["units"] == 4
        assistant = numbers(self.script, seat=1)
        assert (assistant["messages"], assistant["follow_rate"], assistant["latency"]) == (0, None, None)
        assert assistant["verifier_burden"] == 1

    def test_nothing_said_is_null_not_zero(self):
        found = numbers("1 assistant does pickup potato ingredient_dispenser potato#1")
        names = ("follow_rate", "follow_rate_all", "parse_rate", "redundancy", "latency", "comm_cost_all", "adr")
        assert {name: found[name] for name in names} == dict.fromkeys(names)

    def test_reasons_are_counted(self):
        found = [
            r for r in rows(transcript(self.script), AuditSettings()) if r["metric"] == "reason" and r["seat"] is None
        ]
        counted = {r["reason"]: r["value"] for r in found if r["value"]}
        assert counted == {"followed": 1, "corrected": 1, "done": 1, "delayed": 1, "no request": 1}


class TestHandOvers:
    def test_accepted_and_constructive(self):
        found = numbers(COOKED, **SERVED)
        assert (found["triggers"], found["accepted"], found["constructive"]) == (1, 1, 1)
        assert (found["adr"], found["idensity"], found["mor"]) == (1, 1, 0)

    def test_the_window(self):
        late = COOKED.replace("11 chef", "30 chef").replace("13 chef", "31 chef")
        late = late.replace("14 chef", "32 chef").replace("18 chef", "36 chef").replace("21 chef", "38 chef")
        found = numbers(late, length=39, success=True)
        assert (found["adr"], found["idensity"], found["mor"]) == (0, None, 1)
        assert (found["adr@20 steps"], found["adr@unlimited"]) == (0, 1)
        assert numbers(late, AuditSettings(window=21), length=39, success=True)["adr"] == 1

    def test_not_delivered_is_not_constructive(self):
        assert numbers(COOKED, length=22, success=False)["idensity"] == 0

    def test_taken_back_by_the_giver_is_not_accepted(self):
        script = "1 assistant does place_obj_on_counter egg counter egg#1\n 2 assistant does pickup egg counter egg#1"
        assert numbers(script)["adr"] == 0

    def test_a_thing_that_comes_back_unchanged_is_looping(self):
        there = COOKED.replace("13 chef does put_obj_in_utensil", "12 chef does place_obj_on_counter")
        back = "12 assistant does pickup potato~slices counter potato#1\n13 assistant does place_obj_on_counter "
        back += "potato~slices counter potato#1\n14 chef does pickup potato~slices counter potato#1\n15 chef does "
        back += "put_obj_in_utensil potato~slices pot potato#1\n"
        there = there.replace("potato~slices pot potato#1\n14 chef", f"potato~slices counter potato#1\n{back}16 chef")
        found = numbers(there, **SERVED)
        assert (found["triggers"], found["accepted"], found["constructive"]) == (3, 3, 0)

    def test_a_dish_helps_if_it_is_filled_with_what_is_delivered(self):
        header = {"dish": "potato soup", "horizon": 180, "length": 20, "success": True}
        soup = "boiled(baked(potato~slices))"
        script = f"""1 assistant does place_obj_on_counter dish counter dish#2
        3 chef does pickup dish counter dish#2
        5 chef does fill_dish_with_food {soup} pot potato#1
        7 chef does deliver {soup} serving_hatch potato#1"""
        assert numbers(script, **header)["idensity"] == 1
        assert (
            numbers(script.replace("5 chef does fill_dish_with_food", "5 assistant does cut"), **header)["idensity"]
            == 0
        )

    def test_a_counter_that_nobody_else_reaches_is_no_offer(self):
        private = [json.loads(line) for line in lines(COOKED, **SERVED)]
        for record in private:
            if record.get("verb") == "place_obj_on_counter":
                record["shared"] = False
        found = list(rows(parse_transcripts(map(json.dumps, private))[0], AuditSettings()))
        assert [r["value"] for r in found if r["metric"] == "adr" and r["seat"] is None] == [None] * 3

    def test_without_lineage_things_are_known_by_name(self):
        assert numbers(COOKED.replace(" potato#1", ""), **SERVED)["adr"] == 1


class TestCosts:
    def calls(self, *, tokens_in: int | None = 100, scaffold: bool = False) -> list[str]:
        call = {"episode": "e", "t": 0, "seq": 500, "agent": 0, "kind": "call", "tokens": 40, "tokens_in": tokens_in}
        return [*lines(COOKED, **SERVED), json.dumps(call | {"scaffold": scaffold})]

    def value(self, given: list[str], name: str, settings: AuditSettings | None = None) -> float | None:
        found = rows(parse_transcripts(given)[0], settings or AuditSettings())
        return next(r["value"] for r in found if r["metric"] == name and r["seat"] is None)

    def test_cost_both_ways(self):
        assert self.value(self.calls(), "comm_cost_completion") == 40
        assert self.value(self.calls(), "comm_cost_all") == 140

    def test_tokens_of_scaffolds_are_counted_apart(self):
        given = self.calls(scaffold=True)
        assert self.value(given, "tokens_completion") == 0
        assert (self.value(given, "tokens_scaffold"), self.value(given, "tokens")) == (140, 140)

    def test_without_calls_the_messages_tell_the_completion_and_the_rest_is_not_known(self):
        given = lines(COOKED, **SERVED)
        assert self.value(given, "comm_cost_completion") == 12
        assert self.value(given, "comm_cost_all") is None
        assert self.value(given, "utility") is None
        assert self.value(given, "utility", AuditSettings(cost_tokens=0)) == pytest.approx(20 - 0.1 * 22)

    def test_unknown_tokens_make_the_sum_unknown(self):
        assert self.value(self.calls(tokens_in=None), "tokens") is None

    def test_utility_weighs_four_costs(self):
        script = COOKED + "2 assistant fails cut chopping_board utensil_empty\n"
        script += "5 assistant does pickup carrot ingredient_dispenser carrot#2\n"
        call = {"episode": "e", "t": 0, "seq": 500, "agent": 0, "kind": "call", "tokens": 40, "tokens_in": 100}
        given = [*lines(script, **SERVED), json.dumps(call)]
        weights = AuditSettings(gamma=0.9, cost_time=0.5, cost_tokens=0.01, cost_verifier=3, cost_redundant=2)
        expected = 20 * 0.9**21 - 0.5 * 22 - 0.01 * 140 - 3 - 2
        assert self.value(given, "utility", weights) == pytest.approx(expected)
        assert self.value(given, "cost_redundant", weights) == 2

    def test_bad_settings(self):
        wrongs: list[dict[str, Any]] = [{"redundancy": "strict"}, {"window": -1}, {"alpha": 0}, {"gamma": 2}]
        for wrong in wrongs:
            with pytest.raises(InterplayError, match=next(iter(wrong))):
                AuditSettings(**wrong)


class TestWasteAndUptake:
    def test_waste(self):
        script = """
        0 chef: Cut the potato.
        1 assistant does cut potato chopping_board potato#1
        2 chef: Cut the potato.
        3 chef: Cut the carrot.
        4 assistant does pickup carrot ingredient_dispenser carrot#2
        5 assistant does cut potato chopping_board potato#3
        """
        found = numbers(script)
        assert found["repeated_actions"] == 2
        assert found["waste"] == (1 + 1 + 2) / (3 + 3)

    def test_doing_the_same_to_the_same_thing_again_is_a_repeated_action(self):
        there_and_back = """
        1 assistant does pickup potato ingredient_dispenser potato#1
        2 assistant does put_obj_in_utensil potato chopping_board potato#1
        3 assistant does pickup potato chopping_board potato#1
        4 assistant does put_obj_in_utensil potato chopping_board potato#1
        """
        assert numbers(there_and_back)["repeated_actions"] == 1

    def test_waiting_is_no_deed(self):
        assert numbers("1 assistant does wait nothing counter")["executions"] == 0

    def test_uptake_is_what_the_uninformed_do_after_being_told(self):
        script = """
        1 assistant does pickup carrot ingredient_dispenser carrot#1
        2 assistant does place_obj_on_counter carrot counter carrot#1
        3 chef: The dish is boiled potato slices.
        5 assistant does pickup potato ingredient_dispenser potato#2
        30 assistant does put_obj_in_utensil potato chopping_board potato#2
        """
        assert numbers(script)["uptake"] == 1 / 4
        assert numbers(script, seat=0)["uptake"] is None

    def test_who_knows_the_recipe_takes_up_nothing(self):
        knowing = [CHEF, {**ASSISTANT, "knows_recipe": True}]
        assert numbers("1 assistant does pickup potato counter potato#1", roles=knowing)["uptake"] is None


class TestReferencePlans:
    reference = (("a", "x"), ("b", "x"), ("c", "x"))

    def test_the_prefix_must_come_in_order_but_not_at_once(self):
        assert prefix(self.reference, [("a", "x"), ("z", None), ("b", "x")]) == 2
        assert prefix(self.reference, [("b", "x"), ("c", "x")]) == 0
        assert prefix(self.reference, [("b", "x"), ("a", "x"), ("c", "x")]) == 1

    def test_tes(self):
        assert tes([self.reference], self.reference) == pytest.approx(1)
        assert tes([self.reference], self.reference[:2]) == pytest.approx(1.9025 * 2 / (3 + 0.9025 * 2))
        assert tes([self.reference[::-1], self.reference], self.reference) == pytest.approx(1)
        assert tes([self.reference], []) == 0
        assert tes([], self.reference) is None

    def test_ites(self):
        step = ites([self.reference], self.reference[:1], self.reference[1:2])
        assert step == pytest.approx(1.9025 * (2 / (3 + 0.9025 * 2) - 1 / (3 + 0.9025)))
        wrong = ites([self.reference], self.reference[:1], [("z", None)])
        assert wrong is not None
        assert wrong < 0

    def test_the_reference_itself_scores_one(self):
        found = numbers(COOKED, **SERVED)
        assert found["tes"] == pytest.approx(1)
        assert (found["initiating_capability"], found["responding_capability"]) == (1, 1)

    def test_who_asks_for_the_wrong_thing_and_who_does_the_wrong_thing(self):
        wrong = """
        0 chef: Pick up a carrot.
        1 assistant does pickup potato ingredient_dispenser potato#1
        5 chef: Put the potato on the chopping board.
        6 assistant does place_obj_on_counter potato counter potato#1
        """
        found = numbers(wrong, seat=0)
        assert found["initiating_capability"] == 1 / 2
        assert numbers(wrong, seat=1)["responding_capability"] == 1 / 2

    def test_a_told_plan_is_the_answer(self):
        script = "0 chef: Pick up the potato.\n 0 assistant plans pickup(potato, ingredient_dispenser); wait(1)"
        assert numbers(script)["responding_capability"] == 1
        script = "0 chef: Pick up the potato.\n 0 assistant plans pickup(carrot, ingredient_dispenser)"
        assert numbers(script)["responding_capability"] == 0

    def test_a_dish_of_ones_own_has_no_reference(self):
        needs = [{"verb": "cut", "object": "potato"}]
        assert numbers("0 chef: Cut the potato.", needs=needs, level=1)["tes"] is None


def test_every_judged_message_can_be_read_with_the_action_that_settled_it():
    found = list(detail(transcript(COOKED, **SERVED), AuditSettings()))
    assert [r["category"] for r in found] == ["effective"] * 3
    assert found[2]["text"].startswith("Pick up the potato")
    assert found[2]["request"] == "place_obj_on_counter(potato~slices, counter)"
    assert found[2]["settled_by"] == "step 9, assistant: place_obj_on_counter(potato~slices, counter) [potato#1]"


def test_every_number_has_a_definition():
    named = {r["metric"] for r in rows(transcript(COOKED, **SERVED), AuditSettings())} - {"reason"}
    assert named == set(DEFINITIONS)
    assert set(HEADLINES) <= named
