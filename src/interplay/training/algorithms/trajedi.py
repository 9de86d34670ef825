"""Trajectory diversity (Lupu et al., 2021, Trajectory Diversity for Zero-Shot Coordination).

    Stage 1: a population that maximises its members' returns and the diversity of their trajectories
    Stage 2: a best response to it; as in FCP each member gives partners of three levels of skill

With l_j,t the log-probability that member j gives to the joint action at t (the sum over seats):

    log d_j,t = sum_t' k^|t - t'| l_j,t'      X_i = mean over t of (log d_i,t - log mean_j d_j,t)

and the diversity is the mean of E[X_i] over members i, each expectation over i's own episodes. Its kernel k = 1 gives
the Jensen-Shannon divergence of the members' trajectories, k = 0 that of their actions, step by step. The loss has the
gradient of both parts: of X_i itself, and of the log-probability of the own actions times X_i. The paper trains the
best response together with the population; here it is a second stage.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PyTree

from interplay.errors import InterplayError
from interplay.games.records import record
from interplay.training.algorithms import coplay
from interplay.training.collect import Rollout
from interplay.training.config import PPO, Experiment
from interplay.training.loader import make_game, method_options
from interplay.training.loss import chosen, log_probs, policy_loss
from interplay.training.method import Logs, Method
from interplay.training.run import Trained, train_stage
from interplay.training.team_assignment import TeamPlan


@dataclass(frozen=True)
class TrajeDiOptions(coplay.PopulationOptions):
    """The population and how its diversity is measured."""

    population_rollout: int = 0  # steps of a rollout; 0: the horizon, so that trajectories are whole episodes
    diversity: float = 0.1  # alpha: weight of the diversity beside each member's return
    kernel: float = 0.5  # how much of a step's neighbours counts: k ** distance
    trajectories: int = 4  # of each member, in every step of gradient descent

    def __post_init__(self) -> None:
        if self.population < 2:
            raise InterplayError(f"algorithm.options.population: {self.population}; diversity is for 2 or more")
        if not 0 <= self.kernel <= 1:
            raise InterplayError(f"algorithm.options.kernel: {self.kernel}; from 0 to 1")


@record
class Trajectories:
    """Trajectories of all members. In a step of gradient descent without the first axis."""

    seen: Array  # [minibatch, step, member, seat, trajectory, ...]
    legal: Bool[Array, "minibatch step member seat trajectory action"]
    action: Array  # [minibatch, step, member, seat, trajectory]
    same: Bool[Array, "minibatch member trajectory step step"]  # both steps are of one episode
    log_prob: Float[Array, "minibatch member trajectory step"]  # of the joint action, when it was taken
    advantage: Float[Array, "minibatch member trajectory step"]  # the episode's X less that of the member's others


@dataclass(frozen=True, kw_only=True)
class TrajectoryDiversity(Method):
    """Stage 1: every member in self-play at a table of its own, with a loss over all of them."""

    options: TrajeDiOptions
    seats: int
    ppo: PPO

    def learner_name(self, learner: int) -> str:
        """Return `member0`, `member1`, ..."""
        return f"member{learner}"

    def loss_samples(self, members: PyTree, rollout: Rollout) -> Trajectories:
        """Return the trajectories on which diversity is measured: the parts of episodes within the rollout."""
        number, size, minibatches = self.options.population, self.options.trajectories, self.ppo.minibatches

        def parts(x: Array) -> Array:
            """Reorder [step, member, seat x environment, ...] to [minibatch, step, member, seat, trajectory, ...]."""
            split = x.reshape(*x.shape[:2], self.seats, -1, *x.shape[3:])[:, :, :, : minibatches * size]
            split = split.reshape(*split.shape[:3], minibatches, size, *split.shape[4:])
            return jnp.moveaxis(split, 3, 0)

        seen, legal, action = parts(rollout.seen), parts(rollout.legal), parts(rollout.action)
        began = rollout.start.reshape(rollout.start.shape[0], number, -1)[:, :, : minibatches * size]
        episode = jnp.cumsum(began, axis=0).reshape(-1, number, minibatches, size).transpose(2, 1, 3, 0)
        same = episode[..., :, None] == episode[..., None, :]

        def evaluate(part: tuple[Array, Array, Array, Array]) -> tuple[Array, Array]:
            log_prob = log_probabilities(members, *part[:3])
            return own(log_prob), over_episodes(gaps(log_prob, part[3], self.options.kernel), part[3])

        log_prob, x = jax.lax.map(evaluate, (seen, legal, action, same))
        share = 1 / jnp.sum(same, axis=-1)  # an episode's steps together count 1
        total, episodes = (jnp.sum(v * share, axis=(0, 2, 3))[None, :, None, None] for v in (x, jnp.ones_like(x)))
        others = (total - x) / jnp.maximum(episodes - 1, 1)
        return Trajectories(seen=seen, legal=legal, action=action, same=same, log_prob=log_prob, advantage=x - others)

    def extra_loss(self, members: PyTree, samples: Trajectories) -> tuple[Array, Logs]:
        """Return minus the weighted diversity, summed over members, so that its weight beside a return is alpha."""
        kernel = self.options.kernel
        log_prob = log_probabilities(members, samples.seen, samples.legal, samples.action)
        share = 1 / jnp.sum(samples.same, axis=-1)
        weight = jnp.broadcast_to(1 / jnp.sum(share, axis=(1, 2), keepdims=True), share.shape)  # each episode alike
        each = surrogate(log_prob, samples, weight, kernel, self.ppo.clip)
        measured = jnp.sum(gaps(log_prob, samples.same, kernel) * share * weight) / self.options.population
        return -self.options.diversity * jnp.sum(each), {"diversity": jax.lax.stop_gradient(measured)}


def surrogate(
    log_prob: Float[Array, "by member trajectory step"],
    samples: Trajectories,
    weight: Float[Array, "member trajectory step"],
    kernel: float,
    clip: float,
) -> Float[Array, " member"]:
    """Return of each member the weighted sum over its episodes of X + advantage * log-probability.

    The second term is clipped as PPO clips it, since several steps of gradient descent use the same episodes; its
    gradient at the weights that played is the plain one.
    """
    x = gaps(log_prob, samples.same, kernel) / jnp.sum(samples.same, axis=-1)
    score = -policy_loss(own(log_prob) - samples.log_prob, jax.lax.stop_gradient(samples.advantage), clip)
    return jnp.sum(weight * (x + score), axis=(1, 2))


def gaps(
    log_prob: Float[Array, "by member trajectory step"], same: Bool[Array, "member trajectory step step"], kernel: float
) -> Float[Array, "member trajectory step"]:
    """Return log d_i,t - log mean_j d_j,t on the trajectories of i."""
    steps = np.arange(log_prob.shape[-1])
    near = jnp.asarray(kernel ** np.abs(steps[:, None] - steps), log_prob.dtype) * same
    smooth = jnp.einsum("jikt,ikut->jiku", log_prob, near)
    return own(smooth) - (jax.nn.logsumexp(smooth, axis=0) - math.log(log_prob.shape[0]))


def over_episodes(x: Float[Array, "member trajectory step"], same: Array) -> Float[Array, "member trajectory step"]:
    """Return at every step the mean over its episode."""
    return jnp.einsum("iku,iktu->ikt", x, same / jnp.sum(same, axis=-1, keepdims=True))


def own(log_prob: Float[Array, "by member trajectory step"]) -> Float[Array, "member trajectory step"]:
    """Return the entries by the member whose trajectory it is."""
    member = jnp.arange(log_prob.shape[0])
    return log_prob[member, member]


def log_probabilities(
    members: PyTree, seen: Array, legal: Array, action: Array
) -> Float[Array, "by member trajectory step"]:
    """Return the log-probability that each member gives to the joint actions of everyone's trajectories.

    Member after member, and computed again for the gradient: else the features of all on all would be in memory.
    Observations are [step, member, seat, trajectory, ...].
    """

    def by(member: PyTree) -> Array:
        logits = jax.vmap(member.logits)(seen.reshape(-1, *seen.shape[4:])).reshape(legal.shape)
        return jnp.sum(chosen(log_probs(logits, legal), action), axis=2).transpose(1, 2, 0)

    return jax.lax.map(jax.checkpoint(by), members)


def train(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """Train both stages, an ego a run."""
    options = method_options(TrajeDiOptions, experiment)
    return coplay.train_egos(experiment, populations(experiment, quiet=quiet), options, quiet=quiet)


def train_population(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """Train stage 1 alone, a population a run."""
    return population_stage(experiment, method_options(TrajeDiOptions, experiment), runs=experiment.runs, quiet=quiet)


def populations(experiment: Experiment, *, stage: str = "", quiet: bool = False) -> list[coplay.Population]:
    """Train or read stage 1, and return the partners of each ego."""
    options = method_options(TrajeDiOptions, experiment)
    stage = f"{stage}population"
    trained = coplay.load_or_train(experiment, options, population_stage, stage=stage, quiet=quiet)
    return coplay.skilled_populations(trained, experiment, options)


def population_stage(
    experiment: Experiment, options: TrajeDiOptions, *, stage: str = "", runs: int = 1, quiet: bool = False
) -> Trained:
    """Train populations, one a run.

    Raises:
        InterplayError: If there are fewer environments than trajectories.
    """
    game, members, ppo = make_game(experiment), options.population, experiment.ppo
    if options.trajectories * ppo.minibatches > options.population_envs:
        raise InterplayError(
            f"algorithm.options.trajectories: {options.trajectories} in each of {ppo.minibatches} minibatches need as "
            f"many environments; population_envs is {options.population_envs}"
        )
    smaller = coplay.population_experiment(experiment, runs, options.population_steps * members, options.snapshots)
    smaller = replace(
        smaller, envs=options.population_envs * members, rollout=options.population_rollout or game.horizon
    )
    plan = TeamPlan(tuple((m,) * game.num_seats for m in range(members)))
    method = TrajectoryDiversity(plan, options=options, seats=game.num_seats, ppo=ppo)
    return train_stage(smaller, method, stage=stage, quiet=quiet)
