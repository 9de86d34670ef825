"""Studies whose truth is known: what was planted is found within its interval, and where there is nothing, nothing."""

from dataclasses import replace

import numpy as np
import pytest

from interplay.study.analysis.analysis_list import Familiarity, OneSample, Paired, Preferences, Ranks, Regression
from interplay.study.analysis.data import gather
from interplay.study.analysis.exclusion import sort_people
from interplay.study.analysis.familiarity import familiar
from interplay.study.analysis.measures import Measured
from interplay.study.analysis.preferences import prefer
from interplay.study.analysis.ranks import rank
from interplay.study.analysis.ratings import one_sample, paired
from interplay.study.analysis.regress import regress
from tests.study.analysis.synthetic import Truth, synthetic

LAYOUTS = {("a", "one"): 3.4, ("b", "one"): 3.0, ("a", "two"): 3.0, ("b", "two"): 2.6}  # one is liked by 0.4 more
NOTHING = dict.fromkeys("abcd", 3.0)


def data_of(protocol, truth, seed, people=24):
    return sort_people(gather(synthetic(protocol, people, truth, seed=seed)), None)


def test_t_tests_find_what_was_planted_and_no_more(tiny):
    held, found, p = {"mean": 0, "difference": 0}, [], {"one_sample": [], "answers": [], "paired": []}
    against = OneSample(kind="one_sample", id="t", of=("q1",), by="game", only=("one",))
    between = Paired(kind="paired", id="p", of=("q1",), factor="game", levels=("one", "two"))
    for seed in range(60):
        data = data_of(tiny, Truth(LAYOUTS), seed, 36)
        row = one_sample(data, against).tables["one_sample"].rows[0]
        held["mean"] += row["mean_low"] < 3.2 < row["mean_high"]
        row = paired(data, between).tables["paired"].rows[0]
        held["difference"] += row["difference_low"] < 0.4 < row["difference_high"]
        found.append(row["p"])
        data = data_of(tiny, Truth(NOTHING), 1000 + seed, 36)
        people, answers = one_sample(data, against).tables["one_sample"].rows
        p["one_sample"].append(people["p"])
        p["answers"].append(answers["p"])
        p["paired"].append(paired(data, between).tables["paired"].rows[0]["p"])
    assert all(0.86 < count / 60 <= 1 for count in held.values())
    assert np.mean(np.array(found) < 0.05) > 0.6
    share = {name: np.mean(np.array(values) < 0.05) for name, values in p.items()}
    assert share["one_sample"] < 0.14
    assert share["paired"] < 0.14
    assert share["answers"] > share["one_sample"]  # the same data, every answer taken for a person


def test_regressions_find_the_worth_of_a_point_and_no_more(tiny):
    part = Regression(kind="regression", id="r", of=("q1",), measures=("score",))

    def fits(truth, seed):
        data = data_of(tiny, truth, seed)
        return regress(data, part, Measured(data), None).tables["regression"].rows[0]

    planted = [fits(Truth(dict.fromkeys("abcd", 2.5), per_point=0.1), seed) for seed in range(40)]
    assert np.mean([row["slope_low"] < 0.1 < row["slope_high"] for row in planted]) > 0.86
    assert np.mean([row["within_low"] < 0.1 < row["within_high"] for row in planted]) > 0.86
    assert np.mean([row["p_within"] < 0.05 for row in planted]) > 0.5
    nothing = [fits(Truth(NOTHING), 500 + seed) for seed in range(40)]
    assert np.mean([row["p"] < 0.05 for row in nothing]) < 0.16
    assert np.mean([row["p_within"] < 0.05 for row in nothing]) < 0.16


def test_preferences_find_the_strengths_and_no_more(pair):
    part = Preferences(kind="preferences", id="p", of=("p1", "p2"))
    liked = {"a": 3.5, "b": 3.0, "c": 2.5}  # two questions: a is 1 stronger than the average, c 1 weaker
    held, second, alarms = dict.fromkeys(liked, 0), 0, []
    for seed in range(40):
        rows = prefer(data_of(pair, Truth(liked), seed, 30), part).tables["strengths"]
        told = {row["what"]: row for row in rows}
        for name, value in {"a": 1.0, "b": 0.0, "c": -1.0}.items():
            held[name] += told[name]["strength_low"] < value < told[name]["strength_high"]
        second += told["second place"]["strength_low"] < 0 < told["second place"]["strength_high"]
        pairs = prefer(data_of(pair, Truth(NOTHING), 900 + seed, 30), part).tables["pairs"]
        alarms += [row["p"] < 0.05 for row in pairs]
    assert all(count > 40 * 0.85 for count in held.values())
    assert second > 40 * 0.85
    assert np.mean(alarms) < 0.1


