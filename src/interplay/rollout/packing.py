"""Trees of arrays as rows of bytes.

A live table keeps the state of its game and the memories of its policies so: a batch of tables is then stacked, and
goes in and out of a compiled program, as one array, where a tree would be one for each of its leaves.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, UInt8


class _PackedLeaf(NamedTuple):
    """Where the bytes of a leaf stand in a row."""

    shape: tuple[int, ...]
    dtype: np.dtype
    first: int
    end: int


class Packing:
    """The layout of a row of bytes for trees of one form."""

    def __init__(self, like: Any):
        """Lay out a row.

        Args:
            like: A tree of arrays, or of what `jax.eval_shape` says of them.
        """
        leaves, self._form = jax.tree_util.tree_flatten(like)
        self._leaves: list[_PackedLeaf] = []
        self.size = 0  # bytes of a row
        for leaf in leaves:
            dtype, end = np.dtype(leaf.dtype), self.size + math.prod(leaf.shape) * np.dtype(leaf.dtype).itemsize
            self._leaves.append(_PackedLeaf(tuple(leaf.shape), dtype, self.size, end))
            self.size = end

    def pack(self, tree: Any) -> UInt8[Array, " byte"]:
        """The bytes of a tree, inside a compiled program."""
        parts = [jnp.zeros(0, jnp.uint8)]
        for leaf in jax.tree_util.tree_leaves(tree):
            plain = leaf.astype(jnp.uint8) if leaf.dtype == bool else leaf
            parts.append(jax.lax.bitcast_convert_type(plain, jnp.uint8).reshape(-1))
        return jnp.concatenate(parts)

    def unpack(self, row: UInt8[Array, " byte"]) -> Any:
        """The tree of a row, inside a compiled program."""

        def read(leaf: _PackedLeaf) -> Array:
            width = () if leaf.dtype.itemsize == 1 else (leaf.dtype.itemsize,)
            data = row[leaf.first : leaf.end].reshape(*leaf.shape, *width)
            return data.astype(bool) if leaf.dtype == bool else jax.lax.bitcast_convert_type(data, leaf.dtype)

        return jax.tree_util.tree_unflatten(self._form, [read(leaf) for leaf in self._leaves])

    def read(self, row: np.ndarray) -> Any:
        """The tree of a row with arrays of numpy, which share its bytes."""
        leaves = [row[leaf.first : leaf.end].view(leaf.dtype).reshape(leaf.shape) for leaf in self._leaves]
        return jax.tree_util.tree_unflatten(self._form, leaves)
