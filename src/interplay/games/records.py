"""Frozen, keyword-only records that JAX can carry through jit, vmap and scan."""

from __future__ import annotations

import dataclasses
import html
from typing import Any, TypeVar, dataclass_transform

import jax
import jax.numpy as jnp
import numpy as np

T = TypeVar("T")


@dataclass_transform(frozen_default=True, kw_only_default=True)
def record(cls: type[T]) -> type[T]:
    """Make a class a frozen, keyword-only dataclass whose fields are pytree leaves."""
    data: Any = dataclasses.dataclass(frozen=True, kw_only=True)(cls)
    data._repr_html_ = _repr_html
    return jax.tree_util.register_dataclass(data, [f.name for f in dataclasses.fields(data)], [])


def is_key(leaf: Any) -> bool:
    """Return whether a leaf of a record is a typed random key."""
    return hasattr(leaf, "dtype") and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def key_as_bits(leaf: Any) -> Any:
    """Return a leaf of a record as it is, but a typed random key as its bits."""
    return jax.random.key_data(leaf) if is_key(leaf) else leaf


def _repr_html(self: Any) -> str:
    """Return a record as a notebook shows it: a row for each field, with its type, shape and first values."""
    rows = []
    for path, leaf in jax.tree_util.tree_leaves_with_path(self):
        name, array = jax.tree_util.keystr(path, simple=True, separator="."), np.asarray(leaf)
        values = np.array2string(array.reshape(-1), threshold=12, max_line_width=10_000)
        cells = (name, f"{array.dtype}{list(array.shape)}", values)
        rows.append("".join(f"<td>{html.escape(str(cell))}</td>" for cell in cells))
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f"<table><caption>{type(self).__name__}</caption><tbody>{body}</tbody></table>"
