"""A PyTorch model as an agent. This one holds the weights of a shipped policy; yours comes from `torch.load`.

interplay grade --game overcooked/coordination_ring --agent examples/torch_agent.py:agent
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import interplay
from interplay.agents import Agent, View
from interplay.errors import InterplayError

try:
    import torch
except ImportError as missing:
    raise InterplayError("this example needs PyTorch: pip install torch, or see examples/onnx_agent.py") from missing

POLICY = "trained/overcooked/coordination_ring/hsp-1"


def model() -> Any:
    """The shipped policy as a torch.nn.Sequential."""
    core, parts = interplay.agent(POLICY).policy.core, []
    for layer in (*core.trunk.layers, core.head):
        weight, bias = (torch.tensor(np.array(x, np.float32)) for x in (layer.weight, layer.bias))
        dense = torch.nn.Linear(*weight.shape)
        dense.weight.data, dense.bias.data = weight.T.contiguous(), bias
        parts += [dense, torch.nn.ReLU()]
    return torch.nn.Sequential(*parts[:-1]).eval()


@dataclass(frozen=True)
class TorchPlayer:
    """Samples from the model's logits, among actions that are legal and would change anything."""

    model: Any
    encoding: str = "details"
    deadline_s: float | None = None
    default_action: int | None = None

    def begin(self, game: Any, seat: int, seed: int) -> TorchSession:
        return TorchSession(self.model, torch.Generator().manual_seed(seed % 2**63))


@dataclass(frozen=True)
class TorchSession:
    model: Any
    random: Any

    async def act(self, view: View) -> int:
        with torch.inference_mode():
            logits = self.model(torch.from_numpy(np.array(view.observation, np.float32)))
        allowed = view.legal & (view.observation[-len(view.legal) :] > 0)
        allowed = torch.from_numpy(np.array(allowed if allowed.any() else view.legal))
        chances = torch.softmax(torch.where(allowed, logits, -torch.inf), -1)
        return int(torch.multinomial(chances, 1, generator=self.random))


def agent() -> Agent:
    return Agent("torch", TorchPlayer(model()))
