"""Policies from published weights of Hanabi agents.

OBL in its flax form (`mttga/obl-r2d2-flax`), and the baselines of the ad-hoc human-AI coordination challenge
(`ah2ac2/baselines`).

A file is a flat table of arrays whose keys are joined by commas. Its keys say which network it holds; every key and
every shape is checked before anything is played. All of them read the encoding `belief`.

    obl    private view through three dense layers, times public view through a dense layer and a two-layer LSTM
    bc     dense, layer norm, GELU, LSTMs, dense, GELU, dense
    hdr    the same under params,actor
    ippo   dense, dense, dense with ReLU; the last two dense layers of the file are a critic, and left out
    fcp    dense, GRU, dense, dense

No weights come with interplay: they have licences of their own (OBL's source is for non-commercial use).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from interplay.agents.api import Agent, Info, Memory, Observation, Policy
from interplay.agents.basic import masked
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.untrusted_files import read_safetensors

Arrays = Mapping[str, Any]
GATES = "ifgo"
LSTM, GRU = "ScanLstmCellWithHiddenStateReset_0", "ScannedRNN_0,GRUCell_1"
OBL_SKIPS = 125  # numbers of the private view of two players: the partner's hand
KINDS = ("obl", "bc", "hdr", "ippo", "fcp")


class PublicPolicy(Policy):
    """A published network. It takes its likeliest action if `greedy`, else it samples."""

    identity_kind: ClassVar[str] = "published Hanabi network"
    encoding: ClassVar[str] = "belief"  # that `act` reads
    weights: dict[str, Array]
    greedy: Bool[Array, ""]
    kind: str = eqx.field(static=True)

    def __init__(self, kind: str, weights: Arrays, *, greedy: bool = True):
        self.kind, self.greedy = kind, jnp.bool_(greedy)
        self.weights = {name: jnp.asarray(array, jnp.float32) for name, array in weights.items()}

    def fingerprint(self) -> Mapping[str, Any]:
        """Return the kind of network, its weights, and how it acts."""
        return {"form": self.kind, "greedy": self.greedy, "weights": self.weights}

    def bind(self, game: Game) -> Policy:
        """Check that the network fits the game.

        Raises:
            InterplayError: The game is not Hanabi, or has another number of inputs or actions.
        """
        if not game.id.startswith("hanabi/"):
            raise InterplayError(f"these are weights for Hanabi; the game is {game.id}")
        reads, acts = _sizes(self.kind, self.weights)
        size, actions = game.encodings["belief"].shape, len(game.action_names)
        if size != (reads,) or actions != acts:
            raise InterplayError(
                f"these weights read {reads} numbers and know {acts} actions; {game.id} shows {size and size[0]} and "
                f"has {actions}: they are for another number of players"
            )
        return self

    def init(self, key: PRNGKeyArray, seat: Array) -> Any:
        """Return the memory at the start of an episode."""
        return start(self.kind, self.weights)

    def act(self, memory: Memory, obs: Observation, legal: Array, key: PRNGKeyArray) -> tuple[Memory, Array, Info]:
        """Choose an action and update the memory."""
        memory, values = forward(self.kind, self.weights, memory, obs)
        logits = masked(values, legal)
        return memory, jnp.where(self.greedy, jnp.argmax(logits), jax.random.categorical(key, logits)), Info(logits)


def forward(
    kind: str, weights: Arrays, memory: Memory, obs: Float[Array, " size"]
) -> tuple[Any, Float[Array, " action"]]:
    """Compute one step: the new memory, and logits (of OBL: advantages)."""
    if kind == "obl":
        return _obl(weights, memory, obs)
    if kind == "ippo":
        x = jax.nn.relu(_dense(weights, "Dense_0", obs))
        return memory, _dense(weights, "Dense_2", jax.nn.relu(_dense(weights, "Dense_1", x)))
    if kind == "fcp":
        memory = _gru(weights, GRU, memory, jax.nn.relu(_dense(weights, "Dense_0", obs)))
        return memory, _dense(weights, "Dense_2", jax.nn.relu(_dense(weights, "Dense_1", memory)))
    x = jax.nn.gelu(_layer_norm(weights, "LayerNorm_0", _dense(weights, "Dense_0", obs)), approximate=True)
    after = []
    for cell, carried in zip(_cells(weights, LSTM), memory, strict=True):
        carried = _lstm(weights, cell, carried, x)
        x = carried[1]
        after.append(carried)
    return tuple(after), _dense(weights, "Dense_2", jax.nn.gelu(_dense(weights, "Dense_1", x), approximate=True))


def start(kind: str, weights: Arrays) -> Any:
    """Return the memory at the start of a game: zeros."""
    if kind == "ippo":
        return ()
    if kind == "fcp":
        return jnp.zeros(weights[f"{GRU},hn,kernel"].shape[0], jnp.float32)
    cells = ["lstm,l0", "lstm,l1"] if kind == "obl" else _cells(weights, LSTM)
    return tuple((jnp.zeros(weights[f"{c},hi,bias"].shape[0], jnp.float32),) * 2 for c in cells)


def _obl(weights: Arrays, memory: Memory, obs: Array) -> tuple[Any, Array]:
    private, public = obs, jax.nn.relu(_dense(weights, "publ_net_dense_0", obs[OBL_SKIPS:]))
    for layer in range(3):
        private = jax.nn.relu(_dense(weights, f"priv_net_dense_{layer}", private))
    after = []
    for layer, carried in enumerate(memory):
        carried = _lstm(weights, f"lstm,l{layer}", carried, public)
        public = carried[1]
        after.append(carried)
    return tuple(after), _dense(weights, "fc_a", private * public)


def _dense(weights: Arrays, name: str, x: Array) -> Array:
    return x @ weights[f"{name},kernel"] + weights[f"{name},bias"]


def _layer_norm(weights: Arrays, name: str, x: Array) -> Array:
    centred = x - jnp.mean(x)
    scaled = centred * jax.lax.rsqrt(jnp.mean(centred**2) + 1e-6)
    return scaled * weights[f"{name},scale"] + weights[f"{name},bias"]


def _lstm(weights: Arrays, name: str, carried: tuple[Array, Array], x: Array) -> tuple[Array, Array]:
    """Return the cell state and the output."""
    c, h = carried
    i, f, g, o = (
        x @ weights[f"{name},i{gate},kernel"] + h @ weights[f"{name},h{gate},kernel"] + weights[f"{name},h{gate},bias"]
        for gate in GATES
    )
    c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    return c, jax.nn.sigmoid(o) * jnp.tanh(c)


def _gru(weights: Arrays, name: str, h: Array, x: Array) -> Array:
    def gate_input(gate: str, source: Array) -> Array:
        bias = weights.get(f"{name},{gate},bias")
        return source @ weights[f"{name},{gate},kernel"] + (0.0 if bias is None else bias)

    r, z = (jax.nn.sigmoid(gate_input(f"i{gate}", x) + gate_input(f"h{gate}", h)) for gate in "rz")
    n = jnp.tanh(gate_input("in", x) + r * gate_input("hn", h))
    return (1 - z) * n + z * h


def _cells(weights: Arrays, name: str) -> list[str]:
    """List the LSTM cells of a file in order, by the common prefix of their keys."""
    return sorted({key.rsplit(",", 2)[0] for key in weights if key.startswith(f"{name},")})


def is_public(keys: Any) -> bool:
    """Return whether a file's keys are those of one of these networks."""
    return _kind(set(keys)) is not None


