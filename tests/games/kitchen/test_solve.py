"""Shortest plans, certificates of required cooperation, and plans for teams."""

from itertools import product

import numpy as np
import pytest

import interplay
from interplay.errors import InterplayError
from interplay.games.collab_kitchen.dishes import DISHES, dish_of
from interplay.games.collab_kitchen.macros import legal_macros, next_primitive, verify
from interplay.games.collab_kitchen.plan import Follower, plan_team
from interplay.games.collab_kitchen.rules import advance
from interplay.games.collab_kitchen.search import Search
from interplay.symbolic.certify import certify


def shortest(name, seats=(0, 1), **options):
    game = interplay.make(f"kitchen/{name}", **options)
    return Search(game.rules, game.init(), seats).exact(game.horizon)


def length(plan):
    return None if plan.actions is None else len(plan.actions)


@pytest.mark.parametrize(("dish", "steps"), [("boiled egg", 15), ("baked bell_pepper", 16)])
def test_level_one_is_15_by_pot_and_16_by_oven(dish, steps):
    found = shortest("original", dish=dish)
    assert (length(found), found.lower) == (steps, steps)


@pytest.mark.parametrize(
    ("dish", "together", "chef", "assistant"), [("boiled egg", 16, 30, 21), ("baked bell_pepper", 17, 28, 19)]
)
def test_without_required_cooperation(dish, together, chef, assistant):
    found = certify(interplay.make("kitchen/nrc", dish=dish))
    assert found.verdict == "not required"
    assert found.together.length == together
    assert [f.length for f in found.alone] == [chef, assistant]
    assert all(f.shortest for f in (*found.alone, found.together))


def test_with_required_cooperation():
    found = certify(interplay.make("kitchen/rc", dish="boiled egg"))
    assert (found.verdict, found.verdict_unhindered) == ("required", "required")
    assert found.together.length == 16
    assert [f.why for f in found.alone] == [
        "this cook cannot reach the ingredient_dispenser",
        "this cook cannot reach the pot or the serving_hatch",
    ]


def test_the_twins_differ_by_one_tile():
    rows = [interplay.make(f"kitchen/{name}").layout.text for name in ("rc", "nrc")]
    assert sum(a != b for a, b in zip(*rows, strict=True)) == 1


def test_a_role_that_may_not_cannot():
    found = certify(interplay.make("kitchen/original", dish="boiled egg"))
    assert found.verdict == "required"
    assert found.alone[1].why == "this role may not cook or deliver"


@pytest.mark.parametrize(
    ("level", "original", "rc", "nrc"), [(2, 22, 23, 23), (3, 31, 33, 32), (4, 28, 29, None), (5, 41, 44, None)]
)
def test_shortest_joint_plans(level, original, rc, nrc):
    for name, steps in (("original", original), ("rc", rc), ("nrc", nrc)):
        if steps is not None:
            found = shortest(name, level=level)
            assert (length(found), found.lower) == (steps, steps), name


def blind(game, seats, ingredient, most):
    """The length of the shortest plan by breadth-first search over the game's own steps: slow and plain."""
    useful = [*range(10), game.action_names.index(f"take {ingredient}")]
    choices = [useful if seat in seats else [0] for seat in range(2)]
    layer, seen = {game.init()}, set()
    for t in range(most):
        after = set()
        for here in layer:
            legal = game.legal(here)
            for joint in product(*choices):
                if legal[0, joint[0]] and legal[1, joint[1]]:
                    there = advance(game.rules, here, joint)[0]._replace(time=0)
                    if there.world.delivered:
                        return t + 1
                    if there not in seen and there.world.taken <= 1:
                        after.add(there)
        seen |= after
        layer = after
    return None


def test_agrees_with_a_blind_search():
    game = interplay.make("kitchen", layout="XIPX/X12X/XXSX", dish="boiled egg")
    assert length(Search(game.rules, game.init(), (0, 1)).exact(40)) == blind(game, (0, 1), "egg", 20)
    game = interplay.make("kitchen/nrc", dish="baked potato~slices")
    assert length(Search(game.rules, game.init(), (1,)).exact(40)) == blind(game, (1,), "potato", 40) == 25


