"""A grade tells how an agent does with each partner, and who helps whom."""

import dataclasses

import numpy as np
import pytest

import interplay
from interplay import api
from interplay.agents.api import Agent, FunctionPlayer
from interplay.agents.registry import agent
from interplay.errors import IllegalAction, InterplayError
from interplay.partners import grade as grading
from interplay.partners.baselines import measure_baselines
from interplay.partners.leaderboard import standing
from interplay.partners.panel import Panel, PanelMember, Response, ReturnEstimate, comparison_key
from interplay.partners.panels import panel
from interplay.rollout.engine import run
from interplay.stats import iqm
from interplay.traces import TraceSet


@pytest.fixture(scope="module")
def graded():
    game = interplay.make("overcooked/counter_circuit", horizon=150)
    ego = agent("overcooked/onion_receiver")
    chosen = panel(game, partners=["overcooked/onion_passer", "stay"])
    traces = TraceSet.in_memory(run(game, grading.teams(game, ego, chosen), episodes=4, seed=0))
    return traces, grading.summarise(traces, game, ego, chosen, seed=0)


def test_every_partner_and_seat_has_its_row(graded):
    _, found = graded
    assert [(r["partner"], r["seat_of_agent"], r["episodes"]) for r in found.cells] == [
        ("overcooked/onion_passer", 0, 4),
        ("overcooked/onion_passer", 1, 4),
        ("stay", 0, 4),
        ("stay", 1, 4),
    ]
    assert [r["episodes"] for r in found.partners] == [8, 8]


def test_means_are_those_of_the_traces(graded):
    traces, found = graded
    of_passer = [e.score for e in traces if "overcooked/onion_passer" in [i.name for i in e.agents]]
    assert found.partners.rows[0]["mean"] == pytest.approx(np.mean(of_passer))
    row = found.partners.rows[0]
    assert row["low"] <= row["mean"] <= row["high"]


def test_the_receiver_gets_what_the_passer_gives(graded):
    _, found = graded
    passer, idle = found.partners.rows
    assert passer["gets"] > 3
    assert passer["gives"] == 0
    assert 0 <= passer["ignored_percent"] < 50
    assert (idle["gets"], idle["partner_offers"]) == (0, 0)
    assert idle["ignored_percent"] is None  # nothing was offered, so nothing could be ignored
    (overall,) = found.overall
    assert overall["gets"] == pytest.approx((passer["gets"] + idle["gets"]) / 2)
    assert overall["ignored_percent"] == pytest.approx(passer["ignored_percent"])
    assert overall["gets_low"] < overall["gets"] < overall["gets_high"]
    assert overall["ignored_percent_low"] is None  # of two partners one offers nothing: too few to say how sure it is
    assert (overall["gives"], overall["gives_low"], overall["gives_high"]) == (0, 0, 0)


def test_whoever_ignores_its_partner_is_found_out():
    """An idle agent lets every onion lie that its partner hands it."""
    game = interplay.make("overcooked/counter_circuit", horizon=120)
    ego, chosen = agent("stay"), panel(game, partners=["overcooked/onion_passer"])
    traces = TraceSet.in_memory(run(game, grading.teams(game, ego, chosen), episodes=2, seed=0))
    graded = grading.summarise(traces, game, ego, chosen, seed=0)
    (row,), (overall,) = graded.partners, graded.overall
    assert row["partner_offers"] > 1
    assert row["ignored_percent"] == 100
    assert [overall[f"ignored_percent{end}"] for end in ("", "_low", "_high")] == [100, 100, 100]


def test_panels():
    game = interplay.make("overcooked/cramped_room")
    shipped = panel(game, "scripted")
    assert len(shipped.partners) == 10
    assert shipped.hash(game) == panel(game, "scripted").hash(game)
    assert shipped.hash(game) != panel(game, partners=["stay"]).hash(game)
    with pytest.raises(InterplayError, match="named twice"):
        panel(game, partners=["stay", "stay"])
    with pytest.raises(InterplayError, match="unknown panel"):
        panel(game, "royal")


def test_team_scores_and_means_over_episodes(graded):
    traces, _ = graded
    scores = api.team_scores(traces)
    assert len(scores) == 4
    means = api.measure(traces, ["score"], mean=True)
    by_hand = {r["agents"]: r["value"] for r in means.where(metric="score")}
    assert {r["agents"]: r["mean"] for r in scores} == pytest.approx(by_hand)


