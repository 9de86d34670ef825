"""Trajectory diversity: a population whose members' ways of playing are told apart, then a best response to it.

With l_j,t the log-probability that member j gives to the joint action at t (the sum over seats):

    log d_j,t = sum_t' k^|t - t'| l_j,t'      X_i = mean over t of (log d_i,t - log mean_j d_j,t)

and the diversity is the mean of E[X_i] over members i, each expectation over i's own episodes. Its kernel k = 1 gives
the Jensen-Shannon divergence of the members' trajectories, k = 0 that of their actions, step by step. What is
maximised has the true gradient of it, of all members: X_i itself, and the score of the own actions times X_i.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from interplay.errors import InterplayError
from interplay.games.records import record
from interplay.games.registry import make
from interplay.training.algorithms.coplay import EgoOptions, Population, dead_among, dealt, egos, three_skills
from interplay.training.algorithms.fcp import stage_one
from interplay.training.collect import Rollout
from interplay.training.config import PPO, Experiment
from interplay.training.loader import build
from interplay.training.loss import chosen, log_probs, policy_loss
from interplay.training.method import Method
from interplay.training.run import Trained
from interplay.training.run import train as train_stage
from interplay.training.saved_stages import reopened
from interplay.training.team_assignment import TeamPlan


@dataclass(frozen=True)
class TrajeDiOptions(EgoOptions):
    """The population and how its diversity is measured."""

    population: int = 4  # members, trained side by side; every ego has a population of its own
    population_steps: float = 1e7  # environment steps of each member
    population_envs: int = 64  # environments of each member
    population_rollout: int = 0  # steps of a rollout; 0: the horizon, so that trajectories are whole episodes
    population_from: str | None = None  # folder of trained populations to take instead; members are dealt to egos
    shared: bool = False  # all egos learn with one population
    diversity: float = 0.1  # alpha: weight of the diversity beside each member's return
    kernel: float = 0.5  # how much of a step's neighbours counts: k ** distance
    trajectories: int = 4  # of each member, in every step of gradient descent
    snapshots: int = 20  # how many times on the way a half-skilled partner could be taken from

    def __post_init__(self) -> None:
        if self.population < 2:
            raise InterplayError(f"algorithm.options.population: {self.population}; diversity is for 2 or more")
        if not 0 <= self.kernel <= 1:
            raise InterplayError(f"algorithm.options.kernel: {self.kernel}; from 0 to 1")


def train(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """Stage 1: populations. Stage 2: max E_j J(π, π_j) over their first, half-skilled and last policies."""
    options = build(TrajeDiOptions, experiment.algorithm.options, "algorithm.options")
    return egos(experiment, populations(experiment, quiet=quiet), options, quiet=quiet)


def populations(experiment: Experiment, *, stage: str = "", quiet: bool = False) -> list[Population]:
    """The partners of each ego: three skills of every member of its population."""
    options = build(TrajeDiOptions, experiment.algorithm.options, "algorithm.options")
    if options.population_from is not None:
        trained = reopened(options.population_from, experiment)
    else:
        runs = 1 if options.shared else experiment.runs
        trained = population_stage(experiment, options, stage=f"{stage}population", runs=runs, quiet=quiet)
    members = dealt(trained, experiment.runs, shared=options.shared, where=str(options.population_from))
    return [Population(three_skills(trained, own), notes=dead_among(trained, own, experiment)) for own in members]


def train_population(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """Stage 1 alone, a population a run."""
    options = build(TrajeDiOptions, experiment.algorithm.options, "algorithm.options")
    return population_stage(experiment, options, runs=experiment.runs, quiet=quiet)


def population_stage(
    experiment: Experiment, options: TrajeDiOptions, *, stage: str = "", runs: int = 1, quiet: bool = False
) -> Trained:
    """All members at once, each in self-play at a table of its own."""
    game, members = make(experiment.game.name, **experiment.game.options), options.population
    needed = options.trajectories * experiment.ppo.minibatches
    if needed > options.population_envs:
        told = f"{options.trajectories} in each of {experiment.ppo.minibatches} minibatches"
        raise InterplayError(
            f"algorithm.options.trajectories: {told} need as many environments; "
            f"population_envs is {options.population_envs}"
        )
    smaller = stage_one(experiment, runs, options.population_steps * members, options.snapshots)
    smaller = dataclasses.replace(
        smaller, envs=options.population_envs * members, rollout=options.population_rollout or game.horizon
    )
    scheme = Method(
        TeamPlan(tuple((m,) * game.num_seats for m in range(members))),
        material=partial(material, seats=game.num_seats, options=options, minibatches=experiment.ppo.minibatches),
        loss=partial(diversity_loss, options=options, ppo=experiment.ppo),
        names=tuple(f"member{m}" for m in range(members)),
    )
    return train_stage(smaller, scheme, stage=stage, quiet=quiet)


@record
class Material:
    """Trajectories of all members. In a step of gradient descent without the first axis."""

    seen: Array  # [minibatch, step, member, seat, trajectory, ...]
    legal: Bool[Array, "minibatch step member seat trajectory action"]
    action: Array  # [minibatch, step, member, seat, trajectory]
    same: Bool[Array, "minibatch member trajectory step step"]  # both steps are of one episode
    log_prob: Float[Array, "minibatch member trajectory step"]  # of the joint action, when it was taken
    worth: Float[Array, "minibatch member trajectory step"]  # the episode's X less that of the member's others


def material(members: Any, rollout: Rollout, *, seats: int, options: TrajeDiOptions, minibatches: int) -> Material:
    """What of a rollout the diversity is measured on. A trajectory is what of an episode lies within the rollout."""
    number, many = options.population, options.trajectories

    def parts(x: Array) -> Array:
        """[step, member, seat x environment, ...] -> [minibatch, step, member, seat, trajectory, ...]"""
        split = x.reshape(*x.shape[:2], seats, -1, *x.shape[3:])[:, :, :, : minibatches * many]
        split = split.reshape(*split.shape[:3], minibatches, many, *split.shape[4:])
        return jnp.moveaxis(split, 3, 0)

    seen, legal, action = parts(rollout.seen), parts(rollout.legal), parts(rollout.action)
    began = rollout.start.reshape(rollout.start.shape[0], number, -1)[:, :, : minibatches * many]
    episode = jnp.cumsum(began, axis=0).reshape(-1, number, minibatches, many).transpose(2, 1, 3, 0)
    same = episode[..., :, None] == episode[..., None, :]

    def judged(part: tuple[Array, Array, Array, Array]) -> tuple[Array, Array]:
        found = log_probabilities(members, *part[:3])
        return own(found), over_episodes(gaps(found, part[3], options.kernel), part[3])

    log_prob, x = jax.lax.map(judged, (seen, legal, action, same))
    share = 1 / jnp.sum(same, axis=-1)  # an episode's steps together count 1
    total, episodes = (jnp.sum(v * share, axis=(0, 2, 3))[None, :, None, None] for v in (x, jnp.ones_like(x)))
    others = (total - x) / jnp.maximum(episodes - 1, 1)
    return Material(seen=seen, legal=legal, action=action, same=same, log_prob=log_prob, worth=x - others)


def diversity_loss(
    members: Any, part: Material, *, options: TrajeDiOptions, ppo: PPO
) -> tuple[Array, dict[str, Array]]:
    """Minus the weighted diversity, summed over members, so that its weight beside a member's return is alpha."""
    found = log_probabilities(members, part.seen, part.legal, part.action)
    share = 1 / jnp.sum(part.same, axis=-1)
    weight = jnp.broadcast_to(1 / jnp.sum(share, axis=(1, 2), keepdims=True), share.shape)  # each episode alike
    each = surrogate(found, part.log_prob, part.worth, part.same, weight, options.kernel, ppo.clip)
    measured = jnp.sum(gaps(found, part.same, options.kernel) * share * weight) / options.population
    return -options.diversity * jnp.sum(each), {"diversity": jax.lax.stop_gradient(measured)}


