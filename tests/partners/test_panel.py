"""A panel is what was written, or it is refused: every weight, every number, and the game it is for."""

import json

import jax
import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from interplay.agents.anti_stuck import AntiStuckWrapper
from interplay.agents.neural import named_arrays
from interplay.agents.registry import agent
from interplay.errors import InterplayError, UnknownName
from interplay.partners import panels
from interplay.partners.panel import PanelMember, ReturnEstimate
from interplay.partners.panel_file import BASELINES, PANEL, WEIGHTS, read_panel, write_baselines, write_panel

from .panel_helpers import game_of, member, network, panel_of


@pytest.fixture(scope="module")
def game():
    return game_of()


@pytest.fixture
def folder(tmp_path, game):
    panel_of(tmp_path / "panel", game)
    return tmp_path / "panel"


def test_a_panel_survives_the_file(folder, game):
    found = read_panel(folder, game)
    assert [m.agent.name for m in found.members] == ["p0", "p1"]
    assert found.partners == tuple(m.agent for m in found.members)
    one = found.members[1]
    assert (one.kind, one.skill, one.candidate) == ("generated", "final", 1)
    assert one.self_play == ReturnEstimate(20.0, 15.0, 25.0, 50)
    assert [(r.seat, r.worth.mean) for r in one.responses] == [(0, 40.0), (1, 50.0)]
    assert one.notes["preference"] == {"delivery": -20.0}
    for had, got in ((member(game, 1).agent, one.agent), (member(game, 1).responses[0].agent, one.responses[0].agent)):
        for name, array in named_arrays(had.policy.core).items():
            np.testing.assert_array_equal(array, named_arrays(got.policy.core)[name])
    assert found.provenance == {"seed": 0}
    assert found.has_best_response_returns(game)


def test_weights_are_small_and_stacked(folder):
    stacks = load_file(folder / WEIGHTS)
    assert all(a.dtype == np.float16 and len(a) == 6 for a in stacks.values())  # two partners, four best responses
    assert sorted(p.name for p in folder.iterdir()) == [PANEL, WEIGHTS]


def test_networks_of_several_shapes_and_other_agents(tmp_path, game):
    cloned = network(game, "clone", 7, width=5)
    proxy = PanelMember(type(cloned)("clone", AntiStuckWrapper(cloned.policy, 3)), "human proxy")
    members = [member(game, 0), proxy, PanelMember(agent("overcooked/greedy+0.3"), "scripted")]
    found = panel_of(tmp_path / "p", game, members)
    assert [m.kind for m in found.members] == ["generated", "human proxy", "scripted"]
    mind = found.members[1].agent.policy
    assert isinstance(mind, AntiStuckWrapper)
    assert int(mind.patience) == 3
    assert mind.base.core.shape.widths == (5,)
    assert found.members[2].agent.name == "overcooked/greedy+0.3"


def test_changed_weights_are_found_and_named(folder):
    stacks = load_file(folder / WEIGHTS)
    name = sorted(stacks)[0]
    stacks[name][3].flat[0] += 1  # the fourth policy: p0, br0.0, br0.1, p1
    save_file(stacks, folder / WEIGHTS)
    with pytest.raises(InterplayError, match="weights of p1 are not those of the panel, their hash does not match"):
        read_panel(folder)


def test_swapped_best_responses_are_found(folder):
    """A file in which partner and best response were mixed up: the fault that changed published numbers."""
    stacks = load_file(folder / WEIGHTS)
    save_file({n: a[[0, 2, 1, 3, 4, 5]] for n, a in stacks.items()}, folder / WEIGHTS)
    with pytest.raises(InterplayError, match=r"br0\.0"):
        read_panel(folder)


def test_changed_numbers_are_found(folder):
    about = json.loads((folder / PANEL).read_text())
    about["members"][0]["responses"][0]["worth"]["mean"] = 10.0
    (folder / PANEL).write_text(json.dumps(about))
    with pytest.raises(InterplayError, match="hash does not match"):
        read_panel(folder)


def test_damaged_and_missing_files(folder, tmp_path):
    with pytest.raises(InterplayError, match="there is no panel"):
        read_panel(tmp_path / "nowhere")
    (folder / WEIGHTS).write_bytes(b"nothing")
    with pytest.raises(InterplayError, match="damaged"):
        read_panel(folder)
    (folder / WEIGHTS).unlink()
    with pytest.raises(InterplayError, match="missing"):
        read_panel(folder)
    (folder / PANEL).write_text("{")
    with pytest.raises(InterplayError, match="damaged"):
        read_panel(folder)
    (folder / PANEL).write_text('{"format": "other"}')
    with pytest.raises(InterplayError, match="no panel of interplay"):
        read_panel(folder)


