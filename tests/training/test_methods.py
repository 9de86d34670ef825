"""Every method fits Overcooked, memory, and the teaming reward: traced, not compiled."""

import jax
import jax.numpy as jnp
import pytest

from interplay.training import run
from interplay.training.algorithms import train
from interplay.training.config import Experiment
from interplay.training.loader import build


class Traced(Exception):
    """A stage was reached and traced."""


def traced(stage):
    program = stage.program
    runs = jax.eval_shape(program.start, stage.members, program.partners)
    after, told = jax.eval_shape(program.chunk, runs, stage.weights, program.partners, jnp.int32(0), jnp.int32(1))
    assert jax.tree_util.tree_structure(after) == jax.tree_util.tree_structure(runs)
    for one, other in zip(jax.tree_util.tree_leaves(after), jax.tree_util.tree_leaves(runs), strict=True):
        assert (one.shape, one.dtype, one.weak_type) == (other.shape, other.dtype, other.weak_type)
    raise Traced(sorted(told))


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    ("name", "options", "recurrent", "told"),
    [
        (
            "trajedi",
            {"population": 2, "population_envs": 4, "trajectories": 1, "population_steps": 3200},
            8,
            "diversity",
        ),
        pytest.param("mep", {"population": 2, "population_envs": 4, "population_steps": 3200}, 8, "reward", marks=SLOW),
        pytest.param(
            "hsp", {"pairs": 1, "pairs_steps": 3200, "preferences": [{"delivery": -20.0}]}, 0, "reward", marks=SLOW
        ),
        pytest.param(
            "cole", {"population": 4, "initial": 2, "groups": 2, "generation_steps": 800}, 8, "score", marks=SLOW
        ),
        ("e3t", {"model": True}, 8, "model_loss"),
    ],
)
def test_a_method_fits_overcooked_with_teaming(monkeypatch, name, options, recurrent, told):
    monkeypatch.setattr(run._Stage, "train", traced)
    given = {
        "game": {"name": "overcooked/coordination_ring", "options": {"horizon": 40}},
        "algorithm": {"name": name, "options": options},
        "runs": 2,
        "envs": 8,
        "rollout": 20,
        "steps": 1600,
        "network": {"widths": [16], "recurrent": recurrent, "critic": "central"},
        "rewards": {"teaming": 0.3, "shaping": 1.0},
        "ppo": {"minibatches": 2},
    }
    with pytest.raises(Traced, match=told):
        train(build(Experiment, given), quiet=True)
