"""Each scripted chef does what its name says, in every kind of kitchen and in either seat."""

from __future__ import annotations

import equinox as eqx
import jax
import numpy as np
import pytest

from interplay.agents.api import content_hash
from interplay.agents.overcooked.registry import OvercookedAgents
from interplay.agents.registry import agent
from interplay.errors import InterplayError, UnknownName
from interplay.games.overcooked.layouts import SEVERAL_RECIPES
from interplay.games.overcooked.state import OvercookedItem
from interplay.games.registry import make
from tests.agents.overcooked.kitchens import MULTI, USER_LAYOUT

FETCH = {"pickup_onion_from_O", "pickup_tomato_from_T"}
PICK = {"pickup_onion_from_X", "pickup_tomato_from_X"}
PUT = {"put_onion_on_X", "put_tomato_on_X"}
POTTING = {"potting_onion", "potting_tomato"}
DISHES = {"pickup_dish_from_D", "pickup_dish_from_X", "put_dish_on_X"}
SOUPS = {"SOUP_PICKUP", "pickup_soup_from_X", "delivery"}
WORK = FETCH | PICK | PUT | POTTING | DISHES | SOUPS | {"put_soup_on_X"}

MAY = {
    "greedy": WORK,
    "trial_partner": WORK,
    "onion_passer": FETCH | PUT,
    "onion_receiver": PICK | PUT | POTTING | DISHES | SOUPS,
    "onion_only": FETCH | PICK | POTTING,
    "onion_to_middle": FETCH | PUT,
    "dish_only": DISHES | SOUPS,
    "dish_passer": {"pickup_dish_from_D", "put_dish_on_X"},
    "place_and_deliver": PICK | PUT | POTTING | (DISHES - {"pickup_dish_from_D"}) | SOUPS,
    "idle": set(),
}
KITCHENS = {
    "counter_circuit": {},
    "forced_coordination": {},
    "cramped_room": {},
    "coordination_ring": {},
    "coordination_ring_multi": {},
    "": {"layout": USER_LAYOUT, **MULTI},
}
FIRST = ("counter_circuit", "")  # the others are for `make test-slow`


def options(kitchen: str) -> dict:
    return {k: tuple(v) if isinstance(v, list) else v for k, v in KITCHENS.get(kitchen, {}).items()}


@pytest.mark.parametrize(
    "kitchen",
    [k if k in FIRST else pytest.param(k, marks=pytest.mark.slow) for k in KITCHENS],
    ids=lambda k: k or "user_layout",
)
@pytest.mark.parametrize("role", MAY)
def test_no_role_does_what_is_not_its_job(play, kitchen, role):
    for seat in (0, 1):
        lineup = ["greedy", "greedy"]
        lineup[seat] = role
        played = play(kitchen, lineup, **options(kitchen))
        did = {event for event in WORK if played.count(seat, event)}
        assert did <= MAY[role]
        assert np.isfinite(played.logits).all()


def test_idle_only_stays(play):
    played = play("cramped_room", ["idle", "greedy"])
    assert played.count(0, "STAY") == played.actions[:, :, 0].size


MUST = {  # what a role gets done in 6 episodes beside a greedy chef on the counter circuit
    "onion_passer": ("put_onion_on_X", 60),
    "onion_receiver": ("delivery", 30),
    "onion_only": ("potting_onion", 60),
    "onion_to_middle": ("put_onion_on_X", 60),
    "dish_only": ("delivery", 24),
    "dish_passer": ("put_dish_on_X", 12),
    "place_and_deliver": ("potting_onion", 60),
    "trial_partner": ("MOVEMENT", 300),
}


@pytest.mark.parametrize("role", MUST)
@pytest.mark.parametrize("seat", [0, 1])
def test_every_role_does_its_job(play, role, seat):
    lineup = ["greedy", "greedy"]
    lineup[seat] = role
    event, least = MUST[role]
    assert play("counter_circuit", lineup).count(seat, event) >= least


