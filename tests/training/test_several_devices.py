"""Training spread over eight simulated devices gives the weights of one."""

import os
import subprocess
import sys

import pytest

SCRIPT = """
from unittest import mock
import jax
import numpy as np
import interplay
from interplay.training import sharding
from interplay.training.method import Method
from interplay.training.run import train_stage
from interplay.training.team_assignment import TeamPlan
from tests.training.conftest import small

interplay.make("tests.training.toys:Match", horizon=4)  # by hand: it is trusted from now on
every = jax.devices()
assert len(every) == 8
used = []
place = sharding.DeviceLayout.place
def noted(self, runs):
    placed = place(self, runs)
    sizes = {len(x.sharding.device_set) for x in jax.tree_util.tree_leaves(placed.world.state)}
    used.append((self.by_run, self.by_env, sizes))
    return placed

def trained(devices, **settings):
    used.clear()
    patches = mock.patch.object(sharding.DeviceLayout, "place", noted)
    with mock.patch.object(sharding.jax, "devices", lambda: devices), patches:
        result = train_stage(small(steps=16 * 8 * 12, **settings), Method(TeamPlan(((0, 0),))), quiet=True)
    return result, used[0]

for runs, by in ((8, (True, False)), (3, (False, True))):
    alone, one = trained(every[:1], runs=runs)
    spread, eight = trained(every, runs=runs)
    assert eight[:2] == by and eight[2] == {8} and one[2] == {1}, (one, eight)
    leaf = jax.tree_util.tree_leaves(spread.members)[0]
    assert len(leaf.sharding.device_set) == 8, leaf.sharding
    if by[0]:
        assert not leaf.sharding.is_fully_replicated, leaf.sharding
    for a, b in zip(jax.tree_util.tree_leaves(alone.members), jax.tree_util.tree_leaves(spread.members), strict=True):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), atol=1e-5)
    assert alone.curve[-1]["member_returns"] == spread.curve[-1]["member_returns"]
print("equal")
"""


@pytest.mark.slow
def test_weights_on_eight_devices_are_those_of_one():
    flags = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"
    env = os.environ | {"XLA_FLAGS": flags.strip(), "JAX_PLATFORMS": "cpu"}
    run = subprocess.run([sys.executable, "-c", SCRIPT], env=env, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-3000:]
    assert run.stdout.strip() == "equal"
