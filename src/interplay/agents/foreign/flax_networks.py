"""Networks of JaxMARL and of jax-aht from flax's parameters, told apart by the names and shapes of their layers.

    IPPO feed-forward       Dense_0, Dense_1, Dense_2; the critic's layers follow and are left out
    IPPO with convolutions  CNN_0, Dense_0, Dense_1
    IPPO, MAPPO recurrent   Dense_0 (or CNN_0 and LayerNorm_0), ScannedRNN_0, then dense layers
    VDN, IQL, QMIX, PQN     the same with layer norms, the last layer gives values of actions (played greedily)
    jax-aht mlp, rnn        as IPPO's, with tanh

Flax files do not say which activation was used. Recurrent and convolutional networks have ReLU by default in JaxMARL;
feed-forward actor-critics and jax-aht have tanh; `activation=` says otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from interplay.agents.foreign.array_files import flattened
from interplay.agents.foreign.layers import Layer, check_arrays
from interplay.agents.foreign.observations import JAXMARL_PICTURES, JAXMARL_VECTORS, Input
from interplay.agents.foreign.policy import ForeignPolicy
from interplay.errors import InterplayError

EPSILON, BATCH_EPSILON = 1e-6, 1e-5  # of flax's layer norm and batch norm
WRAPPERS = ("params", "actor_params", "actor", "agent", "network", "model")


def policy(
    tree: Any,
    where: str,
    *,
    activation: str | None = None,
    encoding: str | None = None,
    member: int | tuple[int, ...] | None = None,
    greedy: bool | None = None,
    tanh: bool = False,
) -> ForeignPolicy:
    """Return the policy of a tree of flax parameters.

    Args:
        tree: Parameters, with or without `params` around them.
        where: The file, for errors.
        activation: Of the hidden layers; None: as the framework has it by default.
        encoding: The encoding that it reads; None: that of JaxMARL's environment, or the like of ours.
        member: Which network, where the arrays hold several (seeds, checkpoints) along leading axes.
        greedy: Take the likeliest action; None: value networks do, others sample.
        tanh: tanh is the default activation (jax-aht).

    Raises:
        InterplayError: These are no parameters of a known network.
    """
    tree, statistics = _inner(tree, where)
    arrays = _one_member(flattened(tree), member, where)
    if any("S5" in name or name.startswith(("action_body", "encoder_")) for name in arrays):
        raise InterplayError(f"{where} holds an S5 network; mlp and rnn networks are read, S5 is not")
    shared = _shares_trunk(arrays)
    picture = any(name.startswith("CNN_0,") for name in arrays)
    recurrent = any("ScannedRNN" in name for name in arrays)
    default = "tanh" if tanh or (not picture and not recurrent and not shared) else "relu"
    network = _Network(arrays, _one_member(statistics, member, where), activation or default, where)
    layers, weights = network.build()
    inputs = (Input(encoding),) if encoding else JAXMARL_PICTURES if picture else JAXMARL_VECTORS
    return ForeignPolicy(layers, weights, inputs, greedy=network.is_value if greedy is None else greedy)


def is_flax(tree: Any) -> bool:
    """Return whether a tree of arrays has the names that flax gives to layers."""
    try:
        names = flattened(tree)
    except InterplayError:
        return False
    return any(re.search(r"(^|,)(Dense|Conv|CNN|ScannedRNN|GRUCell)_\d+,", name) for name in names)


def _inner(tree: Any, where: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The parameters inside of whatever is around them, and running statistics if there are some."""
    statistics: dict[str, np.ndarray] = {}
    for _ in range(5):
        if not isinstance(tree, Mapping):
            raise InterplayError(f"{where} holds {type(tree).__name__}, no parameters by name")
        if "batch_stats" in tree:
            statistics = flattened(tree["batch_stats"])
        inside = [name for name in WRAPPERS if isinstance(tree.get(name), Mapping)]
        if not inside:
            break
        tree = tree[inside[0]]
    if not is_flax(tree):
        raise InterplayError(f"{where} holds no network of flax's layers: its names are such as {list(tree)[:4]}")
    return dict(tree), statistics


def _one_member(arrays: dict[str, np.ndarray], member: Any, where: str) -> dict[str, np.ndarray]:
    """The arrays of one network, where they hold several along leading axes; a bias of one has one axis."""
    axes = max((a.ndim - 1 for name, a in arrays.items() if name.endswith("bias")), default=0)
    if axes <= 0:
        return arrays
    shape = next(a.shape[:axes] for name, a in arrays.items() if name.endswith("bias") and a.ndim == axes + 1)
    indices = (member,) if isinstance(member, int) else member
    if indices is None or len(indices) != axes or any(not -n <= i < n for i, n in zip(indices, shape, strict=False)):
        raise InterplayError(
            f"{where} holds {' x '.join(map(str, shape))} networks; choose one with member={', '.join(['0'] * axes)}"
        )
    return {name: a[tuple(indices)] for name, a in arrays.items()}


def _shares_trunk(arrays: Mapping[str, np.ndarray]) -> bool:
    """Whether actor and critic share their first layer; if not, the critic's first reads the observation again."""
    first = arrays.get("Dense_0,kernel")
    return first is None or not any(
        name.startswith("Dense_")
        and name.endswith("kernel")
        and name != "Dense_0,kernel"
        and a.shape[0] == first.shape[0]
        for name, a in arrays.items()
        if a.shape[0] != first.shape[1]
    )


