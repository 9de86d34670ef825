"""Checksums of states, with which traces prove their replay."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, UInt32

from interplay.games.records import key_as_bits


def checksum(state: Any) -> UInt32[Array, ""]:
    """Return a 32-bit mix of all values of a state. Pure JAX; floats count by their bits."""
    total = jnp.uint32(2166136261)
    for leaf in jax.tree.leaves(state):
        values = jnp.asarray(key_as_bits(leaf))
        if jnp.issubdtype(values.dtype, jnp.floating):
            values = jax.lax.bitcast_convert_type(values.astype(jnp.float32), jnp.uint32)
        flat = values.astype(jnp.uint32).reshape(-1)
        place = jnp.arange(flat.shape[0], dtype=jnp.uint32)
        mixed = (flat + jnp.uint32(0x9E3779B9)) * (place * jnp.uint32(2) + jnp.uint32(0x85EBCA6B))
        mixed = mixed ^ (mixed >> 15)
        total = (total ^ jnp.sum(mixed * jnp.uint32(0xC2B2AE35), dtype=jnp.uint32)) * jnp.uint32(16777619)
    return total ^ (total >> 13)
