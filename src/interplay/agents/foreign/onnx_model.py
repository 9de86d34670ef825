"""Policies from ONNX files: the graph is translated to JAX operations, so that it runs in compiled episodes.

The first input is the observation, with a batch axis; the first output gives logits, or values of actions. Further
inputs are memory: each is fed the further output of the same place, and is zero at an episode's start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, PRNGKeyArray

from interplay.agents.api import Info, Memory, Observation, Policy
from interplay.agents.basic import masked
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.untrusted_files import MiB, regular_file

LIMIT = 512 * MiB
ENCODINGS = ("planes", "planes_first", "details", "features", "belief", "obs")  # tried in turn where none is named


class Node(NamedTuple):
    """An operation of the graph, in values that can be hashed."""

    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    options: tuple[tuple[str, Any], ...]


class Constant(NamedTuple):
    """A small array of whole numbers, such as a shape, which decides what is compiled."""

    name: str
    shape: tuple[int, ...]
    values: tuple[int, ...]


class Graph(NamedTuple):
    """A network's graph without its weights."""

    nodes: tuple[Node, ...]
    constants: tuple[Constant, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    memory: tuple[tuple[int, ...], ...]  # shapes of the further inputs


class OnnxPolicy(Policy):
    """A network from an ONNX file."""

    identity_kind: ClassVar[str] = "ONNX network"
    weights: dict[str, Array]
    greedy: Bool[Array, ""]
    graph: Graph = eqx.field(static=True)
    reads: tuple[str, ...] = eqx.field(static=True)

    def __init__(self, graph: Graph, weights: Mapping[str, Any], reads: tuple[str, ...], *, greedy: Any = False):
        self.graph, self.reads, self.greedy = graph, reads, jnp.asarray(greedy, bool)
        self.weights = {name: jnp.asarray(array) for name, array in weights.items()}

    def fingerprint(self) -> Mapping[str, Any]:
        """Return its graph, weights, what it reads and how it acts."""
        return {"graph": str(self.graph), "reads": list(self.reads), "greedy": self.greedy} | dict(self.weights)

    @property
    def encoding(self) -> str:
        """Name of the encoding that `act` reads."""
        return self.reads[0]

    def bind(self, game: Game) -> Policy:
        """Return this policy with the first encoding that fits.

        Raises:
            InterplayError: None of the game's encodings fits the graph's input, or the actions differ.
        """
        problems = []
        for name in self.reads:
            if name not in game.encodings:
                continue
            tried = OnnxPolicy(self.graph, self.weights, (name,), greedy=self.greedy)
            try:
                shape = jax.eval_shape(lambda p=tried: p.try_on(game)).shape
            except (TypeError, ValueError, IndexError) as error:
                problems.append(f"{name}: {str(error).splitlines()[0][:120]}")
                continue
            actions = len(game.action_names)
            if shape != (actions,):
                raise InterplayError(f"this network gives {shape[0]} values; {game.id} has {actions} actions")
            return tried
        raise InterplayError(f"this network fits no encoding of {game.id} ({'; '.join(problems) or 'none is known'})")

    def try_on(self, game: Game) -> Any:
        """Return the values of a start's actions, to see whether the shapes fit."""
        state = game.init(jax.random.key(0))
        obs = jax.tree.map(lambda leaf: leaf[0], game.observe(state, self.encoding))
        return self.forward(self.init(jax.random.key(0), jnp.int32(0)), obs)[1]

    def init(self, key: PRNGKeyArray | None, seat: Array | None) -> tuple[Array, ...]:
        """Return the memory at the start of an episode: zeros."""
        return tuple(jnp.zeros(shape, jnp.float32) for shape in self.graph.memory)

    def forward(self, memory: tuple[Array, ...], obs: Observation) -> tuple[tuple[Array, ...], Array]:
        """Return the memory after a step, and the values of the actions."""
        first, *others = self.graph.outputs
        made = run(self.graph, self.weights, [jnp.asarray(obs, jnp.float32)[None], *memory])
        return tuple(made[name] for name in others[: len(memory)]), made[first].reshape(-1)

    def act(self, memory: Memory, obs: Observation, legal: Array, key: PRNGKeyArray) -> tuple[Memory, Array, Info]:
        """Choose an action and update the memory."""
        memory, logits = self.forward(memory, obs)
        logits = masked(logits, legal)
        return memory, jnp.where(self.greedy, jnp.argmax(logits), jax.random.categorical(key, logits)), Info(logits)


def load(path: str | Path, *, encoding: str | None = None, greedy: bool = False) -> OnnxPolicy:
    """Return the policy of an ONNX file.

    Raises:
        InterplayError: onnx is not installed, or the file is no graph of operations that are known here.
    """
    path = regular_file(path)
    if path.stat().st_size > LIMIT:
        raise InterplayError(f"{path} holds more than {LIMIT // MiB} MiB, the most that is read of it")
    try:
        import onnx
        from onnx import numpy_helper
    except ImportError:
        raise InterplayError("ONNX files need `pip install interplay[onnx]`") from None
    try:
        model = onnx.load(str(path), load_external_data=False)
        onnx.checker.check_model(model)
        if any(one.data_location == onnx.TensorProto.EXTERNAL for one in model.graph.initializer):
            raise InterplayError(f"{path} keeps its weights in other files; save it as one file")
        arrays = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}
        nodes = [_node(one, arrays, numpy_helper) for one in model.graph.node if one.op_type != "Constant"]
        for one in model.graph.node:
            if one.op_type == "Constant":
                arrays[one.output[0]] = np.asarray(numpy_helper.to_array(one.attribute[0].t))
        inputs = [one for one in model.graph.input if one.name not in arrays]
    except InterplayError:
        raise
    except Exception as error:  # onnx and protobuf raise errors of many kinds
        problem = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise InterplayError(f"{path} is damaged or no ONNX file: {problem}") from None
    unknown = sorted({one.op for one in nodes} - set(OPERATIONS))
    if unknown or not inputs:
        known = ", ".join(sorted(OPERATIONS))
        raise InterplayError(f"{path} uses {', '.join(unknown) or 'no input'}; known operations are {known}")
    whole = {n: a for n, a in arrays.items() if np.issubdtype(a.dtype, np.integer) or a.dtype == bool}
    constants = tuple(Constant(n, a.shape, tuple(int(v) for v in a.reshape(-1))) for n, a in whole.items())
    memory = tuple(tuple(d.dim_value or 1 for d in one.type.tensor_type.shape.dim) for one in inputs[1:])
    names = tuple(one.name for one in inputs)
    graph = Graph(tuple(nodes), constants, names, tuple(one.name for one in model.graph.output), memory)
    weights = {n: a.astype(np.float32) for n, a in arrays.items() if n not in whole}
    return OnnxPolicy(graph, weights, (encoding,) if encoding else ENCODINGS, greedy=greedy)


