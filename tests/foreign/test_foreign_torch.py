"""Actors of ZSC-Eval that torch wrote, and ONNX files that torch exported, play as torch plays them."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import interplay
from interplay.agents.foreign.layers import apply
from interplay.agents.foreign.observations import OVERCOOKED_BY_PLANES, VIEWS
from interplay.errors import InterplayError
from interplay.games.overcooked.state import OvercookedItem

torch = pytest.importorskip("torch", reason="torch is not installed: make test-foreign does")
pytestmark = pytest.mark.foreign
KITCHEN = interplay.make("overcooked/coordination_ring", horizon=40)
WIDTH, HEIGHT, _ = KITCHEN.encodings["planes"].shape


class Actor(torch.nn.Module):
    """ZSC-Eval's actor for pictures: numbered parts in `base.cnn`, a GRU with a norm, one linear head."""

    def __init__(self, planes: int, *, recurrent: bool, padding: int = 1, hidden: int = 16):
        super().__init__()
        parts, before, size = [], planes, (WIDTH, HEIGHT)
        for channels in (8, 12, 8):
            parts += [torch.nn.Conv2d(before, channels, 3, 1, padding), torch.nn.ReLU()]
            before = channels
            size = tuple(n + 2 * padding - 2 for n in size)
        parts.append(torch.nn.Flatten())
        inputs = before * size[0] * size[1]
        for _ in range(3):
            parts += [torch.nn.Linear(inputs, hidden), torch.nn.ReLU(), torch.nn.LayerNorm(hidden)]
            inputs = hidden
        self.base = torch.nn.Module()
        self.base.cnn = torch.nn.Sequential(*parts)
        if recurrent:
            self.rnn = torch.nn.Module()
            self.rnn.rnn, self.rnn.norm = torch.nn.GRU(hidden, hidden), torch.nn.LayerNorm(hidden)
        self.act = torch.nn.Module()
        self.act.action_out = torch.nn.Module()
        self.act.action_out.linear = torch.nn.Linear(hidden, 6)
        for parameter in self.parameters():
            torch.nn.init.normal_(parameter, std=0.2)

    def forward(self, obs, hidden):
        """One step; observations are 255 times the planes, as ZSC-Eval's environment gives them."""
        x = self.base.cnn(obs.permute(0, 3, 1, 2) / 255.0)
        if hasattr(self, "rnn"):
            x, hidden = self.rnn.rnn(x[None], hidden)
            x = self.rnn.norm(x[0])
        return self.act.action_out.linear(x), hidden


@pytest.mark.parametrize("planes", list(OVERCOOKED_BY_PLANES))
@pytest.mark.parametrize("recurrent", [False, True])
def test_an_actor_gives_torch_s_logits(planes, recurrent, tmp_path):
    torch.manual_seed(0)
    actor, path = Actor(planes, recurrent=recurrent), tmp_path / "actor_agent0.pt"
    torch.save(actor.state_dict(), path)
    agent = interplay.agent(str(path))
    assert agent.config["framework"] == "ZSC-Eval"
    policy = agent.policy.bind(KITCHEN)
    state, memory, hidden = KITCHEN.init(jax.random.key(0)), policy.init(None, 0), torch.zeros(1, 1, 16)
    rng = np.random.default_rng(0)
    for _ in range(12):
        seen = VIEWS[OVERCOOKED_BY_PLANES[planes].view](KITCHEN.observe(state, "planes")[0])
        with torch.no_grad():
            theirs, hidden = actor(torch.tensor(255 * np.asarray(seen, np.float32))[None], hidden)
        memory, ours = apply(policy.layers, policy.weights, memory, seen)
        np.testing.assert_allclose(ours, theirs[0], rtol=1e-3, atol=1e-4)
        state, _ = KITCHEN.step(state, rng.integers(0, 6, 2))


def test_the_padding_is_told_by_the_first_dense_layer(tmp_path):
    """A picture of another size than the first dense layer reads is told, with or without padding."""
    small = Actor(26, recurrent=False, padding=1).state_dict()
    small["base.cnn.7.weight"] = small["base.cnn.7.weight"][:, :-8]
    torch.save(small, tmp_path / "actor.pt")
    with pytest.raises(InterplayError, match="fits no such encoding"):
        interplay.agent(str(tmp_path / "actor.pt")).policy.bind(KITCHEN)


def test_the_planes_of_2019_are_those_of_the_recorded_games():
    """A soup that cooks: three onions in the pot, and one more step of cooking in every state."""
    state = KITCHEN.init(jax.random.key(0))
    pot = int(KITCHEN.kitchen.pots[0])
    soup = 3 * 4 + int(OvercookedItem.SOUP)
    for left, cooked in ((19, 1), (5, 15), (0, 20)):
        now = replace(state, items=state.items.at[pot].set(soup), timer=state.timer.at[pot].set(left))
        seen = np.asarray(VIEWS["planes20"](KITCHEN.observe(now, "planes")[0])).reshape(-1, 20)
        assert (seen[pot, 15], seen[pot, 16], seen[pot, 17]) == (3, cooked, 0)


def test_an_onnx_file_that_torch_wrote(tmp_path):
    torch.manual_seed(0)

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.norm = torch.nn.Conv2d(26, 8, 3, padding=1), torch.nn.LayerNorm(16)
            self.one, self.two = torch.nn.Linear(8 * WIDTH * HEIGHT, 16), torch.nn.Linear(16, 6)

        def forward(self, obs):
            x = torch.relu(self.conv(obs.permute(0, 3, 1, 2))).flatten(1)
            return self.two(self.norm(torch.tanh(self.one(x))))

    network, path = Network(), tmp_path / "chef.onnx"
    shape = (1, *KITCHEN.encodings["planes"].shape)
    pytest.importorskip("onnxscript", reason="torch exports by onnxscript")
    names = {"input_names": ["obs"], "output_names": ["logits"]}
    torch.onnx.export(network, (torch.zeros(shape),), str(path), external_data=False, **names)
    policy = interplay.agent(str(path)).policy.bind(KITCHEN)
    assert policy.encoding == "planes"
    obs = KITCHEN.observe(KITCHEN.init(jax.random.key(0)), "planes")[0]
    with torch.no_grad():
        theirs = network(torch.tensor(np.asarray(obs, np.float32))[None])[0]
    np.testing.assert_allclose(policy.forward((), obs)[1], theirs, rtol=1e-3, atol=1e-4)
    assert len(interplay.play(KITCHEN, [str(path), "stay"], episodes=1, seed=0)) == 1


def test_a_tensor_with_strides_and_other_kinds_of_numbers(tmp_path):
    from interplay.agents.foreign.array_files import read_torch

    values = torch.arange(12.0).reshape(3, 4)
    state = OrderedDict(turned=values.T, part=values[1:, ::2], half=values.half(), whole=torch.arange(3))
    torch.save(state, tmp_path / "tensors.pt")
    arrays = read_torch(tmp_path / "tensors.pt")
    for name, tensor in state.items():
        np.testing.assert_array_equal(arrays[name], tensor.numpy())
    assert jnp.asarray(arrays["turned"]).shape == (4, 3)
