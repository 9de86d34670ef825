"""The odd cases of Overcooked's rules, each by its name."""

from __future__ import annotations

import re
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import interplay
from interplay.errors import InterplayError
from interplay.games.overcooked.state import IDLE, OvercookedItem, OvercookedState, soup

NORTH, SOUTH, EAST, WEST, STAY, ACT = range(6)
ONION, TOMATO, DISH = OvercookedItem.ONION, OvercookedItem.TOMATO, OvercookedItem.DISH

ROOM = "XXPXPXX/O     T/X 1 2 X/D     S/XXXXXXX"  # a hall: floor at x 1 to 5, y 1 to 3
ISLAND = "XXXXX/O1P2O/D   S/XXXXX"  # one pot at (2, 1), between (1, 1) and (3, 1)
RING = "XXPXX/O 1 O/X X X/D 2 S/XXXXX"  # a counter at (2, 2) with floor all around it
SPLIT = "overcooked/forced_coordination"  # counters at x = 2 between chefs at x = 1 and x = 3


class Table:
    """A kitchen in the middle of something: who stands where with what, and what lies where."""

    def __init__(self, game):
        self.game, self.step = game, jax.jit(lambda state, actions: game.step(state, actions, None))

    def state(self, chefs, items=None, timers=None) -> OvercookedState:
        """chefs: ((x, y), facing, held) of each; items and timers by (x, y)."""
        layout = self.game.layout
        lying, timer = np.zeros(layout.size, np.int8), np.full(layout.size, IDLE, np.int8)
        for (x, y), item in (items or {}).items():
            lying[layout.cell(x, y)] = item
        for (x, y), left in (timers or {}).items():
            timer[layout.cell(x, y)] = left
        places, facing, held = zip(*chefs, strict=True)
        return OvercookedState(
            time=jnp.int32(0),
            cell=jnp.array([layout.cell(x, y) for x, y in places], jnp.int32),
            facing=jnp.array(facing, jnp.int32),
            held=jnp.array(held, jnp.int32),
            items=jnp.array(lying),
            timer=jnp.array(timer),
        )

    def play(self, state: OvercookedState, *joint: tuple[int, ...]) -> After:
        step = None
        for actions in joint:
            state, step = self.step(state, jnp.array(actions, jnp.int32))
        return After(self.game, state, step)


class After:
    """What came of it, in words of the tests."""

    def __init__(self, game, state, step):
        self.state, self.places = state, [game.layout.xy(int(c)) for c in state.cell]
        self.facing, self.held = state.facing.tolist(), state.held.tolist()
        self.reward, self.shaped = step.reward.tolist(), step.shaped.tolist()
        self.events = [{n for n, c in zip(game.event_names, row, strict=True) if c} for row in step.events.tolist()]
        self._layout = game.layout

    def item(self, x, y) -> int:
        return int(self.state.items[self._layout.cell(x, y)])

    def timer(self, x, y) -> int:
        return int(self.state.timer[self._layout.cell(x, y)])


@cache
def table(layout: str = ROOM, **options) -> Table:
    if layout.startswith("overcooked/"):
        return Table(interplay.make(layout, **options))
    return Table(interplay.make("overcooked", layout=layout, **options))


def empty_handed(*places_and_facing):
    return [(place, facing, OvercookedItem.NOTHING) for place, facing in places_and_facing]


# Movement


def test_swap_is_forbidden_but_both_turn():
    start = table().state(empty_handed(((2, 2), NORTH), ((3, 2), NORTH)))
    after = table().play(start, (EAST, WEST))
    assert after.places == [(2, 2), (3, 2)]
    assert after.facing == [EAST, WEST]
    assert after.events == [set(), set()]  # they turned, so that neither was idle


def test_two_who_would_meet_in_a_cell_stay_but_turn():
    start = table().state(empty_handed(((2, 2), NORTH), ((4, 2), NORTH)))
    after = table().play(start, (EAST, WEST))
    assert after.places == [(2, 2), (4, 2)]
    assert after.facing == [EAST, WEST]


