"""A grade tells how an agent does with each partner, and who helps whom."""

import numpy as np
import pytest

import interplay
from interplay import api
from interplay.agents.registry import agent
from interplay.errors import InterplayError
from interplay.partners import grade as grading
from interplay.partners.panels import panel
from interplay.play.engine import run
from interplay.traces import TraceSet


@pytest.fixture(scope="module")
def graded():
    game = interplay.make("overcooked/counter_circuit", horizon=150)
    ego = agent("overcooked/onion_receiver")
    chosen = panel(game, partners=["overcooked/onion_passer", "stay"])
    traces = TraceSet.in_memory(run(game, grading.line_ups(game, ego, chosen), episodes=4, seed=0))
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


def test_whoever_ignores_its_partner_is_found_out():
    """An idle agent lets every onion lie that its partner hands it."""
    game = interplay.make("overcooked/counter_circuit", horizon=120)
    ego, chosen = agent("stay"), panel(game, partners=["overcooked/onion_passer"])
    traces = TraceSet.in_memory(run(game, grading.line_ups(game, ego, chosen), episodes=2, seed=0))
    (row,) = grading.summarise(traces, game, ego, chosen, seed=0).partners.rows
    assert row["partner_offers"] > 1
    assert row["ignored_percent"] == 100


def test_panels():
    game = interplay.make("overcooked/cramped_room")
    shipped = panel(game)
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
    means = api.mean_over_episodes(api.measure(traces, ["score"]))
    by_hand = {r["agents"]: r["value"] for r in means.where(metric="score")}
    assert {r["agents"]: r["mean"] for r in scores} == pytest.approx(by_hand)
