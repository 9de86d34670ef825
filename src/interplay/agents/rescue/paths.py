"""Walking distances inside compiled code, by relaxation."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

FAR = 1_000_000  # no way


def distances(
    sources: Bool[Array, "goal cell"], passable: Bool[Array, " cell"], front: Int[Array, "cell 4"]
) -> Int[Array, "goal cell"]:
    """Return the steps from each cell to the nearest source of each goal; FAR where no way leads."""
    field = jnp.where(sources & passable, 0, FAR)

    def relax(carry):
        old, _ = carry
        near = jnp.min(old[:, front], axis=-1) + 1
        new = jnp.minimum(old, jnp.where(passable, near, FAR))
        return new, jnp.any(new < old)

    return jax.lax.while_loop(lambda carry: carry[1], relax, (field, jnp.array(True)))[0]