def test_another_game_or_other_rules_are_refused(folder, game, monkeypatch):
    import interplay

    with pytest.raises(InterplayError, match="is for overcooked/cramped_room; the game is overcooked/counter_circuit"):
        read_panel(folder, interplay.make("overcooked/counter_circuit"))
    monkeypatch.setattr(type(game), "rules_version", "overcooked-99")
    with pytest.raises(
        InterplayError, match="under the rules overcooked-1; overcooked/cramped_room now has overcooked-99"
    ):
        read_panel(folder)


def test_another_length_has_no_ruler(folder):
    """A best response of 400 steps says nothing of episodes of 60."""
    assert not read_panel(folder).has_best_response_returns(game_of(horizon=61))
    assert not read_panel(folder).has_best_response_returns(game_of(rule_out_null_interacts=True))


def test_nothing_is_overwritten(folder, game):
    before = (folder / PANEL).read_bytes()
    panel_of(folder, game)  # the same panel again
    assert (folder / PANEL).read_bytes() == before
    with pytest.raises(InterplayError, match="nothing was overwritten"):
        panel_of(folder, game, [member(game, 5)])
    assert (folder / PANEL).read_bytes() == before


def test_what_cannot_be_a_panel(tmp_path, game):
    def refused(members, message):
        with pytest.raises(InterplayError, match=message):
            write_panel(tmp_path / "p", "x", game, members, {})
        assert not (tmp_path / "p").exists()

    refused([], "needs partners")
    refused([member(game, 0), member(game, 0)], "two partners are called p0")
    refused([member(game, 0, kind="friendly")], "friendly")
    refused([member(game, 0, skill="low")], "low")
    other = network(game, "br0.0", 55)
    refused([member(game, 0), PanelMember(other, "self-play")], "two different policies are called br0.0")
    broken = network(game, "p9", 9)
    nan = jax.tree_util.tree_map(lambda x: x * np.nan, broken.policy.core)
    refused(
        [PanelMember(type(broken)("p9", type(broken.policy)(nan, "features")), "self-play")], "p9 are not all numbers"
    )


def test_baselines_belong_to_their_panel(folder, game, tmp_path):
    found = read_panel(folder)
    assert found.baselines is None
    write_baselines(folder, found, [{"agent": "sp", "br_prox": 0.5}], episodes=20, seed=0)
    assert read_panel(folder).baselines["rows"] == [{"agent": "sp", "br_prox": 0.5}]
    other = tmp_path / "other"
    panel_of(other, game, [member(game, 3)])
    (other / BASELINES).write_text((folder / BASELINES).read_text())
    with pytest.raises(InterplayError, match="measured with another panel"):
        read_panel(other)


def test_panels_by_name(folder, game, monkeypatch, tmp_path):
    monkeypatch.setattr(panels, "SHIPPED", tmp_path / "data")
    assert panels.panel(game).name == "scripted"  # none is shipped
    assert panels.panel(game, str(folder)).name == "made_up"
    with pytest.raises(UnknownName, match="unknown panel 'nobody'"):
        panels.panel(game, "nobody")
    panel_of(tmp_path / "data" / game.id / "generated", game, name="generated")
    assert panels.all_shipped() == [(game.id, "generated")]
    assert panels.panel(game).name == "generated"
    assert panels.panel(game, "scripted").name == "scripted"
    assert panels.panel(game_of(cook_time=3)).name == "scripted"  # the partners do not know such a kitchen


def test_every_shipped_panel_is_sound():
    """Hashes, games, rules; both skills' partners; a positive ruler wherever there is one."""
    for game_id, name in panels.all_shipped():
        found = read_panel(panels.SHIPPED / game_id / name)
        assert found.game["id"] == game_id
        assert found.members
        for m in found.members:
            assert m.responses, f"{game_id}, {m.agent.name}"
            assert all(r.worth.mean > 0 and r.worth.low <= r.worth.mean <= r.worth.high for r in m.responses)


def test_a_ruler_of_nothing_measures_nothing(tmp_path, game):
    """Where the best response scores nothing, there is no ratio, and a grade says so."""
    from interplay.partners.grade import summarise, teams
    from interplay.rollout.engine import run
    from interplay.traces import TraceSet

    found = panel_of(tmp_path / "p", game, [member(game, 0, worth=(0.0, 0.0)), member(game, 1, worth=(5.0, 0.0))])
    ego = agent("stay")
    traces = TraceSet.in_memory(run(game, teams(game, ego, found), episodes=2, seed=0))
    grade = summarise(traces, game, ego, found, seed=0)
    assert [row["br_prox"] for row in grade.cells] == [None, None, 0.0, None]
    assert [row["br_prox"] for row in grade.partners] == [None, 0.0]
    assert grade.overall.rows[0]["br_prox"] == 0.0
