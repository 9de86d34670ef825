"""What the package ships: panels whose hashes hold, and trained policies that load and play."""

import csv
from pathlib import Path

import numpy as np
import pytest

import interplay
from interplay.agents.shipped import shipped as policies
from interplay.errors import InterplayError, UnknownName
from interplay.games.registry import make
from interplay.hub.store import require
from interplay.partners.panel_file import read_panel
from interplay.partners.panels import all_shipped, panel
from interplay.partners.returns import dead_egos, egos_that_failed
from interplay.training.algorithms.hsp import split_of

RESULTS = Path(__file__).parents[2] / "benchmarks" / "zsc" / "results"
LAYOUTS = (
    "asymmetric_advantages",
    "blocked_corridor",
    "bothway_coordination",
    "coordination_ring",
    "coordination_ring_multi",
    "counter_circuit",
    "counter_circuit_multi",
    "forced_coordination",
    "forced_coordination_multi",
)
PLAYED_BY_PEOPLE = (
    "asymmetric_advantages",
    "coordination_ring",
    "counter_circuit",
    "cramped_room",
    "forced_coordination",
)
FIVE = ("e3t", "fcp", "hsp", "mep", "sp")
MORE = (*FIVE, "fcp_states", "hsp_states", "trajedi")
ANEW = {"coordination_ring": FIVE, "counter_circuit": FIVE, "forced_coordination": MORE, "blocked_corridor": MORE}
WITHOUT = {"forced_coordination": 12, "blocked_corridor": 3}  # seatings in which nobody scores
FAILED = {"overcooked/blocked_corridor/mep-2"}  # twice dead
PARTNERS, SCRIPTED = {"football/keepaway": 6}, {"football/keepaway": "shooter"}  # else 20, and greedy chefs
METHODS = ("cole", "e3t", "fcp", "hsp", "mep", "sp", "trajedi")


def test_every_layout_has_a_panel_and_the_egos_that_its_table_counts():
    assert {(f"overcooked/{layout}", "generated") for layout in LAYOUTS} <= set(all_shipped())
    names = policies()
    for layout in LAYOUTS:
        baselines = read_panel(require(f"overcooked/{layout}:generated"), make(f"overcooked/{layout}")).baselines
        assert baselines is not None
        rows = {row["agent"]: row for row in baselines["rows"]}
        for method in METHODS:
            egos = [n for n in names if n.rpartition("-")[0] == f"overcooked/{layout}/{method}"]
            assert len(egos) == rows[method]["seeds"]
            assert rows[method]["seeds"] + rows[method]["dead"] in (3, 5)
    for layout, methods in ANEW.items():
        five = {f"overcooked/{layout}/{method}-{seed}" for method in methods for seed in range(1, 6)}
        assert five - set(names) == FAILED & five


def test_no_shipped_ego_is_dead():
    """Every ego that delivers less than one soup with itself is left out, and no other."""
    for layout in LAYOUTS:
        with (RESULTS / layout / "crossplay.csv").open() as file:
            rows = list(csv.DictReader(file))
        dead, played = dead_egos(rows), {(r["algorithm"], r["seed"]) for r in rows}
        for method, seed in played:
            assert (f"overcooked/{layout}/{method}-{seed}" in policies()) == ((method, int(seed)) not in dead)


def test_an_ego_that_failed_its_gate_is_named_by_method_and_seed():
    """Runs of several methods in one job are numbered through: the first method's first."""
    failed = {"dead": [{"run": 7, "with_itself": 3.0}]}
    options = {"methods": {"hsp": {}, "fcp": {}}, "suffix": "_states"}
    several = {"experiment": {"runs": 10, "algorithm": {"name": "coplay", "options": options}}, "gate": failed}
    one = {"experiment": {"runs": 10, "algorithm": {"name": "e3t", "options": {}}}, "gate": failed}
    found = egos_that_failed({"states": several, "e3t": one, "sp": {"gate": None}, "times": {}})
    assert found == {("fcp_states", 3): 3.0, ("e3t", 8): 3.0}


def test_every_layout_has_clones_where_people_played():
    names = policies()
    for layout in PLAYED_BY_PEOPLE:
        assert (f"overcooked/{layout}", "people") in all_shipped()
        assert {f"overcooked/{layout}/bc-6", f"overcooked/{layout}/bc_br-3"} <= set(names)


