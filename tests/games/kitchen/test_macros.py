"""Macro actions: how they are read, checked and walked out."""

import pytest

import interplay
from interplay.games.collab_kitchen.lineage import executions
from interplay.games.collab_kitchen.macros import (
    ERRORS,
    Macro,
    ParseError,
    legal_macros,
    next_primitive,
    parse_macro,
    rest,
    verify,
)

CHEF, ASSISTANT = 0, 1


def kitchen(**options):
    return interplay.make("kitchen/original", **options)


def carry_out(game, queues, state=None, most=120):
    """Each seat does its macros in order, staying while the next is not possible; states and joint actions."""
    states, actions = [state or game.init()], []
    queues = [[parse_macro(t) for t in q] for q in queues]
    while any(queues) and len(actions) < most:
        joint = []
        for seat, queue in enumerate(queues):
            step = (0, False)
            if queue and verify(game, states[-1], seat, queue[0]).ok:
                step = next_primitive(game, states[-1], seat, queue[0])
            joint.append(step[0])
            if queue and queue[0].verb == "wait" and not step[1]:
                queue[0] = rest(queue[0])
            elif step[1]:
                queue.pop(0)
        states.append(game.step(states[-1], joint)[0])
        actions.append(joint)
    return states, actions


@pytest.mark.parametrize(
    ("text", "macro"),
    [
        ("pickup(egg, ingredient_dispenser)", Macro("pickup", "egg", "ingredient_dispenser")),
        ("pickup('Sliced potato', 'board')", Macro("pickup", "potato~slices", "chopping_board")),
        ("pickup(obj=boiled egg, place=pot0)", Macro("pickup", "boiled(egg)", "pot")),
        (
            "pickup(boiled(bell_pepper~slices+corn), counter(2, 1))",
            Macro("pickup", "boiled(bell_pepper~slices+corn)", "counter(2,1)"),
        ),
        ("place_obj_on_counter()", Macro("place_obj_on_counter")),
        ("put_obj_in_utensil(pot0)", Macro("put_obj_in_utensil", place="pot")),
        ("  cook(pot) ", Macro("cook", place="pot")),
        ("cook(pot):", Macro("cook", place="pot")),
        ("cook(egg)", Macro("cook", "egg")),
        ("put_obj_on_counter(sliced potato, counter)", Macro("place_obj_on_counter", "potato~slices", "counter")),
        ("put_obj_in_utensil(egg, pot0)", Macro("put_obj_in_utensil", "egg", "pot")),
        ("deliver()", Macro("deliver")),
        ("wait(3)", Macro("wait", number=3)),
        ("request('cut the potato, please')", Macro("request", "cut the potato, please")),
    ],
)
def test_reading(text, macro):
    assert parse_macro(text) == macro


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("I will cook now", "not_a_call"),
        ("fry(egg)", "unknown_verb"),
        ("wait(many)", "bad_arguments"),
        ("wait(0)", "bad_arguments"),
        ("pickup()", "bad_arguments"),
        ("put_obj_in_utensil()", "bad_arguments"),
        ("request('')", "bad_arguments"),
    ],
)
def test_what_cannot_be_read_is_told(text, error):
    found = parse_macro(text)
    assert isinstance(found, ParseError)
    assert found.error == error
    assert found.message


def test_what_was_read_can_be_written_and_read_again():
    game = kitchen()
    for seat in (CHEF, ASSISTANT):
        for macro in legal_macros(game, game.init(), seat):
            assert parse_macro(str(macro)) == macro


@pytest.mark.parametrize(
    ("seat", "text", "error"),
    [
        (CHEF, "cut(chopping_board)", "not_allowed"),
        (ASSISTANT, "deliver()", "not_allowed"),
        (CHEF, "pickup(egg, ingredient_dispenser)", "out_of_reach"),
        (CHEF, "pickup(unicorn, counter)", "unknown_object"),
        (ASSISTANT, "pickup(egg, fridge)", "unknown_place"),
        (CHEF, "pickup(egg, counter)", "not_there"),
        (CHEF, "deliver()", "hands_empty"),
        (CHEF, "put_obj_in_utensil(pot)", "hands_empty"),
        (CHEF, "fill_dish_with_food(pot)", "hands_empty"),
        (CHEF, "cook(pot)", "utensil_empty"),
        (CHEF, "cook(oven)", "unknown_place"),
    ],
)
def test_verdicts_at_the_start(seat, text, error):
    game = kitchen()
    verdict = verify(game, game.init(), seat, parse_macro(text))
    assert (verdict.ok, verdict.error) == (False, error)
    assert error in ERRORS
    assert verdict.message


