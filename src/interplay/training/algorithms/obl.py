"""Off-belief learning: level 1 with an analytic belief, and further levels with one that was learnt.

Every move is judged as if all moves before it had been made at random, so that it can mean nothing but what it shows.
At each step and for each seat, a hand is drawn that the seat could hold by its hints and what it sees; its hand is
exchanged for it, the rest becomes the deck; the seat's own move is made there, or another seat's as that seat would
make it there; and what the seat sees next is worth what the value network says. That one step stands in place of what
was played, in the advantages of PPO and in what the values learn. Play itself goes on in the real state.

The policy has no memory: what a seat sees holds the hints on all cards, and who made which move before is not to count.
It is an actor and a critic where the published method is Q-learning.

A further level takes what the level before does for what was done: hands are drawn from a belief that was learnt on its
games (`belief`, see `obl_belief`), and training begins with its weights (`begin`).
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, PRNGKeyArray

from interplay.agents.basic import masked
from interplay.agents.registry import agent
from interplay.errors import InterplayError
from interplay.games.hanabi.game import Hanabi
from interplay.games.hanabi.hand_sampling import draw_hand, set_hand
from interplay.games.registry import make
from interplay.training import belief as beliefs
from interplay.training.actor_critic import new_member
from interplay.training.algorithms.sp import scheme as self_play
from interplay.training.config import Experiment
from interplay.training.loader import build
from interplay.training.method import Imagined
from interplay.training.run import Trained
from interplay.training.run import train as train_stage

NAME = "OBL-1, analytic belief"


@dataclass(frozen=True)
class OBLOptions:
    """How hands are drawn."""

    candidates: int = 8  # hands of which one is kept by its weight; more is nearer to the exact belief
    hands: int = 1  # drawn for every step; the mean over them is learnt from
    belief: str | None = None  # file of a belief that was learnt; null: hints and cards seen alone, which is level 1
    begin: str | None = None  # checkpoint whose weights training begins with

    def __post_init__(self) -> None:
        for name in ("candidates", "hands"):
            if getattr(self, name) < 1:
                raise InterplayError(f"algorithm.options.{name}: {getattr(self, name)}; at least 1")


def train(experiment: Experiment, *, quiet: bool = False) -> Trained:
    """max E[r(s', a) + γ V(o')] with s' drawn from what the observer could hold, π_0 uniform."""
    options = build(OBLOptions, experiment.algorithm.options, "algorithm.options")
    game = make(experiment.game.name, **experiment.game.options)
    if not isinstance(game, Hanabi):
        raise InterplayError(f"{game.id} has no hands to imagine; off-belief learning is written for Hanabi")
    belief = None if options.belief is None else beliefs.load(options.belief, game)
    scheme = dataclasses.replace(self_play(experiment), imagine=partial(imagine, options=options, belief=belief))
    members = None if options.begin is None else _beginning(experiment, game, options.begin)
    notes = [{"method": NAME if belief is None else "OBL, belief learnt"}] * experiment.runs
    return train_stage(experiment, scheme, members=members, notes=notes, quiet=quiet)


def _beginning(experiment: Experiment, game: Any, path: str) -> Any:
    """Members of all runs, [run, 1, ...]: the checkpoint's policy with values of their own."""
    core = getattr(agent(path).policy, "core", None)
    keys = jax.random.split(jax.random.key(experiment.seed), experiment.runs)
    members = jax.vmap(lambda k: new_member(game, experiment.network, 0, k))(keys)
    if core is None or core.shape != members.policy.shape:
        raise InterplayError(f"algorithm.options.begin: the network of {path} is not the one that `network` asks for")
    policies = jax.tree_util.tree_map(lambda x: jnp.broadcast_to(x, (experiment.runs, *x.shape)), core)
    members = eqx.tree_at(lambda m: m.policy, members, policies)
    return jax.tree_util.tree_map(lambda x: x[:, None], members)


def imagine(
    setting: Any,
    members: Any,
    states: Any,
    joint: Int[Array, "env seat"],
    keys: PRNGKeyArray,
    *,
    options: OBLOptions,
    belief: Any = None,
) -> Imagined:
    """[env, seat] one step from a state that looks the same to the seat."""
    member = jax.tree_util.tree_map(lambda x: x[0], members)
    seats = jnp.arange(setting.game.num_seats)

    def of_env(state: Any, actions: Array, key: PRNGKeyArray) -> Imagined:
        split = jax.random.split(key, (setting.game.num_seats, options.hands))
        many = jax.vmap(
            lambda seat, ks: jax.vmap(lambda k: _step(setting, member, state, actions, seat, k, options, belief))(ks)
        )
        return jax.vmap(_mean)(many(seats, split))

    return jax.vmap(of_env)(states, joint, keys)


def _step(
    setting: Any,
    member: Any,
    state: Any,
    actions: Array,
    seat: Array,
    key: PRNGKeyArray,
    options: OBLOptions,
    belief: Any,
) -> Imagined:
    game, encoding = setting.game, setting.experiment.network.encoding
    for_hand, for_deck, for_move = jax.random.split(key, 3)
    if belief is None:
        hand, sound = draw_hand(game.rules, state, seat, for_hand, options.candidates)
    else:
        hand, sound = belief.draw(game.rules, state, seat, game.observe(state, belief.encoding)[seat], for_hand)
    there = set_hand(game.rules, state, seat, hand, for_deck)
    mover = state.time % game.num_seats
    logits = masked(member.logits(game.observe(there, encoding)[mover]), game.legal(there)[mover])
    action = jnp.where(seat == mover, actions[mover], jax.random.categorical(for_move, logits))
    after, step = game.step(there, jnp.full(game.num_seats, action))
    seen = game.observe(after, encoding)[seat]
    _, value = member.values(member.start(), seen[None], jnp.ones(1, bool), jnp.zeros(0))
    points = setting.experiment.rewards.task * jnp.sum(step.reward)
    goes_on = 1.0 - step.terminated.astype(jnp.float32)
    return Imagined(reward=points, goes_on=goes_on, value=value[0], sound=sound)


def _mean(many: Imagined) -> Imagined:
    """Over the hands of one step."""
    goes_on = many.goes_on * many.sound
    counts = jnp.maximum(jnp.sum(many.sound), 1)
    return Imagined(
        reward=jnp.sum(many.reward * many.sound) / counts,
        goes_on=jnp.sum(goes_on) / counts,
        value=jnp.sum(many.value * goes_on) / jnp.maximum(jnp.sum(goes_on), 1.0),
        sound=jnp.any(many.sound),
    )