@pytest.mark.parametrize(("game", "name"), all_shipped())
def test_a_shipped_panel_is_whole(game, name):
    found = read_panel(require(f"{game}:{name}"), make(game))
    if name == "generated":
        assert len(found.partners) == PARTNERS.get(game, 20)
        assert {m.skill for m in found.members} == {"mid", "final"}
    else:
        assert len(found.partners) >= 6
        assert {m.kind for m in found.members} == {
            {"people": "human proxy", "self_play": "self-play", "chefs": "scripted"}[name]
        }
    for member in found.members:
        assert member.responses, member.agent.name
        for response in member.responses:
            assert response.worth.low <= response.worth.mean <= response.worth.high
            assert response.worth.mean > 0
    if name != "generated":
        return
    assert found.baselines is not None
    assert {*METHODS, SCRIPTED.get(game, "greedy")} <= {row["agent"] for row in found.baselines["rows"]}
    for row in found.baselines["rows"]:
        if row["br_prox"] is None:
            assert row["seeds"] == 0
            continue
        assert row["br_prox_low"] <= row["br_prox"] <= row["br_prox_high"] <= 1 + 1e-12  # rounding of means of ones


def test_the_panel_of_football_holds_sets_and_nobody_beats_their_best_responses():
    found = read_panel(require("football/keepaway:generated"), make("football/keepaway"))
    assert len(found.sets) == 36
    assert sum(len(beside.responses) for beside in found.sets) == 77
    contest = found.provenance["stages"]["contest"]
    egos = {f"{method}-{seed}" for method in METHODS for seed in (1, 2, 3)}
    assert egos | {"football/shooter"} <= set(contest["known"])
    assert not contest["not_closed"]
    assert all(split_of(member.notes["preference"]) == "evaluation" for member in found.members)
    assert "/tmp" not in (require("football/keepaway:generated") / "panel.json").read_text()


def test_a_shipped_panel_is_the_default():
    assert panel(make("overcooked/coordination_ring")).name == "generated"
    assert panel(make("overcooked/cramped_room")).name == "scripted"


def test_a_trained_agent_plays_as_well_as_its_file_says():
    """Self-play of a shipped policy reaches most of the return that was logged when it was trained."""
    game = make("overcooked/coordination_ring")
    found = interplay.agent("trained/overcooked/coordination_ring/sp-1")
    assert found.name == "trained/overcooked/coordination_ring/sp-1"
    traces = interplay.play(game, [found, found], episodes=4, seed=0)
    scores = [row["value"] for row in interplay.measure(traces, ["score"]).rows if row["metric"] == "score"]
    assert np.mean(scores) > 0.9 * found.config["return"] > 200


@pytest.mark.parametrize("layout", ANEW)
def test_panels_say_who_tried_to_beat_their_best_responses(layout):
    """Every new ego and the scripted chefs did; where one could not be reached by training, it is the best response."""
    found = read_panel(require(f"overcooked/{layout}:generated"), make(f"overcooked/{layout}"))
    contest = found.provenance["stages"]["contest"]
    tried = {f"{method}-{seed}" for method in ANEW[layout] for seed in range(1, 6)}
    tried -= {name.rpartition("/")[2] for name in FAILED if layout in name}
    assert tried | {"overcooked/greedy"} <= set(contest["known"])
    assert len(contest["without"]) == WITHOUT.get(layout, 0)
    best = {(m.agent.name, r.seat): r.agent.name for m in found.members for r in m.responses}
    assert all(best[cell["partner"], cell["seat"]] == cell["agent"] for cell in contest["not_closed"])
    for member in found.members:
        assert split_of(member.notes["preference"]) == "evaluation"
    assert "/tmp" not in (require(f"overcooked/{layout}:generated") / "panel.json").read_text()


def test_an_unknown_policy_and_a_wrong_game():
    with pytest.raises(UnknownName, match="trained/overcooked/coordination_ring/hsp-5"):
        interplay.agent("trained/overcooked/coordination_ring/hsp-9")
    found = interplay.agent("trained/overcooked/coordination_ring/hsp-1")
    with pytest.raises(InterplayError, match="was trained for overcooked/coordination_ring"):
        interplay.play(make("overcooked/cramped_room"), [found, "stay"], episodes=1)
