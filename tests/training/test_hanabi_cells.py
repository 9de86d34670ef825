"""Memory of networks: what is worked out for all steps at once is what is worked out step by step."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from interplay.agents import neural
from interplay.agents.networks import Core, Shape
from interplay.agents.rnn import CELLS, new_cell, projected, stepped, unrolled
from interplay.errors import InterplayError
from interplay.games.registry import make

STARTS = jnp.array([True, False, False, True, False, False, False])


@pytest.mark.parametrize("kind", list(CELLS))
def test_a_sequence_is_its_steps(kind):
    cell = new_cell(kind, 5, 4, jax.random.key(0))
    x = jax.random.normal(jax.random.key(1), (7, 5))
    first = jax.random.normal(jax.random.key(2), (4 * CELLS[kind],))  # forgotten at once: an episode starts
    memories, out = unrolled(cell, first, x, STARTS, "float32")
    later, _ = unrolled(cell, memories[3], x[4:], STARTS[4:], "float32")  # in the middle of an episode
    memory = first
    for t in range(7):
        memory, now = stepped(cell, jnp.where(STARTS[t], 0.0, memory), projected(cell, x[t], "float32"), "float32")
        np.testing.assert_allclose(memories[t], memory, atol=1e-6)
        np.testing.assert_allclose(out[t], now, atol=1e-6)
    np.testing.assert_allclose(later, memories[4:], atol=1e-6)


def test_gru_and_lstm_are_the_ones_that_others_call_so():
    x, h, c = (jax.random.normal(jax.random.key(i), (n,)) for i, n in enumerate((5, 4, 4)))
    gru = new_cell("gru", 5, 4, jax.random.key(3))
    np.testing.assert_allclose(stepped(gru, h, projected(gru, x, "float32"), "float32")[1], gru(x, h), atol=1e-6)
    lstm = new_cell("lstm", 5, 4, jax.random.key(4))
    memory, out = stepped(lstm, jnp.concatenate([h, c]), projected(lstm, x, "float32"), "float32")
    theirs = lstm(x, (h, c))
    np.testing.assert_allclose(out, theirs[0], atol=1e-6)
    np.testing.assert_allclose(memory, jnp.concatenate(theirs), atol=1e-6)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_stack_with_a_decoder_steps_as_it_unrolls(precision):
    shape = Shape(
        (6,), 3, widths=(8,), layer_norm=True, norm_first=True, activation="gelu", recurrent=4, cell="lstm", depth=2,
        decoder=(5,), precision=precision,
    )  # fmt: skip
    core = Core(shape, 1.0, jax.random.key(0))
    seen = jax.random.normal(jax.random.key(1), (7, 6))
    memories, features = core.unroll(core.start(), seen, STARTS)
    assert memories.shape == (7, shape.memory) == (7, 16)
    memory = core.start()
    for t in range(7):
        memory, logits = core.step(jnp.where(STARTS[t], 0.0, memory), seen[t])
        np.testing.assert_allclose(memories[t], memory, atol=1e-5 if precision == "float32" else 3e-2)
        assert logits.dtype == jnp.float32
    np.testing.assert_allclose(core.outputs(features, seen)[-1], logits, atol=1e-5 if precision == "float32" else 5e-2)


def test_the_norm_stands_before_the_activation():
    shape = Shape((3,), 2, widths=(4,), layer_norm=True, activation="gelu")
    after = Core(shape, 1.0, jax.random.key(0))
    before = Core(dataclasses.replace(shape, norm_first=True), 1.0, jax.random.key(0))  # the same weights
    x = jnp.array([1.0, -2.0, 0.5])
    dense = x @ after.trunk.layers[0].weight
    normed = (dense - dense.mean()) / jnp.sqrt(dense.var() + 1e-5)
    np.testing.assert_allclose(before.trunk(x), jax.nn.gelu(normed), atol=1e-6)
    assert not np.allclose(after.trunk(x), before.trunk(x), atol=1e-3)


def test_dropout_leaves_units_out_and_keeps_the_mean():
    core = Core(Shape((3,), 2, widths=(4,), decoder=(512,)), 1.0, jax.random.key(0))
    features = jnp.ones(4)
    whole = core.decoded(features)
    draws = jax.vmap(lambda k: core.decoded(features, 0.5, k))(jax.random.split(jax.random.key(1), 400))
    assert float(jnp.std(draws[:, 0])) > 1e-2
    np.testing.assert_allclose(jnp.mean(draws, axis=0), whole, atol=4 * float(jnp.std(draws)) / 20)


def test_a_network_with_memory_is_kept_in_a_file(tmp_path):
    game = make("hanabi/2p")
    shape = Shape((658,), 21, widths=(8,), recurrent=4, cell="lstm", depth=2, decoder=(6,))
    core = Core(shape, 1.0, jax.random.key(0))
    neural.save(tmp_path / "one.safetensors", core, game, "belief", precision="float32")
    again = neural.load(tmp_path / "one.safetensors").policy.core
    assert again.shape == shape
    seen = jnp.ones(658)
    np.testing.assert_allclose(again.step(again.start(), seen)[1], core.step(core.start(), seen)[1], atol=1e-6)


@pytest.mark.parametrize(("change", "message"), [({"cell": "rnn"}, "cell: 'rnn'"), ({"depth": 0}, "depth: 0")])
def test_memories_that_cannot_be(change, message):
    with pytest.raises(InterplayError, match=message):
        Shape((3,), 2, **change)
