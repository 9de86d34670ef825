"""Networks of neural policies: from one seat's observation to logits (or a value), with or without memory.

A network is small and is evaluated for many members at once, so its layers are plain matrix products: members become
one batched product, where a library convolution would run member by member.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from interplay.agents.rnn import CELLS, new_cell, projected, stepped, unrolled
from interplay.config import build
from interplay.errors import InterplayError

ACTIVATIONS = {"relu": jax.nn.relu, "tanh": jnp.tanh, "gelu": jax.nn.gelu}
RULED_OUT = -1e9  # finite, so that a probability of 0 times its logarithm stays a number
PRECISIONS = ("float32", "bfloat16")


MOST_LAYERS, MOST_UNITS = 64, 1 << 17


@dataclass(frozen=True)
class Shape:
    """Everything that decides the arrays of a network, in plain JSON values."""

    input: tuple[int, ...]  # what is seen: [feature], [plane, width, height] or [width, height, plane]
    outputs: int
    trunk: str = "mlp"  # "mlp" or "cnn"
    planes: str = "first"  # where the planes of a picture stand: "first" or "last"
    channels: tuple[int, ...] = (32, 64, 32)  # of the 3x3 convolutions
    widths: tuple[int, ...] = (64, 64)  # of the dense layers
    activation: str = "relu"
    layer_norm: bool = False  # after every dense layer
    recurrent: int = 0  # units of the memory after the dense layers; 0: no memory
    extra: int = 0  # further inputs to the first dense layer, such as a partner's number
    precision: str = "float32"  # of the products; weights stay float32
    frames: int = 0  # past views that a model of the partner reads; 0: no model (see `agents.partner_conditioned`)
    mask: int = 0  # the last so many inputs are 0 where the output of that number is ruled out
    norm_first: bool = False  # the norm of a dense layer stands before its activation, not after
    cell: str = "gru"  # of the memory: gru, lstm, or mingru, which is trained on all steps side by side
    depth: int = 1  # cells of memory on top of each other
    decoder: tuple[int, ...] = ()  # dense layers between memory (or trunk) and the last layer
    own_turns: bool = False  # remembers only what it saw when it had something to choose

    def __post_init__(self) -> None:
        _one_of("trunk", self.trunk, ("mlp", "cnn"))
        _one_of("planes", self.planes, ("first", "last"))
        _one_of("activation", self.activation, tuple(ACTIVATIONS))
        _one_of("precision", self.precision, PRECISIONS)
        _one_of("cell", self.cell, tuple(CELLS))
        if not 1 <= self.depth <= MOST_LAYERS:
            raise InterplayError(f"depth: {self.depth}; a memory has 1 to {MOST_LAYERS} cells")
        sizes = (self.outputs, self.recurrent, *self.input, *self.channels, *self.widths, *self.decoder)
        layers = max(len(self.channels), len(self.widths), len(self.decoder))
        if layers > MOST_LAYERS or not all(0 <= size <= MOST_UNITS for size in sizes):
            raise InterplayError(f"a network has at most {MOST_LAYERS} layers of at most {MOST_UNITS} units")
        if self.trunk == "cnn" and len(self.input) != 3:
            raise InterplayError(f"a cnn reads planes; this encoding has the shape {self.input}: use the trunk mlp")
        if not self.widths:
            raise InterplayError("widths: a network needs at least one dense layer")
        if self.mask not in (0, self.outputs) or (self.mask and len(self.input) != 1):
            raise InterplayError(f"mask: {self.mask}; 0, or an entry of a flat view for each of {self.outputs} outputs")

    @property
    def features(self) -> int:
        """Units that the head, or the first layer of the decoder, reads."""
        return self.recurrent or self.widths[-1]

    @property
    def memory(self) -> int:
        """Size of the memory."""
        return self.recurrent * CELLS[self.cell] * self.depth

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}

    def changes(self) -> dict[str, Any]:
        """Return what differs from the defaults, so that fields added later do not change it."""
        return {
            f.name: getattr(self, f.name)
            for f in dataclasses.fields(self)
            if f.default is dataclasses.MISSING or getattr(self, f.name) != f.default
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Shape:
        """Build a shape from JSON values.

        Raises:
            InterplayError: The values describe no network that this version can build.
        """
        try:
            return build(cls, values, "network")
        except InterplayError as error:
            raise InterplayError(f"this network is not one that this version of interplay can build: {error}") from None


def _one_of(what: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise InterplayError(f"{what}: {value!r}; one of {', '.join(known)}")


class Dense(eqx.Module):
    """A dense layer: y = x W + b."""

    weight: Float[Array, "in out"]
    bias: Float[Array, " out"]

    def __init__(self, inputs: int, outputs: int, gain: float, key: PRNGKeyArray):
        self.weight = jax.nn.initializers.orthogonal(gain)(key, (inputs, outputs), jnp.float32)
        self.bias = jnp.zeros(outputs, jnp.float32)

    def __call__(
        self, x: Float[Array, "... in"], precision: str = "float32", out: str = "float32"
    ) -> Float[Array, "... out"]:
        """Multiply in `precision`, sum in float32, and return the dtype `out`."""
        kind, onward = jnp.dtype(precision), jnp.dtype(out)
        weight = filled_up(self.weight, x.shape[-1]).astype(kind)
        product = jnp.matmul(x.astype(kind), weight, preferred_element_type=onward)
        return product + self.bias.astype(onward)


def filled_up(weight: Float[Array, "in out"], inputs: int) -> Float[Array, "inputs out"]:
    """Pad weights for an observation that training padded with zeros at its end."""
    return weight if weight.shape[0] == inputs else jnp.pad(weight, ((0, inputs - weight.shape[0]), (0, 0)))


class Conv(eqx.Module):
    """A 3x3 convolution with zero padding, as one product of the nine shifted images."""

    dense: Dense

    def __init__(self, inputs: int, outputs: int, gain: float, key: PRNGKeyArray):
        self.dense = Dense(9 * inputs, outputs, gain, key)

    def __call__(self, x: Float[Array, "width height in"], precision: str) -> Float[Array, "width height out"]:
        """Convolve an image."""
        width, height, _ = x.shape
        padded = jnp.pad(x.astype(jnp.dtype(precision)), ((1, 1), (1, 1), (0, 0)))
        near = [padded[i : i + width, j : j + height] for i in range(3) for j in range(3)]
        return self.dense(jnp.concatenate(near, axis=-1), precision)


class LayerNorm(eqx.Module):
    """Normalisation to mean 0 and variance 1 over the units, then a learnt scale and shift."""

    scale: Float[Array, " unit"]
    shift: Float[Array, " unit"]

    def __init__(self, units: int):
        self.scale, self.shift = jnp.ones(units, jnp.float32), jnp.zeros(units, jnp.float32)

    def __call__(self, x: Float[Array, " unit"]) -> Float[Array, " unit"]:
        """Normalise a vector."""
        x = x.astype(jnp.float32)
        centred = x - jnp.mean(x, axis=-1, keepdims=True)
        return centred * jax.lax.rsqrt(jnp.mean(centred**2, axis=-1, keepdims=True) + 1e-5) * self.scale + self.shift


class Trunk(eqx.Module):
    """The layers from an observation to features."""

    convs: tuple[Conv, ...]
    layers: tuple[Dense, ...]
    norms: tuple[LayerNorm, ...]
    shape: Shape = eqx.field(static=True)

    def __init__(self, shape: Shape, key: PRNGKeyArray):
        keys = list(jax.random.split(key, len(shape.channels) + len(shape.widths)))
        self.shape, self.convs = shape, ()
        size = math.prod(shape.input)
        if shape.trunk == "cnn":
            depth, cells = _planes(shape)
            widths = (depth, *shape.channels)
            self.convs = tuple(Conv(a, b, math.sqrt(2), keys.pop()) for a, b in pairwise(widths))
            size = widths[-1] * cells
        widths = (size + shape.extra, *shape.widths)
        self.layers = tuple(Dense(a, b, math.sqrt(2), keys.pop()) for a, b in pairwise(widths))
        self.norms = tuple(LayerNorm(w) for w in shape.widths) if shape.layer_norm else ()

    def __call__(self, seen: Array, extra: Float[Array, " extra"] | None = None) -> Float[Array, " feature"]:
        """Return the features of an observation.

        Args:
            seen: The observation, of the shape's input.
            extra: Further inputs; needed if the shape has some.
        """
        shape, act = self.shape, ACTIVATIONS[self.shape.activation]
        x = seen
        if shape.trunk == "cnn":
            x = jnp.moveaxis(x, 0, -1) if shape.planes == "first" else x
            for conv in self.convs:
                # The nine shifted copies are nine times the picture: making them again is cheaper than keeping them.
                x = jax.checkpoint(lambda c, v: act(c(v, shape.precision)))(conv, x)
        x = x.reshape(-1)
        x = x.astype(jnp.dtype(shape.precision))
        if shape.extra:
            assert extra is not None, "this network reads further inputs"
            x = jnp.concatenate([x, extra.astype(x.dtype)])
        for number, layer in enumerate(self.layers):
            x = layer(x, shape.precision, shape.precision)
            if self.norms and shape.norm_first:
                x = act(self.norms[number](x))
            else:
                x = self.norms[number](act(x)) if self.norms else act(x)
        return x


def twins(first: Trunk, second: Trunk) -> bool:
    """Return whether two trunks read the same input with the same layers, so that they can be evaluated together."""
    differ = {"outputs": 0, "mask": 0}
    alike = replace(first.shape, **differ) == replace(second.shape, **differ)
    return alike and first.shape.trunk == "mlp" and not first.shape.extra and not first.shape.layer_norm


def twin_features(trunk: Trunk, other: Trunk, seen: Array) -> tuple[Float[Array, " feature"], Float[Array, " feature"]]:
    """Return the features of both trunks, evaluated side by side: half the products, and the input is read once."""
    shape, act = trunk.shape, ACTIVATIONS[trunk.shape.activation]
    kind = jnp.dtype(shape.precision)
    x = seen.reshape(-1).astype(kind)
    first = [jnp.concatenate([getattr(t.layers[0], part) for t in (trunk, other)], -1) for part in ("weight", "bias")]
    weight = filled_up(first[0], x.shape[0]).astype(kind)
    x = act(jnp.matmul(x, weight, preferred_element_type=kind) + first[1].astype(kind)).reshape(2, -1)
    for layers in zip(trunk.layers[1:], other.layers[1:], strict=True):
        weight, bias = jnp.stack([layer.weight for layer in layers]), jnp.stack([layer.bias for layer in layers])
        product = jnp.einsum("ti,tio->to", x, weight.astype(kind), preferred_element_type=kind)
        x = act(product + bias.astype(kind))
    return x[0], x[1]


def _planes(shape: Shape) -> tuple[int, int]:
    """Return how many planes an image has, and how many cells."""
    a, b, c = shape.input
    return (a, b * c) if shape.planes == "first" else (c, a * b)


class Core(eqx.Module):
    """A trunk, recurrent cells if there is memory, a decoder if there is one, and a head."""

    trunk: Trunk
    cell: Any  # one cell, several in a tuple, or None
    head: Dense
    decoder: tuple[Dense, ...]
    shape: Shape = eqx.field(static=True)

    def __init__(self, shape: Shape, gain: float, key: PRNGKeyArray):
        for_trunk, for_cell, for_head = jax.random.split(key, 3)
        self.shape = shape
        self.trunk = Trunk(shape, for_trunk)
        units, kind = shape.recurrent, shape.cell
        if not units:
            self.cell = None
        elif shape.depth == 1:
            self.cell = new_cell(kind, shape.widths[-1], units, for_cell)
        else:
            inputs = (shape.widths[-1], *[units] * (shape.depth - 1))
            keys = jax.random.split(for_cell, shape.depth)
            self.cell = tuple(new_cell(kind, n, units, k) for n, k in zip(inputs, keys, strict=True))
        widths = (shape.features, *shape.decoder)
        keys = jax.random.split(jax.random.fold_in(for_head, 1), max(len(shape.decoder), 1))
        self.decoder = tuple(Dense(a, b, math.sqrt(2), k) for (a, b), k in zip(pairwise(widths), keys))
        self.head = Dense(widths[-1], shape.outputs, gain, for_head)

    def start(self) -> Float[Array, " memory"]:
        """Return the memory before the first step of an episode; of size 0 without memory."""
        return jnp.zeros(self.shape.memory, jnp.float32)

    def step(
        self, memory: Float[Array, " memory"], seen: Array, extra: Any = None
    ) -> tuple[Float[Array, " memory"], Float[Array, " output"]]:
        """Compute one step: the new memory, and the outputs."""
        memory, features = self.follow(memory, seen, extra)
        return memory, self.outputs(features, seen)

    def follow(
        self, memory: Float[Array, " memory"], seen: Array, extra: Any = None
    ) -> tuple[Float[Array, " memory"], Float[Array, " feature"]]:
        """Compute one step: the new memory, and the features that the head reads."""
        return self.recall(memory, self.trunk(seen, extra))

    def recall(
        self, memory: Float[Array, " memory"], features: Float[Array, " feature"]
    ) -> tuple[Float[Array, " memory"], Float[Array, " feature"]]:
        """Compute one step from the trunk's features: the new memory, and the features that the head reads."""
        after, precision = [], self.shape.precision
        for cell, own in zip(self.cells, self._parts(memory), strict=True):
            own, features = stepped(cell, own, projected(cell, features, precision), precision)
            after.append(own)
        return jnp.concatenate(after) if after else memory, features

    @property
    def cells(self) -> tuple[Any, ...]:
        """The recurrent cells, from first to last."""
        if self.cell is None:
            return ()
        return self.cell if isinstance(self.cell, tuple) else (self.cell,)

    def _parts(self, memory: Float[Array, " memory"]) -> list[Array]:
        return jnp.split(memory, self.shape.depth, axis=-1) if self.cells else []

    def outputs(self, features: Float[Array, "... feature"], seen: Array) -> Float[Array, "... output"]:
        """Return the outputs of features; those that the observation's mask rules out are as low as possible."""
        values = self.decoded(features)
        if not self.shape.mask:
            return values
        return jnp.where(seen[..., -self.shape.mask :] > 0, values, RULED_OUT)

    def decoded(
        self, features: Float[Array, "... feature"], dropout: float = 0.0, key: Any = None
    ) -> Float[Array, "... output"]:
        """Return the outputs of features without the mask.

        Args:
            features: From `follow` or `unroll`.
            dropout: Share of the decoder's units that are dropped.
            key: Random key; needed with dropout.
        """
        act, x = ACTIVATIONS[self.shape.activation], features
        for number, layer in enumerate(self.decoder):
            x = act(layer(x, self.shape.precision, self.shape.precision))
            if dropout:
                kept = jax.random.bernoulli(jax.random.fold_in(key, number), 1 - dropout, x.shape)
                x = jnp.where(kept, x / (1 - dropout), 0.0)
        return self.head(x, self.shape.precision)

    def unroll(
        self,
        memory: Float[Array, " memory"],
        seen: Array,
        starts: Bool[Array, " step"],
        extra: Any = None,
        restart_memory: Float[Array, "step memory"] | None = None,
    ) -> tuple[Float[Array, "step memory"], Float[Array, "step feature"]]:
        """Compute a sequence of steps: the memory after each, and the features for the head.

        Where `starts` is true the memory is reset: to zeros, or to `restart_memory` if another seat's steps begin
        there.
        """
        return self.remember(memory, jax.vmap(lambda x: self.trunk(x, extra))(seen), starts, restart_memory)

    def unroll_all(
        self,
        memory: Float[Array, "sequence memory"],
        seen: Array,
        starts: Bool[Array, "sequence step"],
        restart_memory: Float[Array, "sequence step memory"] | None = None,
    ) -> Float[Array, "sequence step feature"]:
        """Return the features of many sequences.

        Unlike `unroll` for each, gradients of the memory's weights are one product of all steps of all sequences.
        """

        def swapped(x: Array) -> Array:
            return jnp.swapaxes(x, 0, 1)

        features = jax.vmap(jax.vmap(self.trunk))(seen)
        restarts = None if restart_memory is None else swapped(restart_memory)
        return swapped(self.remember(memory, swapped(features), swapped(starts), restarts)[1])

    def remember(
        self,
        memory: Float[Array, "*many memory"],
        features: Float[Array, "step *many feature"],
        starts: Bool[Array, "step ..."],
        restart_memory: Float[Array, "step *many memory"] | None = None,
    ) -> tuple[Float[Array, "step *many memory"], Float[Array, "step *many feature"]]:
        """Do the same as `unroll` from the trunk's features, for one sequence or many."""
        after = [jnp.zeros((*starts.shape, 0), jnp.float32)]
        fresh = [None] * len(self.cells) if restart_memory is None else self._parts(restart_memory)
        for cell, own, then in zip(self.cells, self._parts(memory), fresh, strict=True):
            memories, features = unrolled(cell, own, features, starts, self.shape.precision, then)
            after.append(memories)
        return jnp.concatenate(after, axis=-1), features
