"""Weights as int8 with a scale for each output."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from interplay.agents import neural
from interplay.agents.networks import Core, Shape
from interplay.errors import InterplayError
from interplay.games.registry import make

SHAPE = Shape(input=(658,), outputs=21, widths=(16,), recurrent=8, cell="lstm", decoder=(8,), layer_norm=True)


def test_every_weight_is_within_half_a_step_of_its_own_output(tmp_path):
    core, path = Core(SHAPE, 1.0, jax.random.key(0)), tmp_path / "one.safetensors"
    neural.save(path, core, make("hanabi/2p"), "belief", precision="int8")
    _, again, _ = neural.read_networks(path)
    before, after = neural.named_arrays(core), neural.named_arrays(again)
    assert before.keys() == after.keys()
    for name, weights in before.items():
        off = np.abs(np.asarray(weights) - np.asarray(after[name]))
        if weights.ndim == 1:
            assert np.all(off <= 1e-3 * np.abs(weights) + 1e-7), name
            continue
        inputs = 1 if name.endswith(("weight_ih", "weight_hh")) else 0
        largest = np.max(np.abs(weights), axis=inputs, keepdims=True)
        assert np.all(off <= largest / 254 * 1.01), name
        assert len(np.unique(np.round(largest, 6))) > 1  # so a scale for the whole matrix would not pass
    assert path.stat().st_size < 0.65 * sum(2 * a.size for a in before.values())


def test_weights_that_are_no_numbers_are_refused(tmp_path):
    core = jax.tree_util.tree_map(lambda x: x.at[..., 0].set(np.nan), Core(SHAPE, 1.0, jax.random.key(0)))
    with pytest.raises(InterplayError, match="not all numbers"):
        neural.save(tmp_path / "one.safetensors", core, make("hanabi/2p"), "belief", precision="int8")


@pytest.mark.parametrize(
    ("arrays", "match"),
    [
        ({"a:scale": np.ones((1, 2), np.float32)}, "without the weights"),
        ({"a": np.ones((3, 2), np.int8), "a:scale": np.ones((1, 3), np.float32)}, "do not belong together"),
        ({"a": np.ones((3, 2), np.float32), "a:scale": np.ones((1, 2), np.float32)}, "do not belong together"),
    ],
)
def test_scales_that_do_not_fit_are_refused(arrays, match):
    with pytest.raises(InterplayError, match=match):
        neural.read_back(arrays, "one.safetensors")
