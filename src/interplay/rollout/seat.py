"""An agent in a seat: the one place where a policy or a player is asked for an action.

One rule each for keys, deadlines, what a seat may see, and what counts as an illegal action. Compiled programs ask
policies through `policy_turn`; everything else asks agents through `Seat`.
"""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, UInt32

from interplay.agents.api import Agent, Memory, Move, Policy, TraceEvent, View, refuse_privileged
from interplay.errors import IllegalAction
from interplay.games.api import Game
from interplay.rollout import event_loop

START = -1  # the time of what happens before the first step

# --- keys: an episode has one, and everything that chance decides in it draws from a key of its own


def episode_keys(seed: int, teams: Sequence[int], indices: Sequence[int]) -> PRNGKeyArray:
    """[episode] keys that depend on seed, team number and episode number alone."""
    return _fold_episodes(jax.random.key(seed), np.array(teams, np.uint32), np.array(indices, np.uint32))


@jax.jit
def _fold_episodes(base: PRNGKeyArray, teams: Any, indices: Any) -> PRNGKeyArray:
    return jax.vmap(lambda team, index: jax.random.fold_in(jax.random.fold_in(base, team), index))(teams, indices)


def seat_key(key: PRNGKeyArray, t: Any, seat: Any) -> PRNGKeyArray:
    """The key of a seat at time `t`; at `START`, of its first memory or a player's seed."""
    return jax.random.fold_in(jax.random.fold_in(key, t + 1), seat)


def chance_key(key: PRNGKeyArray, t: Any, seats: int) -> PRNGKeyArray:
    """The key of the game's own chance at time `t`; at `START`, of the first state."""
    return jax.random.fold_in(jax.random.fold_in(key, t + 1), seats)


@jax.jit
def _seed_bits(key: PRNGKeyArray, seat: Any) -> UInt32[Array, ""]:
    return jax.random.bits(seat_key(key, START, seat), (), jnp.uint32)


def player_seed(key: PRNGKeyArray, seat: int) -> int:
    """The seed with which a player begins an episode in a seat."""
    return int(_seed_bits(key, seat))


# --- policies: pure JAX, inside compiled programs or one at a time


def policy_start(policy: Policy, key: PRNGKeyArray, seat: Int[Array, ""]) -> Memory:
    """A policy's memory at the start of an episode; `key` is the episode's."""
    return policy.init(seat_key(key, START, seat), seat)


class PolicyTurn(NamedTuple):
    """What a policy did in a turn."""

    memory: Memory
    action: Int[Array, ""]
    sound: Bool[Array, ""]  # the action is legal, and was chosen by logits that are numbers
    logits: Float[Array, " action"]


def policy_turn(
    policy: Policy, memory: Memory, observation: Any, legal: Bool[Array, " action"], key: PRNGKeyArray
) -> PolicyTurn:
    """One turn of a policy. Called every step, on turn or off, so that memory sees all.

    Args:
        policy: A policy that is bound to its game.
        memory: Its memory before this turn.
        observation: What its seat sees, in the policy's encoding.
        legal: The actions that are legal for the seat.
        key: The seat's key of this turn (`seat_key`).
    """
    memory, action, info = policy.act(memory, observation, legal, key)
    action = action.astype(jnp.int32)
    inside = (action >= 0) & (action < legal.shape[0])
    sound = inside & legal[jnp.clip(action, 0, legal.shape[0] - 1)] & ~jnp.any(jnp.isnan(info.logits))
    return PolicyTurn(memory, action, sound, info.logits)


def seat_turn(
    game: Game, policy: Policy, memory: Memory, state: Any, seat: Any, key: PRNGKeyArray, t: Any
) -> PolicyTurn:
    """One turn of a policy in a seat of a JAX game.

    Args:
        game: A game of pure JAX functions.
        policy: A policy that is bound to it.
        memory: Its memory before this turn.
        state: The state that it sees.
        seat: The seat's number, which may be traced.
        key: The episode's key.
        t: Steps played before.
    """
    seen = jax.tree_util.tree_map(lambda x: x[seat], game.observe(state, policy.encoding))
    return policy_turn(policy, memory, seen, game.legal(state)[seat], seat_key(key, t, seat))


