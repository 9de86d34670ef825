"""The belief that a further level of off-belief learning stands on: hands as they are in the games of a policy.

    obl          level 1, {"candidates": 8}
    obl_belief   {"policy": "runs/obl1/policies/run0.safetensors"}                    writes belief.safetensors
    obl          level 2, {"belief": "runs/belief/belief.safetensors", "begin": "runs/obl1/policies/run0.safetensors"}

The log tells nats a card, learnt and by copies left alone: what the policy's moves give away is the difference.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, PRNGKeyArray, PyTree

from interplay.agents.api import Agent, Policy
from interplay.agents.basic import Noisy
from interplay.agents.registry import agent
from interplay.errors import InterplayError
from interplay.games.hanabi.game import Hanabi
from interplay.rollout.seat import policy_turn
from interplay.training import checkpoint, schedule
from interplay.training import hand_belief_network as beliefs
from interplay.training.actor_critic import policy_shape
from interplay.training.config import Experiment
from interplay.training.loader import make_game, method_options
from interplay.training.run import Trained
from interplay.training.stage_state import where


@dataclass(frozen=True)
class OBLBeliefOptions:
    """Whose games are learnt from."""

    policy: str  # checkpoint, or the name of an agent without memory
    epsilon: float = 0.1  # share of its moves that are made at random, so that all views are met
    widths: tuple[int, ...] = (256, 256)

    def __post_init__(self) -> None:
        if not 0 <= self.epsilon <= 1:
            raise InterplayError(f"algorithm.options.epsilon: {self.epsilon}; a share of moves, from 0 to 1")
        if not self.widths:
            raise InterplayError("algorithm.options.widths: a belief needs at least one layer")


class Learning(eqx.Module):
    """The belief, its optimiser and the games that are played."""

    belief: beliefs.HandBelief
    state: PyTree
    games: Any  # [env]
    key: PRNGKeyArray


def train(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """Train a belief, max E log B(hand | view) over the games of a policy with itself.

    Raises:
        InterplayError: If the game is not Hanabi, or if the policy has a memory.
    """
    options = method_options(OBLBeliefOptions, experiment)
    game = make_game(experiment)
    if not isinstance(game, Hanabi):
        raise InterplayError(f"{game.id} has no hands to believe in; off-belief learning is written for Hanabi")
    _check(experiment, game)
    source = agent(options.policy)
    teacher = _Teacher(experiment, game, _playing(source, options, game), options)
    learning, curve = _taught(teacher, quiet)
    if experiment.output.folder is not None:
        folder = Path(experiment.output.folder)
        beliefs.save(folder / "belief.safetensors", learning.belief, game, {"policy": source.name, **curve[-1]})
        (folder / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in curve))
    return Trained(experiment, game, curve, learning.belief, [])


def _check(experiment: Experiment, game: Any) -> None:
    """What can be wrong, before anything is compiled."""
    policy_shape(game, experiment.network)  # an error if the encoding is none that a network reads
    if experiment.runs != 1:
        raise InterplayError(f"runs: {experiment.runs}; one belief is learnt at a time")
    if experiment.envs * experiment.rollout % experiment.ppo.minibatches:
        steps = f"{experiment.envs} envs x {experiment.rollout} steps"
        raise InterplayError(f"ppo.minibatches: {steps} cannot be cut into {experiment.ppo.minibatches}")
    folder = experiment.output.folder
    if folder is not None and (Path(folder) / checkpoint.MANIFEST).exists():
        raise InterplayError(f"{folder} holds a training run. Choose another folder; nothing was changed")


def _playing(source: Agent, options: OBLBeliefOptions, game: Any) -> Policy:
    """The policy as its games are played, with moves at random."""
    if not isinstance(source.policy, Policy):
        raise InterplayError(f"{options.policy!r} is a player; a belief is learnt from a policy")
    policy = Noisy(source.policy, options.epsilon).bind(game)
    memory = jax.eval_shape(lambda: policy.init(jax.random.key(0), jnp.int32(0)))
    if any(x.size for x in jax.tree.leaves(memory)):
        raise InterplayError(f"{options.policy!r} has a memory; this belief is of what is seen at one time")
    return policy


def _taught(teacher: _Teacher, quiet: bool) -> tuple[Learning, list[dict[str, Any]]]:
    """All updates, or those that the clock allows, and the lines of the log."""
    experiment, learning, curve = teacher.experiment, teacher.begin(), []
    per_update, minutes, first = experiment.envs * experiment.rollout, experiment.output.minutes, time.perf_counter()
    for update in range(1, experiment.updates + 1):
        began = time.perf_counter()
        late = minutes is not None and began - first > 60 * minutes
        learning, logs = teacher.update(learning, jnp.float32(update / experiment.updates))
        if update % max(1, experiment.updates // experiment.output.logs) == 0 or update == experiment.updates or late:
            line = {k: float(v) for k, v in logs.items()}
            unknown = {"return": None, "returns": [None], "member_returns": [[None]]}
            speed = round(per_update / max(time.perf_counter() - began, 1e-9))
            curve.append({"update": update, "steps": update * per_update, "steps_per_s": speed, **unknown, **line})
            if not quiet:
                apart = f"{line['nats_a_card']:.3f} nats a card, {line['nats_by_copies']:.3f} by copies left"
                print(f"obl_belief: {update}/{experiment.updates} updates, {apart}", file=sys.stderr, flush=True)
        if late:
            break
    return learning, curve


class _Teacher:
    def __init__(self, experiment: Experiment, game: Hanabi, policy: Policy, options: OBLBeliefOptions):
        self.experiment, self.game, self.policy, self.options = experiment, game, policy, options
        self.steps = optax.chain(optax.clip_by_global_norm(experiment.ppo.grad_norm), optax.scale_by_adam(eps=1e-5))
        self.update = jax.jit(self._update)

    def begin(self) -> Learning:
        for_net, for_games, key = jax.random.split(jax.random.key(self.experiment.seed), 3)
        encoding = self.experiment.network.encoding
        size = self.game.encodings[encoding].shape
        assert size is not None
        belief = beliefs.HandBelief(self.game.rules, size[0], encoding, self.options.widths, for_net)
        games = jax.vmap(self.game.init)(jax.random.split(for_games, self.experiment.envs))
        return Learning(belief, self.steps.init(belief), games, key)  # type: ignore[arg-type]

    def _update(self, learning: Learning, share: Array) -> tuple[Learning, dict[str, Array]]:
        experiment = self.experiment
        key, for_play = jax.random.split(learning.key)
        games, states = jax.lax.scan(self._turn, learning.games, jax.random.split(for_play, experiment.rollout))
        rate = schedule.at(experiment.ppo.learning_rate, share)
        flat = jax.tree.map(lambda x: x.reshape(experiment.ppo.minibatches, -1, *x.shape[2:]), states)

        def one(carry: tuple[Any, Any], part: Any) -> tuple[Any, dict[str, Array]]:
            belief, state = carry
            gradient, logs = jax.grad(self._loss, has_aux=True)(belief, part)
            updates, state = self.steps.update(gradient, state)
            return (jax.tree.map(lambda w, u: w - rate * u, belief, updates), state), logs

        (belief, state), logs = jax.lax.scan(one, (learning.belief, learning.state), flat)
        return Learning(belief, state, games, key), jax.tree.map(jnp.mean, logs)

    def _turn(self, games: Any, key: PRNGKeyArray) -> tuple[Any, Any]:
        game, seats = self.game, jnp.arange(self.game.num_seats)

        def one(state: PyTree, key: PRNGKeyArray) -> Any:
            for_moves, for_memory, for_deal = jax.random.split(key, 3)
            memories = jax.vmap(self.policy.init)(jax.random.split(for_memory, game.num_seats), seats)
            views, legal = game.observe(state, self.policy.encoding), game.legal(state)
            keys = jax.random.split(for_moves, game.num_seats)
            moves = jax.vmap(partial(policy_turn, self.policy))(memories, views, legal, keys).action
            after, step = game.step(state, moves)
            return after, step.terminated, game.init(for_deal)

        after, over, fresh = jax.vmap(one)(games, jax.random.split(key, self.experiment.envs))
        return where(over, fresh, after), games

    def _loss(self, belief: beliefs.HandBelief, states: Any) -> tuple[Array, dict[str, Array]]:
        rules = self.game.rules

        def one(state: PyTree) -> tuple[Array, Array, Array]:
            views = self.game.observe(state, belief.encoding)
            seats = jnp.arange(self.game.num_seats)
            return jax.vmap(lambda seat, view: belief.log_prob(rules, state, seat, view))(seats, views)

        learnt, counted, many = jax.vmap(one)(states)
        total = jnp.maximum(jnp.sum(many), 1)
        loss = -jnp.sum(learnt) / total
        return loss, {"nats_a_card": loss, "nats_by_copies": -jnp.sum(counted) / total}