def test_verdicts_on_the_way():
    game = kitchen(dish="bell_pepper soup")
    cut = ["pickup(bell_pepper, ingredient_dispenser)", "put_obj_in_utensil(board)", "cut(board)"]
    states, _ = carry_out(game, [[], cut])

    def error(state, seat, text):
        return verify(game, state, seat, parse_macro(text)).error

    assert error(states[-1], ASSISTANT, "pickup(bell_pepper~slices, board)") == "not_ready"
    assert error(states[-1], ASSISTANT, "cut(board)") == "utensil_busy"
    held = next(s for s in states if s.world.hands[ASSISTANT])
    assert error(held, ASSISTANT, "pickup(egg, ingredient_dispenser)") == "hands_full"
    assert error(held, ASSISTANT, "place_obj_on_counter(egg)") == "wrong_object"
    assert error(held, ASSISTANT, "place_obj_on_counter(bell_pepper)") == ""
    assert error(states[-1], ASSISTANT, "pickup(egg, ingredient_dispenser)") == ""
    more = ["wait(3)", "pickup(bell_pepper~slices, board)", "place_obj_on_counter()"]
    chef = ["pickup(bell_pepper~slices, counter)", "put_obj_in_utensil(oven)", "bake()", "wait(2)"]
    chef += ["pickup(baked(bell_pepper~slices), oven)", "put_obj_in_utensil(pot)", "cook(pot)", "wait(3)"]
    states, _ = carry_out(game, [chef, more], states[-1])
    assert error(states[-1], CHEF, "pickup(boiled(baked(bell_pepper~slices)), pot)") == "needs_dish"
    assert error(states[-1], CHEF, "fill_dish_with_food(pot)") == "hands_empty"
    dish = ["pickup(dish, dish_dispenser)", "put_obj_in_utensil(board)"]
    states, _ = carry_out(game, [[], dish], states[-1], most=20)
    assert error(states[-1], ASSISTANT, "put_obj_in_utensil(board)") == "wrong_object"


def test_a_boiled_egg_by_macros():
    game = kitchen(dish="boiled egg")
    chef = ["pickup(egg, counter)", "put_obj_in_utensil(pot)", "cook(pot)", "pickup(boiled egg, pot)", "deliver()"]
    states, actions = carry_out(game, [chef, ["pickup(egg, ingredient_dispenser)", "place_obj_on_counter()"]])
    assert states[-1].world.delivered.food == "boiled(egg)"
    assert len(actions) == 16
    done = executions(game, states, actions)
    assert [(e.t, e.seat, e.verb, e.object) for e in done] == [
        (2, 1, "pickup", "egg"),
        (4, 1, "place_obj_on_counter", "egg"),
        (6, 0, "pickup", "egg"),
        (8, 0, "put_obj_in_utensil", "egg"),
        (9, 0, "cook", "egg"),
        (12, 0, "pickup", "boiled(egg)"),
        (15, 0, "deliver", "boiled(egg)"),
    ]
    assert {e.lineage for e in done} == {"egg#1"}


def test_every_legal_macro_can_be_walked_out():
    """From states along an episode, whatever is said to be possible is done within a walk, the partner standing."""
    game = kitchen(dish="boiled egg")
    chef = ["pickup(egg, counter)", "put_obj_in_utensil(pot)", "cook(pot)", "pickup(boiled egg, pot)"]
    states, _ = carry_out(game, [chef, ["pickup(egg, ingredient_dispenser)", "place_obj_on_counter()"]])
    for state in states[::3]:
        for seat in (CHEF, ASSISTANT):
            for macro in legal_macros(game, state, seat):
                now, step = state, next_primitive(game, state, seat, macro)
                for _ in range(30):
                    joint = [0, 0]
                    joint[seat] = step.action
                    assert game.legal(now)[seat, step.action]
                    after = game.step(now, joint)[0]
                    if step.done:
                        break
                    now, step = after, next_primitive(game, after, seat, macro)
                assert step.done, (macro, seat)
                assert macro.verb == "wait" or after.world != now.world


def test_two_who_block_each_other_get_past():
    game = interplay.make("kitchen/nrc")
    state = game.init()
    cooks = (state.cooks[0]._replace(x=2, y=4), state.cooks[1]._replace(x=3, y=4))
    state = state._replace(cooks=cooks, world=state.world._replace(hands=(None, None)))
    # The chef wants to cross to the right, the assistant, in the gap, to the left.
    joint_of = [parse_macro("pickup(dish, counter(6,2))"), parse_macro("pickup(egg, ingredient_dispenser)")]
    counters = list(state.world.counters)
    spot = next(s for s in game.layout.counters if s.cell == (6, 2))
    from interplay.games.collab_kitchen.state import KitchenItem

    counters[spot.index] = KitchenItem("", True, "dish#1")
    state = state._replace(world=state.world._replace(counters=tuple(counters), taken=1))
    for _ in range(40):
        steps = [
            next_primitive(game, state, s, joint_of[s]) if state.world.hands[s] is None else (0, False) for s in (0, 1)
        ]
        state = game.step(state, [s[0] for s in steps])[0]
    assert [h.name if h else None for h in state.world.hands] == ["dish", "egg"]