def surrogate(
    found: Float[Array, "by member trajectory step"],
    before: Float[Array, "member trajectory step"],
    worth: Float[Array, "member trajectory step"],
    same: Bool[Array, "member trajectory step step"],
    weight: Float[Array, "member trajectory step"],
    kernel: float,
    clip: float,
) -> Float[Array, " member"]:
    """What each member adds: the weighted sum over its episodes of X + (the episode's worth) * log of its probability.

    The second term is clipped as PPO clips it, since several steps of gradient descent use the same episodes; its
    gradient at the weights that played is the plain one.
    """
    x = gaps(found, same, kernel) / jnp.sum(same, axis=-1)
    score = -policy_loss(own(found) - before, jax.lax.stop_gradient(worth), clip)
    return jnp.sum(weight * (x + score), axis=(1, 2))


def gaps(
    found: Float[Array, "by member trajectory step"], same: Bool[Array, "member trajectory step step"], kernel: float
) -> Float[Array, "member trajectory step"]:
    """log d_i,t - log mean_j d_j,t on the trajectories of i."""
    steps = np.arange(found.shape[-1])
    near = jnp.asarray(kernel ** np.abs(steps[:, None] - steps), found.dtype) * same
    smooth = jnp.einsum("jikt,ikut->jiku", found, near)
    return own(smooth) - (jax.nn.logsumexp(smooth, axis=0) - math.log(found.shape[0]))


def over_episodes(x: Float[Array, "member trajectory step"], same: Array) -> Float[Array, "member trajectory step"]:
    """At every step the mean over its episode."""
    return jnp.einsum("iku,iktu->ikt", x, same / jnp.sum(same, axis=-1, keepdims=True))


def own(found: Float[Array, "by member trajectory step"]) -> Float[Array, "member trajectory step"]:
    """By the member whose trajectory it is."""
    who = jnp.arange(found.shape[0])
    return found[who, who]


def log_probabilities(
    members: Any, seen: Array, legal: Array, action: Array
) -> Float[Array, "by member trajectory step"]:
    """That each member gives to the joint actions of everyone's trajectories [step, member, seat, trajectory].

    Member after member, and computed again for the gradient: else the features of all on all would be in memory.
    """

    def by(member: Any) -> Array:
        logits = jax.vmap(member.logits)(seen.reshape(-1, *seen.shape[4:])).reshape(legal.shape)
        return jnp.sum(chosen(log_probs(logits, legal), action), axis=2).transpose(1, 2, 0)

    return jax.lax.map(jax.checkpoint(by), members)
