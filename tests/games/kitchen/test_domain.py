"""The kitchen in symbols."""

import numpy as np
import pytest

import interplay
from interplay.games.collab_kitchen.plan import plan_team
from interplay.metrics.interdependence import InterdependenceOptions, count
from interplay.symbolic.declare import DomainError
from interplay.symbolic.pddl import export
from interplay.symbolic.read import read


def planned(name, **options):
    game = interplay.make(f"kitchen/{name}", **options)
    plan, states = plan_team(game, game.init()), [game.init()]
    for joint in plan.actions:
        states.append(game.step(states[-1], joint)[0])
    return read(game, states, plan.actions)


def test_a_boiled_egg_changes_hands_once():
    found = count(planned("original", dish="boiled egg"))
    assert [(k.giver, k.receiver, k.object, k.kind) for k in found.links] == [(1, 0, "egg_1", "constructive")]
    assert found.matrix() == [[None, 0], [1, None]]


def test_a_patty_goes_back_and_forth_and_every_pass_counts():
    """The boiled food returns to the assistant to be mashed: that is no loop, since its state has changed."""
    found = count(planned("original", level=5))
    assert found.matrix() == [[None, 1], [4, None]]
    assert {k.kind for k in found.links} == {"constructive"}


def test_work_is_a_channel_when_asked_for():
    trace = planned("original", dish="boiled corn~slices")
    more = count(trace, InterdependenceOptions(channels=("counters", "work")))
    assert "sliced(corn_1)" in {k.fact for k in more.links}


@pytest.mark.parametrize("name", ["original", "nrc", "custom"])
def test_anything_that_can_happen_can_be_read(name):
    options = {"layout": "XIPOX/X1 2X/X   C/XDSBX"} if name == "custom" else {}
    game = interplay.make("kitchen" if options else f"kitchen/{name}", horizon=400, **options)
    rng, states, actions = np.random.default_rng(1), [game.init()], []
    for _ in range(400):
        joint = []
        for row in game.legal(states[-1]):
            handy = np.flatnonzero(row[5:]) + 5
            joint.append(int(rng.choice(handy if len(handy) and rng.random() < 0.6 else np.arange(5))))
        states.append(game.step(states[-1], joint)[0])
        actions.append(joint)
    trace = read(game, states, actions)
    assert len(trace.actions) > 20


def test_the_plan_is_valid_pddl():
    pytest.importorskip("unified_planning", reason="needs the extra `planning`")
    from tests.symbolic.test_pddl import validates

    assert validates(export(planned("original", level=4)))


def test_another_game_is_refused():
    from interplay.games.collab_kitchen.symbolic_domain import KitchenReader

    with pytest.raises(DomainError, match="another game"):
        KitchenReader(interplay.make("overcooked/cramped_room"))