HABITS = {  # (role, event, how a chef with the habit compares with a plain one)
    "slow": ("greedy", "STAY", lambda habit, plain: habit > plain + 600),
    "hoarding": ("greedy", "pickup_onion_from_O", lambda habit, plain: habit > plain + 20),
    "passing": ("greedy", "put_dish_on_X", lambda habit, plain: habit > plain + 20),
    "carrying": ("greedy", "put_onion_on_X", lambda habit, plain: habit < plain / 4),
}


@pytest.mark.parametrize("habit", HABITS)
def test_habits_show(play, habit):
    role, event, differs = HABITS[habit]
    counts = [play("counter_circuit", ["greedy", name]).count(1, event) for name in (f"{habit}-{role}", role)]
    assert differs(*counts)


def test_habits_by_name():
    from interplay.agents.overcooked.roles import role_of

    both = role_of("slow-stubborn-greedy")
    assert (float(both.pause), float(both.yields)) == (pytest.approx(0.4), 0.0)
    assert float(role_of("greedy").yields) == 1.0
    with pytest.raises(InterplayError, match="unknown habit of a chef 'sloe'; did you mean slow"):
        role_of("sloe-greedy")
    with pytest.raises(InterplayError, match="unknown agent 'overcooked/slow-greed'; did you mean overcooked/greedy"):
        role_of("slow-greed")


@pytest.mark.parametrize("lineup", [("onion_passer", "onion_receiver"), ("onion_receiver", "onion_passer")])
def test_passer_and_receiver_make_soups_through_the_middle_counter(play, lineup):
    played = play("counter_circuit", lineup)
    passer, receiver = lineup.index("onion_passer"), lineup.index("onion_receiver")
    soups = played.count(receiver, "delivery")
    assert played.scores.min() >= 160
    assert played.count(passer, "delivery") == 0
    assert played.count(receiver, "pickup_onion_from_X") >= 3 * soups
    assert played.count(passer, "put_onion_on_X") >= 3 * soups


@pytest.mark.parametrize("lineup", [("onion_passer", "onion_receiver"), ("onion_receiver", "onion_passer")])
@pytest.mark.parametrize(
    ("kitchen", "least"), [("blocked_corridor", 60), pytest.param("counter_circuit_multi", 140, marks=pytest.mark.slow)]
)
def test_a_pair_goes_on_where_lanes_are_narrow_and_pots_wait_to_be_started(play, lineup, kitchen, least):
    played = play(kitchen, lineup)
    assert played.scores.min() >= least
    assert played.quarrels() < 0.03


def test_onion_to_middle_uses_no_other_counter(play):
    played = play("counter_circuit", ["onion_to_middle", "idle"])
    layout = played.game.layout
    middle = {layout.cell(x, 2) for x in range(2, 6)}
    for items in played.items:
        assert set(np.flatnonzero(items)) == middle
        assert (items[sorted(middle)] == OvercookedItem.ONION).all()


def test_work_can_be_split_between_onions_and_dishes(play):
    for kitchen in ("cramped_room", "coordination_ring_multi"):
        for lineup in (("onion_only", "dish_only"), ("dish_only", "onion_only")):
            assert play(kitchen, lineup, **options(kitchen)).scores.min() >= 120, (kitchen, lineup)


# What two greedy chefs reach in every one of a few episodes of 400 steps, with some room below what was measured.
FLOORS = {
    "forced_coordination": 240,
    "counter_circuit": 180,
    "asymmetric_advantages": 320,
    "coordination_ring": 220,
    "cramped_room": 220,
    "bothway_coordination": 200,
    "blocked_corridor": 100,
    "asymmetric_coordination": 280,
    "forced_coordination_multi": 240,
    "coordination_ring_multi": 200,
    "counter_circuit_multi": 160,
}


QUICK = ("forced_coordination", "counter_circuit", "coordination_ring_multi")  # the others are for `make test-slow`


