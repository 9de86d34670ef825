"""The encoding `details`: what it adds to the features is what the rules say."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import interplay
from interplay.agents.networks import RULED_OUT, Core, Shape
from interplay.agents.neural import NeuralPolicy
from interplay.errors import InterplayError
from interplay.games.overcooked.state import ACTIONS, FLOOR, INTERACT, OvercookedItem


@pytest.fixture(scope="module")
def walked():
    """States of a random walk through counter circuit, where there is something on counters."""
    game = interplay.make("overcooked/counter_circuit")

    def turn(state, key):
        actions = jax.random.randint(key, (2,), 0, len(ACTIONS))
        after = game.step(state, actions, key)[0]
        return after, after

    keys = jax.random.split(jax.random.key(3), 400)
    start = game.init(jax.random.key(0))
    states = jax.jit(lambda s: jax.lax.scan(turn, s, keys)[1])(start)
    return game, states, np.asarray(jax.jit(jax.vmap(lambda s: game.observe(s, "details")))(states))


def test_it_begins_with_the_features(walked):
    game, states, seen = walked
    features = jax.vmap(lambda s: game.observe(s, "features"))(states)
    size = game.encodings["features"].shape[0]
    np.testing.assert_allclose(seen[..., :size], features, atol=1e-6)
    assert seen.shape[-1] == game.encodings["details"].shape[0]


def test_it_ends_with_the_actions_that_do_something(walked):
    game, states, seen = walked
    masked = interplay.make("overcooked/counter_circuit", rule_out_null_interacts=True)
    np.testing.assert_array_equal(seen[..., -len(ACTIONS) :] > 0, jax.vmap(masked.legal)(states))
    assert 0 < seen[..., -len(ACTIONS) + INTERACT].mean() < 1
    assert game.encodings["details"].useful


def test_it_shows_every_counter_and_free_cells(walked):
    game, states, seen = walked
    counters, items = game._details._counters, np.asarray(states.items)
    on = seen[:, 0, -len(ACTIONS) - 4 * len(counters) : -len(ACTIONS)].reshape(len(items), len(counters), 4)
    for kind, item in enumerate((OvercookedItem.ONION, OvercookedItem.TOMATO, OvercookedItem.DISH)):
        np.testing.assert_array_equal(on[:, :, kind] > 0, items[:, counters] == item)
    assert on.any()
    size = game.encodings["features"].shape[0]
    free = seen[:, 0, size + 10 : size + 14]
    cells = np.asarray(states.cell)
    for t in range(0, 400, 23):
        beside = game.kitchen.front.reshape(-1, 4)[cells[t, 0]]
        expected = [game.kitchen.terrain[c] == FLOOR and c != cells[t, 1] for c in beside]
        np.testing.assert_array_equal(free[t] > 0, expected)


def test_a_network_rules_out_what_would_do_nothing(walked):
    game, _, seen = walked
    shape = Shape(input=game.encodings["details"].shape, outputs=len(ACTIONS), widths=(8,), mask=len(ACTIONS))
    core = Core(shape, 1.0, jax.random.key(1))
    logits = jax.vmap(lambda x: core.step(core.start(), x)[1])(jnp.asarray(seen[:, 0]))
    np.testing.assert_array_equal(logits == RULED_OUT, seen[:, 0, -len(ACTIONS) :] == 0)
    policy = NeuralPolicy(core, "details").bind(game)
    keys = jax.random.split(jax.random.key(2), len(seen))
    legal = jnp.ones(len(ACTIONS), bool)
    act = jax.vmap(lambda x, k: policy.act(core.start(), x, legal, k)[1])
    action = np.asarray(act(jnp.asarray(seen[:, 0]), keys))
    assert np.all(np.take_along_axis(seen[:, 0, -len(ACTIONS) :], action[:, None], axis=1) == 1)


def test_a_mask_has_an_entry_for_each_output():
    with pytest.raises(InterplayError, match="mask"):
        Shape(input=(10,), outputs=6, mask=4)