def test_preferences_turn_with_the_order(pair):
    """Whoever came first, a is preferred: above the middle where it came second, below where it came first."""
    records = synthetic(pair, 30, Truth({"a": 5.0, "b": 3.0, "c": 1.0}, noise_sd=0.0), seed=0)
    data = gather(records)
    found = prefer(data, Preferences(kind="preferences", id="p", of=("p1", "p2")))
    for row in found.tables["ordered"]:
        assert (row["for_second"] > 0) == (row["second"] < row["first"])
    for row in found.tables["pairs"]:
        assert row["partner"] < row["over"]
        assert row["preference"] == pytest.approx(4 if "b" in (row["partner"], row["over"]) else 6)
        assert row["share_preferring"] == 1
    matrix = found.tables["by_question"]
    assert len(matrix) == 2 * 3
    assert all(row["preference"] in (2, 3) for row in matrix)  # a scale of 7 has no more than 3 on a side


def test_ranks_find_the_order_and_agree_with_scores_that_make_it(tiny):
    scores = {"a": 9.0, "b": 6.0, "c": 3.0, "d": 1.0}
    truth = Truth(scores, noise_sd=1.5, score=lambda partner, game, rng: scores[partner] + rng.normal())
    part = Ranks(kind="ranks", id="r", page="order")
    found = rank(data_of(tiny, truth, 0, 20), part)
    assert [row["partner"] for row in found.tables["ranks"]] == list("abcd")
    assert found.tables["agreement"].rows[0]["p"] < 0.001
    assert found.tables["objective"].rows[0]["spearman"] == pytest.approx(1)
    assert found.tables["by_person"].rows[0]["spearman_low"] > 0.5
    above = found.tables["above"].where(partner="a", above="d").rows[0]
    assert above["share"] > 0.9
    assert above["p_holm"] < 0.01
    p = [rank(data_of(tiny, Truth(NOTHING), seed), part).tables["agreement"].rows[0]["p"] for seed in range(50)]
    assert np.mean(np.array(p) < 0.05) < 0.15
    assert 0.3 < np.median(p) < 0.7


def test_without_a_partner_ranks_close_up(tiny):
    truth = Truth({"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}, noise_sd=0.0)
    data = data_of(tiny, truth, 0)
    less = data.without(["b"])
    rows = rank(less, Ranks(kind="ranks", id="r", page="order")).tables["ranks"]
    assert [(row["partner"], row["mean_rank"]) for row in rows] == [("a", 1.0), ("c", 2.0), ("d", 3.0)]
    assert {row["partner"] for row in less.ratings("q1")} == {"a"}
    assert "b" not in {row["partner"] for row in less.games}


def test_familiarity_finds_those_who_rate_higher(tiny):
    """Those who played rate one point higher; a split of nothing finds nothing."""
    part = Familiarity(kind="familiarity", id="f", of=("q1",), by="played")
    records = synthetic(tiny, 40, Truth(NOTHING, noise_sd=0.4), seed=0)
    played = {r["participant"]: r["value"] for r in records.answers if r["question"] == "played"}
    rows = [
        {**r, "value": min(5, r["value"] + 1)} if r["question"] == "q1" and played[r["participant"]] == "yes" else r
        for r in records.answers
    ]
    moved = replace(records, answers=type(records.answers)(records.answers.columns, rows))
    test = familiar(gather(moved), part).tables["difference"].where(partner="all partners").rows[0]
    assert (test["a"], test["b"]) == ("yes", "no")
    assert test["difference_low"] < 1 < test["difference_high"]
    assert test["p"] < 0.001
    p = []
    for seed in range(40):
        found = familiar(data_of(tiny, Truth(NOTHING), seed), part).tables["difference"]
        p.append(found.where(partner="all partners").rows[0]["p"])
    assert np.mean(np.array(p) < 0.05) < 0.16
    scaled = Familiarity(kind="familiarity", id="f", of=("q1",), by="skill", split=4)
    tables = familiar(data_of(tiny, Truth(NOTHING), 1), scaled).tables
    assert {row["group"] for row in tables["means"]} == {"below 4", "from 4"}
    assert len(tables["trend"]) == 3  # all partners, a and b