class _Network:
    """Walks through the layers as the network does."""

    def __init__(self, arrays: dict[str, np.ndarray], statistics: dict[str, np.ndarray], activation: str, where: str):
        self.arrays, self.statistics, self.activation, self.where = arrays, statistics, activation, where
        self.layers: list[Layer] = []
        self.weights: dict[str, np.ndarray] = {}
        self.is_value = False

    def build(self) -> tuple[list[Layer], dict[str, np.ndarray]]:
        chain = self._chain()
        norms = self._count("LayerNorm_", "")
        gru = next((n.split(",")[0] + "," + n.split(",")[1] for n in self.arrays if "ScannedRNN" in n), None)
        picture = self._count("Conv_", "CNN_0,") > 0
        if picture:
            self._picture()
            if gru is not None and norms == 1:
                self._norm("LayerNorm_0")
                norms = 0
        else:
            self._batch_norm()
        before = (0 if picture else max(1, norms)) if gru is not None else len(chain)
        self.is_value = norms > 0 or not any(self._outputs(f"Dense_{n}") == 1 for n in range(len(chain), 99))
        for place, name in enumerate(chain):
            if gru is not None and place == before:
                self._gru(gru)
            self._dense(name)
            if place < len(chain) - 1 or (gru is not None and place < before):
                if place < norms:
                    self._norm(f"LayerNorm_{place}")
                self.layers.append(Layer(self.activation))
        return self.layers, self.weights

    def _chain(self) -> list[str]:
        """The dense layers of the actor: they follow one another until one does not read what the last one gave."""
        names = [f"Dense_{n}" for n in range(self._count("Dense_", ""))]
        if not names:
            raise InterplayError(f"{self.where} has no dense layers at its top; it is no network of JaxMARL")
        recurrent = any("ScannedRNN" in n for n in self.arrays)
        chain = names[:1]
        for before, name in pairwise(names):
            crosses_memory = recurrent and len(chain) == max(1, self._count("LayerNorm_", ""))
            if self.arrays[f"{name},kernel"].shape[0] != self._outputs(before) and not crosses_memory:
                break
            chain.append(name)
        return chain

    def _count(self, kind: str, prefix: str) -> int:
        numbers = {m[1] for n in self.arrays if (m := re.match(rf"{re.escape(prefix)}{kind}(\d+),", n))}
        return len(numbers)

    def _outputs(self, name: str) -> int | None:
        bias = self.arrays.get(f"{name},bias")
        return None if bias is None else int(bias.shape[0])

    def _dense(self, name: str, prefix: str = "") -> None:
        source = f"{prefix}{name}"
        check_arrays(self.arrays, [f"{source},kernel", f"{source},bias"], self.where)
        own = source.replace(",", "_")
        self.weights |= {f"{own}.{part}": self.arrays[f"{source},{part}"] for part in ("kernel", "bias")}
        self.layers.append(Layer("dense", own))

    def _norm(self, name: str, prefix: str = "") -> None:
        source = f"{prefix}{name}"
        check_arrays(self.arrays, [f"{source},scale", f"{source},bias"], self.where)
        own = source.replace(",", "_")
        self.weights |= {f"{own}.{part}": self.arrays[f"{source},{part}"] for part in ("scale", "bias")}
        self.layers.append(Layer("norm", own, EPSILON))

    def _picture(self) -> None:
        norms = self._count("LayerNorm_", "CNN_0,")
        for number in range(self._count("Conv_", "CNN_0,")):
            source, own = f"CNN_0,Conv_{number}", f"CNN_0_Conv_{number}"
            check_arrays(self.arrays, [f"{source},kernel", f"{source},bias"], self.where)
            self.weights |= {f"{own}.{part}": self.arrays[f"{source},{part}"] for part in ("kernel", "bias")}
            self.layers.append(Layer("conv", own, "same"))
            if number < norms:
                self._norm(f"LayerNorm_{number}", "CNN_0,")
            self.layers.append(Layer(self.activation))
        self.layers.append(Layer("flatten"))
        for number in range(self._count("Dense_", "CNN_0,")):
            self._dense(f"Dense_{number}", "CNN_0,")
            self.layers.append(Layer(self.activation))

    def _batch_norm(self) -> None:
        if "BatchNorm_0,scale" not in self.arrays:
            return
        if "BatchNorm_0,mean" not in self.statistics:
            raise InterplayError(f"{self.where}: its batch norm has no running statistics (batch_stats) in this file")
        self.weights |= {f"batch_norm.{part}": self.arrays[f"BatchNorm_0,{part}"] for part in ("scale", "bias")}
        self.weights |= {f"batch_norm.{part}": self.statistics[f"BatchNorm_0,{part}"] for part in ("mean", "var")}
        self.layers.append(Layer("batch_norm", "batch_norm", BATCH_EPSILON))

    def _gru(self, source: str) -> None:
        gates = {gate: f"{source},{gate}" for gate in ("ir", "iz", "in", "hr", "hz", "hn")}
        check_arrays(self.arrays, [f"{name},kernel" for name in gates.values()], self.where)

        def side(which: str) -> tuple[np.ndarray, np.ndarray]:
            kernels = [self.arrays[f"{gates[which + gate]},kernel"] for gate in "rzn"]
            zero = np.zeros(kernels[0].shape[1], np.float32)
            biases = [self.arrays.get(f"{gates[which + gate]},bias", zero) for gate in "rzn"]
            return np.concatenate(kernels, axis=1), np.concatenate(biases)

        for which, name in (("i", "input"), ("h", "hidden")):
            self.weights[f"gru.{name}"], self.weights[f"gru.{name}_bias"] = side(which)
        self.layers.append(Layer("gru", "gru"))
