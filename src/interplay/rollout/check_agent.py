"""The contract of agents as a test suite: `check_agent(agent, game)` on your own policy or player.

The agent sits in every seat in turn, among others who play random legal actions. The first clause that does not
hold raises a ContractError that names it.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from interplay.agents.api import Agent, Identity, Info, Player, Policy, as_agent
from interplay.agents.identity import content_hash
from interplay.errors import ContractError, IllegalAction
from interplay.games.api import Game, State, is_jax
from interplay.games.registry import as_game
from interplay.games.state_comparison import difference
from interplay.rollout.seat import Seat, ask_all, view_of
from interplay.trust import admit

POLICY_CLAUSES = ("encoding", "identity", "bind", "action", "logits", "memory", "determinism", "seats", "vmap")
PLAYER_CLAUSES = ("encoding", "identity", "attributes", "begin", "action")


def check_agent(agent: Any, game: Game | str, *, seed: int = 0, steps: int = 20) -> tuple[str, ...]:
    """Check that an agent keeps its contract in this game; gives the names of the clauses checked.

    `agent` is an Agent, a Policy, a Player, or a registered name. `steps` are played in every seat.
    """
    admit([agent])
    game = as_game(game)
    agent = as_agent(agent, game=game)
    trial = _Trial(agent, game, seed, steps)
    _check_encoding(trial)
    _check_identity(trial)
    if isinstance(agent.policy, Policy):
        _check_policy(trial, agent.policy)
        return POLICY_CLAUSES
    _check_player(trial, agent.policy)
    return PLAYER_CLAUSES


@dataclass(frozen=True)
class _Trial:
    agent: Agent
    game: Game
    seed: int
    steps: int

    def fail(self, clause: str, expected: str, actual: Any) -> None:
        raise ContractError(f"agent {self.agent.name!r} at {self.game.id}", clause, expected, str(actual))

    def require(self, holds: Any, clause: str, expected: str, actual: Any) -> None:
        if not holds:
            self.fail(clause, expected, actual)

    @property
    def moves(self) -> tuple[Callable[..., Any], ...]:
        """step, legal, to_move and observe, compiled where the game allows it."""
        game, encoding = self.game, self.agent.policy.encoding
        functions = (game.step, game.legal, game.to_move, lambda state: game.observe(state, encoding))
        return tuple(jax.jit(f) for f in functions) if is_jax(game) else functions


def _check_encoding(trial: _Trial) -> None:
    known = ", ".join(trial.game.encodings)
    encoding = getattr(trial.agent.policy, "encoding", None)
    trial.require(isinstance(encoding, str), "encoding", f"the name of an encoding ({known})", repr(encoding))
    trial.require(encoding in trial.game.encodings, "encoding", f"one of the game's encodings ({known})", encoding)


def _check_identity(trial: _Trial) -> None:
    """A name for people, and a hash that stays while the agent does."""
    one, two = trial.agent.identity(trial.game), content_hash(trial.agent)
    trial.require(isinstance(one, Identity) and one.name, "identity", "a name", repr(one))
    trial.require(one.hash == two, "identity", "the same hash each time", f"{one.hash} and {two}")


@dataclass(frozen=True)
class _TrialTurn:
    """What the agent met in a seat at a time."""

    seat: int
    t: int
    state: State
    observation: Any
    legal: np.ndarray
    on_turn: bool


def _play(trial: _Trial, seat: int, moves: Any, choose: Callable[[_TrialTurn], int | None]) -> None:
    """Play the agent in a seat; where `choose` gives None, it plays a random legal action like the others."""
    step_of, legal_of, turn_of, view_of = moves
    rng, key = np.random.default_rng([trial.seed, seat]), jax.random.fold_in(jax.random.key(trial.seed), seat)
    state = trial.game.init(key)
    for t in range(min(trial.steps, trial.game.horizon)):
        legal, turn, views = np.asarray(legal_of(state)), np.asarray(turn_of(state)), view_of(state)
        mine = jax.tree_util.tree_map(lambda leaf: leaf[seat], views)
        action = choose(_TrialTurn(seat, t, state, mine, legal[seat], bool(turn[seat])))
        actions = np.array([rng.choice(np.flatnonzero(row)) for row in legal], np.int32)
        actions[seat] = actions[seat] if action is None else action
        state, step = step_of(state, actions, jax.random.fold_in(key, t))
        if bool(step.terminated) or bool(step.truncated):
            return


def _check_policy(trial: _Trial, policy: Policy) -> None:
    bound = policy.bind(trial.game)
    trial.require(isinstance(bound, Policy), "bind", "a Policy", type(bound).__name__)
    same = bound.encoding == policy.encoding
    trial.require(same, "bind", f"the encoding to stay {policy.encoding!r}", repr(bound.encoding))
    act = _compiled(trial, lambda m, o, legal, k: bound.act(m, o, legal, k))
    start = _compiled(trial, lambda k, seat: bound.init(k, seat), "init")
    moves, met = trial.moves, []
    for seat in range(trial.game.num_seats):
        key = jax.random.fold_in(jax.random.key(trial.seed + 1), seat)
        memory: list[Any] = [start(key, jnp.int32(seat))]

        def choose(turn: _TrialTurn, memory: list[Any] = memory, key: Any = key) -> int:
            inputs = (memory[0], turn.observation, jnp.asarray(turn.legal), jax.random.fold_in(key, turn.t))
            outcome = act(*inputs)
            action = _check_outcome(trial, turn, memory[0], outcome)
            if len(met) < 64:
                met.append(inputs)
            memory[0] = outcome[0]
            return action

        _play(trial, seat, moves, choose)
    _check_repeatable(trial, bound, act, met)


def _compiled(trial: _Trial, function: Callable[..., Any], name: str = "act") -> Callable[..., Any]:
    jitted = eqx.filter_jit(function)

    def call(*arguments: Any) -> Any:
        try:
            return jitted(*arguments)
        except jax.errors.JAXTypeError as error:
            actual = f"{type(error).__name__}: {str(error).splitlines()[0]}"
            trial.fail("seats" if name == "init" else "vmap", f"{name} to be pure JAX", actual)

    return call


def _check_outcome(trial: _Trial, turn: _TrialTurn, memory: Any, outcome: Any) -> int:
    """One answer of a policy."""
    where = f"in seat {turn.seat} at step {turn.t}"
    is_three = isinstance(outcome, tuple) and len(outcome) == 3
    trial.require(is_three, "action", "act to give (memory, action, info)", type(outcome).__name__)
    after, action, info = outcome
    trial.require(isinstance(info, Info), "logits", "the third value of act to be an Info", type(info).__name__)
    number = np.asarray(action)
    scalar = number.shape == () and np.issubdtype(number.dtype, np.integer)
    actual = f"{number.dtype}{list(number.shape)} {where}"
    trial.require(scalar, "action", "the action to be a whole number", actual)
    chosen = _check_legal(trial, turn, int(number))
    logits, actions = np.asarray(info.logits), len(trial.game.action_names)
    actual = f"{logits.dtype}{list(logits.shape)} {where}"
    fits = logits.shape == (actions,) and np.issubdtype(logits.dtype, np.floating)
    trial.require(fits, "logits", f"a float for each of the {actions} actions", actual)
    expected = "finite logits (for illegal actions the lowest number, see interplay.agents.basic.masked)"
    trial.require(np.isfinite(logits).all(), "logits", expected, f"{logits.tolist()} {where}")
    before, now = _form(memory), _form(after)
    trial.require(before == now, "memory", f"memory to keep its form {before}", f"{now} {where}")
    return chosen


def _check_legal(trial: _Trial, turn: _TrialTurn, action: int) -> int:
    names = trial.game.action_names
    when = f"in seat {turn.seat} at step {turn.t}, {'on' if turn.on_turn else 'off'} turn"
    inside = 0 <= action < len(names)
    trial.require(inside, "action", f"an action from 0 to {len(names) - 1}", f"{action} {when}")
    allowed = ", ".join(name for name, ok in zip(names, turn.legal, strict=True) if ok)
    trial.require(turn.legal[action], "action", f"a legal action ({allowed})", f"{names[action]!r} {when}")
    return action


def _form(memory: Any) -> str:
    """Structure, shapes and types: what a compiled loop needs to stay the same."""
    return str(jax.tree_util.tree_map(lambda leaf: f"{jnp.result_type(leaf)}{list(jnp.shape(leaf))}", memory))


def _check_repeatable(trial: _Trial, bound: Policy, act: Callable[..., Any], met: list[Any]) -> None:
    """The same again, one by one, side by side, and in a compiled loop."""
    alone = [act(*inputs) for inputs in met]
    for inputs, before in zip(met, alone, strict=True):
        changed = difference(act(*inputs), before)
        trial.require(changed is None, "determinism", "the same answer to the same memory, view and key", changed)
    eager = bound.act(*met[0])
    changed = difference(eager, alone[0], exact=False)
    trial.require(changed is None, "vmap", "the same answer compiled or not", changed)
    batch = jax.tree_util.tree_map(lambda *leaves: jnp.stack([jnp.asarray(leaf) for leaf in leaves]), *met)
    mapped = _compiled(trial, lambda *inputs: jax.vmap(bound.act)(*inputs))(*batch)
    for i, one in enumerate(alone):
        row = jax.tree_util.tree_map(lambda leaf, i=i: leaf[i], mapped)
        changed = difference(row[1:], one[1:], exact=False)
        trial.require(changed is None, "vmap", "the same answers side by side (vmap) as alone", changed)
    try:
        jax.lax.scan(lambda m, x: bound.act(m, *x)[:2], met[0][0], tuple(batch[1:]))
    except TypeError as error:
        trial.fail("memory", "act to run in a compiled loop (jax.lax.scan)", str(error).splitlines()[0])


def _check_player(trial: _Trial, player: Player) -> None:
    deadline, default = getattr(player, "deadline_s", "none"), getattr(player, "default_action", "none")
    is_time = deadline is None or (isinstance(deadline, int | float) and deadline > 0)
    trial.require(is_time, "attributes", "deadline_s to be seconds, or None", repr(deadline))
    actions = len(trial.game.action_names)
    is_action = default is None or (isinstance(default, int) and 0 <= default < actions)
    trial.require(is_action, "attributes", f"default_action to be 0 to {actions - 1}, or None", repr(default))
    moves = trial.moves
    for number in range(trial.game.num_seats):
        session = player.begin(trial.game, number, trial.seed)
        works = inspect.iscoroutinefunction(getattr(session, "act", None))
        trial.require(works, "begin", "a session with `async def act(view)`", repr(session))
        if hasattr(session, "close"):
            session.close()  # type: ignore[attr-defined]
        seat = Seat(trial.game, trial.agent, number, jax.random.key(trial.seed))
        with contextlib.closing(seat):
            _play(trial, number, moves, lambda turn, seat=seat: _ask(trial, seat, turn))


def _ask(trial: _Trial, seat: Seat, turn: _TrialTurn) -> int | None:
    """A player is asked on turn only."""
    if not turn.on_turn:
        return None
    view = view_of(trial.game, turn.state, turn.t, turn.seat, turn.legal, seat.encoding)
    try:
        return ask_all([(seat, view, True)])[0].action
    except IllegalAction as error:
        trial.fail("action", "a legal action, as a whole number or a Move", error)
    return None