def test_three_who_would_meet_in_a_cell_all_stay():
    hall = table(players=3)
    start = hall.state(empty_handed(((2, 2), NORTH), ((4, 2), NORTH), ((3, 1), NORTH)))
    after = hall.play(start, (EAST, WEST, SOUTH))
    assert after.places == [(2, 2), (4, 2), (3, 1)]
    assert after.facing == [EAST, WEST, SOUTH]


def test_when_two_of_three_clash_the_third_stays_too():
    hall = table(players=3)
    start = hall.state(empty_handed(((2, 2), NORTH), ((4, 2), NORTH), ((1, 1), NORTH)))
    after = hall.play(start, (EAST, WEST, SOUTH))
    assert after.places == [(2, 2), (4, 2), (1, 1)]
    assert after.facing == [EAST, WEST, SOUTH]


def test_walking_into_someone_who_stays_moves_nobody():
    hall = table(players=3)
    start = hall.state(empty_handed(((2, 2), NORTH), ((3, 2), NORTH), ((1, 1), NORTH)))
    after = hall.play(start, (EAST, STAY, SOUTH))
    assert after.places == [(2, 2), (3, 2), (1, 1)]
    assert after.facing == [EAST, NORTH, SOUTH]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_following_into_a_vacated_cell_is_legal_for_either_seat(order):
    chefs = empty_handed(((2, 2), NORTH), ((3, 2), NORTH))
    start = table().state([chefs[i] for i in order])
    after = table().play(start, (EAST, EAST))
    assert sorted(after.places) == [(3, 2), (4, 2)]
    assert after.events == [{"MOVEMENT"}, {"MOVEMENT"}]


def test_following_someone_who_is_blocked_is_a_collision():
    start = table().state(empty_handed(((4, 2), NORTH), ((5, 2), NORTH)))
    after = table().play(start, (EAST, EAST))
    assert after.places == [(4, 2), (5, 2)]


def test_four_may_go_round_in_a_ring_at_once():
    ring = table(RING, players=4)
    start = ring.state(empty_handed(((1, 1), NORTH), ((3, 1), NORTH), ((3, 3), NORTH), ((1, 3), NORTH)))
    after = ring.play(start, (EAST, SOUTH, WEST, NORTH), (EAST, SOUTH, WEST, NORTH))
    assert after.places == [(3, 1), (3, 3), (1, 3), (1, 1)]


def test_a_chef_turns_to_a_counter_and_to_a_wall_of_things_without_moving():
    start = table().state(empty_handed(((1, 1), SOUTH), ((5, 3), NORTH)))
    after = table().play(start, (WEST, EAST))
    assert after.places == [(1, 1), (5, 3)]
    assert after.facing == [WEST, EAST]
    assert after.events == [set(), set()]
    again = table().play(after.state, (WEST, EAST))
    assert again.events == [{"IDLE_MOVEMENT"}, {"IDLE_MOVEMENT"}]


# Two interacts in one step


def test_a_drop_and_a_pickup_on_one_counter_in_one_step():
    split = table(SPLIT)
    start = split.state([((1, 2), EAST, ONION), ((3, 2), WEST, OvercookedItem.NOTHING)])
    after = split.play(start, (ACT, ACT))
    assert after.held == [OvercookedItem.NOTHING, ONION]
    assert after.item(2, 2) == OvercookedItem.NOTHING
    assert after.events == [{"put_onion_on_X"}, {"pickup_onion_from_X"}]


def test_the_earlier_seat_cannot_pick_up_what_the_later_one_drops_in_the_same_step():
    split = table(SPLIT)
    start = split.state([((1, 2), EAST, OvercookedItem.NOTHING), ((3, 2), WEST, ONION)])
    after = split.play(start, (ACT, ACT))
    assert after.held == [OvercookedItem.NOTHING, OvercookedItem.NOTHING]
    assert after.item(2, 2) == ONION
    assert after.events == [{"IDLE_INTERACT", "IDLE_INTERACT_X"}, {"put_onion_on_X"}]


