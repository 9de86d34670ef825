"""Spread a stage of training over several devices.

Runs are independent, so they are spread first: every device trains its share of them and nothing is sent between
devices. Where their number is not a multiple of the devices', a run's environments are spread: every device plays its
share of them, and gradients are summed over all. What is computed is the same, to rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxtyping import PyTree

from interplay.training.config import Experiment
from interplay.training.stage_state import RunState

AXIS = "device"


class DeviceLayout:
    """Where the arrays of a stage lie: on all devices, or on one if neither runs nor environments can be divided.

    Args:
        experiment: The settings of the stage.
        devices: Those to use; None: all that this process has.
    """

    def __init__(self, experiment: Experiment, devices: Sequence[Any] | None = None):
        devices = jax.devices() if devices is None else devices
        self.by_run = experiment.runs % len(devices) == 0
        self.by_env = not self.by_run and experiment.envs % len(devices) == 0
        self._mesh = Mesh(np.array(devices if self.by_run or self.by_env else devices[:1]), (AXIS,))

    @property
    def devices(self) -> int:
        """The number of devices that are used."""
        return self._mesh.size

    def place(self, runs: RunState) -> RunState:
        """Return the runs with their arrays on the devices that compute them."""
        if self.devices == 1:
            return runs
        if self.by_run:
            return self._put(runs, PartitionSpec(AXIS))
        world = runs.world
        rest = self._put(replace(runs, world=replace(world, state=())), PartitionSpec())
        return replace(rest, world=replace(rest.world, state=self._put(world.state, PartitionSpec(None, AXIS))))

    def place_inputs(self, tree: PyTree, per_run: bool) -> PyTree:
        """Return arrays that updates read: with each run if they are [run, ...], else on every device."""
        if self.devices == 1:
            return tree
        return self._put(tree, PartitionSpec(AXIS) if per_run and self.by_run else PartitionSpec())

    def _put(self, tree: PyTree, spec: PartitionSpec) -> PyTree:
        return jax.device_put(tree, NamedSharding(self._mesh, spec))