@functools.lru_cache(maxsize=256)
def _bound(policy: _ById, game: Game) -> Policy:
    bound = policy.thing.bind(game)
    return jax.tree_util.tree_map(lambda leaf: jnp.asarray(leaf) if isinstance(leaf, np.ndarray) else leaf, bound)


class _ById:
    """A policy as the key of a cache: the same object is the same key."""

    def __init__(self, thing: Any):
        self.thing = thing

    def __hash__(self) -> int:
        return id(self.thing)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ById) and self.thing is other.thing


def bound(policy: Policy, game: Game) -> Policy:
    """The policy made ready for a game, with arrays of JAX; made once."""
    return _bound(_ById(policy), game)


class StaticPolicy:
    """A policy without its arrays, as the key of a cache: policies that differ in arrays only are equal."""

    def __init__(self, policy: Any):
        self.policy = policy
        leaves, structure = jax.tree_util.tree_flatten(policy)
        self._key = structure, tuple(leaves)
        self._hash = hash(str(structure))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StaticPolicy) and self._key == other._key


class SinglePolicyPrograms(NamedTuple):
    """The compiled start and turn of one policy alone, given its arrays."""

    start: Callable[..., Memory]
    turn: Callable[..., PolicyTurn]


@functools.lru_cache(maxsize=256)
def _single_policy_programs(static: StaticPolicy) -> SinglePolicyPrograms:
    def start(arrays: Any, key: PRNGKeyArray, seat: Any) -> Memory:
        return policy_start(eqx.combine(arrays, static.policy), key, seat)

    def turn(arrays: Any, memory: Memory, observation: Any, legal: Any, key: PRNGKeyArray, t: Any, seat: Any) -> Any:
        return policy_turn(eqx.combine(arrays, static.policy), memory, observation, legal, seat_key(key, t, seat))

    return SinglePolicyPrograms(jax.jit(start), jax.jit(turn))


# --- seats


def see(game: Game, state: Any, seat: int, encoding: str) -> Any:
    """What one seat sees of a state."""
    return jax.tree_util.tree_map(lambda x: np.asarray(x)[seat], game.observe(state, encoding))


def view_of(game: Game, state: Any, t: int, seat: int, legal: np.ndarray, encoding: str) -> View:
    """What an agent that reads this encoding is shown in a seat, and what it may look at besides."""
    return make_view(game, lambda: state, t, seat, legal, see(game, state, seat, encoding), encoding)


def make_view(
    game: Game, state: Callable[[], Any], t: int, seat: int, legal: np.ndarray, observation: Any, encoding: str
) -> View:
    """The same where the observation is at hand, and the state is costly to take out of a batch."""

    def look(other: str) -> Any:
        if other != encoding:
            refuse_privileged(game, other)
        return see(game, state(), seat, other)

    return View(game, seat, t, legal, observation, lambda: game.render(state(), seat), look)


