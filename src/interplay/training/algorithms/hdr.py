"""Human-data-regularised IPPO: self-play that begins with a clone of people and is held near it.

The loss is (1 - λ) of PPO's and λ of KL(clone || policy), with the clone frozen and asked along the same games. The
value is a head of its own on the clone's memory and is learnt from scratch. Runs differ in λ: an ablation is one call.
A clone that remembers its own turns alone is trained by turns: only the seat to move is asked, judged and learnt from.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from interplay.agents import neural
from interplay.agents.api import Agent
from interplay.agents.networks import Core
from interplay.errors import InterplayError
from interplay.games.registry import make
from interplay.training.actor_critic import ActorCritic, policy_shape, value_head
from interplay.training.algorithms.br import partners_of
from interplay.training.algorithms.sp import scheme as self_play
from interplay.training.config import Experiment, Network
from interplay.training.loader import build
from interplay.training.method import Method, plain_traits
from interplay.training.run import Trained
from interplay.training.run import train as train_stage
from interplay.training.team_assignment import TeamPlan


@dataclass(frozen=True)
class HDROptions:
    """Whom to begin with, and how near to stay."""

    clone: str  # checkpoint of a clone, or the folder of a run of `bc`: then the one that does best with itself
    hold: tuple[float, ...] = (0.25,)  # λ: run r has the r-th of these, and begins anew when they are used up

    def __post_init__(self) -> None:
        if not self.hold or not all(0 <= weight <= 1 for weight in self.hold):
            raise InterplayError(f"algorithm.options.hold: {list(self.hold)}; one or more numbers from 0 to 1")


def train(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """max (1 - λ) J(π, π) - λ E KL(clone || π), begun with π = clone."""
    options = build(HDROptions, experiment.algorithm.options, "algorithm.options")
    return held_near(experiment, best_of(options.clone), options.hold, quiet=quiet)


def best_of(name: str) -> Agent:
    """The agent of a checkpoint; of a folder of clones, the one with the best return with itself."""
    agents = partners_of(name)
    return max(agents, key=lambda a: float(a.config.get("return") or 0.0))


def held_near(experiment: Experiment, clone: Agent, hold: tuple[float, ...], *, quiet: bool = False) -> Trained:
    """Train runs that begin with the clone. The network is the clone's; of `network` only the value's layers and the
    precision count."""
    game = make(experiment.game.name, **experiment.game.options)
    mind = clone.policy.bind(game) if isinstance(clone.policy, neural.NeuralPolicy) else clone.policy
    if not isinstance(mind, neural.NeuralPolicy) or not isinstance(mind.core, Core):
        raise InterplayError(f"algorithm.options.clone: {clone.name!r} is no policy with a network of its own")
    network = network_like(mind, experiment.network)
    experiment = dataclasses.replace(experiment, network=network)
    shape = policy_shape(game, network)
    skeleton = jax.eval_shape(lambda: Core(shape, 0.01, jax.random.key(0)))
    core = jax.tree_util.tree_unflatten(
        jax.tree_util.tree_structure(skeleton), [jnp.asarray(x) for x in jax.tree_util.tree_leaves(mind.core)]
    )
    runs, seed = experiment.runs, jax.random.key(experiment.seed)

    def member(run: Any) -> ActorCritic:
        return ActorCritic(core, value_head(shape, network, jax.random.fold_in(seed, run)))

    numbers = jnp.arange(runs) + experiment.first_run
    members = jax.tree_util.tree_map(lambda x: x[:, None], jax.vmap(member)(numbers))
    weights = [hold[int(n) % len(hold)] for n in numbers]
    plain = plain_traits(game, experiment.rewards, 1, runs)
    traits = dataclasses.replace(plain, hold=jnp.asarray(np.array(weights, np.float32)[:, None]))
    scheme = Method(TeamPlan(((0,) * game.num_seats,)), anchored=True)
    if network.own_turns:
        scheme = dataclasses.replace(self_play(experiment, by_turns=True), anchored=True)
    notes = [{"hold": float(weight), "clone": clone.name} for weight in weights]
    return train_stage(experiment, scheme, traits=traits, members=members, notes=notes, quiet=quiet)


def network_like(clone: neural.NeuralPolicy, given: Network) -> Network:
    """The clone's network, with the value as a head on its memory."""
    shape = clone.core.shape
    same = {
        name: getattr(shape, name)
        for name in (
            "trunk", "channels", "widths", "activation", "layer_norm", "norm_first", "recurrent", "cell", "depth",
            "decoder", "own_turns",
        )
    }  # fmt: skip
    return dataclasses.replace(
        given,
        encoding=clone.reads,
        shared_trunk=True,
        critic="own",
        critic_knows_partner=False,
        critic_widths=given.critic_widths or (512,),
        **same,
    )
