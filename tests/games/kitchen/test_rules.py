"""The kitchen's rules, dishes, layouts and roles."""

import numpy as np
import pytest

import interplay
from interplay.errors import InterplayError
from interplay.games.check import check_game
from interplay.games.collab_kitchen.dishes import (
    DISHES,
    HORIZONS,
    INGREDIENTS,
    dish,
    dish_of,
    is_meal,
    parts,
    process,
    raw,
)
from interplay.games.collab_kitchen.layouts import LAYOUTS, ORIGINAL, parse
from interplay.games.collab_kitchen.lineage import executions
from interplay.games.collab_kitchen.reference import recipe_closure, reference_plans
from interplay.games.collab_kitchen.state import DELIVER, FIRST_INGREDIENT, PUT, START, TAKE
from interplay.traces import verify

STAY, UP, DOWN, LEFT, RIGHT = range(5)
EGG = FIRST_INGREDIENT + INGREDIENTS.index("egg")


def play(game, *joints, state=None):
    states = [state or game.init()]
    for joint in joints:
        states.append(game.step(states[-1], joint)[0])
    return states


@pytest.mark.parametrize("name", [*LAYOUTS, "three"])
def test_contract(name):
    if name == "three":
        text = "XXXPXX/I X1 X/C2X  O/D3X  X/XBXSXX"
        game = interplay.make("kitchen", layout=text, level=3)
        assert game.seat_names == ("chef", "assistant", "assistant 2")
    else:
        game = interplay.make(f"kitchen/{name}", level=6, horizon=80)
    check_game(game)


def test_there_are_thirty_dishes_in_six_levels():
    assert len(DISHES) == 30
    assert [sum(d.level == level for d in DISHES.values()) for level in range(1, 7)] == [5] * 6
    assert len(INGREDIENTS) == len(set(INGREDIENTS)) == 29
    assert dish("potato, carrot and onion patty").food == "baked(carrot+mashed(boiled(potato~slices))+onion~slices)"
    assert dish("Bell_pepper soup") == dish_of(3, 1)
    for one in DISHES.values():
        assert set(raw(one.food)) <= set(INGREDIENTS)
        assert one.plated == (one.level >= 3) == is_meal(one.food)
        assert parts(one.food)[-1] == one.food
        assert interplay.make("kitchen/original", dish=one.name).horizon == HORIZONS[one.level]


def test_what_is_whole_is_not_sliced_twice():
    assert process("potato~slices").inputs == ("potato",)
    assert process("boiled(bell_pepper~slices+corn)").inputs == ("bell_pepper~slices", "corn")
    with pytest.raises(InterplayError, match="is no food"):
        process("fried(egg)")


def test_utensils_take_three_steps_the_start_counts():
    game = interplay.make("kitchen/original", dish="boiled egg")
    bring = [(LEFT, UP), (STAY, LEFT), (STAY, EGG), (STAY, RIGHT), (STAY, PUT), (TAKE, STAY), (UP, STAY), (PUT, STAY)]
    states = play(game, *bring, (START, STAY), (STAY, STAY), (STAY, STAY), (TAKE, STAY))
    pot = [s.world.utensils[0] for s in states]
    assert [u.left for u in pot[-5:]] == [None, 2, 1, 0, None]
    assert pot[-2].contents[0].food == "boiled(egg)"
    assert states[-1].world.hands[0].lineage == "egg#1"


def test_a_counter_serves_one_cook_a_step_as_it_was_before():
    """What one lays down the other can take in the next step, not in the same; who comes first is the lower seat."""
    game = interplay.make("kitchen/original")
    states = play(game, (LEFT, UP), (STAY, LEFT), (STAY, EGG), (STAY, RIGHT), (TAKE, PUT))
    assert states[-1].world.hands == (None, None)
    assert states[-1].world.counters.count(None) == len(states[-1].world.counters) - 1
    states = play(game, (TAKE, TAKE), state=states[-1])
    assert [h and h.name for h in states[-1].world.hands] == ["egg", None]


def test_nobody_walks_through_another():
    game = interplay.make("kitchen", layout="XIPX/X12X/XXSX", dish="boiled egg")
    swap = play(game, (RIGHT, LEFT))[-1]
    assert [(c.x, c.y) for c in swap.cooks] == [(1, 1), (2, 1)]
    wide = interplay.make("kitchen", layout="XIPXX/X1 2X/XXSXX", dish="boiled egg")
    assert [(c.x, c.y) for c in play(wide, (RIGHT, LEFT))[-1].cooks] == [(1, 1), (3, 1)]
    after = play(wide, (RIGHT, STAY), (RIGHT, STAY))[-1]
    assert [(c.x, c.y) for c in after.cooks] == [(2, 1), (3, 1)]


def test_a_wrong_delivery_pays_nothing_and_play_goes_on():
    game = interplay.make("kitchen", layout="XIPX/X1 X/XSXX", dish="boiled egg")
    state = play(game, (EGG,), (DOWN,))[-1]
    after, step = game.step(state, (DELIVER,))
    assert step.reward.tolist() == [0.0]
    assert not step.terminated
    assert step.events[0, game.event_names.index("deliver_wrong")] == 1
    assert after.world.hands == (None,)


