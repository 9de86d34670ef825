"""Continue training from the files of policies: weights and critic at the files' precision, steps added to theirs.

Nothing else is carried over. Adam's moments begin at zero, which its bias correction allows for, and environments begin
with new episodes; a learning rate that starts low and rises keeps the first updates small.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from interplay.agents import neural
from interplay.agents.api import Agent
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.training.actor_critic import new_member, policy_shape
from interplay.training.compiled_stage import Program
from interplay.training.config import Experiment


class Continued(NamedTuple):
    """What a continued training run begins with."""

    members: PyTree  # [run, learner, ...], NumPy arrays
    steps: int  # that they have had, each


def load(program: Program) -> Continued:
    """Read the members of all runs from `experiment.continue_from`.

    Args:
        program: Of the stage that continues; the files are given run by run, and in a run learner by learner.

    Raises:
        InterplayError: If a file is of another game or network, has no critic, or had other steps than the rest, or if
            the method carries more than what files of policies hold.
    """
    setup, files = program.setup, program.experiment.continue_from
    runs, learners = program.experiment.runs, setup.plan.learners
    if not setup.method.can_continue:
        name = program.experiment.algorithm.name
        raise InterplayError(f"continue_from: {name} learns more than the files of policies hold; it cannot continue")
    if len(files) != runs * learners:
        raise InterplayError(f"continue_from: {len(files)} files for {runs} runs of {learners} learners; one for each")
    like = jax.eval_shape(program.new_member, jax.random.key(0))
    members, steps = zip(*(_member(program, like, file) for file in files), strict=True)
    if len(set(steps)) > 1:
        raise InterplayError(f"continue_from: the files had different steps: {', '.join(map(str, steps))}")
    stacked = jax.tree.map(lambda *leaves: np.stack(leaves).reshape(runs, learners, *leaves[0].shape), *members)
    return Continued(stacked, steps[0])


def _member(program: Program, like: PyTree, file: str) -> tuple[Any, int]:
    """Return a member of the shape of `like`, and the steps that it has had."""
    about, policy, critic = neural.read_networks(file)
    game = program.setup.game
    if neural.trained_for_key(about) != neural.game_key(game):
        raise InterplayError(
            f"continue_from: {file} was trained for {neural.trained_for_key(about)}, not for {neural.game_key(game)}"
        )
    wanted = neural.named_arrays(like.critic)
    if policy.shape != like.policy.shape or {n: a.shape for n, a in critic.items()} != _shapes(wanted):
        why = "has other layers than `network` says" if critic else "has no critic: train it with output.save_critic"
        raise InterplayError(f"continue_from: {file} {why}")
    leaves = [*jax.tree.leaves(policy), *(critic[name].astype(np.float32) for name in wanted)]
    member = jax.tree.unflatten(jax.tree.structure(like), leaves)
    return member, int(about["training"].get("steps", 0))


def _shapes(arrays: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(np.shape(a)) for name, a in arrays.items()}


def warm_members(experiment: Experiment, game: Game, starts: Sequence[Sequence[Agent]], learners: int = 1) -> PyTree:
    """Return networks [run, learner, ...] to begin training with; a run's learners begin alike.

    Of each run's agents the first whose network is of the experiment's shape is taken, with a fresh value network; a
    fresh network where there is none.
    """
    keys = jax.random.split(jax.random.fold_in(jax.random.key(experiment.seed), 1), len(starts))
    shape = policy_shape(game, experiment.network)
    members = []
    for key, agents in zip(keys, starts, strict=True):
        member = new_member(game, experiment.network, 1, key)
        for one in agents:
            core = one.policy.core if isinstance(one.policy, neural.NeuralPolicy) else None
            if core is not None and core.shape == shape:
                member = eqx.tree_at(lambda m: m.policy, member, core)
                break
        members.append(member)
    of_runs = jax.tree.map(lambda *x: jnp.stack([jnp.asarray(v) for v in x])[:, None], *members)
    return jax.tree.map(lambda x: jnp.repeat(x, learners, axis=1), of_runs)
