"""Recurrent cells: the inputs' part of the gates is computed for all steps at once, the rest step by step.

A cell's memory is one flat vector: of a GRU its units, of an LSTM its output and then its cell state.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

SHORT = 32  # steps up to which a mingru is worked out one after the other, which is then quicker
CELLS = {"gru": 1, "lstm": 2, "mingru": 1}  # vectors of as many units that each remembers


class MinGRU(eqx.Module):
    """Minimal GRU (Feng et al. 2024): h' = (1 - z) h + z c, where neither z nor c depend on h.

    All steps are therefore computed in parallel, in as many rounds as the logarithm of their number.
    """

    weight_ih: Float[Array, "gates in"]
    bias: Float[Array, " gates"]

    def __init__(self, inputs: int, units: int, *, key: PRNGKeyArray):
        limit = 1 / math.sqrt(units)
        self.weight_ih = jax.random.uniform(key, (2 * units, inputs), jnp.float32, -limit, limit)
        self.bias = jnp.zeros(2 * units, jnp.float32)


def new_cell(kind: str, inputs: int, units: int, key: PRNGKeyArray) -> Any:
    """Make a cell of a kind: gru, lstm or mingru."""
    made = {"gru": eqx.nn.GRUCell, "lstm": eqx.nn.LSTMCell, "mingru": MinGRU}
    return made[kind](inputs, units, key=key)


def product(
    x: Float[Array, "... in"], weight: Float[Array, "out in"], precision: str, out: Any = None
) -> Float[Array, "... out"]:
    """Multiply in a precision, and return it too unless `out` says otherwise.

    A result of more bits would make the gradients' products use as many bits.
    """
    kind = jnp.dtype(precision)
    return jnp.matmul(x.astype(kind), weight.T.astype(kind), preferred_element_type=out or kind)


def projected(cell: Any, x: Float[Array, "... in"], precision: str) -> Float[Array, "... gates"]:
    """Return what inputs add to the gates."""
    return product(x, cell.weight_ih, precision) + cell.bias.astype(jnp.dtype(precision))


def stepped(
    cell: Any, memory: Float[Array, "... memory"], gates: Float[Array, "... gates"], precision: str
) -> tuple[Float[Array, "... memory"], Float[Array, "... unit"]]:
    """Compute one step: the new memory, and the cell's output."""
    memory = _changed(type(cell), memory, gates, _hidden(*_weights(cell), memory, precision))
    return memory, _output(cell, memory)


def unrolled(
    cell: Any,
    memory: Float[Array, "... memory"],
    x: Float[Array, "step ... in"],
    starts: Bool[Array, "step ..."],
    precision: str,
    restart_memory: Float[Array, "step ... memory"] | None = None,
) -> tuple[Float[Array, "step ... memory"], Float[Array, "step ... unit"]]:
    """Compute sequences of steps, one or many at once.

    Where `starts` is true the memory is reset: to zeros, or to `restart_memory`.
    """
    gates, starts = projected(cell, x, precision), starts[..., None]
    fresh = jnp.zeros((*starts.shape[:-1], 1), memory.dtype) if restart_memory is None else restart_memory
    after: Any  # a custom gradient says nothing of the type it gives
    if isinstance(cell, MinGRU) and len(starts) > SHORT:
        after = _side_by_side(memory, gates, starts, fresh)
    else:
        after = _in_order(type(cell), precision, *_weights(cell), memory, gates, starts, fresh)
    return after, _output(cell, after)


def _output(cell: Any, memory: Float[Array, "... memory"]) -> Float[Array, "... unit"]:
    """Return the cell's output: of an LSTM the first half of its memory."""
    return jnp.split(memory, 2, axis=-1)[0] if isinstance(cell, eqx.nn.LSTMCell) else memory


def _weights(cell: Any) -> tuple[Any, Any]:
    """Return the recurrent weights and bias; None without them."""
    if isinstance(cell, MinGRU):
        return None, None
    if isinstance(cell, eqx.nn.LSTMCell):
        return cell.weight_hh, jnp.zeros(cell.weight_hh.shape[0], jnp.float32)
    return cell.weight_hh, jnp.concatenate([jnp.zeros(2 * cell.hidden_size, jnp.float32), cell.bias_n])


def _hidden(weight: Any, bias: Any, memory: Array, precision: str) -> Any:
    """Return what the memory adds to the gates."""
    if weight is None:
        return None
    return product(memory[..., : weight.shape[1]], weight, precision) + bias.astype(jnp.dtype(precision))