@pytest.mark.parametrize("kitchen", [k if k in QUICK else pytest.param(k, marks=pytest.mark.slow) for k in FLOORS])
def test_two_greedy_chefs_score_and_do_not_quarrel(play, kitchen):
    played = play(kitchen, ["greedy", "greedy"])
    assert played.scores.min() >= FLOORS[kitchen]
    assert played.quarrels() < 0.03
    assert played.longest_stand() < 40
    if kitchen in SEVERAL_RECIPES:
        names = ("deliver_useless_order", "catastrophic_placement", "useless_placement")
        assert all(played.count(seat, *names) == 0 for seat in (0, 1))


def test_the_best_ordered_soup_is_made_in_a_kitchen_of_ones_own(play):
    played = play("", ["greedy", "greedy"], **options(""))
    assert played.scores.min() >= 240
    assert played.count(0, "deliver_size_two_order") + played.count(1, "deliver_size_two_order") == 0


@pytest.mark.parametrize("chefs", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_any_number_of_chefs(play, chefs):
    played = play("counter_circuit", ["greedy"] * chefs, players=chefs)
    assert played.scores.mean() >= 100
    assert played.quarrels() < 0.15


ROLES = [r for r in MAY if r != "idle"]  # one who never moves may well stand in front of the only dish


@pytest.mark.parametrize("one", [r if r == "greedy" else pytest.param(r, marks=pytest.mark.slow) for r in ROLES])
def test_nobody_lasts_in_a_quarrel_whatever_the_roles(play, one):
    for other in ROLES[ROLES.index(one) :]:
        assert play("coordination_ring", (one, other)).quarrels() < 0.2, (one, other)


def test_nobody_lasts_in_a_quarrel_with_one_of_the_own_kind(play):
    for role in ROLES:
        assert play("coordination_ring", (role, role)).quarrels() < 0.2, role


@pytest.mark.parametrize("role", MAY)
def test_no_interact_without_effect_where_those_are_ruled_out(play, role):
    played = play("counter_circuit_multi", [role, "greedy"], rule_out_null_interacts=True)
    assert played.legal.all()


def test_logits_fit_the_choice(play):
    played = play("coordination_ring", ["greedy", "trial_partner"])
    chosen = np.take_along_axis(played.logits, played.actions[..., None], axis=-1)
    assert (chosen > -20).all()
    assert np.allclose(np.exp(played.logits).sum(axis=-1), 1, atol=1e-4)


def test_all_roles_are_one_kind():
    game = make("overcooked/counter_circuit")
    bound = [OvercookedAgents.make(role).policy.bind(game) for role in OvercookedAgents.variants()]
    arrays, static = zip(*(eqx.partition(chef, eqx.is_array) for chef in bound), strict=True)
    first = jax.tree.structure(static[0]), jax.tree.map(lambda x: (x.shape, x.dtype), arrays[0])
    for other, shapes in zip(static, arrays, strict=True):
        assert (jax.tree.structure(other), jax.tree.map(lambda x: (x.shape, x.dtype), shapes)) == first
        assert not jax.tree.leaves(other)


def test_names_and_identities():
    assert set(OvercookedAgents.variants()) == set(MAY)
    agents = [agent(f"overcooked/{role}") for role in MAY]
    assert len({content_hash(a) for a in agents}) == len(agents)
    assert agent("overcooked/greedy+0.1").is_policy
    with pytest.raises(UnknownName, match="onion_passer"):
        OvercookedAgents.make("onion_paser")
    with pytest.raises(InterplayError, match="takes no options"):
        OvercookedAgents.make("greedy", speed=2)


def test_a_chef_refuses_other_games():
    class Elsewhere:
        id, encodings = "hanabi/standard", {}

    with pytest.raises(InterplayError, match="hanabi/standard"):
        OvercookedAgents.make("greedy").policy.bind(Elsewhere())  # type: ignore[arg-type]
    with pytest.raises(InterplayError, match="bind"):
        OvercookedAgents.make("greedy").policy.init(jax.random.key(0), 0)  # type: ignore[arg-type]
