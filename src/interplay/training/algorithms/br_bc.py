"""Best response to behaviour clones of people (BR-BC; PPO_BC of Carroll et al., 2019, On the Utility of Learning ...).

    max (1 - p) J(π, π) + p J(π, BC), p rising from 0 to 1

The learner plays all seats at first, and ever more games with a clone that does not learn. At the start of each game
every seat but one is the clone's with probability p, so with three players there are games with no clone, with one and
with two. The clone samples its actions. Only the learner's seats are learnt from, and advantages are normalised over
these alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from interplay.errors import InterplayError
from interplay.rollout.seat import policy_turn
from interplay.training import schedule
from interplay.training.algorithms.br import load_partners
from interplay.training.config import Experiment
from interplay.training.frozen_partners import FrozenPartners, PartnerStats
from interplay.training.loader import make_game, method_options
from interplay.training.method import Method, PartnerPlacement
from interplay.training.run import Trained
from interplay.training.run import train as train_stage
from interplay.training.schedule import Schedule
from interplay.training.setup import RolloutWorld, TrainingSetup, where
from interplay.training.team_assignment import TeamPlan, seats_to_roles, to_learners, to_roles
from interplay.training.update import LearningSignal, ValueEstimates

FIXED = 1  # role 0 is always the learner's


@dataclass(frozen=True)
class BRBCOptions:
    """Who the clones are, and how often they play."""

    partners: tuple[str, ...]  # checkpoints, or folders of training runs; each is met in as many environments
    odds: Schedule = ((0.0, 0.0), (0.1, 0.0), (0.6, 1.0))  # that a seat is a clone's, by the share of the budget

    def __post_init__(self) -> None:
        if any(not 0 <= value <= 1 for _, value in self.odds):
            raise InterplayError(f"algorithm.options.odds: {self.odds}; odds are from 0 to 1")


@dataclass(frozen=True, kw_only=True)
class BestResponseToClones(Method):
    """Self-play in which frozen partners take the learner's place for whole episodes.

    The environments are split evenly among the partners, so that no weights are gathered environment by environment.
    Whether a partner plays a role in this episode, [env, role], is the method's state of an episode.
    """

    odds: Schedule  # that a partner plays a role other than the first, by the share of the budget

    def check(self, setup: TrainingSetup) -> None:
        """Check that one learner fills a single table, and that the partners share the environments equally."""
        plan, envs = self.plan, setup.experiment.envs
        if not plan.single_learner or not plan.rotate or len(plan.tables) != 1:
            raise InterplayError("clones take places of one learner that fills a single table and takes turns in seats")
        if setup.partners is None:
            raise InterplayError("no frozen partners were given to take the learner's places")
        if envs % setup.partners.number:
            raise InterplayError(f"envs: {envs} cannot be shared equally among {setup.partners.number} clones")
        if setup.experiment.rewards.entropies:
            raise InterplayError("rewards.entropies: they are of one learner that plays with itself, without clones")

    def draw(self, progress: Any, number: Float[Array, "*env role"]) -> Bool[Array, "*env role"]:
        """Return the roles that partners play, from numbers between 0 and 1."""
        return (number < schedule.at(self.odds, progress)) & (jnp.arange(number.shape[-1]) >= FIXED)

    def place_partners(
        self,
        setup: TrainingSetup,
        partners: Any,
        stats: PartnerStats,
        for_assignment: PRNGKeyArray,
        for_memory: PRNGKeyArray,
    ) -> PartnerPlacement:
        """Draw the roles that partners play in the first episodes."""
        assert setup.partners is not None
        frozen, envs, roles = setup.partners, setup.experiment.envs, self.plan.roles
        places = envs // frozen.number * (roles - FIXED)

        def one(arrays: Any, key: PRNGKeyArray) -> Any:
            return jax.vmap(lambda k: frozen.policy(arrays).init(k, jnp.int32(0)))(jax.random.split(key, places))

        placement = super().place_partners(setup, partners, stats, for_assignment, for_memory)
        memory = jax.vmap(one)(partners, jax.random.split(for_memory, frozen.number))
        substituted = self.draw(0.0, jax.random.uniform(for_assignment, (envs, roles)))
        return placement._replace(memory=memory, episode_state=substituted)

    def draw_randomness(self, setup: TrainingSetup, key: PRNGKeyArray, steps: int, progress: Array) -> dict[str, Array]:
        """Draw the roles that partners play in the episodes that may begin at each step."""
        shape = (steps, setup.experiment.envs, self.plan.roles)
        return {"substituted": self.draw(progress, jax.random.uniform(jax.random.fold_in(key, 2), shape))}

    def on_episode_end(
        self, setup: TrainingSetup, world: RolloutWorld, done: Bool[Array, " env"], randomness: dict[str, Array]
    ) -> dict[str, Any]:
        """Replace the roles that partners play where an episode ended."""
        return {"episode_state": jnp.where(done[:, None], randomness["substituted"], world.episode_state)}

    def joint_actions(
        self, setup: TrainingSetup, partners: Any, world: RolloutWorld, actions: Array, key: PRNGKeyArray
    ) -> tuple[Any, Int[Array, "env role"]]:
        """Return the partners' actions in the roles that they play, and the learner's in the others."""
        memory, instead = self._partner_actions(setup, partners, world, key)
        return memory, jnp.where(world.episode_state, instead, to_roles(self.plan, actions, None))

    def _partner_actions(
        self, setup: TrainingSetup, partners: Any, world: RolloutWorld, key: PRNGKeyArray
    ) -> tuple[Any, Int[Array, "env role"]]:
        """Return what partners would do in all roles; in role 0, where there are none, 0."""
        assert setup.partners is not None
        frozen, plan, game, envs = setup.partners, self.plan, setup.game, setup.experiment.envs
        number, roles = frozen.number, plan.roles

        def grouped(x: Array) -> Array:
            return x[:, FIXED:].reshape(number, envs // number * (roles - FIXED), *x.shape[2:])

        by_seat = jax.vmap(lambda s: (game.observe(s, frozen.static.encoding), game.legal(s)))(world.state)
        seen, legal = jax.tree_util.tree_map(lambda x: grouped(seats_to_roles(plan, x, world.rotation)), by_seat)
        seats = grouped((jnp.arange(roles)[None] + world.rotation[:, None]) % roles)
        start = grouped(jnp.broadcast_to(world.start[:, None], (envs, roles)))

        def one(arrays: Any, memory: Any, seen: Any, legal: Array, seat: Array, start: Array, key: Any) -> tuple:
            policy = frozen.policy(arrays)
            keys = jax.random.split(key, (2, seat.shape[0]))
            memory = where(start, jax.vmap(policy.init)(keys[0], seat), memory)
            turn = jax.vmap(partial(policy_turn, policy))(memory, seen, legal, keys[1])
            return turn.memory, turn.action

        keys = jax.random.split(key, number)
        memory, action = jax.vmap(one)(partners, world.partner_memory, seen, legal, seats, start, keys)
        return memory, jnp.pad(action.reshape(envs, roles - FIXED), ((0, 0), (FIXED, 0)))

    def record_step(
        self, setup: TrainingSetup, members: Any, world: RolloutWorld, by_role: Array, by_seat: Array, randomness: dict
    ) -> Bool[Array, "learner slot"]:
        """Keep where a partner played."""
        return to_learners(self.plan, world.episode_state)

    def advantages(self, estimates: ValueEstimates) -> LearningSignal:
        """Leave out the steps of partners."""
        signal = super().advantages(estimates)
        return signal._replace(counted=signal.counted * ~estimates.rollout.extra)


def train(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """Train best responses, one a run."""
    options = method_options(BRBCOptions, experiment)
    game = make_game(experiment)
    agents = [a for name in options.partners for a in load_partners(name)]
    method = BestResponseToClones(TeamPlan(((0,) * game.num_seats,), rotate=True), odds=options.odds)
    notes = [{"partners": [a.name for a in agents]}] * experiment.runs
    partners = FrozenPartners.from_agents(game, agents)
    return train_stage(experiment, method, partners=partners, notes=notes, quiet=quiet)
