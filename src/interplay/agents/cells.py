"""Cells of memory: what a step's input adds to the gates is worked out for all steps at once, the rest step by step.

A cell's memory is one flat vector: of a GRU its units, of an LSTM its output and then its cell state.
"""

from __future__ import annotations

import math
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

SHORT = 32  # steps up to which a mingru is worked out one after the other
CELLS = {"gru": 1, "lstm": 2, "mingru": 1}  # vectors of as many units that each remembers


class MinGRU(eqx.Module):
    """h' = (1 - z) h + z c, where neither z nor c look at h: so all steps are worked out side by side, in as many
    rounds as the logarithm of their number (Feng et al. 2024)."""

    weight_ih: Float[Array, "gates in"]
    bias: Float[Array, " gates"]

    def __init__(self, inputs: int, units: int, *, key: PRNGKeyArray):
        limit = 1 / math.sqrt(units)
        self.weight_ih = jax.random.uniform(key, (2 * units, inputs), jnp.float32, -limit, limit)
        self.bias = jnp.zeros(2 * units, jnp.float32)


def new_cell(kind: str, inputs: int, units: int, key: PRNGKeyArray) -> Any:
    made = {"gru": eqx.nn.GRUCell, "lstm": eqx.nn.LSTMCell, "mingru": MinGRU}
    return made[kind](inputs, units, key=key)


def product(x: Float[Array, "... in"], weight: Float[Array, "out in"], precision: str) -> Float[Array, "... out"]:
    """In the precision, its result too: a result of more bits would make the gradients' products of as many bits."""
    kind = jnp.dtype(precision)
    return jnp.matmul(x.astype(kind), weight.T.astype(kind), preferred_element_type=kind)


def projected(cell: Any, x: Float[Array, "... in"], precision: str) -> Float[Array, "... gates"]:
    """What inputs add to the gates."""
    return product(x, cell.weight_ih, precision) + cell.bias.astype(jnp.dtype(precision))


def stepped(
    cell: Any, memory: Float[Array, "... memory"], gates: Float[Array, "... gates"], precision: str
) -> tuple[Float[Array, "... memory"], Float[Array, "... unit"]]:
    """One step: the new memory, and what the cell gives."""
    if isinstance(cell, MinGRU):
        z, c = jnp.split(gates.astype(jnp.float32), 2, axis=-1)
        memory = memory + jax.nn.sigmoid(z) * (c - memory)
        return memory, memory
    if isinstance(cell, eqx.nn.LSTMCell):
        h, c = jnp.split(memory, 2, axis=-1)
        gates = (gates + product(h, cell.weight_hh, precision)).astype(jnp.float32)
        i, f, g, o = jnp.split(gates, 4, axis=-1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return jnp.concatenate([h, c], axis=-1), h
    reset, update, new = jnp.split(gates.astype(jnp.float32), 3, axis=-1)
    hidden = product(memory, cell.weight_hh, precision).astype(jnp.float32)
    of_reset, of_update, of_new = jnp.split(hidden, 3, axis=-1)
    new = jnp.tanh(new + jax.nn.sigmoid(reset + of_reset) * (of_new + cell.bias_n))
    memory = new + jax.nn.sigmoid(update + of_update) * (memory - new)
    return memory, memory


def unrolled(
    cell: Any,
    memory: Float[Array, " memory"],
    x: Float[Array, "step in"],
    starts: Bool[Array, " step"],
    precision: str,
    anew: Float[Array, "step memory"] | None = None,
) -> tuple[Float[Array, "step memory"], Float[Array, "step unit"]]:
    """A sequence of steps; where `starts` is true nothing from the step before is remembered, but what `anew` has."""
    gates = projected(cell, x, precision)
    if isinstance(cell, MinGRU) and len(starts) > SHORT:
        return _side_by_side(memory, gates, starts, anew)
    fresh = jnp.zeros((len(starts), 1), memory.dtype) if anew is None else anew

    def turn(memory: Array, now: tuple[Array, Array, Array]) -> tuple[Array, tuple[Array, Array]]:
        gates, start, fresh = now
        memory, out = stepped(cell, jnp.where(start, fresh, memory), gates, precision)
        return memory, (memory, out)

    # Without a product in the loop a short sequence is one kernel, if its steps are written out.
    unroll = len(starts) if isinstance(cell, MinGRU) else 1
    return jax.lax.scan(turn, memory, (gates, starts, fresh), unroll=unroll)[1]


def _side_by_side(memory: Array, gates: Array, starts: Array, anew: Any) -> tuple[Array, Array]:
    z, c = jnp.split(gates.astype(jnp.float32), 2, axis=-1)
    z = jax.nn.sigmoid(z)
    keep, add = jnp.where(starts[:, None], 0.0, 1 - z), z * c
    add = add.at[0].add(keep[0] * memory)
    if anew is not None:
        add = add + jnp.where(starts[:, None], (1 - z) * anew, 0.0)

    def compose(earlier: tuple[Array, Array], later: tuple[Array, Array]) -> tuple[Array, Array]:
        return earlier[0] * later[0], later[0] * earlier[1] + later[1]

    found = jax.lax.associative_scan(compose, (keep, add))[1]
    return found, found