def _node(one: Any, arrays: dict[str, np.ndarray], helper: Any) -> Node:
    import onnx

    options = []
    for attribute in one.attribute:
        value = onnx.helper.get_attribute_value(attribute)
        if isinstance(value, bytes):
            value = value.decode()
        if isinstance(value, int | float | str):
            options.append((attribute.name, value))
        elif isinstance(value, list) or hasattr(value, "__iter__"):
            options.append((attribute.name, tuple(value)))
    return Node(one.op_type, tuple(one.input), tuple(one.output), tuple(options))


def run(graph: Graph, weights: Mapping[str, Any], inputs: list[Any]) -> dict[str, Any]:
    """Evaluate a graph; whole-number constants stay numpy arrays, so that shapes are known while compiling."""
    values: dict[str, Any] = {"": None} | dict(weights)
    values |= {c.name: np.array(c.values, np.int64).reshape(c.shape) for c in graph.constants}
    values |= dict(zip(graph.inputs, inputs, strict=True))
    for node in graph.nodes:
        made = OPERATIONS[node.op]([values[name] for name in node.inputs], dict(node.options))
        made = made if isinstance(made, list) else [made]
        values |= dict(zip(node.outputs, made, strict=False))
    return values


def _space(*values: Any) -> Any:
    """Numpy for what is known while compiling, JAX for all else."""
    return np if all(isinstance(v, np.ndarray) for v in values if v is not None) else jnp


