"""Files in the forms that others have published: right keys and shapes, small sizes; forward passes in plain numpy."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from safetensors.numpy import save_file

from interplay.agents.registry import agent
from interplay.errors import InterplayError
from interplay.games.registry import make
from interplay.rollout.engine import run as play
from interplay.rollout.teams import Team

GAME = make("hanabi/2p")
SIZE, ACTIONS, UNITS = 658, 21, 6
CELL = "ScanLstmCellWithHiddenStateReset_0,OptimizedLSTMCell_"


def dense(rng, arrays, name, inputs, outputs):
    arrays[f"{name},kernel"] = rng.normal(size=(inputs, outputs)).astype(np.float32) / math.sqrt(inputs)
    arrays[f"{name},bias"] = rng.normal(size=outputs).astype(np.float32)


def lstm(rng, arrays, name, inputs, units):
    for gate in "ifgo":
        arrays[f"{name},i{gate},kernel"] = rng.normal(size=(inputs, units)).astype(np.float32)
        dense(rng, arrays, f"{name},h{gate}", units, units)


def made(kind: str, seed: int = 0) -> dict[str, np.ndarray]:
    rng, a = np.random.default_rng(seed), {}
    if kind == "obl":
        for layer, inputs in enumerate((SIZE, UNITS, UNITS)):
            dense(rng, a, f"params,priv_net_dense_{layer}", inputs, UNITS)
        dense(rng, a, "params,publ_net_dense_0", SIZE - 125, UNITS)
        for layer in range(2):
            lstm(rng, a, f"params,lstm,l{layer}", UNITS, UNITS)
        dense(rng, a, "params,fc_a", UNITS, ACTIONS)
        dense(rng, a, "params,fc_v", UNITS, 1)  # a value head, which nobody needs to play
        return a
    prefix = {"bc": "", "hdr": "params,actor,"}.get(kind, "params,")
    dense(rng, a, f"{prefix}Dense_0", SIZE, UNITS)
    if kind in ("bc", "hdr"):
        a[f"{prefix}LayerNorm_0,scale"] = rng.normal(size=UNITS).astype(np.float32)
        a[f"{prefix}LayerNorm_0,bias"] = rng.normal(size=UNITS).astype(np.float32)
        for layer in range(2):
            lstm(rng, a, f"{prefix}{CELL}{layer}", UNITS, UNITS)
    if kind == "fcp":
        name = f"{prefix}ScannedRNN_0,GRUCell_1"
        for gate in ("ir", "iz", "in", "hn"):
            dense(rng, a, f"{name},{gate}", UNITS, UNITS)
        for gate in ("hr", "hz"):
            a[f"{name},{gate},kernel"] = rng.normal(size=(UNITS, UNITS)).astype(np.float32)
    dense(rng, a, f"{prefix}Dense_1", UNITS, UNITS)
    dense(rng, a, f"{prefix}Dense_2", UNITS, ACTIONS)
    if kind in ("ippo", "fcp"):
        dense(rng, a, f"{prefix}Dense_3", UNITS, UNITS)
        dense(rng, a, f"{prefix}Dense_4", UNITS, 1)
    return a


# --- the same networks in numpy, written from their descriptions


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def relu(x):
    return np.maximum(x, 0)


class Reference:
    def __init__(self, kind: str, arrays: dict[str, np.ndarray]):
        self.kind, self.a = kind, {k: v.astype(np.float64) for k, v in arrays.items()}
        self.memory: dict[str, list[np.ndarray]] = {}

    def dense(self, name, x):
        return x @ self.a[f"{name},kernel"] + self.a[f"{name},bias"]

    def lstm(self, name, x):
        h, c = self.memory.setdefault(name, [np.zeros(UNITS), np.zeros(UNITS)])
        gates = {g: x @ self.a[f"{name},i{g},kernel"] + self.dense(f"{name},h{g}", h) for g in "ifgo"}
        c = sigmoid(gates["f"]) * c + sigmoid(gates["i"]) * np.tanh(gates["g"])
        h = sigmoid(gates["o"]) * np.tanh(c)
        self.memory[name] = [h, c]
        return h

    def gru(self, name, x):
        (h,) = self.memory.setdefault(name, [np.zeros(UNITS)])
        r = sigmoid(self.dense(f"{name},ir", x) + h @ self.a[f"{name},hr,kernel"])
        z = sigmoid(self.dense(f"{name},iz", x) + h @ self.a[f"{name},hz,kernel"])
        n = np.tanh(self.dense(f"{name},in", x) + r * self.dense(f"{name},hn", h))
        h = (1 - z) * n + z * h
        self.memory[name] = [h]
        return h

    def __call__(self, obs):
        p = {"bc": "", "hdr": "params,actor,"}.get(self.kind, "params,")
        if self.kind == "obl":
            private, public = obs, relu(self.dense("params,publ_net_dense_0", obs[125:]))
            for layer in range(3):
                private = relu(self.dense(f"params,priv_net_dense_{layer}", private))
            for layer in range(2):
                public = self.lstm(f"params,lstm,l{layer}", public)
            return self.dense("params,fc_a", private * public)
        x = self.dense(f"{p}Dense_0", obs)
        if self.kind in ("ippo", "fcp"):
            x = relu(x)
            x = self.gru(f"{p}ScannedRNN_0,GRUCell_1", x) if self.kind == "fcp" else x
            return self.dense(f"{p}Dense_2", relu(self.dense(f"{p}Dense_1", x)))
        x = (x - x.mean()) / np.sqrt(x.var() + 1e-6) * self.a[f"{p}LayerNorm_0,scale"] + self.a[f"{p}LayerNorm_0,bias"]
        x = gelu(x)
        for layer in range(2):
            x = self.lstm(f"{p}{CELL}{layer}", x)
        return self.dense(f"{p}Dense_2", gelu(self.dense(f"{p}Dense_1", x)))


def written(tmp_path, arrays, name="weights.safetensors"):
    path = tmp_path / name
    save_file(arrays, path)
    return str(path)


@pytest.mark.parametrize("kind", ["obl", "bc", "hdr", "ippo", "fcp"])
def test_a_published_network_gives_what_its_description_says(tmp_path, kind):
    arrays = made(kind)
    found = agent(written(tmp_path, arrays))
    assert found.config["public"] == kind
    mind, reference = found.policy.bind(GAME), Reference(kind, arrays)  # type: ignore[union-attr]
    memory, rng = mind.init(jax.random.key(0), jnp.int32(0)), np.random.default_rng(1)
    everything = jnp.ones(ACTIONS, bool)
    for _ in range(3):
        obs = rng.random(SIZE).astype(np.float32)
        memory, _, info = mind.act(memory, jnp.asarray(obs), everything, jax.random.key(0))
        np.testing.assert_allclose(info.logits, reference(obs.astype(np.float64)), rtol=2e-4, atol=2e-4)


@pytest.mark.slow
def test_published_agents_play(tmp_path):
    pair = [agent(written(tmp_path, made(kind), f"{kind}.safetensors")) for kind in ("obl", "ippo")]
    assert [e.score >= 0 for e in play(GAME, [Team.of(GAME, pair)], episodes=2, seed=0)] == [True, True]


@pytest.mark.parametrize("kind", ["obl", "bc", "hdr", "ippo", "fcp"])
def test_every_missing_key_and_every_wrong_shape_is_named(tmp_path, kind):
    whole = made(kind)
    spare = ("fc_v", "Dense_3", "Dense_4")  # critics
    needed = [k for k in whole if not any(s in k for s in spare)]
    for key in needed[:: max(1, len(needed) // 6)]:
        less = {k: v for k, v in whole.items() if k != key}
        with pytest.raises(InterplayError, match="lacks .*" + key.split(",")[-2]):
            agent(written(tmp_path, less))
        wrong = whole | {key: np.zeros((*whole[key].shape, 2), np.float32)}
        with pytest.raises(InterplayError, match=f"{key} is .*expected"):
            agent(written(tmp_path, wrong))
    agent(written(tmp_path, {k: whole[k] for k in needed}))  # without its critic it plays all the same


def test_weights_of_another_game_or_of_nobody_are_refused(tmp_path):
    found = agent(written(tmp_path, made("ippo")))
    with pytest.raises(InterplayError, match="another number of players"):
        found.policy.bind(make("hanabi/3p"))  # type: ignore[union-attr]
    with pytest.raises(InterplayError, match="weights for Hanabi"):
        found.policy.bind(make("overcooked/cramped_room"))  # type: ignore[union-attr]
    with pytest.raises(InterplayError, match="no policy of interplay"):
        agent(written(tmp_path, {"layer1": np.zeros(3, np.float32)}))
    (tmp_path / "bad.safetensors").write_bytes(b"nothing")
    with pytest.raises(InterplayError, match="damaged"):
        agent(str(tmp_path / "bad.safetensors"))