def test_two_drops_on_one_counter_leave_the_later_seat_with_its_own():
    split = table(SPLIT)
    start = split.state([((1, 2), EAST, ONION), ((3, 2), WEST, DISH)])
    after = split.play(start, (ACT, ACT))
    assert after.held == [OvercookedItem.NOTHING, DISH]
    assert after.item(2, 2) == ONION


def test_three_chefs_use_one_counter_in_the_order_of_their_seats():
    ring = table(RING, players=3)
    start = ring.state([((2, 1), SOUTH, ONION), ((1, 2), EAST, OvercookedItem.NOTHING), ((3, 2), WEST, DISH)])
    after = ring.play(start, (ACT, ACT, ACT))
    assert after.held == [OvercookedItem.NOTHING, ONION, OvercookedItem.NOTHING]
    assert after.item(2, 2) == DISH


def test_a_chef_faces_from_where_it_stood_before_the_others_moved():
    start = table().state([((2, 1), NORTH, ONION), ((4, 1), NORTH, OvercookedItem.NOTHING)])
    after = table().play(start, (ACT, WEST))
    assert after.item(2, 0) == soup(1, 0)
    assert after.places == [(2, 1), (3, 1)]


def test_two_chefs_pot_into_one_pot_in_one_step():
    island = table(ISLAND)
    start = island.state([((1, 1), EAST, ONION), ((3, 1), WEST, ONION)])
    after = island.play(start, (ACT, ACT))
    assert after.item(2, 1) == soup(2, 0)
    assert after.held == [OvercookedItem.NOTHING, OvercookedItem.NOTHING]
    assert after.shaped == [3.0, 3.0]
    assert after.timer(2, 1) == IDLE


def test_the_third_onion_starts_the_pot_so_the_fourth_of_the_same_step_is_refused():
    island = table(ISLAND)
    start = island.state([((1, 1), EAST, ONION), ((3, 1), WEST, ONION)], {(2, 1): soup(2, 0)})
    after = island.play(start, (ACT, ACT))
    assert after.item(2, 1) == soup(3, 0)
    assert after.held == [OvercookedItem.NOTHING, ONION]
    assert after.shaped == [3.0, 0.0]
    assert after.timer(2, 1) == 19
    assert "cook" in after.events[0]
    assert after.events[1] == {"IDLE_INTERACT", "IDLE_INTERACT_EMPTY"}


def test_of_two_who_plate_one_soup_the_earlier_seat_gets_it():
    island = table(ISLAND)
    start = island.state([((1, 1), EAST, DISH), ((3, 1), WEST, DISH)], {(2, 1): soup(3, 0)}, {(2, 1): 0})
    after = island.play(start, (ACT, ACT))
    assert after.held == [soup(3, 0), DISH]
    assert after.item(2, 1) == OvercookedItem.NOTHING
    assert after.timer(2, 1) == IDLE
    assert after.shaped == [5.0, 0.0]


def test_a_pot_emptied_by_the_earlier_seat_takes_an_onion_of_the_later_one_in_the_same_step():
    island = table(ISLAND)
    start = island.state([((1, 1), EAST, DISH), ((3, 1), WEST, ONION)], {(2, 1): soup(3, 0)}, {(2, 1): 0})
    after = island.play(start, (ACT, ACT))
    assert after.held == [soup(3, 0), OvercookedItem.NOTHING]
    assert after.item(2, 1) == soup(1, 0)


def test_in_the_other_order_of_seats_the_onion_finds_the_pot_still_full():
    island = table(ISLAND)
    start = island.state([((1, 1), EAST, ONION), ((3, 1), WEST, DISH)], {(2, 1): soup(3, 0)}, {(2, 1): 0})
    after = island.play(start, (ACT, ACT))
    assert after.held == [ONION, soup(3, 0)]
    assert after.item(2, 1) == OvercookedItem.NOTHING


# Cooking