@pytest.fixture(scope="module")
def ruled(graded):
    """The same episodes with a panel that knows best responses: both seats of the passer, one of the idle chef."""
    traces, plain = graded
    game = interplay.make("overcooked/counter_circuit", horizon=150)

    def member(name, worths, own):
        responses = [
            Response(s, agent("overcooked/greedy"), "made up", ReturnEstimate(j, j - 2, j + 2, 50)) for s, j in worths
        ]
        return PanelMember(
            agent(name), "scripted", self_play=ReturnEstimate(own, own - 1, own + 1, 50), responses=tuple(responses)
        )

    members = [member("overcooked/onion_passer", [(0, 30.0), (1, 400.0)], 40.0), member("stay", [(1, 25.0)], 0.0)]
    baselines = {"rows": [{"agent": "sp", "br_prox": 0.99}, {"agent": "fcp", "br_prox": 0.0, "mean": 3.0}]}
    chosen = Panel.of("ruled", members, game={"key": comparison_key(game)}, baselines=baselines)
    return chosen, plain, grading.summarise(traces, game, agent("overcooked/onion_receiver"), chosen, seed=0)


def test_br_prox_of_every_partner_and_seat(ruled):
    _, plain, found = ruled
    means = [row["mean"] for row in plain.cells]
    worth = [30.0, 400.0, None, 25.0]
    for row, mean, j in zip(found.cells, means, worth, strict=True):
        assert row["mean"] == mean
        assert row["best_response"] == j
        assert row["ratio"] == (None if j is None else pytest.approx(mean / j))
        assert row["br_prox"] == (None if j is None else pytest.approx(min(1.0, mean / j)))
    clipped = [row["br_prox"] for row in found.cells]
    assert clipped[0] == 1.0  # more than the best response: clipped, and told below
    passer, idle = found.partners.rows
    assert passer["br_prox"] == pytest.approx((clipped[0] + clipped[1]) / 2)
    assert idle["br_prox"] == pytest.approx(clipped[3])
    assert (passer["kind"], passer["skill"]) == ("scripted", None)


def test_br_prox_overall_leaves_out_what_has_no_ruler(ruled):
    _, _, found = ruled
    overall = found.overall.rows[0]
    known = [row["br_prox"] for row in found.cells if row["br_prox"] is not None]
    assert len(known) == 3
    assert min(known) <= overall["br_prox"] <= max(known)
    assert overall["br_prox_low"] <= overall["br_prox"] <= overall["br_prox_high"]
    above = [row["ratio"] > 1 for row in found.cells if row["ratio"] is not None]
    assert overall["above_best_response"] == pytest.approx(sum(above) / 3)


def test_standing_among_baselines(ruled):
    _, _, found = ruled
    names = [(row["place"], row["agent"], row["this"]) for row in found.standing]
    assert names == [(1, "sp", None), (2, "overcooked/onion_receiver", True), (3, "fcp", None)]


def test_hand_overs_stand_side_by_side_only_if_counted_in_the_same_ways(ruled):
    chosen, _, found = ruled
    assert "gives" not in found.standing.columns  # the baselines do not say what they counted
    assert chosen.baselines is not None
    overall = found.overall.rows[0]
    for counted, shown in (("counters", True), ("counters+pots", False)):
        alike = dataclasses.replace(chosen, baselines=chosen.baselines | {"measured": {"channels": "counters"}})
        assert ("gives" in standing(alike, overall, counted).columns) == shown
    assert standing(alike, overall, "counters").rows[0]["gives"] is None  # not measured, so not 0


def test_no_ruler_no_br_prox(graded, ruled):
    """Best responses of another length are no ruler: null, not a wrong number."""
    traces, _ = graded
    chosen, _, _ = ruled
    other = dataclasses.replace(chosen, game={"key": comparison_key(interplay.make("overcooked/counter_circuit"))})
    game = interplay.make("overcooked/counter_circuit", horizon=150)
    found = grading.summarise(traces, game, agent("overcooked/onion_receiver"), other, seed=0)
    assert "br_prox" not in found.overall.columns
    assert found.standing is None


def test_baselines_are_grades_over_training_seeds(graded, ruled):
    chosen, _, found = ruled
    game = interplay.make("overcooked/counter_circuit", horizon=150)
    ego = agent("overcooked/onion_receiver")
    (row,) = measure_baselines(chosen, game, {"receiver": [ego, ego]}, episodes=4, seed=0).rows
    overall = found.overall.rows[0]
    assert row["seeds"] == 2
    for name in ("mean", "gives", "gets", "ignored_percent"):
        assert row[name] == pytest.approx(overall[name])
    known = [cell["br_prox"] for cell in found.cells if cell["br_prox"] is not None]
    assert row["br_prox"] == pytest.approx(iqm(known * 2))  # both seeds' cells
    assert row["br_prox_low"] <= row["br_prox"] <= row["br_prox_high"]


def test_an_agent_that_chooses_what_is_no_action(tmp_path):
    game = interplay.make("overcooked/cramped_room", horizon=5)
    wrong = Agent("wrong", FunctionPlayer(lambda _: 99, encoding="nothing"))
    with pytest.raises(IllegalAction, match="wrong"):
        api.grade(wrong, game, partners=["stay"], episodes=1, out=tmp_path / "g")
    assert not (tmp_path / "g" / "report.html").exists()
