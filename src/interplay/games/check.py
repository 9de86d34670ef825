"""The contract of games as a test suite: `check_game(game)` for your own game.

Each clause is a small function; the first that does not hold raises a ContractError that names it.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

import jax
import jax.numpy as jnp
import numpy as np

from interplay.errors import ContractError
from interplay.games.api import Encoding, Game, State, Step, is_jax
from interplay.games.registry import as_game, make
from interplay.games.scene import Scene
from interplay.games.state_comparison import difference, is_array, plain_array

# (state, seat, generator) -> a state that this seat cannot tell from the given one; None if there is none
Alike = Callable[[State, int, np.random.Generator], State | None]


@dataclass(frozen=True)
class Moment:
    """A visited state, with the joint action played there and its outcome."""

    t: int
    state: State
    legal: np.ndarray  # [seat, action]
    turn: np.ndarray  # [seat]
    actions: Any  # [seat]
    step: Step
    after: State


@dataclass(frozen=True)
class Trial:
    """A game under test and an episode of random legal actions in it."""

    game: Game
    key: Any
    first: State
    walk: tuple[Moment, ...]
    over: bool  # whether the walk reached the episode's end
    alike: Alike | None
    rng: np.random.Generator
    step: Callable[..., Any]  # the game's, compiled where it allows that, since an episode may be long

    def fail(self, clause: str, expected: str, actual: Any) -> None:
        """Raise a ContractError for a clause."""
        raise ContractError(getattr(self.game, "id", type(self.game).__name__), clause, expected, str(actual))

    def require(self, holds: Any, clause: str, expected: str, actual: Any) -> None:
        """Raise a ContractError for a clause unless it holds."""
        if not holds:
            self.fail(clause, expected, actual)

    @property
    def sample(self) -> list[Moment]:
        """A few moments, for clauses that are slow to check: the first, one in the middle, the last."""
        places = sorted({0, len(self.walk) // 2, len(self.walk) - 1})
        return [self.walk[p] for p in places]


def check_game(
    game: Game | str, seed: int = 0, steps: int | None = None, *, alike: Alike | None = None
) -> tuple[str, ...]:
    """Check that a game keeps the contract of `interplay.games.api.Game`.

    Plays one episode of random legal actions.

    Args:
        game: The game, or its name.
        seed: Seed of the episode.
        steps: Cut the episode after so many steps; None: at the horizon.
        alike: Turns a state into another that a seat cannot tell from it; if given, no unprivileged encoding and no
            rendering may tell them apart.

    Returns:
        The names of the clauses checked.

    Raises:
        ContractError: A clause does not hold.
    """
    game = as_game(game) if isinstance(game, str) else game
    _check_attributes(game)
    game = as_game(game)
    first, key, rng = game.init(jax.random.key(seed)), jax.random.key(seed), np.random.default_rng(seed)
    step = jax.jit(game.step) if is_jax(game) else game.step
    blank = Trial(game, key, first, (), False, alike, rng, step)
    try:
        walk, over = _walk(blank, game.horizon if steps is None else min(steps, game.horizon))
    except jax.errors.JAXTypeError as error:
        problem = f"{type(error).__name__}: {str(error).splitlines()[0]}"
        raise ContractError(game.id, "compiled", "`step`, `legal` and `to_move` to be pure JAX", problem) from error
    trial = Trial(game, key, first, walk, over, alike, rng, step)
    checked = [name for name in CLAUSES if name != "secrecy" or alike is not None]
    for name in checked:
        CLAUSES[name](trial)
    return ("attributes", "legal", *checked)


ATTRIBUTES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "id": ("a name that `interplay.make` knows", lambda v: isinstance(v, str) and v != ""),
    "options": ("a mapping of plain JSON values", lambda v: _is_json(v)),
    "num_seats": ("a whole number from 1 on", lambda v: isinstance(v, int) and v >= 1),
    "seat_names": ("a tuple of different names", lambda v: _are_names(v)),
    "action_names": ("a tuple of different names, at least one", lambda v: _are_names(v) and len(v) > 0),
    "event_names": ("a tuple of different names", lambda v: _are_names(v)),
    "encodings": ("a mapping from names to Encoding", lambda v: _are_encodings(v)),
    "rules_version": ("a version as text", lambda v: isinstance(v, str) and v != ""),
    "horizon": ("a whole number from 1 on", lambda v: isinstance(v, int) and v >= 1),
    "replayable": ("True or False", lambda v: isinstance(v, bool)),
}
METHODS = ("init", "start", "step", "observe", "legal", "to_move", "render", "scene")


def _check_attributes(game: Game) -> None:
    subject = str(getattr(game, "id", type(game).__name__))
    for name, (expected, holds) in ATTRIBUTES.items():
        if not hasattr(game, name):
            raise ContractError(subject, "attributes", f"an attribute {name!r}: {expected}", "none")
        value = getattr(game, name)
        if not holds(value):
            raise ContractError(subject, "attributes", f"{name!r} to be {expected}", repr(value))
    for name in METHODS:
        if not callable(getattr(game, name, None)):
            raise ContractError(subject, "attributes", f"a method {name!r}", "none")
    if len(game.seat_names) != game.num_seats:
        raise ContractError(subject, "attributes", f"{game.num_seats} seat names", f"{len(game.seat_names)}")
    nothing = game.encodings.get("nothing")
    if nothing is None or nothing.shape != (0,) or nothing.privileged:
        expected = (
            "an encoding 'nothing' of shape (0,), for agents that need no observation (interplay.games.api.NOTHING)"
        )
        raise ContractError(subject, "attributes", expected, repr(nothing))


def _is_json(value: Any) -> bool:
    try:
        return json.loads(json.dumps(dict(value))) == dict(value)
    except (TypeError, ValueError):
        return False


def _are_names(value: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(v, str) and v for v in value) and len(set(value)) == len(value)


def _are_encodings(value: Any) -> bool:
    try:
        encodings = dict(value)
    except (TypeError, ValueError):
        return False
    return all(
        isinstance(n, str) and isinstance(e, Encoding) and isinstance(e.privileged, bool) for n, e in encodings.items()
    )


def _walk(trial: Trial, steps: int) -> tuple[tuple[Moment, ...], bool]:
    """Play random legal actions."""
    game, state, walk = trial.game, trial.first, []
    compiled = jax.jit if is_jax(game) else (lambda f: f)
    legal_of, turn_of = compiled(game.legal), compiled(game.to_move)
    for t in range(steps):
        legal, turn = np.asarray(legal_of(state)), np.asarray(turn_of(state))
        _check_legal(trial, t, legal, turn)
        actions = np.array([trial.rng.choice(np.flatnonzero(row)) for row in legal], np.int32)
        before = state if is_jax(game) else copy.deepcopy(state)
        after, step = trial.step(state, actions, jax.random.fold_in(trial.key, t))
        change = None if before is state else difference(state, before)
        trial.require(change is None, "purity", "`step` to leave the state that it is given alone", change)
        walk.append(Moment(t, state, legal, turn, actions, step, after))
        state = after
        trial.require(isinstance(step, Step), "step", "`step` to give a state and a Step", type(step).__name__)
        if bool(np.all(step.terminated)) or bool(np.all(step.truncated)):
            return tuple(walk), True
    return tuple(walk), False


def _check_legal(trial: Trial, t: int, legal: np.ndarray, turn: np.ndarray) -> None:
    """Check the masks while walking: without legal actions there is no walk."""
    game, shape = trial.game, (trial.game.num_seats, len(trial.game.action_names))
    actual = f"{legal.dtype}{list(legal.shape)} at step {t}"
    trial.require((legal.shape, legal.dtype) == (shape, np.bool_), "legal", f"bool{list(shape)}", actual)
    actual = f"{turn.dtype}{list(turn.shape)} at step {t}"
    trial.require((turn.shape, turn.dtype) == (shape[:1], np.bool_), "to_move", f"bool{list(shape[:1])}", actual)
    trial.require(turn.any(), "to_move", "someone to move until the episode is over", f"nobody at step {t}")
    for seat in np.flatnonzero(~legal.any(axis=1)):
        who = f"{game.seat_names[seat]} ({'to move' if turn[seat] else 'off turn'}) at step {t}"
        trial.fail("legal", "every seat to have a legal action (off turn, the no-op)", f"none for {who}")


def check_options(trial: Trial) -> None:
    """Check that `interplay.make(game.id, **game.options)` gives the same game."""
    game, copied = trial.game, None
    call = f"interplay.make({game.id!r}, **{dict(game.options)})"
    try:
        copied = make(game.id, **game.options)
    except Exception as error:
        trial.fail("options", f"{call} to give this game again", f"{type(error).__name__}: {error}")
    for name in ATTRIBUTES:
        mine, other = getattr(game, name), getattr(copied, name)
        trial.require(mine == other, "options", f"{call} to have {name} {mine!r}", repr(other))
    change = difference(copied.init(trial.key), trial.first)  # type: ignore[union-attr]
    trial.require(change is None, "options", f"{call} to start alike under the same key", change)


def check_init(trial: Trial) -> None:
    """Check that `init` is a function of its key."""
    change = difference(trial.game.init(trial.key), trial.first)
    trial.require(change is None, "init", "the same start state from the same key", change)


def check_start(trial: Trial) -> None:
    """Check that `start` holds all that chance decided."""
    start = {name: np.asarray(value) for name, value in trial.game.start(trial.first).items()}  # as a trace keeps it
    for name, value in start.items():
        trial.require(value.dtype != object, "start", "arrays", f"{name} is {value!r}")
    other = jax.random.fold_in(trial.key, 1)
    change = difference(trial.game.init(other, **start), trial.first)
    trial.require(change is None, "start", "init(another_key, **start(state)) to equal the start state", change)


def check_step(trial: Trial) -> None:
    """Check the shapes of a Step, that rewards are finite and that events are counts."""
    seats, events = trial.game.num_seats, len(trial.game.event_names)
    shapes = {
        "reward": ((seats,), np.floating),
        "shaped": ((seats,), np.floating),
        "terminated": ((), np.bool_),
        "truncated": ((), np.bool_),
        "events": ((seats, events), np.integer),
    }
    for t, moment in enumerate(trial.walk):
        for name, (shape, kind) in shapes.items():
            value = np.asarray(getattr(moment.step, name))
            actual = f"{value.dtype}{list(value.shape)} at step {t}"
            fits = value.shape == shape and np.issubdtype(value.dtype, kind)
            trial.require(fits, "step", f"{name} to be {kind.__name__}{list(shape)}", actual)
        for name in ("reward", "shaped"):
            value = np.asarray(getattr(moment.step, name))
            trial.require(np.isfinite(value).all(), "rewards", f"{name} to be finite", f"{value.tolist()} at step {t}")
        counts = np.asarray(moment.step.events)
        trial.require((counts >= 0).all(), "step", "events to be counts from 0 on", f"{counts.tolist()} at step {t}")


def check_determinism(trial: Trial) -> None:
    """Check that a step depends on state, actions and key only; of a replayable game, not on the key."""
    for moment in trial.sample:
        t = moment.t
        key = jax.random.fold_in(trial.key, t)
        repeated = trial.step(moment.state, moment.actions, key)
        change = difference(repeated, (moment.after, moment.step))
        expected = "the same outcome from the same state, actions and key"
        trial.require(change is None, "determinism", expected, f"{change} at step {t}")
        if trial.game.replayable:
            other = trial.step(moment.state, moment.actions, jax.random.fold_in(key, 1))
            change = difference(other, repeated)
            expected = "a replayable game's step not to depend on the key (or `replayable = False`)"
            trial.require(change is None, "replayable", expected, f"{change} at step {t}")


def check_encodings(trial: Trial) -> None:
    """Check that observations have the declared shapes and types, with a leading axis of seats."""
    game = trial.game
    for name, encoding in game.encodings.items():
        for moment in trial.sample:
            obs = game.observe(moment.state, name)
            if encoding.shape is None:
                for leaf in jax.tree.leaves(obs):
                    shape = list(np.shape(plain_array(leaf)))
                    expected = f"every array of {name!r} to have a leading axis of {game.num_seats} seats"
                    trial.require(shape[:1] == [game.num_seats], "encodings", expected, f"shape {shape}")
                continue
            trial.require(is_array(obs), "encodings", f"{name!r} to be an array", type(obs).__name__)
            expected = f"{encoding.dtype}{[game.num_seats, *encoding.shape]}"
            actual = f"{obs.dtype}{list(obs.shape)}"
            trial.require(actual == expected, "encodings", f"{name!r} to be {expected}", actual)


def check_secrecy(trial: Trial) -> None:
    """Check that what a seat may not see shows in privileged encodings only."""
    assert trial.alike is not None
    game, told_apart = trial.game, False
    for moment in trial.sample:
        for seat in range(game.num_seats):
            twin = trial.alike(moment.state, seat, trial.rng)
            if twin is None:
                continue
            told_apart |= difference(twin, moment.state) is not None
            who = f"{game.seat_names[seat]} sees a difference between states that it cannot tell apart"
            same_text = game.render(twin, seat) == game.render(moment.state, seat)
            trial.require(same_text, "secrecy", "render(state, seat) to show what the seat may see only", who)
            for name, encoding in game.encodings.items():
                views = [game.observe(s, name) for s in (twin, moment.state)]
                mine = [jax.tree.map(lambda leaf, seat=seat: leaf[seat], view) for view in views]
                hides = encoding.privileged or difference(*mine) is None
                trial.require(hides, "secrecy", f"the encoding {name!r} to be marked privileged", who)
    trial.require(told_apart, "secrecy", "`alike` to give another state at least once", "the same state each time")


def check_turns(trial: Trial) -> None:
    """Check that turn-based games end their actions with a no-op, legal only off turn."""
    if all(moment.turn.all() for moment in trial.walk):
        return
    noop = trial.game.action_names[-1]
    for moment in trial.walk:
        t = moment.t
        for seat, (legal, turn) in enumerate(zip(moment.legal, moment.turn, strict=True)):
            who = f"{trial.game.seat_names[seat]} at step {t}"
            if turn:
                expected = f"the last action ({noop!r}) to be a no-op, illegal on turn"
                trial.require(not legal[-1], "turns", expected, f"legal for {who}")
                continue
            allowed = [n for n, ok in zip(trial.game.action_names, legal, strict=True) if ok]
            expected = f"only the no-op ({noop!r}) to be legal off turn"
            trial.require(allowed == [noop], "turns", expected, f"{', '.join(allowed)} for {who}")


def check_horizon(trial: Trial) -> None:
    """Check that no episode is longer than the horizon."""
    if len(trial.walk) == trial.game.horizon:
        expected = f"`terminated` or `truncated` after {trial.game.horizon} steps, the horizon"
        trial.require(trial.over, "horizon", expected, "an episode that goes on")


def check_compiled(trial: Trial) -> None:
    """Check that the functions of a JAX game can be jitted and vmapped, with equal results."""
    if not is_jax(trial.game):
        return
    game, moments = trial.game, trial.sample
    first = moments[0].state
    functions: dict[str, tuple[Callable[..., Any], list[tuple[Any, ...]]]] = {
        "init": (game.init, [(jax.random.fold_in(trial.key, i),) for i in range(3)]),
        "step": (lambda s, a: game.step(s, a, trial.key), [(m.state, jnp.asarray(m.actions)) for m in moments]),
        "legal": (game.legal, [(m.state,) for m in moments]),
        "to_move": (game.to_move, [(m.state,) for m in moments]),
    }
    for name in game.encodings:
        function = lambda s, name=name: game.observe(s, name)  # noqa: E731
        functions[f"observe({name!r})"] = (function, [(m.state,) for m in moments])
    start = {name: jnp.asarray(value) for name, value in game.start(first).items()}
    if start:  # a game in which chance decides nothing has none
        functions["init(**start)"] = (lambda start: game.init(trial.key, **start), [(start,)])
    for name, (function, calls) in functions.items():
        _check_one_compiled(trial, name, function, calls)


def _check_one_compiled(trial: Trial, name: str, function: Callable[..., Any], calls: list[tuple[Any, ...]]) -> None:
    eager = {i: function(*calls[i]) for i in {0, len(calls) - 1}}
    batch = jax.tree.map(lambda *leaves: jnp.stack(leaves), *calls)
    try:
        jitted = jax.jit(function)(*calls[0])
        mapped = jax.jit(jax.vmap(function))(*batch)
    except Exception as error:
        trial.fail("compiled", f"{name} to be pure JAX", f"{type(error).__name__}: {str(error).splitlines()[0]}")
    change = difference(jitted, eager[0], exact=False)
    trial.require(change is None, "compiled", f"{name} to give the same under jit", change)
    for i, expected in eager.items():
        row = jax.tree.map(lambda leaf, i=i: leaf[i], mapped)
        change = difference(row, expected, exact=False)
        trial.require(change is None, "compiled", f"{name} to give the same under vmap", change)


def check_render(trial: Trial) -> None:
    """Check that `render` gives text, for all and for each seat."""
    for seat in (None, *range(trial.game.num_seats)):
        text = trial.game.render(trial.walk[-1].state, seat)
        trial.require(isinstance(text, str) and text.strip(), "render", f"text for seat {seat}", repr(text))


def check_scene(trial: Trial) -> None:
    """Check that `scene` gives shapes that make a readable SVG."""
    for seat in (None, *range(trial.game.num_seats)):
        scene = trial.game.scene(trial.walk[-1].state, seat)
        trial.require(isinstance(scene, Scene), "scene", f"a Scene for seat {seat}", type(scene).__name__)
        try:
            ElementTree.fromstring(scene.svg())
        except (ValueError, ElementTree.ParseError) as error:
            trial.fail("scene", "`scene(state).svg()` to be readable SVG", error)


CLAUSES: dict[str, Callable[[Trial], None]] = {
    "init": check_init,
    "start": check_start,
    "options": check_options,
    "step": check_step,
    "determinism": check_determinism,
    "encodings": check_encodings,
    "secrecy": check_secrecy,
    "turns": check_turns,
    "horizon": check_horizon,
    "compiled": check_compiled,
    "render": check_render,
    "scene": check_scene,
}