def test_the_recipe_is_shown_to_those_who_know_it_only():
    game = interplay.make("kitchen/original", dish="boiled egg")
    state = game.init()
    assert "boiled egg" in game.render(state, 0)
    assert "egg" not in game.render(state, 1)
    assert "boiled egg" in game.scene(state, 0).svg()
    assert "egg" not in game.scene(state, 1).svg()


def test_roles_are_data():
    roles = [{"name": "boss", "verbs": ["pickup"], "knows_recipe": True}, {"name": "hand", "verbs": "all"}]
    with pytest.raises(InterplayError, match="no cook who can reach it may cook"):
        interplay.make("kitchen/original", roles=roles)
    roles[0]["verbs"] = "all"
    assert interplay.make("kitchen/original", roles=roles).seat_names == ("boss", "hand")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dish": "fried egg"}, "unknown dish 'fried egg'.*boiled egg"),
        ({"level": 7}, "no dish 1 of level 7"),
        ({"level": 1, "dish": "boiled egg"}, "either a dish by its name"),
        ({"number": 2}, "give the level too"),
        ({"horizon": 0}, "an episode has 1 to"),
        ({"color": 1}, "unknown option 'color'"),
        ({"layout": "XXX/X1X/XXX"}, "no ingredient_dispenser"),
        ({"layout": "XIPX/X1 X/XSX"}, "row 3: 3 cells, but row 1 has 4"),
        ({"layout": "XIPX/X1  /XSXX"}, "row 2, column 4: floor at the edge"),
        ({"layout": "XIPX/X1QX/XSXX"}, "row 2, column 3: 'Q' means nothing"),
        ({"layout": "XIPX/X  X/XSXX"}, "no cook"),
        ({"layout": "XIPX/X1 X/XSXX", "level": 3}, "takes a oven|takes a chopping_board"),
        ({"layout": "XIPX/X13X/XSXX"}, "number them from 1 on"),
        ({"layout": "XIPXX/X1X X/XXXSX"}, "no cook can reach the serving_hatch"),
        ({"roles": [{"name": "chef"}]}, "1 given, but the layout has 2"),
        ({"roles": [{"name": "a"}, {"name": "b"}]}, "nobody knows the recipe"),
        ({"roles": [{"name": "a", "verbs": ["fry"]}, {"name": "b"}]}, "unknown verb .* 'fry'"),
    ],
)
def test_bad_input_is_refused_in_words(options, message):
    with pytest.raises(InterplayError, match=message):
        interplay.make("kitchen/original", **options)


def test_reference_plans_by_level():
    orders = {d.name: len(reference_plans(d)) for d in DISHES.values()}
    assert [orders[dish_of(level).name] for level in range(1, 7)] == [1, 1, 1, 2, 2, 6]
    for name, count in orders.items():
        assert len(set(reference_plans(name))) == count
    egg = [(a.role, a.verb, a.object) for a in reference_plans("boiled egg")[0]]
    assert egg == [
        ("assistant", "pickup", "egg"),
        ("assistant", "place_obj_on_counter", "egg"),
        ("chef", "pickup", "egg"),
        ("chef", "put_obj_in_utensil", "egg"),
        ("chef", "cook", "egg"),
        ("chef", "pickup", "boiled(egg)"),
        ("chef", "deliver", "boiled(egg)"),
    ]
    assert recipe_closure("boiled egg")[("pickup", "egg")] == 2
    assert recipe_closure("bell_pepper and corn stew")[("cook", "bell_pepper~slices+corn")] == 1


def test_traces_replay_and_verify():
    game = interplay.make("kitchen/nrc", horizon=60)
    traces = interplay.play(game, ["random", "random"], episodes=2, seed=3)
    assert verify(traces).check().episodes == 2
    again = interplay.play(game, ["random", "random"], episodes=2, seed=3)
    assert [e.actions.tolist() for e in traces] == [e.actions.tolist() for e in again]


def test_random_play_conserves_things():
    """Whatever is done, each thing that was taken is in one place, or was delivered."""
    game = interplay.make("kitchen", layout=ORIGINAL.replace("XBXSX", "XBPSX"), level=6, horizon=400)
    rng, state, actions = np.random.default_rng(0), game.init(), []
    first = state
    for _ in range(400):
        legal = game.legal(state)
        handy = [np.flatnonzero(row)[5:] for row in legal]
        joint = [
            rng.choice(h) if len(h) and rng.random() < 0.7 else rng.choice(np.flatnonzero(row))
            for h, row in zip(handy, legal)
        ]
        state = game.step(state, joint)[0]
        actions.append(joint)
    done = executions(game, [first], actions)
    roots = [
        lineage
        for item in (*state.world.hands, *state.world.counters, *(i for u in state.world.utensils for i in u.contents))
        if item is not None
        for lineage in item.lineage.split("+")
    ]
    gone = {root for e in done if e.verb == "deliver" for root in e.lineage.split("+")}
    filled = sum(e.verb == "fill_dish_with_food" for e in done)
    assert len(roots) == len(set(roots))
    assert not set(roots) & gone
    assert len(roots) + len(gone) + filled == state.world.taken > 4
    assert parse(ORIGINAL).text == ORIGINAL
