"""Trees of arrays as rows of bytes: what goes in comes out, in compiled programs and in numpy."""

import jax
import jax.numpy as jnp
import numpy as np

from interplay.rollout.packing import Packing

TREE = {
    "truth": jnp.array([[True, False, True]]),
    "small": jnp.array([-3, 0, 127], jnp.int8),
    "score": jnp.float32(-0.1),
    "key": jnp.array([2**32 - 1, 7], jnp.uint32),
    "none": jnp.zeros((0, 4), jnp.int32),
    "odd": jnp.array([200, 1, 2], jnp.uint8),
    "steps": jnp.arange(-2, 4, dtype=jnp.int32).reshape(2, 3),
}


def same(a, b):
    return jax.tree_util.tree_all(
        jax.tree_util.tree_map(lambda x, y: x.shape == y.shape and x.dtype == y.dtype and np.array_equal(x, y), a, b)
    )


def test_a_tree_comes_back_from_its_bytes():
    packing = Packing(jax.eval_shape(lambda: TREE))
    row = jax.jit(packing.pack)(TREE)
    assert row.dtype == np.uint8
    assert row.shape == (packing.size,)
    assert same(TREE, jax.jit(packing.unpack)(row))
    assert same(TREE, packing.read(np.asarray(row)))


def test_a_batch_is_one_array():
    packing = Packing(TREE)
    many = jax.tree_util.tree_map(lambda x: jnp.stack([x, x]), TREE)
    rows = jax.jit(jax.vmap(packing.pack))(many)
    assert rows.shape == (2, packing.size)
    assert same(many, jax.jit(jax.vmap(packing.unpack))(rows))
    assert same(TREE, packing.read(np.asarray(rows)[1]))


def test_a_tree_without_leaves_has_no_bytes():
    packing = Packing(())
    assert packing.size == 0
    assert packing.read(np.asarray(packing.pack(()))) == ()
