"""Actors of ZSC-Eval and HSP (`actor_*.pt`): convolutions or dense layers, a GRU if there is one, a head.

Its environments multiply their planes by 255 and its networks divide by 255 first, so the two cancel and the planes are
read as they are. How many planes there are says which: 20 are those of 2019 (kitchens of one recipe), 25 those of
several recipes, 26 the standard ones. Its environments also rule out actions without effect while an actor plays; ours
do so with the game's option `rule_out_null_interacts`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from interplay.agents.foreign.layers import Layer, check_arrays
from interplay.agents.foreign.observations import OVERCOOKED_BY_PLANES, Input
from interplay.agents.foreign.policy import ForeignPolicy
from interplay.errors import InterplayError

HEAD = "act.action_out.linear"
EPSILON = 1e-5  # of torch's layer norm


def actor(state: Any, where: str, *, activation: str = "relu", encoding: str | None = None, greedy: bool = False):
    """Return the policy of an actor's state dictionary.

    Args:
        state: Arrays by torch's names.
        where: The file, for errors.
        activation: `--activation_id` of the training: relu (1, the default), tanh, leaky_relu or elu.
        encoding: The encoding that it reads; by default by its number of planes.
        greedy: Take the likeliest action instead of sampling.

    Raises:
        InterplayError: These are not the arrays of such an actor.
    """
    arrays = _checked(state, where)
    weights: dict[str, np.ndarray] = {}
    layers = [*_base(arrays, weights, activation, where), *_memory(arrays, weights, where)]
    layers += _after(arrays, weights, activation)
    weights |= _dense(arrays, HEAD, "head")
    layers.append(Layer("dense", "head"))
    return ForeignPolicy(layers, weights, _inputs(layers, weights, encoding, where), greedy=greedy)


def is_actor(state: Any) -> bool:
    """Return whether a file holds an actor of ZSC-Eval."""
    return isinstance(state, Mapping) and f"{HEAD}.weight" in state


def _checked(state: Any, where: str) -> dict[str, np.ndarray]:
    if not is_actor(state):
        some = ", ".join(map(str, list(state)[:3])) if isinstance(state, Mapping) else type(state).__name__
        raise InterplayError(
            f"{where} holds no actor of ZSC-Eval: there is no {HEAD}.weight among {some}. Give actor_*.pt, not the "
            "critic or policy_config.pkl"
        )
    arrays = {str(name): array for name, array in state.items() if isinstance(array, np.ndarray)}
    check_arrays(arrays, [f"{HEAD}.weight", f"{HEAD}.bias"], where)
    return arrays


def _base(arrays: Mapping[str, np.ndarray], weights: dict, activation: str, where: str) -> list[Layer]:
    if any(name.startswith("base.cnn.") for name in arrays):
        return _picture(arrays, weights, activation)
    if "base.mlp.fc1.0.weight" not in arrays:
        raise InterplayError(f"{where}: no base.cnn.* and no base.mlp.*; only these bases are read")
    layers = []
    if "base.feature_norm.weight" in arrays:
        weights |= _norm(arrays, "base.feature_norm", "feature_norm")
        layers.append(Layer("norm", "feature_norm", EPSILON))
    return layers + _mlp(arrays, weights, "base.mlp", activation)


def _picture(arrays: Mapping[str, np.ndarray], weights: dict, activation: str) -> list[Layer]:
    """The numbered parts of `base.cnn`: convolutions and dense layers, each with an activation, and norms."""
    layers: list[Layer] = []
    numbers = {int(m[1]) for name in arrays if (m := re.fullmatch(r"base\.cnn\.(\d+)\.weight", name))}
    for number in sorted(numbers):
        source, name = f"base.cnn.{number}", f"cnn{number}"
        kernel = arrays[f"{source}.weight"]
        if kernel.ndim == 4:
            weights[f"{name}.kernel"] = kernel.transpose(2, 3, 1, 0)
            weights[f"{name}.bias"] = arrays[f"{source}.bias"]
            layers += [Layer("conv", name, "same"), Layer(activation)]
        elif kernel.ndim == 2:
            if not any(one.kind == "dense" for one in layers):
                layers.append(Layer("flatten_planes_first"))
            weights |= _dense(arrays, source, name)
            layers += [Layer("dense", name), Layer(activation)]
        else:
            weights |= _norm(arrays, source, name)
            layers.append(Layer("norm", name, EPSILON))
    return layers


def _mlp(arrays: Mapping[str, np.ndarray], weights: dict, prefix: str, activation: str) -> list[Layer]:
    layers: list[Layer] = []
    hidden = sorted(
        {name.split(".fc2.")[1].split(".")[0] for name in arrays if name.startswith(f"{prefix}.fc2.")}, key=int
    )
    for source in (f"{prefix}.fc1", *(f"{prefix}.fc2.{number}" for number in hidden)):
        name = source.replace(".", "_")
        weights |= _dense(arrays, f"{source}.0", name) | _norm(arrays, f"{source}.2", f"{name}_norm")
        layers += [Layer("dense", name), Layer(activation), Layer("norm", f"{name}_norm", EPSILON)]
    return layers


def _memory(arrays: Mapping[str, np.ndarray], weights: dict, where: str) -> list[Layer]:
    layers: list[Layer] = []
    number = 0
    while f"rnn.rnn.weight_ih_l{number}" in arrays:
        name, parts = f"gru{number}", {"input": "weight_ih", "hidden": "weight_hh"}
        check_arrays(arrays, [f"rnn.rnn.{p}_l{number}" for p in ("weight_hh", "bias_ih", "bias_hh")], where)
        weights |= {f"{name}.{to}": arrays[f"rnn.rnn.{source}_l{number}"].T for to, source in parts.items()}
        weights[f"{name}.input_bias"] = arrays[f"rnn.rnn.bias_ih_l{number}"]
        weights[f"{name}.hidden_bias"] = arrays[f"rnn.rnn.bias_hh_l{number}"]
        layers.append(Layer("gru", name))
        number += 1
    if layers:
        weights |= _norm(arrays, "rnn.norm", "rnn_norm")
        layers.append(Layer("norm", "rnn_norm", EPSILON))
    return layers


def _after(arrays: Mapping[str, np.ndarray], weights: dict, activation: str) -> list[Layer]:
    if "mlp_after.fc1.0.weight" not in arrays:
        return []
    return _mlp(arrays, weights, "mlp_after", activation)


def _dense(arrays: Mapping[str, np.ndarray], source: str, name: str) -> dict[str, np.ndarray]:
    check_arrays(arrays, [f"{source}.weight", f"{source}.bias"], "the actor")
    return {f"{name}.kernel": arrays[f"{source}.weight"].T, f"{name}.bias": arrays[f"{source}.bias"]}


def _norm(arrays: Mapping[str, np.ndarray], source: str, name: str) -> dict[str, np.ndarray]:
    check_arrays(arrays, [f"{source}.weight", f"{source}.bias"], "the actor")
    return {f"{name}.scale": arrays[f"{source}.weight"], f"{name}.bias": arrays[f"{source}.bias"]}


def _inputs(layers: list[Layer], weights: dict, encoding: str | None, where: str) -> tuple[Input, ...]:
    if encoding is not None:
        return (Input(encoding),)
    if layers[0].kind != "conv":
        raise InterplayError(f"{where} reads a vector; say which with encoding=..., one that the game has")
    planes = weights[f"{layers[0].name}.kernel"].shape[2]
    if planes not in OVERCOOKED_BY_PLANES:
        known = ", ".join(map(str, OVERCOOKED_BY_PLANES))
        raise InterplayError(f"{where} reads {planes} planes; known are {known}. Or say encoding=...")
    return (OVERCOOKED_BY_PLANES[planes],)
