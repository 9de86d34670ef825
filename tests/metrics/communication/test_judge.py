"""Hand-made transcripts with known outcomes: every category, every reason, every edge."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from interplay.metrics.communication import CATEGORIES, REASONS, AuditSettings, ObservedAct, TranscriptEvent, judge
from tests.metrics.communication.scripts import ASSISTANT, CHEF, outcomes, transcript, verdicts

CUT = "does cut potato chopping_board potato#1"
GET = "does pickup potato ingredient_dispenser potato#1"


class TestCategories:
    def test_effective(self):
        found = judge(transcript(f"0 chef: Please cut the potato.\n 5 assistant {CUT}"), AuditSettings(window=10))[0]
        assert (found.category, found.reason, found.latency) == ("effective", "followed", 5)
        assert found.settled is not None
        assert found.settled.lineage == "potato#1"

    def test_assisted(self):
        script = f"0 chef: Cut the potato.\n 3 assistant fails cut chopping_board utensil_empty\n 5 assistant {CUT}"
        found = judge(transcript(script), AuditSettings(window=10))[0]
        assert (found.category, found.reason) == ("assisted", "corrected")
        assert found.correction is not None
        assert found.correction.error == "utensil_empty"

    def test_a_refusal_at_the_wrong_place_is_a_refusal_of_the_request(self):
        found = transcript(f"0 chef: Pick up the potato from the ingredient dispenser.\n 4 assistant {GET}")
        tried = TranscriptEvent(
            t=2, seq=50, agent=1, kind="verdict", act=ObservedAct("pickup", "potato", "counter"), ok=False
        )
        events = tuple(sorted([*found.events, tried], key=lambda e: e.when))
        assert judge(dataclasses.replace(found, events=events))[0].reason == "corrected"

    def test_a_refusal_of_something_else_or_of_another_or_before_the_message_is_no_help(self):
        assert verdicts(
            f"0 assistant fails cut chopping_board utensil_empty\n 1 chef: Cut the potato."
            f"\n 2 assistant fails stir blender utensil_empty\n 2 chef fails cook pot utensil_empty\n 5 assistant {CUT}"
        ) == ["effective/followed"]

    def test_redundant(self):
        assert verdicts(f"3 assistant {CUT}\n 5 chef: Cut the potato.") == ["redundant/done"]

    def test_a_later_repetition_does_not_make_it_effective(self):
        script = f"3 assistant {CUT}\n 5 chef: Cut the potato.\n 7 assistant does cut potato chopping_board potato#2"
        assert verdicts(script) == ["redundant/done"]

    def test_ineffective(self):
        assert verdicts("0 chef: Cut the potato.") == ["ineffective/ignored"]

    def test_unstructured(self):
        assert verdicts("0 chef: Great, we make a fine team!") == ["unstructured/no request"]
        assert verdicts("0 chef: Please wait.") == ["unstructured/only waits"]


class TestEdges:
    def test_repeat(self):
        script = f"0 chef: Cut the potato.\n 4 chef: Cut the potato!\n 6 assistant {CUT}"
        assert verdicts(script) == ["effective/followed", "ineffective/repeat"]

    def test_repeat_of_what_nobody_does(self):
        assert verdicts("0 chef: Cut the potato.\n 4 chef: Cut the potato!") == [
            "ineffective/ignored",
            "ineffective/repeat",
        ]

    def test_a_repeat_after_the_wrong_thing_was_done(self):
        wrong = "does cut carrot chopping_board carrot#1"
        script = f"0 chef: Cut the potato.\n 2 assistant {wrong}\n 4 chef: No, cut the potato!"
        assert verdicts(script) == ["ineffective/mismatch", "ineffective/repeat"]

    def test_a_repeat_after_the_first_has_lapsed_counts_for_itself(self):
        script = f"0 chef: Cut the potato.\n 8 chef: Cut the potato!\n 15 assistant {CUT}"
        assert verdicts(script) == ["ineffective/ignored", "effective/followed"]

    def test_asking_twice_for_what_is_needed_twice_is_no_repeat(self):
        needs = [{"verb": "cut", "object": "potato", "count": 2}]
        twice = f"0 chef: Cut a potato.\n 1 chef: Cut a potato.\n 3 assistant {CUT}\n"
        twice += "5 assistant does cut potato chopping_board potato#2"
        header = {"needs": needs, "level": 1, "objects": ["potato"]}
        assert verdicts(twice, **header) == ["effective/followed", "effective/followed"]
        assert verdicts(twice, AuditSettings(window=10, redundancy="literal"), **header)[1] == "ineffective/repeat"
        third = twice + "\n 7 chef: Cut a potato."
        assert verdicts(third, **header)[2] == "redundant/done"

    def test_self_executed(self):
        both = [{**CHEF, "verbs": [*CHEF["verbs"], "cut"]}, ASSISTANT]
        script = "0 chef: Cut the potato.\n 5 chef does cut potato chopping_board potato#1"
        assert verdicts(script, roles=both) == ["ineffective/self-executed"]

    def test_pronoun(self):
        script = (
            f"0 chef: Pick up the potato and cut it, then bring it to me.\n 2 assistant {GET}\n 4 assistant {CUT}\n"
        )
        script += "9 assistant does place_obj_on_counter potato~slices counter potato#1"
        assert outcomes(script) == [
            ("pickup(potato)", "effective", "followed"),
            ("cut(potato)", "effective", "followed"),
            ("place_obj_on_counter(potato~slices, counter)", "effective", "followed"),
        ]

    def test_a_pronoun_that_means_what_the_partner_holds(self):
        script = f"1 assistant {GET}\n 2 chef: Put it in the chopping board.\n"
        script += "4 assistant does put_obj_in_utensil potato chopping_board potato#1"
        assert outcomes(script) == [("put_obj_in_utensil(potato, chopping_board)", "effective", "followed")]

    def test_two_requests_in_one_sentence_are_judged_apart(self):
        assert verdicts(f"0 chef: Pick up the potato and cut it.\n 3 assistant {GET}", length=100) == [
            "effective/followed",
            "ineffective/ignored",
        ]

    def test_request_after_the_fact_in_the_same_step(self):
        assert verdicts(f"3 assistant {CUT}\n 3 chef: Cut the potato.") == ["redundant/done"]
        assert verdicts(f"3 chef: Cut the potato.\n 3 assistant {CUT}") == ["effective/followed"]

    def test_the_window_is_inclusive(self):
        def at(t: int) -> list[str]:
            return verdicts(f"2 chef: Cut the potato.\n {t} assistant {CUT}")

        assert at(12) == ["effective/followed"]
        assert at(13) == ["ineffective/delayed"]

    def test_the_window_of_a_level_is_a_share_of_its_horizon_rounded_up(self):
        settings = AuditSettings()
        assert [settings.steps(h) for h in (100, 133, 180, 260, 300)] == [15, 20, 27, 39, 45]
        script = f"0 chef: Cut the potato.\n 20 assistant {CUT}"
        assert verdicts(script, settings, horizon=133) == ["effective/followed"]
        assert verdicts(script, settings, horizon=126) == ["ineffective/delayed"]

    def test_one_execution_settles_one_request(self):
        script = f"0 chef: Pick up a potato.\n 1 assistant {GET}\n 2 chef: Pick up the potato."
        assert verdicts(script) == ["effective/followed", "redundant/done"]

    def test_queued_already(self):
        script = "0 assistant plans pickup(potato, ingredient_dispenser); put_obj_in_utensil(chopping_board); cut()\n"
        script += f"1 chef: Cut the potato.\n 4 assistant {CUT}"
        assert verdicts(script) == ["effective/queued already"]
        assert verdicts(script.replace("; cut()", "")) == ["effective/followed"]

    def test_what_was_planned_and_done_is_not_queued(self):
        needs = [{"verb": "cut", "object": "potato", "count": 2}]
        script = f"0 assistant plans cut()\n 1 assistant {CUT}\n 2 chef: Cut another potato.\n"
        script += "4 assistant does cut potato chopping_board potato#2"
        assert verdicts(script, needs=needs, level=1, objects=["potato"]) == ["effective/followed"]

    def test_censored(self):
        assert verdicts("95 chef: Cut the potato.", length=100) == ["ineffective/censored"]
        assert verdicts("89 chef: Cut the potato.", length=100) == ["ineffective/ignored"]

    def test_infeasible(self):
        assert verdicts("0 assistant: Chef, cut the potato.") == ["ineffective/infeasible"]
        out_of_reach = "0 assistant: Chef, pick up the potato from the ingredient dispenser."
        assert verdicts(out_of_reach) == ["ineffective/infeasible"]

    def test_unresolved(self):
        assert verdicts("0 chef: Cut it.") == ["ineffective/unresolved"]
        assert verdicts("0 chef: Bring me a banana.") == ["ineffective/unresolved"]
        assert verdicts("0 chef: Let's cut the potato.") == ["ineffective/unresolved"]

    def test_irrelevant(self):
        script = "0 chef: Cut the carrot.\n 3 assistant does cut carrot chopping_board carrot#1"
        assert verdicts(script) == ["ineffective/irrelevant"]

    def test_rejected(self):
        script = "0 chef: Cut the potato.\n 3 assistant fails cut chopping_board utensil_empty"
        assert verdicts(script) == ["ineffective/rejected"]

    def test_mismatch(self):
        script = "0 chef: Cut the potato.\n 3 assistant does cut carrot chopping_board carrot#1"
        assert verdicts(script) == ["ineffective/mismatch"]

    def test_the_place_must_fit_where_both_are_told(self):
        script = "0 chef: Pick up the potato from the ingredient dispenser.\n"
        assert verdicts(script + f"2 assistant {GET}") == ["effective/followed"]
        assert verdicts(script + "2 assistant does pickup potato counter potato#1") == ["ineffective/mismatch"]


class TestRedundancy:
    def test_literal_redundancy_is_an_option(self):
        needs = [{"verb": "cut", "object": "potato", "count": 2}]
        script = f"1 assistant {CUT}\n 3 chef: Cut a potato.\n 5 assistant does cut potato chopping_board potato#2"
        header = {"needs": needs, "level": 1, "objects": ["potato"]}
        assert verdicts(script, **header) == ["effective/followed"]
        assert verdicts(script, AuditSettings(window=10, redundancy="literal"), **header) == ["redundant/done before"]

    def test_the_same_thing_twice_is_one_thing(self):
        needs = [{"verb": "cut", "object": "potato", "count": 2}]
        script = f"1 assistant {CUT}\n 2 assistant {CUT}\n 3 chef: Cut a potato.\n"
        assert verdicts(script, needs=needs, level=1, objects=["potato"]) == ["ineffective/ignored"]

    def test_a_pick_up_by_the_speaker_leaves_the_partners_to_be_done(self):
        passed = "1 assistant does place_obj_on_counter potato~slices counter potato#1\n"
        passed = "0 assistant does pickup potato~slices chopping_board potato#1\n" + passed
        script = passed + "2 assistant: Chef, pick up the potato slices.\n"
        script += "4 chef does pickup potato~slices counter potato#1"
        assert verdicts(script) == ["effective/followed"]

    def test_what_was_taken_back_is_not_done(self):
        script = "1 assistant does place_obj_on_counter potato~slices counter potato#1\n"
        again = "2 assistant does pickup potato~slices counter potato#1\n"
        asked = "3 chef: Put the potato slices on the counter."
        assert verdicts(script + asked) == ["redundant/done"]
        assert verdicts(script + again + asked) == ["ineffective/ignored"]


def test_a_plain_name_means_the_form_that_there_is():
    passed = "\n 9 assistant does place_obj_on_counter potato~slices counter potato#1"
    meant = ("place_obj_on_counter(potato~slices, counter)", "effective", "followed")
    assert outcomes(f"1 assistant {CUT}\n 2 chef: Bring me the potato.{passed}") == [meant]
    assert outcomes(f"0 chef: Cut the potato.\n 1 chef: Bring me the potato.{passed}")[1] == meant


def test_a_wrong_request_stays_as_it_was_made_beside_what_would_be_right():
    script = "0 chef: Bring me the potato.\n 9 assistant does place_obj_on_counter potato~slices counter potato#1"
    found = judge(transcript(script), AuditSettings(window=10))[0]
    assert (found.category, found.reason) == ("ineffective", "irrelevant")
    assert found.unit is not None
    assert (str(found.unit.act), str(found.right)) == (
        "place_obj_on_counter(potato, counter)", "place_obj_on_counter(potato~slices, counter)",
    )  # fmt: skip
    assert judge(transcript("0 chef: Cut the potato."))[0].right is None


def test_parts_of_a_mix_and_what_it_makes_mean_the_mix():
    header = {"dish": "bell_pepper and corn stew", "horizon": 180, "length": 180}
    cooked = "\n 4 chef does cook bell_pepper~slices+corn pot bell_pepper#1+corn#2"
    for words in ("Cook the corn and the bell pepper slices.", "Chef, cook the stew."):
        found = outcomes(f"0 assistant: {words}{cooked}", **header)
        assert found == [("cook(bell_pepper~slices+corn)", "effective", "followed")], words


def test_three_cooks():
    roles = [CHEF, {**ASSISTANT, "name": "cutter", "agent": "b"}, {**ASSISTANT, "name": "runner", "agent": "c"}]
    script = "0 chef: Cutter, cut the potato.\n 0 chef: Bring me the potato slices.\n 3 runner does cut potato "
    script += "chopping_board potato#1"
    assert verdicts(script, roles=roles) == ["ineffective/ignored", "ineffective/unresolved"]


def test_every_category_and_reason_is_shown_here():
    text = Path(__file__).read_text()
    assert [c for c in CATEGORIES if f'"{c}/' not in text and f'"{c}"' not in text] == []
    assert [r for r in REASONS if f"/{r}" not in text and f'"{r}"' not in text] == []