@pytest.mark.parametrize(("wait", "plated"), [(19, False), (20, True), (21, True)])
def test_a_soup_can_be_plated_twenty_steps_after_the_onion_that_started_it_and_not_nineteen(wait, plated):
    island = table(ISLAND)
    start = island.state([((1, 1), EAST, ONION), ((3, 1), WEST, DISH)], {(2, 1): soup(2, 0)})
    waiting = [(STAY, STAY)] * (wait - 1)
    after = island.play(start, (ACT, STAY), *waiting, (STAY, ACT))
    assert after.held[1] == (soup(3, 0) if plated else DISH)
    assert ("SOUP_PICKUP" in after.events[1]) == plated


def test_the_timer_reads_the_state_before_the_step():
    island = table(ISLAND)
    chefs = [((1, 1), EAST, DISH), ((3, 1), WEST, OvercookedItem.NOTHING)]
    early = island.play(island.state(chefs, {(2, 1): soup(3, 0)}, {(2, 1): 1}), (ACT, STAY))
    assert early.held == [DISH, OvercookedItem.NOTHING]
    assert early.timer(2, 1) == 0
    assert island.play(early.state, (ACT, STAY)).held == [soup(3, 0), OvercookedItem.NOTHING]


def test_a_ready_soup_waits_for_ever():
    island = table(ISLAND)
    start = island.state(empty_handed(((1, 1), EAST), ((3, 1), WEST)), {(2, 1): soup(3, 0)}, {(2, 1): 0})
    after = island.play(start, *[(STAY, STAY)] * 50)
    assert (after.item(2, 1), after.timer(2, 1)) == (soup(3, 0), 0)


@pytest.mark.parametrize("size", [1, 2])
def test_auto_cook_does_not_start_a_soup_that_is_not_full(size):
    island = table(ISLAND)
    start = island.state(empty_handed(((1, 1), EAST), ((3, 1), WEST)), {(2, 1): soup(size, 0)})
    after = island.play(start, (ACT, STAY))
    assert after.timer(2, 1) == IDLE
    assert after.events[0] == {"IDLE_INTERACT", "IDLE_INTERACT_EMPTY"}


@pytest.mark.parametrize("size", [1, 2, 3])
def test_an_interact_starts_any_soup_where_cooking_does_not_start_by_itself(size):
    island = table(ISLAND, auto_cook=False)
    start = island.state([((1, 1), EAST, OvercookedItem.NOTHING), ((3, 1), WEST, DISH)], {(2, 1): soup(size, 0)})
    idle = island.play(start, (STAY, ACT))
    assert idle.timer(2, 1) == IDLE
    after = island.play(idle.state, (ACT, STAY))
    assert after.timer(2, 1) == 19
    assert after.events[0] == {"cook"}
    assert island.play(after.state, *[(STAY, STAY)] * 18, (STAY, ACT)).held[1] == DISH
    assert island.play(after.state, *[(STAY, STAY)] * 19, (STAY, ACT)).held[1] == soup(size, 0)


def test_without_auto_cook_the_third_onion_starts_nothing():
    island = table(ISLAND, auto_cook=False)
    start = island.state([((1, 1), EAST, ONION), ((3, 1), WEST, OvercookedItem.NOTHING)], {(2, 1): soup(2, 0)})
    after = island.play(start, (ACT, STAY))
    assert (after.item(2, 1), after.timer(2, 1)) == (soup(3, 0), IDLE)


def test_a_soup_started_by_the_earlier_seat_takes_no_onion_of_the_later_one():
    island = table(ISLAND, auto_cook=False)
    start = island.state([((1, 1), EAST, OvercookedItem.NOTHING), ((3, 1), WEST, ONION)], {(2, 1): soup(1, 0)})
    after = island.play(start, (ACT, ACT))
    assert (after.item(2, 1), after.timer(2, 1), after.held[1]) == (soup(1, 0), 19, ONION)


def test_an_empty_pot_cannot_be_started():
    island = table(ISLAND, auto_cook=False)
    after = island.play(island.state(empty_handed(((1, 1), EAST), ((3, 1), WEST))), (ACT, ACT))
    assert after.timer(2, 1) == IDLE


