"""Off-belief learning (Hu et al., 2021, Off-Belief Learning), for Hanabi.

    max E[r(s', a) + γ V(o')] with s' drawn from what the observer could hold, π_0 uniform

Every move is evaluated as if all moves before it had been random, so that it conveys nothing but what it shows. At each
step and for each seat, a hand is sampled that the seat could hold by its hints and what it sees; its hand is replaced
by it, and the rest becomes the deck; the seat's own move is made there, or the mover's as its policy would make it
there; and the value network evaluates what the seat sees next. That simulated step replaces the one that was played in
PPO's advantages and in the targets of the values. Play itself goes on in the real state.

This differs from the paper in two ways: the policy has no memory, since the observation holds the hints on all cards;
and it is an actor and a critic, not Q-learning.

Level 1 samples hands by hints and cards seen alone. A further level samples them from a belief that was learnt on the
games of the level before (`belief`, see `obl_belief`), and begins with its weights (`begin`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray, PyTree

from interplay.agents.basic import masked
from interplay.agents.registry import agent
from interplay.errors import InterplayError
from interplay.games.hanabi.game import Hanabi
from interplay.games.hanabi.hand_sampling import draw_hand, set_hand_for_a_step
from interplay.games.records import record
from interplay.training import belief as beliefs
from interplay.training.actor_critic import new_member
from interplay.training.algorithms.sp import SelfPlay
from interplay.training.config import Experiment
from interplay.training.loader import make_game, method_options
from interplay.training.method import JointStep
from interplay.training.run import Trained
from interplay.training.run import train as train_stage
from interplay.training.setup import RolloutWorld, TrainingSetup
from interplay.training.team_assignment import seats_to_roles, to_learners
from interplay.training.update import LearningSignal, ValueEstimates

NAME = "OBL-1, analytic belief"


@dataclass(frozen=True)
class OBLOptions:
    """How hands are sampled."""

    candidates: int = 8  # hands of which one is kept by its weight; more is nearer to the exact belief
    hands: int = 1  # drawn for every step; the mean over them is learnt from
    belief: str | None = None  # file of a belief that was learnt; null: hints and cards seen alone, which is level 1
    begin: str | None = None  # checkpoint whose weights training begins with

    def __post_init__(self) -> None:
        for name in ("candidates", "hands"):
            if getattr(self, name) < 1:
                raise InterplayError(f"algorithm.options.{name}: {getattr(self, name)}; at least 1")


@record
class SimulatedStep:
    """One step from another state that looks the same to a seat. [env, seat], in a rollout by slot."""

    reward: Float[Array, "*place"]
    goes_on: Float[Array, "*place"]  # 0 where the game would end there; between 0 and 1 if several hands were sampled
    value: Float[Array, "*place"]  # of what would be seen next if it goes on, on the value network's scale
    sound: Bool[Array, "*place"]  # False: no such state was found, so that the step is not learnt from


@dataclass(frozen=True, kw_only=True, eq=False)
class OffBeliefLearning(SelfPlay):
    """Self-play whose advantages are those of simulated steps."""

    options: OBLOptions
    belief: beliefs.HandBelief | None  # None: by hints and cards seen alone

    def check(self, setup: TrainingSetup) -> None:
        """Check that rewards and network are those that a simulated step can have."""
        rewards, network = setup.experiment.rewards, setup.experiment.network
        if rewards.entropies or rewards.conduct or rewards.events or rewards.shaping != ((0.0, 0.0),):
            raise InterplayError("rewards: simulated steps are paid by the game's points alone; leave the rest out")
        if network.recurrent or network.critic != "own":
            raise InterplayError("simulated steps are judged by what one seat sees at one time: no memory, critic own")

    def draw_randomness(self, setup: TrainingSetup, key: PRNGKeyArray, steps: int, progress: Array) -> dict[str, Array]:
        """Draw keys of the simulated steps."""
        return {"simulation": jax.random.split(jax.random.fold_in(key, 4), (steps, setup.experiment.envs))}

    def record_step(self, setup: TrainingSetup, members: PyTree, world: RolloutWorld, step: JointStep) -> SimulatedStep:
        """Simulate a step for every environment and seat."""
        plan, seats = self.plan, setup.game.num_seats
        member = jax.tree_util.tree_map(lambda x: x[0], members)

        def of_env(state: Any, actions: Array, key: PRNGKeyArray) -> SimulatedStep:
            keys, mover = jax.random.split(key, (seats, self.options.hands)), state.time % seats

            def of_seat(seat: Array, keys: PRNGKeyArray, action: Any) -> SimulatedStep:
                return _mean(jax.vmap(lambda k: self._simulate(setup, member, state, action, seat, k))(keys))

            own = of_seat(mover, keys[0], actions[mover])  # the mover's action is known: no policy is asked
            others = (mover + jnp.arange(1, seats)) % seats
            rest = jax.vmap(lambda seat, k: of_seat(seat, k, None))(others, keys[1:])
            by_offset = jax.tree_util.tree_map(lambda a, b: jnp.concatenate([a[None], b]), own, rest)
            return jax.tree_util.tree_map(lambda x: jnp.roll(x, mover, axis=0), by_offset)

        steps = jax.vmap(of_env)(world.state, step.by_seat, step.randomness["simulation"])
        return jax.tree_util.tree_map(lambda x: to_learners(plan, seats_to_roles(plan, x, world.rotation)), steps)

    def advantages(self, estimates: ValueEstimates) -> LearningSignal:
        """Return one-step advantages of the simulated steps."""
        signal, step = super().advantages(estimates), estimates.rollout.extra
        following = step.goes_on * estimates.in_return_units(step.value)
        advantage = step.reward + estimates.setup.experiment.ppo.gamma * following - signal.value
        return LearningSignal(signal.value, advantage, advantage + signal.value, signal.counted * step.sound)

    def _simulate(
        self, setup: TrainingSetup, member: PyTree, state: Any, action: Array | None, seat: Array, key: PRNGKeyArray
    ) -> SimulatedStep:
        """Return one step for a seat; `action` is that of the mover, None: what its policy does in the other state."""
        game: Any = setup.game
        encoding = setup.experiment.network.encoding
        for_hand, for_deck, for_move = jax.random.split(key, 3)
        if self.belief is None:
            hand, sound = draw_hand(game.rules, state, seat, for_hand, self.options.candidates)
        else:
            view = game.observe_as(state, self.belief.encoding, seat)
            hand, sound = self.belief.draw(game.rules, state, seat, view, for_hand)
        there = set_hand_for_a_step(game.rules, state, seat, hand, for_deck)
        if action is None:
            mover = state.time % game.num_seats
            logits = masked(member.logits(game.observe_as(there, encoding, mover)), game.legal(there)[mover])
            action = jax.random.categorical(for_move, logits)
        after, step = game.step(there, jnp.full(game.num_seats, action))
        seen = game.observe_as(after, encoding, seat)
        _, value = member.values(member.start(), seen[None], jnp.ones(1, bool), jnp.zeros(0))
        points = setup.experiment.rewards.task * jnp.sum(step.reward)
        goes_on = 1.0 - step.terminated.astype(jnp.float32)
        return SimulatedStep(reward=points, goes_on=goes_on, value=value[0], sound=sound)


def _mean(steps: SimulatedStep) -> SimulatedStep:
    """Return the mean over the sampled hands of one step."""
    goes_on = steps.goes_on * steps.sound
    counts = jnp.maximum(jnp.sum(steps.sound), 1)
    return SimulatedStep(
        reward=jnp.sum(steps.reward * steps.sound) / counts,
        goes_on=jnp.sum(goes_on) / counts,
        value=jnp.sum(steps.value * goes_on) / jnp.maximum(jnp.sum(goes_on), 1.0),
        sound=jnp.any(steps.sound),
    )


def train(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """Train one level, a policy a run.

    Raises:
        InterplayError: If the game is not Hanabi.
    """
    options = method_options(OBLOptions, experiment)
    game = make_game(experiment)
    if not isinstance(game, Hanabi):
        raise InterplayError(f"{game.id} has no hands to sample; off-belief learning is written for Hanabi")
    belief = None if options.belief is None else beliefs.load(options.belief, game)
    method = OffBeliefLearning.create(experiment, options=options, belief=belief)
    members = None if options.begin is None else _initial_members(experiment, game, options.begin)
    notes = [{"method": NAME if belief is None else "OBL, belief learnt"}] * experiment.runs
    return train_stage(experiment, method, members=members, notes=notes, quiet=quiet)


def _initial_members(experiment: Experiment, game: Any, path: str) -> Any:
    """Return members of all runs, [run, 1, ...]: the checkpoint's policy, and random values."""
    core = getattr(agent(path).policy, "core", None)
    keys = jax.random.split(jax.random.key(experiment.seed), experiment.runs)
    members = jax.vmap(lambda k: new_member(game, experiment.network, 0, k))(keys)
    if core is None or core.shape != members.policy.shape:
        raise InterplayError(f"algorithm.options.begin: the network of {path} is not the one that `network` asks for")
    policies = jax.tree_util.tree_map(lambda x: jnp.broadcast_to(x, (experiment.runs, *x.shape)), core)
    members = eqx.tree_at(lambda m: m.policy, members, policies)
    return jax.tree_util.tree_map(lambda x: x[:, None], members)