def _two(function: str) -> Callable:
    return lambda x, _: getattr(_space(*x), function)(x[0], x[1])


def _gemm(x: list[Any], o: dict[str, Any]) -> Any:
    a, b = (v.T if o.get(f"trans{name}") else v for name, v in zip("AB", x[:2], strict=True))
    product = o.get("alpha", 1.0) * (a @ b)
    return product if len(x) < 3 or x[2] is None else product + o.get("beta", 1.0) * x[2]


def _conv(x: list[Any], o: dict[str, Any]) -> Any:
    spatial = x[1].ndim - 2
    pads = o.get("pads", (0,) * 2 * spatial)
    padding = list(zip(pads[:spatial], pads[spatial:], strict=True))
    if o.get("auto_pad", "NOTSET") in ("SAME_UPPER", "SAME_LOWER"):
        padding = "SAME"
    out = jax.lax.conv_general_dilated(
        x[0], x[1], o.get("strides", (1,) * spatial), padding, rhs_dilation=o.get("dilations", (1,) * spatial),
        feature_group_count=o.get("group", 1),
    )  # fmt: skip
    return out if len(x) < 3 or x[2] is None else out + x[2].reshape(1, -1, *[1] * spatial)


def _layer_norm(x: list[Any], o: dict[str, Any]) -> Any:
    axes = tuple(range(o.get("axis", -1) % x[0].ndim, x[0].ndim))
    centred = x[0] - jnp.mean(x[0], axes, keepdims=True)
    scaled = centred * jax.lax.rsqrt(jnp.mean(centred**2, axes, keepdims=True) + o.get("epsilon", 1e-5))
    return scaled * x[1] + (x[2] if len(x) > 2 and x[2] is not None else 0.0)


def _batch_norm(x: list[Any], o: dict[str, Any]) -> Any:
    shape = (1, -1, *[1] * (x[0].ndim - 2))
    scale, shift, mean, var = (v.reshape(shape) for v in x[1:5])
    return (x[0] - mean) * jax.lax.rsqrt(var + o.get("epsilon", 1e-5)) * scale + shift


def _reshape(x: list[Any], o: dict[str, Any]) -> Any:
    wanted = [x[0].shape[i] if n == 0 and not o.get("allowzero") else int(n) for i, n in enumerate(x[1])]
    return x[0].reshape(wanted)


def _axes(x: list[Any], o: dict[str, Any]) -> tuple[int, ...] | None:
    if len(x) > 1 and x[1] is not None:
        return tuple(int(v) for v in x[1])
    return o.get("axes")


def _squeeze(x: list[Any], o: dict[str, Any]) -> Any:
    return _space(x[0]).squeeze(x[0], _axes(x, o))


def _unsqueeze(x: list[Any], o: dict[str, Any]) -> Any:
    return _space(x[0]).expand_dims(x[0], _axes(x, o) or ())


def _mean(x: list[Any], o: dict[str, Any]) -> Any:
    return jnp.mean(x[0], _axes(x, o), keepdims=bool(o.get("keepdims", 1)))


def _slice(x: list[Any], _: dict[str, Any]) -> Any:
    starts, ends = x[1], x[2]
    axes = x[3] if len(x) > 3 and x[3] is not None else np.arange(len(starts))
    steps = x[4] if len(x) > 4 and x[4] is not None else np.ones(len(starts), np.int64)
    cut = [slice(None)] * x[0].ndim
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        cut[int(axis)] = slice(int(start), min(int(end), 2**31), int(step))
    return x[0][tuple(cut)]


