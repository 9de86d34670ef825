"""Off-belief learning (Hu et al., 2021, Off-Belief Learning), for Hanabi.

    max E[r + γ r' + ... + γ^n V(o')] from states s' drawn from what the observer could hold, π_0 uniform

Every move is evaluated as if all moves before it had been random, so that it conveys nothing but what it shows. For
each move that was played, a hand is sampled that the mover could hold by its hints and what it sees; its hand is
replaced by it, and the rest becomes the deck. The move is made there and play goes on there, everybody by the policy,
until it is the mover's turn again, once or `rounds` times; at each of these turns the value network evaluates what the
mover sees, and the returns so far are mixed by λ (`ppo.lam`). That simulated return replaces the one of the real game
in PPO's advantages and in the targets of the values. Play itself goes on in the real state.

This differs from the paper in three ways: the policy has no memory, since the observation holds the hints on all cards;
it is an actor and a critic, not Q-learning; and returns are of several rounds, not of one move. The paper's objective
is the return of the policy from such a state on; one move and a value network approximate it, several rounds rely less
on the network.

Level 1 samples hands by hints and cards seen alone. A further level samples them from a belief that was learnt on the
games of the level before (`belief`, see `obl_belief`), and begins with its weights (`begin`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray, PyTree

from interplay.agents.basic import masked
from interplay.agents.registry import agent
from interplay.errors import InterplayError
from interplay.games.hanabi.game import Hanabi
from interplay.games.hanabi.hand_sampling import draw_hand, draw_next, replace_hand
from interplay.games.records import record
from interplay.training import hand_belief_network as beliefs
from interplay.training.actor_critic import new_member
from interplay.training.algorithms.sp import SelfPlay
from interplay.training.collect import Rollout
from interplay.training.config import Experiment
from interplay.training.loader import make_game, method_options
from interplay.training.method import JointStep, ProcessedRollout
from interplay.training.run import Trained, train_stage
from interplay.training.stage_state import RolloutWorld, TrainingSetup
from interplay.training.update import LearningSignal, ValueEstimates

NAME = "OBL-1, analytic belief"
AT_ONCE = 2**15  # simulated games side by side


@dataclass(frozen=True)
class OBLOptions:
    """How hands are sampled."""

    candidates: int = 8  # hands of which one is kept by its weight; more is nearer to the exact belief
    hands: int = 1  # drawn for every move; the mean over them is learnt from
    rounds: int = 1  # simulated from each move on; returns of fewer are mixed in by ppo.lam
    belief: str | None = None  # file of a belief that was learnt; null: hints and cards seen alone, which is level 1
    begin: str | None = None  # checkpoint whose weights training begins with

    def __post_init__(self) -> None:
        for name in ("candidates", "hands", "rounds"):
            if getattr(self, name) < 1:
                raise InterplayError(f"algorithm.options.{name}: {getattr(self, name)}; at least 1")


@record
class Situation:
    """A state in which a move was made, and what its simulations are drawn by."""

    state: PyTree
    key: PRNGKeyArray


@record
class SimulatedReturn:
    """What a move returns from another state that looks the same to the mover. [env], in a rollout by slot."""

    reward: Float[Array, "*place"]  # discounted, and weighted by λ
    weight: Float[Array, "*place"]  # of the values below; 0 where the game would end before
    value: Float[Array, "*place"]  # mean of what the mover would see at its next turns, on the value network's scale
    sound: Bool[Array, "*place"]  # False: no such state was found, so that the move is not learnt from


@dataclass(frozen=True, kw_only=True, eq=False)
class OffBeliefLearning(SelfPlay):
    """Self-play by turns whose advantages are those of simulated returns."""

    options: OBLOptions
    belief: beliefs.HandBelief | None  # None: by hints and cards seen alone

    def check(self, setup: TrainingSetup) -> None:
        """Check that rewards are those that a simulated game can have."""
        rewards = setup.experiment.rewards
        if rewards.entropies or rewards.conduct or rewards.events or rewards.shaping != ((0.0, 0.0),):
            raise InterplayError("rewards: simulated steps are paid by the game's points alone; leave the rest out")

    def draw_randomness(self, setup: TrainingSetup, key: PRNGKeyArray, steps: int, progress: Array) -> dict[str, Array]:
        """Draw keys of the simulations."""
        return {"simulation": jax.random.split(jax.random.fold_in(key, 4), (steps, setup.experiment.envs))}

    def record_step(self, setup: TrainingSetup, members: PyTree, world: RolloutWorld, step: JointStep) -> Situation:
        """Keep every environment's state, from which `process_rollout` simulates all moves at once."""
        situation = Situation(state=world.state, key=step.randomness["simulation"])
        return jax.tree.map(lambda x: x[None], situation)  # [learner, slot]: one learner, a slot for each

    def process_rollout(
        self, setup: TrainingSetup, state: PyTree, members: PyTree, rollout: Rollout
    ) -> ProcessedRollout:
        """Put simulated returns in the place of states."""
        member = jax.tree.map(lambda x: x[0], members)
        steps, envs = setup.experiment.rollout, setup.experiment.envs
        most = max(1, AT_ONCE // (envs * self.options.hands))
        block = max(n for n in range(1, min(steps, most) + 1) if steps % n == 0)

        def simulated(part: tuple[Situation, Array]) -> SimulatedReturn:
            return jax.vmap(jax.vmap(lambda situation, action: self._returns(setup, member, situation, action)))(*part)

        def cut(x: Array) -> Array:
            return x.reshape(steps // block, block, envs, *x.shape[3:])

        returns = jax.lax.map(simulated, jax.tree.map(cut, (rollout.extra, rollout.action)))
        returns = jax.tree.map(lambda x: x.reshape(steps, 1, envs), returns)
        return ProcessedRollout(state, replace(rollout, extra=returns), {})

    def advantages(self, estimates: ValueEstimates) -> LearningSignal:
        """Return the advantages of the simulated returns."""
        signal, simulated = super().advantages(estimates), estimates.rollout.extra
        target = simulated.reward + simulated.weight * estimates.in_return_units(simulated.value)
        return LearningSignal(signal.value, target - signal.value, target, signal.counted * simulated.sound)

    def _returns(self, setup: TrainingSetup, member: Any, situation: Situation, action: Array) -> SimulatedReturn:
        """Return what a move was worth: the mean over sampled hands."""
        keys = jax.random.split(situation.key, self.options.hands)
        return _mean(jax.vmap(lambda key: self._simulate(setup, member, situation.state, action, key))(keys))

    def _simulate(
        self, setup: TrainingSetup, member: Any, state: PyTree, action: Array, key: PRNGKeyArray
    ) -> SimulatedReturn:
        """Return what a move is worth from one sampled state on."""
        game: Any = setup.game  # as the seat to move plays it
        rules, ppo, rounds = game.rules, setup.experiment.ppo, self.options.rounds
        encoding, players = setup.experiment.network.encoding, game.rules.players
        seat = state.time % players
        for_hand, for_rounds = jax.random.split(key)
        if self.belief is None:
            hand, sound = draw_hand(rules, state, seat, for_hand, self.options.candidates)
        else:
            view = game.observe_as(state, self.belief.encoding, seat)
            hand, sound = self.belief.draw(rules, state, seat, view, for_hand)

        def chosen(state: PyTree, key: PRNGKeyArray) -> tuple[Array, Array]:
            """Return what the seat to move does, and what its value network says."""
            seen = game.observe_as(state, encoding, state.time % players)
            logits, value = member.unroll(member.start(), seen[None], seen[None], jnp.zeros(1, bool), jnp.zeros(0))
            return jax.random.categorical(key, masked(logits[0], game.legal(state)[0])), value[0]

        def one_round(carry: tuple[Any, Array, Array], now: tuple[PRNGKeyArray, Array]) -> tuple[Any, Any]:
            (state, action, odds), (key, cut) = carry, now  # odds: discount and λ so far; 0 after the game's end
            paid = jnp.float32(0.0)
            value = jnp.float32(0.0)
            for move in range(players):
                for_card, for_choice = jax.random.split(jax.random.fold_in(key, move))
                state, step = game.step(draw_next(rules, state, for_card), action[None], None)
                paid = paid + odds * step.reward[0]
                odds = odds * ppo.gamma * (1.0 - step.terminated)
                action, value = chosen(state, for_choice)
            return (state, action, odds * (1 - cut)), (paid, odds * cut, odds * cut * value)

        there = replace_hand(rules, state, seat, hand)
        cuts = jnp.full(rounds, 1.0 - ppo.lam).at[-1].set(1.0)
        begin = (there, action.astype(jnp.int32), jnp.float32(1.0))
        _, (paid, weight, value) = jax.lax.scan(one_round, begin, (jax.random.split(for_rounds, rounds), cuts))
        total = jnp.sum(weight)
        return SimulatedReturn(
            reward=setup.experiment.rewards.task * jnp.sum(paid),
            weight=total,
            value=jnp.sum(value) / jnp.maximum(total, 1e-6),
            sound=sound,
        )


def _mean(simulated: SimulatedReturn) -> SimulatedReturn:
    """Return the mean over the sampled hands of one move."""
    weight = simulated.weight * simulated.sound
    count, total = jnp.maximum(jnp.sum(simulated.sound), 1), jnp.sum(weight)
    return SimulatedReturn(
        reward=jnp.sum(simulated.reward * simulated.sound) / count,
        weight=total / count,
        value=jnp.sum(simulated.value * weight) / jnp.maximum(total, 1e-6),
        sound=jnp.any(simulated.sound),
    )


def train(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """Train one level, a policy a run.

    Raises:
        InterplayError: If the game is not Hanabi, or the network has a memory or a critic of all views.
    """
    options = method_options(OBLOptions, experiment)
    game = make_game(experiment)
    if not isinstance(game, Hanabi):
        raise InterplayError(f"{game.id} has no hands to sample; off-belief learning is written for Hanabi")
    if experiment.network.recurrent or experiment.network.critic != "own":
        raise InterplayError("simulated steps are judged by what one seat sees at one time: no memory, critic own")
    belief = None if options.belief is None else beliefs.load(options.belief, game)
    method = OffBeliefLearning.create(experiment, by_turns=True, options=options, belief=belief)
    members = None if options.begin is None else _initial_members(experiment, game, options.begin)
    notes = [{"method": NAME if belief is None else "OBL, belief learnt"}] * experiment.runs
    return train_stage(experiment, method, members=members, notes=notes, quiet=quiet)


def _initial_members(experiment: Experiment, game: Any, path: str) -> PyTree:
    """Return members of all runs, [run, 1, ...]: the checkpoint's policy, and random values."""
    core = getattr(agent(path).policy, "core", None)
    keys = jax.random.split(jax.random.key(experiment.seed), experiment.runs)
    members = jax.vmap(lambda k: new_member(game, experiment.network, 0, k))(keys)
    if core is None or core.shape != members.policy.shape:
        raise InterplayError(f"algorithm.options.begin: the network of {path} is not the one that `network` asks for")
    policies = jax.tree.map(lambda x: jnp.broadcast_to(x, (experiment.runs, *x.shape)), core)
    members = eqx.tree_at(lambda m: m.policy, members, policies)
    return jax.tree.map(lambda x: x[:, None], members)
