"""Comparison of states, observations and steps."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from interplay.games.records import key_as_bits


def difference(first: Any, second: Any, *, exact: bool = True) -> str | None:
    """Return where two trees of arrays (or of any Python values) first differ, in words; None if they are equal.

    With `exact=False` floats may differ by rounding, as compiled and plain programs do.
    """
    if _structure(first) != _structure(second):
        return f"the structures {_short(_structure(first))} and {_short(_structure(second))}"
    leaves = jax.tree_util.tree_leaves_with_path(first)
    for (path, a), b in zip(leaves, jax.tree.leaves(second), strict=True):
        where = jax.tree_util.keystr(path) or "the value"
        change = _leaf_difference(a, b, exact)
        if change:
            return f"{where}: {change}"
    return None


def _structure(tree: Any) -> Any:
    return jax.tree.structure(tree)


def _leaf_difference(a: Any, b: Any, exact: bool) -> str | None:
    if not is_array(a) or not is_array(b):
        return None if bool(np.all(a == b)) else f"{_short(a)} and {_short(b)}"
    x, y = plain_array(a), plain_array(b)
    if (x.shape, x.dtype) != (y.shape, y.dtype):
        return f"{x.dtype}{list(x.shape)} and {y.dtype}{list(y.shape)}"
    if np.issubdtype(x.dtype, np.floating):
        same = np.array_equal(x, y, equal_nan=True) if exact else np.allclose(x, y, 1e-5, 1e-6, equal_nan=True)
    else:
        same = np.array_equal(x, y)
    if same:
        return None
    place = np.argwhere(np.atleast_1d(x != y))[0].tolist()
    return f"at {place}, {np.atleast_1d(x)[tuple(place)]} and {np.atleast_1d(y)[tuple(place)]}"


def is_array(leaf: Any) -> bool:
    """Return whether a leaf is an array of numpy or JAX."""
    return isinstance(leaf, np.ndarray | np.generic | jax.Array)


def plain_array(leaf: Any) -> np.ndarray:
    """Return a leaf as a numpy array; a typed random key as its bits."""
    return np.asarray(key_as_bits(leaf))


def _short(value: Any, limit: int = 120) -> str:
    text = str(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"