def _kind(keys: set[str]) -> str | None:
    """Recognise a network by a key that only its kind has."""
    if any(k.startswith("params,priv_net_dense_") or k.startswith("params,publ_net_dense_") for k in keys):
        return "obl"
    if any(k.startswith(f"params,actor,{LSTM}") or k.startswith("params,actor,LayerNorm_0") for k in keys):
        return "hdr"
    if any(k.removeprefix("params,").startswith((LSTM, "LayerNorm_0")) for k in keys):
        return "bc"
    if any("ScannedRNN_0" in k for k in keys):
        return "fcp"
    return "ippo" if any(k.startswith("params,Dense_") for k in keys) else None


def load(path: str | Path, *, greedy: bool | None = None) -> Agent:
    """Load the agent of a published file.

    Args:
        path: A safetensors file.
        greedy: Take the likeliest action; None: OBL does, all others sample.
    """
    path = Path(path)
    arrays = read_safetensors(path).arrays
    kind = _kind(set(arrays))
    if kind is None:
        some = ", ".join(sorted(arrays)[:3])
        raise InterplayError(f"{path} holds none of {', '.join(KINDS)}: its keys are such as {some}")
    prefix = {"hdr": "params,actor,", "bc": "params," if any(k.startswith("params,") for k in arrays) else ""}
    weights = checked(kind, arrays, prefix.get(kind, "params,"), str(path))
    greedy = kind == "obl" if greedy is None else greedy
    if kind == "obl" and not greedy:
        raise InterplayError(f"{path}: what OBL gives are values of actions, not odds to sample by; leave greedy alone")
    return Agent(path.stem, PublicPolicy(kind, weights, greedy=greedy), {"public": kind, "greedy": greedy})


