"""Frozen, keyword-only records that JAX can carry through jit, vmap and scan."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar, dataclass_transform

import jax

T = TypeVar("T")


@dataclass_transform(frozen_default=True, kw_only_default=True)
def record(cls: type[T]) -> type[T]:
    """Make a class a frozen, keyword-only dataclass whose fields are pytree leaves."""
    data: Any = dataclasses.dataclass(frozen=True, kw_only=True)(cls)
    return jax.tree_util.register_dataclass(data, [f.name for f in dataclasses.fields(data)], [])