# Dishes that are useful


def dish_run(items=None, timers=None, other=((4, 1), NORTH, OvercookedItem.NOTHING), act=STAY):
    """Seat 1 takes a dish from the dispenser at (0, 3); seat 0 does something else before it in the same step."""
    start = table().state([other, ((1, 3), WEST, OvercookedItem.NOTHING)], items, timers)
    return table().play(start, (act, ACT))


POT_1, POT_2 = (2, 0), (4, 0)


@pytest.mark.parametrize(
    ("items", "timers", "useful"),
    [
        ({}, {}, False),
        ({POT_1: soup(1, 0)}, {}, True),
        ({POT_1: soup(3, 0)}, {POT_1: 12}, True),
        ({POT_1: soup(3, 0)}, {POT_1: 0}, True),
        ({POT_1: soup(1, 0), (3, 0): DISH}, {}, False),
    ],
    ids=["no pot in use", "partly full", "cooking", "ready", "a dish lies about"],
)
def test_a_dish_is_useful_if_a_pot_is_in_use_and_none_lies_about(items, timers, useful):
    after = dish_run(items, timers)
    assert after.held[1] == DISH
    assert ("USEFUL_DISH_PICKUP" in after.events[1]) == useful
    assert after.shaped[1] == (3.0 if useful else 0.0)


def test_a_dish_in_hand_for_every_pot_in_use_makes_another_useless():
    holder = ((4, 1), NORTH, DISH)
    assert dish_run({POT_1: soup(1, 0)}, other=holder).shaped == [0.0, 0.0]
    assert dish_run({POT_1: soup(1, 0), POT_2: soup(1, 0)}, other=holder).shaped == [0.0, 3.0]


def test_an_onion_potted_earlier_in_the_same_step_does_not_make_a_dish_useful():
    after = dish_run(other=((4, 1), NORTH, ONION), act=ACT)
    assert after.item(*POT_2) == soup(1, 0)
    assert after.shaped == [3.0, 0.0]


def test_a_pot_emptied_earlier_in_the_same_step_still_counts_as_in_use():
    after = dish_run({POT_2: soup(3, 0)}, {POT_2: 0}, other=((4, 1), NORTH, DISH), act=ACT)
    assert after.held == [soup(3, 0), DISH]
    assert after.shaped == [5.0, 3.0]


# Deliveries


def deliver(item, **options):
    hall = table(ROOM, **options)
    return hall.play(hall.state([((5, 3), EAST, item), ((1, 1), NORTH, OvercookedItem.NOTHING)]), (ACT, STAY))


def test_a_delivery_is_credited_to_the_seat_that_serves():
    after = deliver(soup(3, 0))
    assert after.reward == [20.0, 0.0]
    assert after.held == [OvercookedItem.NOTHING, OvercookedItem.NOTHING]
    assert after.events[0] == {"delivery", "deliver_size_three_order"}


@pytest.mark.parametrize(("options", "points"), [({}, 0.0), ({"unordered": -10}, -10.0)])
def test_a_soup_that_nobody_ordered_is_taken_and_pays_nothing_or_costs(options, points):
    after = deliver(soup(2, 1), **options)
    assert after.reward == [points, 0.0]
    assert after.held[0] == OvercookedItem.NOTHING
    assert after.events[0] == {"delivery", "deliver_useless_order"}


def test_bonus_orders_pay_double_and_others_do_not():
    options = {"orders": ("OOO", "OOT"), "bonus_orders": ("OOT",)}
    assert deliver(soup(2, 1), **options).reward == [40.0, 0.0]
    assert deliver(soup(3, 0), **options).reward == [20.0, 0.0]
    assert deliver(soup(2, 1), **options, order_bonus=3).reward == [60.0, 0.0]


def test_listed_values_and_sizes_of_orders():
    options = {"orders": ("OOO", "OT"), "values": (20, 10)}
    after = deliver(soup(1, 1), **options)
    assert after.reward == [10.0, 0.0]
    assert after.events[0] == {"delivery", "deliver_size_two_order"}


