"""An ONNX model as an agent. This one is made here: a shipped policy, written layer by layer as an ONNX file.

interplay grade --game overcooked/coordination_ring --agent examples/onnx_agent.py:agent

Needs onnx and onnxruntime. With a model of your own, `OnnxPlayer("model.onnx")` is all you need: it reads the encoding
`details` as a batch of one and answers with a logit for each action.
"""

from __future__ import annotations

import hashlib
import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import interplay
from interplay.agents import Agent, View
from interplay.errors import InterplayError

POLICY = "trained/overcooked/coordination_ring/hsp-1"


def write_model(path: Path, layers: list[tuple[np.ndarray, np.ndarray]]) -> None:
    """Dense layers (weight [in, out], bias [out]) with ReLU between them, as an ONNX graph."""
    nodes, values, seen = [], [], "details"
    for number, (weight, bias) in enumerate(layers):
        last = number == len(layers) - 1
        values += [numpy_helper.from_array(weight, f"weight{number}"), numpy_helper.from_array(bias, f"bias{number}")]
        told = "logits" if last else f"sum{number}"
        nodes.append(helper.make_node("Gemm", [seen, f"weight{number}", f"bias{number}"], [told]))
        if not last:
            nodes.append(helper.make_node("Relu", [told], [f"units{number}"]))
        seen = f"units{number}"
    ends = [
        helper.make_tensor_value_info("details", TensorProto.FLOAT, [1, layers[0][0].shape[0]]),
        helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, layers[-1][0].shape[1]]),
    ]
    graph = helper.make_graph(nodes, "policy", ends[:1], ends[1:], values)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    onnx.save(model, str(path))


@dataclass(frozen=True)
class OnnxPlayer:
    """Samples from the model's logits, among actions that are legal and would change anything."""

    path: str
    encoding: str = "details"
    deadline_s: float | None = None
    default_action: int | None = None

    @cached_property
    def model(self) -> onnxruntime.InferenceSession:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # a small model: threads cost more than they give
        return onnxruntime.InferenceSession(self.path, options, providers=["CPUExecutionProvider"])

    def logits(self, details: np.ndarray) -> np.ndarray:
        read = self.model.get_inputs()[0]
        if read.shape[-1] != len(details):
            here = f"this game's {self.encoding} are {len(details)}"
            raise InterplayError(f"{self.path} reads {read.shape[-1]} numbers; {here}")
        return self.model.run(None, {read.name: details[None].astype(np.float32)})[0][0]

    def begin(self, game: Any, seat: int, seed: int) -> OnnxSession:
        return OnnxSession(self, np.random.default_rng(seed))


@dataclass(frozen=True)
class OnnxSession:
    """One seat of one episode. Its randomness is its own, so that an episode can be had again."""

    player: OnnxPlayer
    rng: np.random.Generator

    async def act(self, view: View) -> int:
        allowed = view.legal & (view.observation[-len(view.legal) :] > 0)
        logits = np.where(allowed if allowed.any() else view.legal, self.player.logits(view.observation), -np.inf)
        return int(np.argmax(logits + self.rng.gumbel(size=logits.shape)))


def agent(path: str | None = None) -> Agent:
    """The agent of a model file; without one, of a shipped policy written as such."""
    if path is None:
        core = interplay.agent(POLICY).policy.core
        dense = [*core.trunk.layers, core.head]
        layers = [(np.asarray(d.weight, np.float32), np.asarray(d.bias, np.float32)) for d in dense]
        path = str(Path(tempfile.mkdtemp()) / "policy.onnx")
        write_model(Path(path), layers)
    weights = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    return Agent("onnx", OnnxPlayer(path), {"sha256": weights})  # traces tell which model it was
