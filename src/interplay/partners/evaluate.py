"""Many pairs at once: scores and event counts of partners with egos, in one compiled program.

Play that becomes traces goes through `interplay.rollout`. Here only sums are kept, so that thousands of pairs run on a
GPU: weights are stacked [pair, ...], and a pair's environments [seat of the ego x episode] step together.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from interplay.agents.api import Agent, Memory, Policy
from interplay.agents.networks import Core
from interplay.agents.neural import NeuralPolicy, game_key
from interplay.errors import IllegalAction, InterplayError
from interplay.games.api import Game, State, is_jax
from interplay.rollout.compiled import where_done
from interplay.rollout.seat import START, PolicyTurn, chance_key, policy_start, seat_turn
from interplay.training.frozen_partners import FrozenPartners

BLOCK = 25  # episodes of a pair and seat that step together


@dataclass(frozen=True)
class PolicyStack:
    """Policies of one kind, stacked: arrays are [player, ...]."""

    policy: Policy
    names: tuple[str, ...]

    @classmethod
    def of_networks(cls, game: Game, cores: Core, encoding: str, names: Sequence[str]) -> PolicyStack:
        """From a network with arrays [player, ...]."""
        policy = NeuralPolicy(cores, encoding, trained_for=game_key(game))
        many = eqx.tree_at(lambda p: p.greedy, policy, jnp.zeros(len(names), bool))
        return cls(many, tuple(names))

    @classmethod
    def of_agents(cls, game: Game, agents: Sequence[Agent]) -> PolicyStack:
        """Stack the policies of agents of one kind."""
        partners = FrozenPartners.from_agents(game, agents)
        return cls(partners.policy(partners.arrays), tuple(a.name for a in agents))

    def __len__(self) -> int:
        return len(self.names)

    def take(self, players: Sequence[int] | np.ndarray) -> PolicyStack:
        """Some of the players, in this order."""
        index = np.asarray(players, np.int32)
        return PolicyStack(_rows(self.policy, index), tuple(self.names[i] for i in index))

    def agent(self, player: int) -> Agent:
        """Return one player as an agent."""
        policy = jax.tree.map(lambda x: jnp.asarray(x[player]) if eqx.is_array(x) else x, self.policy)
        return Agent(self.names[player], policy)

    def finite(self) -> np.ndarray:
        """[player] whether all weights are numbers."""
        all_finite = np.ones(len(self), bool)
        for leaf in jax.tree.leaves(eqx.filter(self.policy, eqx.is_inexact_array)):
            all_finite &= np.isfinite(np.asarray(leaf)).reshape(len(self), -1).all(axis=1)
        return all_finite


@dataclass(frozen=True)
class PlayedReturns:
    """The scores and counts of pairs. The second axis is the seat of the ego; partners have all others."""

    scores: Float[np.ndarray, "pair ego_seat episode"]
    points: Float[np.ndarray, "pair ego_seat seat"]  # mean per episode that each seat earned
    events: Float[np.ndarray, "pair ego_seat seat event"]  # mean count per episode

    @property
    def returns(self) -> Float[np.ndarray, "pair ego_seat"]:
        """The mean score of each pair and seat of the ego."""
        return self.scores.mean(axis=2)


def play_pairs(
    game: Game,
    partners: PolicyStack,
    egos: PolicyStack,
    pairs: Sequence[Sequence[int]] | Int[np.ndarray, "pair column"],
    *,
    episodes: int,
    seed: int,
    most_envs: int = 0,
) -> PlayedReturns:
    """Each pair (partner, ego) plays so many episodes with the ego in each seat.

    Results depend on the seed, the numbers of partner and ego, and the episode; not on how many pairs there are.

    Args:
        game: The game.
        partners: Who plays beside the egos.
        egos: Who plays in one seat.
        pairs: Numbers of partner and ego: the partner has all other seats. In a game of more than two seats also a
            number for each other seat, in the order of the seats, and then the ego: a set of partners.
        episodes: Of every pair and seat of the ego.
        seed: Of all chance.
        most_envs: Bounds the environments that step together; 0: what suits the device.

    Raises:
        InterplayError: The game is not written in JAX, or there is nobody to play.
    """
    if not is_jax(game):
        raise InterplayError(f"{game.id} is not written in JAX, so its episodes cannot be compiled")
    if episodes < 1:
        raise InterplayError(f"episodes: {episodes}; play at least one")
    listed = np.asarray(pairs, np.int32)
    if not listed.size:
        raise InterplayError("pairs: there is nobody to play")
    listed = listed.reshape(len(listed), -1)
    if listed.shape[1] not in (2, game.num_seats):
        raise InterplayError(f"pairs: {listed.shape[1]} columns; a partner and an ego, or all {game.num_seats} seats")
    mixed = listed.shape[1] > 2
    blocks = -(-episodes // BLOCK)
    items = np.concatenate(
        [np.repeat(listed, blocks, axis=0), np.tile(np.arange(blocks), len(listed))[:, None]], axis=1
    )
    size = _batch(len(items), game.num_seats, most_envs)
    parts = []
    for first in range(0, len(items), size):
        here = items[first : first + size]
        # The last part is filled up with items that are dropped again, so that one program serves all parts.
        filled = np.concatenate([here, np.repeat(here[-1:], size - len(here), axis=0)])
        beside = filled[:, :-2] if mixed else filled[:, 0]
        players = _rows(partners.policy, beside), _rows(egos.policy, filled[:, -2])
        parts.append([np.asarray(x)[: len(here)] for x in _play(game, *players, _keys(seed, filled), mixed)])
    points, events, faults = (np.concatenate(p) for p in zip(*parts, strict=True))
    _refuse(game, partners, egos, items, faults)
    points, events = (_per_episode(x, len(listed), episodes).astype(float) for x in (points, events))
    return PlayedReturns(points.sum(axis=3), points.mean(axis=2), events.mean(axis=2))


def _per_episode(x: np.ndarray, pairs: int, episodes: int) -> np.ndarray:
    """[pair, ego seat, episode, ...] from blocks of episodes."""
    by_pair = x.reshape(pairs, -1, *x.shape[1:])  # [pair, block, ego seat, episode of the block, ...]
    joined = np.moveaxis(by_pair, 1, 2).reshape(pairs, x.shape[1], -1, *x.shape[3:])
    return joined[:, :, :episodes]


def _batch(items: int, seats: int, most_envs: int) -> int:
    """Items that run together: a power of two, so that calls of different sizes share few programs."""
    on_cpu = jax.default_backend() == "cpu"
    most = (most_envs or (4096 if on_cpu else 65536)) // (seats * BLOCK)
    least = 8 if on_cpu else 1024  # a GPU steps a thousand items as fast as one
    wanted = 1 << max(0, items - 1).bit_length()
    return max(1, min(max(wanted, least), 1 << max(0, most.bit_length() - 1)))


def all_pairs(partners: int, egos: int) -> Int[np.ndarray, "pair 2"]:
    """Every partner with every ego: pair partner * egos + ego."""
    return np.stack(np.meshgrid(np.arange(partners), np.arange(egos), indexing="ij"), axis=-1).reshape(-1, 2)


def _rows(policy: Policy, index: np.ndarray) -> Policy:
    return jax.tree.map(lambda x: x[index] if eqx.is_array(x) else x, policy)


def _keys(seed: int, items: np.ndarray) -> Any:
    base, fold = jax.random.key(seed), jax.random.fold_in
    return jax.vmap(lambda row: functools.reduce(fold, row, base))(jnp.asarray(items))


def _refuse(game: Game, partners: PolicyStack, egos: PolicyStack, items: np.ndarray, faults: np.ndarray) -> None:
    wrong = np.argwhere(faults)
    if len(wrong):
        item, side = wrong[0]
        numbers = items[item, -2:-1] if side else items[item, :-2]
        names = " or ".join(repr((partners, egos)[side].names[i]) for i in dict.fromkeys(numbers.tolist()))
        raise IllegalAction(f"{names} in {game.id}: chose an action that is not legal, or its logits are not numbers")


@eqx.filter_jit
def _play(game: Game, partners: Policy, egos: Policy, keys: Any, mixed: bool) -> tuple[Array, ...]:
    """Play every item. Partners are [item, ...], and [item, other seat, ...] if sets of them are `mixed`.

    Returns:
        Points and events [item, ego seat, episode, seat, ...], and faults [item, (partner, ego)].
    """
    play = functools.partial(_play_block, game, mixed)
    return eqx.filter_vmap(play, in_axes=(eqx.if_array(0), eqx.if_array(0), 0))(partners, egos, keys)


def _play_block(game: Game, mixed: bool, partner: Policy, ego: Policy, key: PRNGKeyArray) -> tuple[Array, ...]:
    """A block of episodes of one pair with the ego in each seat."""
    seats, envs = game.num_seats, game.num_seats * BLOCK
    keys = jax.random.split(key, envs)
    at = jnp.repeat(jnp.arange(seats), BLOCK)  # [env] the ego's seat
    beside = np.array([[s for s in range(seats) if s != seat] for seat in range(seats)])
    others = jnp.asarray(beside)[at]  # [env, seats - 1] the partners'
    each = _each_partner(partner, mixed)
    memories = (
        jax.vmap(lambda k, seat: policy_start(ego, k, seat))(keys, at),
        jax.vmap(lambda k, row: each(lambda one, seat: policy_start(one, k, seat), row))(keys, others),
    )
    state = jax.vmap(lambda k: game.init(chance_key(k, START, seats)))(keys)
    zeros = (
        jnp.zeros((envs, seats), jnp.float32),
        jnp.zeros((envs, seats, len(game.event_names)), jnp.int32),
        jnp.zeros((envs, 2), bool),
    )

    def turn(carry: tuple, t: Array) -> tuple[tuple, None]:
        state, memories, done, (points, events, faults) = carry
        memories, joint, wrong = _act(game, (partner, mixed), ego, state, memories, at, others, keys, t)
        after, step = jax.vmap(game.step)(state, joint, jax.vmap(lambda k: chance_key(k, t, seats))(keys))
        on = ~done
        points = points + jnp.where(on[:, None], step.reward, 0.0)
        events = events + jnp.where(on[:, None, None], step.events, 0)
        faults = faults | (wrong & on[:, None])
        state = jax.tree.map(lambda old, new: where_done(done, old, new), state, after)
        return (state, memories, done | step.terminated | step.truncated, (points, events, faults)), None

    start = (state, memories, jnp.zeros(envs, bool), zeros)
    (_, _, _, (points, events, faults)), _ = jax.lax.scan(turn, start, jnp.arange(game.horizon))
    points, events = (x.reshape(seats, BLOCK, *x.shape[1:]) for x in (points, events))
    return points, events, faults.any(axis=0)


def _each_partner(partner: Policy, mixed: bool) -> Any:
    """Return a map over the seats beside the ego: function (policy, *rows), rows [other seat, ...]."""
    if mixed:
        return lambda function, *rows: eqx.filter_vmap(function, in_axes=(eqx.if_array(0), *[0] * len(rows)))(
            partner, *rows
        )
    return lambda function, *rows: jax.vmap(functools.partial(function, partner))(*rows)


def _act(
    game: Game,
    beside: tuple[Policy, bool],
    ego: Policy,
    state: State,
    memories: tuple,
    at: Array,
    others: Array,
    keys: Any,
    t: Any,
) -> tuple[tuple, Array, Array]:
    """Memories, joint actions [env, seat] and who did wrong [env, (partner, ego)]."""
    each = _each_partner(*beside)
    legal, to_move = jax.vmap(game.legal)(state), jax.vmap(game.to_move)(state)

    def one(memory: Memory, state: State, key: PRNGKeyArray, seat: Array) -> PolicyTurn:
        return seat_turn(game, ego, memory, state, seat, key, t)

    def several(memory: Memory, state: State, key: PRNGKeyArray, row: Array) -> PolicyTurn:
        return each(lambda policy, m, seat: seat_turn(game, policy, m, state, seat, key, t), memory, row)

    mine = jax.vmap(one)(memories[0], state, keys, at)
    its = jax.vmap(several)(memories[1], state, keys, others)
    joint = jnp.zeros(to_move.shape, jnp.int32)
    joint = jax.vmap(lambda row, s, a: row.at[s].set(a))(joint, at, mine.action)
    joint = jax.vmap(lambda row, s, a: row.at[s].set(a))(joint, others, its.action)
    on_turn = jax.vmap(lambda row, s: row[s])
    ego_wrong = ~mine.sound & on_turn(to_move, at)
    its_wrong = (~its.sound & on_turn(to_move, others)).any(axis=-1)
    joint = jnp.where(to_move, joint, jnp.argmax(legal, axis=-1))
    return (mine.memory, its.memory), joint, jnp.stack([its_wrong, ego_wrong], axis=-1)