def test_the_nearest_of_two_dispensers_counts():
    game = interplay.make("kitchen", layout="XIXXPSX/X   12X/XXXXIXX", dish="boiled egg")
    assert length(Search(game.rules, game.init(), (0,)).exact(40)) == blind(game, (0,), "egg", 30)


def test_who_acts_can_be_chosen():
    game = interplay.make("kitchen/nrc", dish="boiled egg")
    assert len(plan_team(game, game.init(), seats=(1,)).actions) == 21
    assert plan_team(game, game.init(), seats=(1,)).queues[0] == ()
    with pytest.raises(InterplayError, match="one or two different seats"):
        plan_team(game, game.init(), seats=(0, 5))
    apart = interplay.make("kitchen/rc", dish="boiled egg")
    with pytest.raises(InterplayError, match="no plan of assistant to 'boiled egg'"):
        plan_team(apart, apart.init(), seats=(1,))


@pytest.mark.parametrize("name", ["original", "rc"])
def test_team_plans_are_carried_out(name):
    for one in DISHES.values():
        if one.level <= 5:
            game = interplay.make(f"kitchen/{name}", dish=one.name)
            plan = plan_team(game, game.init())
            assert plan.shortest
            assert carried_out(game, plan, game.init()) == len(plan.actions)


def carried_out(game, plan, state, disturbed=None):
    begun, team = state.time, Follower(game, plan, state)
    while state.world.delivered is None and state.time < game.horizon:
        joint = [team.act(seat, state) for seat in range(game.num_seats)]
        if state.time == disturbed:
            joint = [0] * game.num_seats
            team.done = [min(done, len([p for p in q if p.t < disturbed])) for done, q in zip(team.done, plan.queues)]
        state = game.step(state, joint)[0]
    assert state.world.delivered is not None
    return state.time - begun


def test_a_team_that_is_disturbed_goes_on_by_its_queues():
    game = interplay.make("kitchen/nrc", level=3)
    plan = plan_team(game, game.init())
    for disturbed in range(0, len(plan.actions), 5):
        assert len(plan.actions) < carried_out(game, plan, game.init(), disturbed) <= len(plan.actions) + 12


def test_queues_say_after_whom():
    game = interplay.make("kitchen/original", dish="boiled egg")
    chef, assistant = plan_team(game, game.init()).queues
    assert [str(p.macro) for p in assistant] == [
        "pickup(egg, ingredient_dispenser)",
        "place_obj_on_counter(counter(2,1))",
    ]
    assert str(chef[0].macro) == "pickup(egg, counter(2,1))"
    assert chef[0].after == (1, 1)
    assert [p.after for p in chef[1:]] == [None] * 4


def test_plans_from_anywhere():
    """After any mess that macro actions can make, there is a plan, and it works."""
    game = interplay.make("kitchen/original", level=3)
    for seed in range(3):
        rng, state = np.random.default_rng(seed), game.init()
        for _ in range(4):
            for seat in (0, 1):
                choices = [m for m in legal_macros(game, state, seat) if m.verb not in ("wait", "deliver")]
                macro = choices[rng.integers(len(choices))] if choices else None
                while macro and state.time < 60 and verify(game, state, seat, macro).ok:
                    step = next_primitive(game, state, seat, macro)
                    state = game.step(state, [step.action if s == seat else 0 for s in (0, 1)])[0]
                    if step.done:
                        break
        plan = plan_team(game, state)
        assert carried_out(game, plan, state) == len(plan.actions)


def test_three_cooks_have_a_plan():
    game = interplay.make("kitchen", layout="XXXPXX/I X1 X/C2X  O/D3X  X/XBXSXX", level=2)
    plan = plan_team(game, game.init())
    assert not plan.shortest
    assert carried_out(game, plan, game.init()) == len(plan.actions)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["original", "rc", "nrc"])
def test_every_dish_has_a_witness(name):
    bounds = {"original": 48, "rc": 52, "nrc": 50}
    for number in range(1, 6):
        game = interplay.make(f"kitchen/{name}", dish=dish_of(6, number).name)
        plan = plan_team(game, game.init())
        assert carried_out(game, plan, game.init()) == len(plan.actions) <= bounds[name]