def test_orders_are_never_used_up():
    hall = table(ROOM)
    first = deliver(soup(3, 0))
    again = hall.state([((5, 3), EAST, soup(3, 0)), ((1, 1), NORTH, OvercookedItem.NOTHING)])
    assert hall.play(again, (ACT, STAY)).reward == first.reward == [20.0, 0.0]


@pytest.mark.parametrize("item", [ONION, TOMATO, DISH, OvercookedItem.NOTHING])
def test_only_soups_are_served(item):
    after = deliver(item)
    assert after.held[0] == item
    assert after.reward == [0.0, 0.0]
    assert after.events[0] == {"IDLE_INTERACT", "IDLE_INTERACT_EMPTY"}


def test_dispensers_give_nothing_to_full_hands():
    start = table().state([((1, 1), WEST, DISH), ((5, 1), EAST, ONION)])
    after = table().play(start, (ACT, ACT))
    assert after.held == [DISH, ONION]


# Starts


def test_chefs_start_where_the_layout_says_facing_north_in_an_empty_kitchen():
    game = table().game
    state = game.init(None)
    assert [game.layout.xy(int(c)) for c in state.cell] == [(2, 2), (4, 2)]
    assert state.facing.tolist() == [NORTH, NORTH]
    assert state.held.tolist() == [0, 0]
    assert not state.items.any()
    assert (state.timer == IDLE).all()


def test_start_poses_can_be_given():
    game = table().game
    state = game.init(None, positions=[(5, 1), (1, 3)], facing=[WEST, SOUTH])
    assert [game.layout.xy(int(c)) for c in state.cell] == [(5, 1), (1, 3)]
    assert state.facing.tolist() == [WEST, SOUTH]


@pytest.mark.parametrize(
    ("positions", "words"),
    [
        ([(0, 0), (1, 1)], r"chef 1 cannot start at \(0, 0\)"),
        ([(1, 1), (9, 9)], r"chef 2 cannot start at \(9, 9\)"),
        ([(1, 1), (1, 1)], "two chefs start on one cell"),
        ([(1, 1)], "for each of 2 chefs"),
    ],
)
def test_impossible_starts_are_errors(positions, words):
    with pytest.raises(InterplayError, match=words):
        table().game.init(None, positions=positions)


@pytest.mark.parametrize("players", [3, 4])
def test_more_chefs_than_the_layout_draws_start_on_free_floor(players):
    game = table(players=players).game
    places = [game.layout.xy(int(c)) for c in game.init(None).cell]
    assert places[:2] == [(2, 2), (4, 2)]
    assert len(set(places)) == players
    assert game.observe(game.init(None), "planes").shape == (players, 7, 5, 5 * players + 16)


def test_four_chefs_work_side_by_side_in_one_step():
    hall = table(players=4)
    start = hall.state(
        [((1, 1), WEST, 0), ((5, 1), EAST, 0), ((1, 3), WEST, 0), ((5, 3), EAST, soup(3, 0))],
    )
    after = hall.play(start, (ACT, ACT, ACT, ACT))
    assert after.held == [ONION, TOMATO, DISH, OvercookedItem.NOTHING]
    assert after.reward == [0.0, 0.0, 0.0, 20.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"horizon": "abc"}, "horizon: 'abc'; expected a whole number"),
        ({"auto_cook": 1}, "auto_cook: 1; expected true or false"),
        ({"orders": "OOO"}, "orders: 'OOO'; expected a list"),
        ({"orders": ["OXO"]}, "cannot read the recipe 'OXO'"),
        ({"values": [1, 2]}, "values: 2 given for 1 orders"),
        ({"cook_time": 500}, "cooking times lie between"),
        ({"players": 9}, "1 to 4 chefs"),
        ({"hurry": 1}, "unknown option 'hurry'"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, message):
    with pytest.raises(InterplayError, match=re.escape(message)):
        interplay.make("overcooked/cramped_room", **options)