class Seat:
    """An agent in one seat of one episode."""

    def __init__(self, game: Game, agent: Agent, seat: int, key: PRNGKeyArray):
        """Seat an agent.

        Args:
            game: The game that is played.
            agent: A policy or a player.
            seat: The seat's number.
            key: The episode's key.
        """
        self.game, self.agent, self.seat, self._key = game, agent, seat, key
        if isinstance(agent.policy, Policy):
            self._policy: Policy | None = bound(agent.policy, game)
            self._arrays, static = eqx.partition(self._policy, eqx.is_array)
            self._programs = _single_policy_programs(StaticPolicy(static))
            self._memory = self._programs.start(self._arrays, key, np.int32(seat))
            self.encoding, self.immediate = self._policy.encoding, True
        else:
            self._policy, self._player = None, agent.policy
            self._session = agent.policy.begin(game, seat, player_seed(key, seat))
            self.encoding = agent.policy.encoding
            self.immediate = bool(getattr(self._session, "immediate", False))

    @property
    def watches(self) -> bool:
        """Whether the agent is shown the turns of others."""
        return self._policy is not None or hasattr(self._session, "watch")

    async def act(self, view: View, on_turn: bool = True) -> Move:
        """The agent's move.

        Off turn, a policy and a player who watches are shown what happens; the move is then the one that is legal. A
        player who does not answer in time gets its default action, or the first legal one, and the move says so.

        Raises:
            IllegalAction: The agent chose an action that is not legal, or its logits are not numbers.
        """
        waiting = Move(int(np.argmax(view.legal)))
        if self._policy is not None:
            action, sound = self._think(view)
            if on_turn and not sound:
                raise illegal(self.game, self.agent.name, self.seat, action, view.legal, view.t)
            return Move(action) if on_turn else waiting
        if not on_turn:
            if hasattr(self._session, "watch"):
                self._session.watch(view)  # type: ignore[attr-defined]
            return waiting
        move = await self._in_time(view)
        require_legal(self.game, self.agent.name, self.seat, move.action, view.legal, view.t)
        return move

    def _think(self, view: View) -> tuple[int, bool]:
        inputs = (self._memory, view.observation, view.legal, self._key, np.int32(view.t), np.int32(self.seat))
        turn = self._programs.turn(self._arrays, *inputs)
        self._memory = turn.memory
        return int(turn.action), bool(turn.sound)

    async def _in_time(self, view: View) -> Move:
        began, deadline = time.perf_counter(), self._player.deadline_s
        try:
            answer = await (
                asyncio.wait_for(self._session.act(view), deadline) if deadline else self._session.act(view)
            )
        except TimeoutError:
            action = self.default_action(view.legal)
            waited = round(time.perf_counter() - began, 3)
            return Move(action, [TraceEvent("timeout", {"seconds": waited, "action": action})])
        return answer if isinstance(answer, Move) else Move(self._action(answer, view))

    def _action(self, answer: Any, view: View) -> int:
        try:
            action = answer.item()  # of an array or a tensor with one number
        except (AttributeError, TypeError, ValueError, RuntimeError):
            action = answer
        if isinstance(action, bool) or not isinstance(action, int):
            raise IllegalAction(
                f"agent {self.agent.name!r} in seat {self.seat} of {self.game.id}, step {view.t}: answered "
                f"{answer!r:.80}; an action is a whole number"
            )
        return action

    def default_action(self, legal: np.ndarray) -> int:
        """What is done for an agent that has not chosen in time: its default if that is legal, or the first that is."""
        default = None if self._policy is not None else self._player.default_action
        return int(np.argmax(legal)) if default is None or not legal[default] else int(default)

    def close(self) -> None:
        """The episode is over: let go of whatever the session holds."""
        if self._policy is None and hasattr(self._session, "close"):
            self._session.close()  # type: ignore[attr-defined]


def illegal(game: Game, name: str, seat: int, action: int, legal: np.ndarray, t: int) -> IllegalAction:
    """The error of an agent that chose what it may not."""
    known = game.action_names[action] if 0 <= action < len(game.action_names) else "no action of this game"
    names = ", ".join(n for n, ok in zip(game.action_names, legal, strict=True) if ok)
    return IllegalAction(
        f"agent {name!r} in seat {seat} of {game.id}, step {t}: action {action} ({known}) is not legal, or was "
        f"chosen by logits that are not numbers; legal: {names}"
    )


def require_legal(game: Game, name: str, seat: int, action: int, legal: np.ndarray, t: int) -> None:
    """Raise `IllegalAction` for an action that is not one of the game's, or not legal now."""
    if not (0 <= action < len(legal) and legal[action]):
        raise illegal(game, name, seat, action, legal, t)


def ask_all(requests: Sequence[tuple[Seat, View, bool]]) -> list[Move]:
    """The moves of many seats, all asked at once.

    Args:
        requests: A seat, what it is shown, and whether it is to move.
    """
    if all(seat.immediate for seat, _, _ in requests):
        return [event_loop.finish(seat.act(view, on_turn)) for seat, view, on_turn in requests]
    return event_loop.run(_gather(requests))


async def _gather(requests: Sequence[tuple[Seat, View, bool]]) -> list[Move]:
    return list(await asyncio.gather(*(seat.act(view, on_turn) for seat, view, on_turn in requests)))