def _split(x: list[Any], o: dict[str, Any]) -> list[Any]:
    axis = o.get("axis", 0)
    sizes = x[1] if len(x) > 1 and x[1] is not None else o.get("split")
    if sizes is None:
        return list(_space(x[0]).split(x[0], o["num_outputs"], axis))
    return list(_space(x[0]).split(x[0], np.cumsum(np.asarray(sizes))[:-1], axis))


def _gru(x: list[Any], o: dict[str, Any]) -> list[Any]:
    """One direction, ONNX's gate order: update, reset, hidden."""
    sequence, w, r, b = x[0], x[1][0], x[2][0], x[3][0]
    units = r.shape[1]
    h = x[5][0] if len(x) > 5 and x[5] is not None else jnp.zeros((sequence.shape[1], units), jnp.float32)
    of_input, of_hidden, outputs = b[: 3 * units], b[3 * units :], []
    if not o.get("linear_before_reset"):
        raise InterplayError("a GRU with linear_before_reset=0 is not read; torch and flax write 1")
    for t in range(sequence.shape[0]):
        z, reset, new = jnp.split(sequence[t] @ w.T + of_input, 3, axis=-1)
        hz, hr, hn = jnp.split(h @ r.T + of_hidden, 3, axis=-1)
        z = jax.nn.sigmoid(z + hz)
        h = (1 - z) * jnp.tanh(new + jax.nn.sigmoid(reset + hr) * hn) + z * h
        outputs.append(h)
    return [jnp.stack(outputs)[:, None], h[None]]


OPERATIONS: dict[str, Callable] = {
    "Add": _two("add"), "Sub": _two("subtract"), "Mul": _two("multiply"), "Div": _two("divide"), "Pow": _two("power"),
    "MatMul": _two("matmul"), "Gemm": _gemm, "Conv": _conv, "GRU": _gru,
    "LayerNormalization": _layer_norm, "BatchNormalization": _batch_norm,
    "Relu": lambda x, _: jax.nn.relu(x[0]), "Tanh": lambda x, _: jnp.tanh(x[0]),
    "Sigmoid": lambda x, _: jax.nn.sigmoid(x[0]), "Sqrt": lambda x, _: jnp.sqrt(x[0]),
    "Gelu": lambda x, o: jax.nn.gelu(x[0], approximate=o.get("approximate", "none") == "tanh"),
    "Elu": lambda x, o: jax.nn.elu(x[0], o.get("alpha", 1.0)), "Erf": lambda x, _: jax.lax.erf(x[0]),
    "LeakyRelu": lambda x, o: jax.nn.leaky_relu(x[0], o.get("alpha", 0.01)),
    "Softmax": lambda x, o: jax.nn.softmax(x[0], o.get("axis", -1)),
    "LogSoftmax": lambda x, o: jax.nn.log_softmax(x[0], o.get("axis", -1)),
    "ReduceMean": _mean, "Reshape": _reshape, "Squeeze": _squeeze, "Unsqueeze": _unsqueeze, "Slice": _slice,
    "Split": _split, "Identity": lambda x, _: x[0], "Cast": lambda x, _: x[0], "Dropout": lambda x, _: [x[0]],
    "Transpose": lambda x, o: x[0].transpose(o.get("perm", tuple(range(x[0].ndim))[::-1])),
    "Flatten": lambda x, o: x[0].reshape(int(np.prod(x[0].shape[: o.get("axis", 1)])), -1),
    "Concat": lambda x, o: _space(*x).concatenate(x, o["axis"]),
    "Shape": lambda x, _: np.array(x[0].shape, np.int64),
    "Gather": lambda x, o: _space(*x).take(x[0], x[1], o.get("axis", 0)),
}  # fmt: skip