def _changed(kind: Any, memory: Array, gates: Array, hidden: Any) -> Array:
    """Return the memory after a step from what the input and the memory add to the gates."""
    gates = gates.astype(jnp.float32)
    if kind is MinGRU:
        z, c = jnp.split(gates, 2, axis=-1)
        return memory + jax.nn.sigmoid(z) * (c - memory)
    hidden = hidden.astype(jnp.float32)
    if kind is eqx.nn.LSTMCell:
        _, c = jnp.split(memory, 2, axis=-1)
        i, f, g, o = jnp.split(gates + hidden, 4, axis=-1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        return jnp.concatenate([jax.nn.sigmoid(o) * jnp.tanh(c), c], axis=-1)
    reset, update, new = jnp.split(gates, 3, axis=-1)
    of_reset, of_update, of_new = jnp.split(hidden, 3, axis=-1)
    new = jnp.tanh(new + jax.nn.sigmoid(reset + of_reset) * of_new)
    return new + jax.nn.sigmoid(update + of_update) * (memory - new)


@partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def _in_order(
    kind: Any, precision: str, weight: Any, bias: Any, memory: Array, gates: Array, starts: Array, restart_memory: Array
) -> Float[Array, "step ... memory"]:
    """Return the memory after each step, with a custom gradient.

    The weights' gradient is then one product of all steps, where differentiating the loop would make one in every step.
    """
    return _forwards(kind, precision, weight, bias, memory, gates, starts, restart_memory)[0]


def _forwards(kind: Any, precision: str, weight: Any, bias: Any, memory: Array, *steps: Array) -> tuple[Array, Any]:
    def turn(memory: Array, now: tuple[Array, ...]) -> tuple[Array, tuple[Array, Any, Array]]:
        gates, start, restart_memory = now
        before = jnp.where(start, restart_memory, memory)
        hidden = _hidden(weight, bias, before, precision)
        after = _changed(kind, before, gates, hidden)
        return after, (after, hidden, before)

    after, hidden, before = jax.lax.scan(turn, memory, steps, unroll=_written_out(precision))[1]
    return after, (weight, bias, before, hidden, *steps)


def _written_out(precision: str) -> int:
    """Return how many steps of the loop to unroll.

    Half precision is for accelerators: there 8 are 7 % quicker than 1.
    """
    return 8 if precision == "bfloat16" else 1


def _backwards(kind: Any, precision: str, kept: Any, change: Array) -> tuple:
    weight, bias, before, hidden, gates, starts, restart_memory = kept

    def turn(later: Array, now: tuple) -> tuple[Array, tuple[Array, Any, Array]]:
        change, before, hidden, gates, start = now
        back = jax.vjp(lambda *inputs: _changed(kind, *inputs), before, gates, hidden)[1]
        of_memory, of_gates, of_hidden = back(change + later)
        if weight is not None:
            own = product(of_hidden, weight.T, precision).astype(jnp.float32)
            of_memory = of_memory.at[..., : weight.shape[1]].add(own)
        return jnp.where(start, 0.0, of_memory), (of_gates, of_hidden, jnp.where(start, of_memory, 0.0))

    steps = (change, before, hidden, gates, starts)
    nothing, unroll = jnp.zeros_like(before[0]), _written_out(precision)
    first, (of_gates, of_hidden, of_restart) = jax.lax.scan(turn, nothing, steps, reverse=True, unroll=unroll)
    of_weight = of_bias = None
    if weight is not None:
        units, width = weight.shape[1], weight.shape[0]
        rows = of_hidden.reshape(-1, width), before[..., :units].reshape(-1, units)
        of_weight = product(rows[0].T, rows[1].T, precision, jnp.float32).astype(weight.dtype)
        of_bias = jnp.sum(rows[0].astype(jnp.float32), axis=0).astype(bias.dtype)
    if restart_memory.shape[-1] == 1:  # resets to zeros
        of_restart = jnp.sum(of_restart, axis=-1, keepdims=True)
    return of_weight, of_bias, first, of_gates, None, of_restart


_in_order.defvjp(_forwards, _backwards)


def _side_by_side(memory: Array, gates: Array, starts: Array, restart_memory: Array) -> Array:
    z, c = jnp.split(gates.astype(jnp.float32), 2, axis=-1)
    z = jax.nn.sigmoid(z)
    keep, add = jnp.where(starts, 0.0, 1 - z), z * c + jnp.where(starts, (1 - z) * restart_memory, 0.0)
    add = add.at[0].add(keep[0] * memory)

    def compose(earlier: tuple[Array, Array], later: tuple[Array, Array]) -> tuple[Array, Array]:
        return earlier[0] * later[0], later[0] * earlier[1] + later[1]

    return jax.lax.associative_scan(compose, (keep, add))[1]