def checked(kind: str, arrays: Arrays, prefix: str, where: str) -> dict[str, Any]:
    """Check a file's arrays and return those that the network needs, by their names without the prefix.

    Raises:
        InterplayError: An array is missing or has the wrong shape.
    """
    named = {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}
    shapes = Shapes(named, prefix, where)
    if kind == "obl":
        shapes.obl()
    elif kind in ("bc", "hdr"):
        shapes.clone()
    else:
        shapes.dense_first(GRU if kind == "fcp" else None)
    return {name: named[name] for name in shapes.used}


class Shapes:
    """Walks through a file as the network would and checks the shape of every array."""

    def __init__(self, arrays: Arrays, prefix: str, where: str):
        self.arrays, self.prefix, self.where, self.used = arrays, prefix, where, []

    def take(self, name: str, *shape: int | None) -> tuple[int, ...]:
        """Check that an array exists with this shape (None: any size), and return its shape.

        Raises:
            InterplayError: It does not.
        """
        if name not in self.arrays:
            raise InterplayError(f"{self.where} lacks {self.prefix}{name}")
        has = tuple(int(n) for n in np.shape(self.arrays[name]))
        if len(has) != len(shape) or any(want not in (None, n) for want, n in zip(shape, has, strict=False)):
            wanted = " x ".join("any" if n is None else str(n) for n in shape)
            is_now = " x ".join(map(str, has)) or "a number"
            raise InterplayError(f"{self.where}: {self.prefix}{name} is {is_now}; expected {wanted}")
        self.used.append(name)
        return has

    def dense(self, name: str, inputs: int | None, outputs: int | None = None) -> tuple[int, int]:
        """Check a dense layer; return its numbers of inputs and outputs."""
        inputs, outputs = self.take(f"{name},kernel", inputs, outputs)
        self.take(f"{name},bias", outputs)
        return inputs, outputs

    def lstm(self, name: str, inputs: int) -> int:
        """Check an LSTM cell; return its number of units."""
        units = None
        for gate in GATES:
            units = self.take(f"{name},i{gate},kernel", inputs, units)[1]
            self.take(f"{name},h{gate},kernel", units, units)
            self.take(f"{name},h{gate},bias", units)
        assert units is not None
        return units

    def obl(self) -> None:
        """Check the network of OBL."""
        private, width = self.dense("priv_net_dense_0", None)
        for layer in (1, 2):
            _, width = self.dense(f"priv_net_dense_{layer}", width)
        _, public = self.dense("publ_net_dense_0", private - OBL_SKIPS)
        for layer in (0, 1):
            public = self.lstm(f"lstm,l{layer}", public)
        if public != width:
            raise InterplayError(f"{self.where}: {width} private and {public} public units cannot be multiplied")
        self.dense("fc_a", width)

    def clone(self) -> None:
        """Check a behaviour-cloning network."""
        _, width = self.dense("Dense_0", None)
        for part in ("scale", "bias"):
            self.take(f"LayerNorm_0,{part}", width)
        cells = _cells(self.arrays, LSTM)
        if not cells:
            raise InterplayError(f"{self.where} lacks {self.prefix}{LSTM},...,hi,kernel: it holds no LSTM")
        for cell in cells:
            width = self.lstm(cell, width)
        _, width = self.dense("Dense_1", width)
        self.dense("Dense_2", width)

    def dense_first(self, gru: str | None) -> None:
        """Check the networks of IPPO and FCP; FCP has a GRU after its first layer."""
        _, width = self.dense("Dense_0", None)
        if gru is not None:
            width = self.gru(gru, width)
        _, width = self.dense("Dense_1", width)
        self.dense("Dense_2", width)

    def gru(self, name: str, inputs: int) -> int:
        """Check a GRU cell; return its number of units."""
        _, units = self.take(f"{name},in,kernel", inputs, None)
        self.take(f"{name},in,bias", units)
        for gate in "rz":
            self.take(f"{name},i{gate},kernel", inputs, units)
            self.take(f"{name},i{gate},bias", units)
            self.take(f"{name},h{gate},kernel", units, units)
        self.take(f"{name},hn,kernel", units, units)
        self.take(f"{name},hn,bias", units)
        return units


def _sizes(kind: str, weights: Arrays) -> tuple[int, int]:
    """Return how many numbers the network reads, and how many actions it has."""
    first, last = ("priv_net_dense_0", "fc_a") if kind == "obl" else ("Dense_0", "Dense_2")
    return weights[f"{first},kernel"].shape[0], weights[f"{last},kernel"].shape[1]
