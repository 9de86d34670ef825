"""Networks as lists of layers: what is common to networks of all frameworks once their arrays have been renamed.

A network is a list of `Layer`s and arrays by name. Dense kernels are [in, out], convolutions [height, width, in, out]
over pictures [height, width, plane], and a GRU has the gates reset, update and new side by side: `input` [in, 3 units],
`hidden` [units, 3 units] and a bias for each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from interplay.errors import InterplayError

Weights = Mapping[str, Any]
ACTIVATIONS = {
    "relu": jax.nn.relu,
    "tanh": jnp.tanh,
    "gelu": jax.nn.gelu,
    "elu": jax.nn.elu,
    "leaky_relu": jax.nn.leaky_relu,
    "sigmoid": jax.nn.sigmoid,
}


class Layer(NamedTuple):
    """One layer.

    Attributes:
        kind: conv, dense, norm, batch_norm, gru, flatten (planes last), flatten_planes_first, or an activation.
        name: Of its arrays; empty if it has none.
        option: Of a convolution "same" or "valid"; of a norm its epsilon.
    """

    kind: str
    name: str = ""
    option: Any = None


def apply(
    layers: Sequence[Layer], weights: Weights, memory: tuple[Array, ...], x: Any
) -> tuple[tuple[Array, ...], Array]:
    """Compute one step of a network.

    Args:
        layers: From first to last.
        weights: Arrays as `NAME.kernel`, `NAME.bias`, ...
        memory: A vector for each GRU.
        x: One observation, without a batch axis.

    Returns:
        The memory after the step, and the output of the last layer.
    """
    states, after = list(memory), []
    x = jnp.asarray(x, jnp.float32)
    for kind, name, option in layers:
        if kind == "dense":
            x = x @ weights[f"{name}.kernel"] + weights[f"{name}.bias"]
        elif kind == "conv":
            x = _conv(weights, name, option, x)
        elif kind == "norm":
            x = _norm(weights, name, option, x)
        elif kind == "batch_norm":
            scale = weights[f"{name}.scale"] * jax.lax.rsqrt(weights[f"{name}.var"] + option)
            x = (x - weights[f"{name}.mean"]) * scale + weights[f"{name}.bias"]
        elif kind == "gru":
            x = _gru(weights, name, states.pop(0), x)
            after.append(x)
        elif kind in ("flatten", "flatten_planes_first"):
            x = (x if kind == "flatten" else jnp.moveaxis(x, -1, 0)).reshape(-1)
        else:
            x = ACTIVATIONS[kind](x)
    return tuple(after), x


def start(layers: Sequence[Layer], weights: Weights) -> tuple[Array, ...]:
    """Return the memory before the first step."""
    return tuple(jnp.zeros(weights[f"{one.name}.hidden"].shape[0], jnp.float32) for one in layers if one.kind == "gru")


def actions_of(layers: Sequence[Layer], weights: Weights) -> int:
    """Return how many actions a network chooses among: the outputs of its last dense layer."""
    last = [one for one in layers if one.kind == "dense"][-1]
    return int(weights[f"{last.name}.bias"].shape[0])


def _conv(weights: Weights, name: str, padding: str, x: Float[Array, "height width plane"]) -> Array:
    out = jax.lax.conv_general_dilated(
        x[None], weights[f"{name}.kernel"], (1, 1), padding.upper(), dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    return out[0] + weights[f"{name}.bias"]


def _norm(weights: Weights, name: str, epsilon: float, x: Array) -> Array:
    centred = x - jnp.mean(x, axis=-1, keepdims=True)
    scaled = centred * jax.lax.rsqrt(jnp.mean(centred**2, axis=-1, keepdims=True) + epsilon)
    return scaled * weights[f"{name}.scale"] + weights[f"{name}.bias"]


def _gru(weights: Weights, name: str, h: Float[Array, " unit"], x: Float[Array, " in"]) -> Float[Array, " unit"]:
    of_input = x @ weights[f"{name}.input"] + weights[f"{name}.input_bias"]
    of_hidden = h @ weights[f"{name}.hidden"] + weights[f"{name}.hidden_bias"]
    r, z, n = jnp.split(of_input, 3)
    hr, hz, hn = jnp.split(of_hidden, 3)
    new = jnp.tanh(n + jax.nn.sigmoid(r + hr) * hn)
    update = jax.nn.sigmoid(z + hz)
    return (1 - update) * new + update * h


def check_arrays(arrays: Weights, names: Sequence[str], where: str) -> None:
    """Check that arrays are there and hold numbers.

    Raises:
        InterplayError: One is missing, or holds something that is not finite.
    """
    for name in names:
        if name not in arrays:
            raise InterplayError(f"{where} lacks {name}; it holds {', '.join(sorted(arrays)[:6])}, ...")
        array = jnp.asarray(arrays[name])
        if not jnp.issubdtype(array.dtype, jnp.floating) or not bool(jnp.all(jnp.isfinite(array))):
            raise InterplayError(f"{where}: {name} does not hold finite numbers")
