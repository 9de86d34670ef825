"""Random states and random play agree with overcooked-ai, transition by transition."""

import functools

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import interplay
from interplay.games.overcooked.interact import EVENTS
from interplay.games.overcooked.state import OvercookedState
from tests.games.overcooked import oracle

# overcooked-ai from PyPI knows only the dynamics where an interact starts the cooking.
KITCHENS = {
    "multi": ("overcooked/counter_circuit_multi", {"unordered": 0}),
    "forced": ("overcooked/forced_coordination_multi", {"unordered": 0}),
    "summed": (
        "overcooked/custom",
        {
            "layout": "XTXXXXXOX/D XOXTX S/X   P 1 X/X2  X   X/XXXSXDXXX",
            "auto_cook": False,
            "orders": ["OOO", "OOT", "TTT", "T"],
            "bonus_orders": ["TTT", "OOT"],
            "onion_value": 21,
            "tomato_value": 13,
            "onion_time": 15,
            "tomato_time": 7,
        },
    ),
    "one for all": (
        "overcooked/cramped_room",
        {"auto_cook": False, "delivery_reward": 5, "cook_time": 3, "orders": ["OOO", "OO", "O"], "horizon": 3000},
    ),
}
BATCH = 48


@functools.cache
def worlds(name, players=2):
    game_id, options = KITCHENS[name]
    game = interplay.make(game_id, **options, players=players)
    step = jax.jit(jax.vmap(lambda state, actions: game.step(state, actions, None)))
    observe = jax.jit(jax.vmap(lambda state: game.observe(state, "planes"))) if players == 2 else None
    return game, oracle.their_game(game), step, observe


def stacked(states):
    return jax.tree_util.tree_map(lambda *leaves: np.stack(leaves), *states)


@pytest.mark.parametrize("name", KITCHENS)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=12, deadline=None)
def test_any_transition_equals_theirs(name, seed):
    game, world, step, observe = worlds(name)
    oracle.use(world)
    rng = np.random.default_rng(seed)
    before = [oracle.random_state(game, rng) for _ in range(BATCH)]
    actions = np.where(rng.random((BATCH, 2)) < 0.6, 5, rng.integers(0, 6, (BATCH, 2))).astype(np.int32)
    after, ours = jax.tree_util.tree_map(np.asarray, step(stacked(before), actions))
    seen = np.asarray(observe(after))
    for i in range(BATCH):
        joint = [oracle.THEIR_ACTIONS[a] for a in actions[i]]
        theirs, infos = world.get_state_transition(oracle.to_theirs(game, before[i]), joint)
        for field, value in oracle.from_theirs(game, theirs).items():
            np.testing.assert_array_equal(getattr(after, field)[i], value, err_msg=f"{field} after {joint}")
        np.testing.assert_array_equal(ours.reward[i], infos["sparse_reward_by_agent"])
        np.testing.assert_array_equal(ours.shaped[i], infos["shaped_reward_by_agent"])
        assert_events(ours.events[i], infos["event_infos"])
        np.testing.assert_array_equal(seen[i], np.stack(world.lossless_state_encoding(theirs, game.horizon)))


def assert_events(ours, theirs):
    """Their event names in ours. They do not log a tomato taken from its dispenser."""

    def happened(*names):
        return sum(ours[:, EVENTS.index(n)] for n in names) > 0

    for item in ("onion", "dish"):
        origin = {"onion": "O", "dish": "D"}[item]
        taken = happened(f"pickup_{item}_from_X", f"pickup_{item}_from_{origin}")
        np.testing.assert_array_equal(taken, theirs[f"{item}_pickup"])
    for item in ("onion", "tomato", "dish", "soup"):
        np.testing.assert_array_equal(happened(f"put_{item}_on_X"), theirs[f"{item}_drop"])
    np.testing.assert_array_equal(happened("pickup_tomato_from_X"), theirs["tomato_pickup"])
    np.testing.assert_array_equal(happened("SOUP_PICKUP", "pickup_soup_from_X"), theirs["soup_pickup"])
    np.testing.assert_array_equal(happened("delivery"), theirs["soup_delivery"])
    for item in ("onion", "tomato"):
        potted = happened(f"potting_{item}")
        np.testing.assert_array_equal(potted, theirs[f"potting_{item}"])
        for judgement in ("optimal", "viable", "catastrophic", "useless"):
            both = potted & happened(f"{judgement}_placement")
            np.testing.assert_array_equal(both, theirs[f"{judgement}_{item}_potting"], err_msg=judgement)


@pytest.mark.parametrize("players", [1, 3, 4])
def test_other_numbers_of_chefs_move_as_theirs_do(players):
    game, world, step, _ = worlds("summed", players)
    oracle.use(world)
    rng = np.random.default_rng(players)
    before = [oracle.random_state(game, rng) for _ in range(200)]
    actions = rng.integers(0, 6, (200, players)).astype(np.int32)
    after, ours = jax.tree_util.tree_map(np.asarray, step(stacked(before), actions))
    for i in range(200):
        joint = [oracle.THEIR_ACTIONS[a] for a in actions[i]]
        theirs, infos = world.get_state_transition(oracle.to_theirs(game, before[i]), joint)
        for field, value in oracle.from_theirs(game, theirs).items():
            np.testing.assert_array_equal(getattr(after, field)[i], value, err_msg=f"{field} after {joint}")
        np.testing.assert_array_equal(ours.reward[i], infos["sparse_reward_by_agent"])


def test_long_random_play_stays_in_step():
    game, world, _, _ = worlds("one for all")
    oracle.use(world)
    actions = np.random.default_rng(5).choice(6, p=[0.14, 0.14, 0.14, 0.14, 0.04, 0.4], size=(game.horizon, 2))
    start = game.init(None)
    _, (states, rewards) = jax.lax.scan(lambda s, a: _scan_step(game, s, a), start, actions.astype(np.int32))
    theirs, earned = world.get_standard_start_state(), 0
    for t, joint in enumerate(actions):
        theirs, infos = world.get_state_transition(theirs, [oracle.THEIR_ACTIONS[a] for a in joint])
        earned += sum(infos["sparse_reward_by_agent"])
        state = OvercookedState(**{f: np.asarray(v)[t] for f, v in vars(states).items()})
        for field, value in oracle.from_theirs(game, theirs).items():
            np.testing.assert_array_equal(getattr(state, field), value, err_msg=f"{field} at step {t}")
    assert earned == float(rewards.sum())
    assert np.any(np.asarray(states.timer) == 0), "no soup ever got ready: this play proves little"


def _scan_step(game, state, actions):
    after, step = game.step(state, actions, None)
    return after, (after, step.reward)
