"""JaxMARL's environments as games: `interplay.make("jaxmarl/MPE_simple_spread_v3")` or `from_jaxmarl(env)`.

Needs the optional package: pip install "interplay[jaxmarl]". An agent's rewards become the score as `score` says.
JaxMARL does not say why an episode ended: at the horizon it counts as truncated, before it as terminated.
"""

from __future__ import annotations

import contextlib
import io
import sys
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, PRNGKeyArray

from interplay.config import build
from interplay.errors import InterplayError, UnknownName
from interplay.games.api import NOTHING, Encoding, Step, no_observation
from interplay.games.records import is_key, key_as_bits, record
from interplay.games.scene import Scene

Score = Literal["mean", "sum"]


@record
class Wrapped:
    """A state of a JaxMARL environment, with its observations, since not every environment can compute them again."""

    time: Int[Array, ""]
    inner: Any  # the environment's own state
    obs: Array  # [seat, ...]


def from_jaxmarl(
    env: Any,
    *,
    id: str | None = None,
    options: Mapping[str, Any] | None = None,
    horizon: int | None = None,
    score: Score = "mean",
    deterministic: bool = False,
    turn_based: bool = False,
) -> JaxMARLGame:
    """Make a game of a JaxMARL environment (a `MultiAgentEnv` with discrete actions).

    Args:
        env: The environment.
        id: What `interplay.make` needs to make this game, such as "my_module:make_my_game"; without it the game can be
            played, but its traces cannot be replayed.
        options: Options for the same purpose.
        horizon: The longest episode; by default the environment's `max_steps`.
        score: "mean" for environments that pay every agent the team's reward (most of JaxMARL's), "sum" for those that
            pay each agent its own. Either way the team's score is the sum of what is credited to the seats.
        deterministic: Whether `step_env` makes no use of its key. Only then is the game replayable.
        turn_based: Whether the last action is a no-op, and a seat that can do nothing else is not to move.
    """
    return JaxMARLGame(env, id, options or {}, horizon, score, deterministic, turn_based)


# Environments whose step makes no use of its key, and those that are played in turns.
DETERMINISTIC = ("overcooked", "hanabi", "MPE_simple_spread_v3")
TURN_BASED = ("hanabi",)


@dataclass(frozen=True, kw_only=True)
class JaxMARLOptions:
    """The options of a wrapped environment."""

    env_kwargs: Mapping[str, Any] = field(default_factory=dict)  # for the environment; Overcooked's `layout` by name
    horizon: int | None = None  # no episode is longer; null: the environment's `max_steps`
    score: Literal["mean", "sum"] = "mean"  # whether all agents are paid the team's reward, or each its own
    deterministic: bool | None = None  # whether `step_env` makes no use of its key; null: as is known of it
    turn_based: bool | None = None  # whether the last action is a no-op for seats that are not to move


def make(variant: str, options: Mapping[str, Any]) -> JaxMARLGame:
    """Make the environment that `jaxmarl.make` knows by this name."""
    settings = build(JaxMARLOptions, options)
    jaxmarl = load_jaxmarl()
    if variant not in jaxmarl.registered_envs:
        raise UnknownName("game", f"jaxmarl/{variant}", [f"jaxmarl/{e}" for e in jaxmarl.registered_envs])
    for name, value in settings.env_kwargs.items():
        if not isinstance(value, bool | int | float | str | None) and not _is_flat(value):
            raise InterplayError(f"env_kwargs.{name}: {value!r}; give a number, a word, true, false or a list of those")
    arguments = _resolved(variant, dict(settings.env_kwargs))
    try:
        env = _quiet(lambda: jaxmarl.make(variant, **arguments))
    except (TypeError, ValueError, KeyError, AttributeError, AssertionError) as error:
        raise InterplayError(f"JaxMARL's {variant} cannot be made with {dict(settings.env_kwargs)}: {error}") from None
    return from_jaxmarl(
        env,
        id=f"jaxmarl/{variant}",
        options=options,
        horizon=settings.horizon,
        score=settings.score,
        deterministic=variant in DETERMINISTIC if settings.deterministic is None else settings.deterministic,
        turn_based=variant in TURN_BASED if settings.turn_based is None else settings.turn_based,
    )


def _is_flat(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(v, bool | int | float | str) for v in value)


def load_jaxmarl() -> Any:
    """Import the package without its output."""
    try:
        with _silence():
            import jaxmarl
    except ImportError as error:
        raise InterplayError(f'JaxMARL is not installed ({error}); run: pip install "interplay[jaxmarl]"') from error
    return jaxmarl


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Suppress prints and warnings, also to `sys.__stdout__`, which JaxMARL restores while it is imported."""
    names = ("stdout", "stderr", "__stdout__", "__stderr__")
    before = {name: getattr(sys, name) for name in names}
    try:
        for name in names:
            setattr(sys, name, io.StringIO())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for name, stream in before.items():
            setattr(sys, name, stream)


def _quiet(build: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return build()


def _resolved(variant: str, env_kwargs: dict[str, Any]) -> dict[str, Any]:
    if variant != "overcooked" or not isinstance(env_kwargs.get("layout"), str):
        return env_kwargs
    with _silence():
        from jaxmarl.environments.overcooked import overcooked_layouts  # type: ignore[import-not-found]
    if env_kwargs["layout"] not in overcooked_layouts:
        raise UnknownName("layout of JaxMARL", env_kwargs["layout"], list(overcooked_layouts))
    return env_kwargs | {"layout": overcooked_layouts[env_kwargs["layout"]]}


class JaxMARLGame:
    """A JaxMARL environment behind the contract of games; made by `from_jaxmarl` or `interplay.make("jaxmarl/...")`."""

    pure: ClassVar[bool] = True
    event_names: ClassVar[tuple[str, ...]] = ()
    rules_version: str

    def __init__(self, env: Any, id: str | None, options: Mapping[str, Any], horizon, score, deterministic, turn_based):
        self.env, self.options = env, dict(options)
        name = getattr(env, "name", type(env).__name__)
        self.id = id or f"{type(env).__module__}:{type(env).__qualname__}"
        self.rules_version = f"jaxmarl-{getattr(load_jaxmarl(), '__version__', 'unknown')}"
        self.seat_names = tuple(env.agents)
        self.num_seats = len(self.seat_names)
        steps = horizon or getattr(env, "max_steps", None)
        if not steps:
            raise InterplayError(f"JaxMARL's {name} does not say how long an episode may be; give horizon=")
        if score not in ("mean", "sum"):
            raise InterplayError(f"score={score!r}: write 'mean' (a team reward paid to all) or 'sum' (each its own)")
        self.horizon, self.replayable = int(steps), bool(deterministic)
        self._share = 1 / self.num_seats if score == "mean" else 1.0
        self._turn_based = turn_based
        self._actions = [_num_actions(env, agent, name) for agent in self.seat_names]
        self.action_names = tuple(f"action {i}" for i in range(max(self._actions)))
        obs, inner = jax.eval_shape(env.reset, jax.random.key(0))
        self._views = [obs[agent] for agent in self.seat_names]
        self._alike = len({(v.shape, str(v.dtype)) for v in self._views}) == 1
        shape = self._views[0].shape if self._alike else (max(int(np.prod(v.shape)) for v in self._views),)
        dtype = str(self._views[0].dtype) if self._alike else "float32"
        padded = "" if self._alike else "; flat, and filled up with zeros where agents see less than others"
        self.encodings = {
            "obs": Encoding(shape, dtype, f"what JaxMARL shows an agent{padded}"),
            "state": Encoding(None, "record", "the environment's own state", privileged=True),
            "nothing": NOTHING,
        }
        self._inner = inner
        self._mask_of = _mask_method(env, inner)

    def init(self, key: PRNGKeyArray, **start: Any) -> Wrapped:
        """Reset the environment, or restore a state from `start`."""
        if start:
            return self._restored(start)
        obs, inner = self.env.reset(key)
        return Wrapped(time=jnp.int32(0), inner=inner, obs=self._stacked(obs))

    def start(self, state: Wrapped) -> dict[str, Any]:
        """Return all of the state, by the names of its fields: chance may decide anything in a JaxMARL reset."""
        leaves = jax.tree_util.tree_leaves_with_path(state.inner)
        return {_name(path): jnp.asarray(key_as_bits(leaf)) for path, leaf in leaves} | {"obs": state.obs}

    def _restored(self, start: Mapping[str, Any]) -> Wrapped:
        places, form = jax.tree_util.tree_flatten_with_path(self._inner)
        missing = [_name(path) for path, _ in places if _name(path) not in start]
        if missing or "obs" not in start:
            raise InterplayError(
                f"a start of {self.id} holds all of its state; {', '.join(missing) or 'obs'} is missing"
            )
        leaves = [_from_bits(start[_name(path)], like) for path, like in places]
        inner = jax.tree.unflatten(form, leaves)
        return Wrapped(time=jnp.int32(0), inner=inner, obs=jnp.asarray(start["obs"], self.encodings["obs"].dtype))

    def step(self, state: Wrapped, actions: Int[Array, " seat"], key: PRNGKeyArray) -> tuple[Wrapped, Step]:
        """Play one joint action."""
        actions = jnp.asarray(actions)
        chosen = {agent: actions[seat] for seat, agent in enumerate(self.seat_names)}
        # `step_env`, not `step`: the latter starts the next episode by itself.
        obs, inner, rewards, dones, infos = self.env.step_env(key, state.inner, chosen)
        time = state.time + 1
        shaped = infos.get("shaped_reward", {}) if isinstance(infos, Mapping) else {}
        cut = time >= self.horizon
        return Wrapped(time=time, inner=inner, obs=self._stacked(obs)), Step(
            reward=self._per_seat(rewards) * self._share,
            shaped=self._per_seat(shaped),
            terminated=jnp.asarray(dones["__all__"], bool).reshape(()) & ~cut,
            truncated=cut,
            events=jnp.zeros((self.num_seats, 0), jnp.int32),
        )

    def _per_seat(self, values: Mapping[str, Any]) -> Array:
        return jnp.stack([jnp.asarray(values.get(a, 0.0), jnp.float32).reshape(()) for a in self.seat_names])

    def _stacked(self, obs: Mapping[str, Array]) -> Array:
        views = [obs[agent] for agent in self.seat_names]
        if self._alike:
            return jnp.stack(views)
        size = (self.encodings["obs"].shape or (0,))[0]
        flat = [view.reshape(-1).astype(jnp.float32) for view in views]
        return jnp.stack([jnp.pad(view, (0, size - view.shape[0])) for view in flat])

    def observe(self, state: Wrapped, encoding: str = "obs") -> Any:
        """Return what every seat sees."""
        if encoding == "obs":
            return state.obs
        if encoding == "state":
            seats = self.num_seats
            return jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (seats, *jnp.shape(leaf))), state.inner)
        if encoding == "nothing":
            return no_observation(self.num_seats)
        raise UnknownName("encoding", encoding, list(self.encodings))

    def legal(self, state: Wrapped) -> Bool[Array, "seat action"]:
        """Return the actions that exist for each seat and that the environment's mask allows."""
        exist = jnp.arange(len(self.action_names)) < jnp.array(self._actions)[:, None]
        if self._mask_of is None:
            return exist
        masks = self._mask_of(state.inner)
        size = len(self.action_names)
        rows = [jnp.asarray(masks[agent]).reshape(-1) > 0 for agent in self.seat_names]
        return exist & jnp.stack([jnp.pad(row, (0, size - row.shape[0])) for row in rows])

    def to_move(self, state: Wrapped) -> Bool[Array, " seat"]:
        """Return which seats can do more than the no-op; all, unless the game is turn-based."""
        if not self._turn_based:
            return jnp.ones(self.num_seats, bool)
        return self.legal(state)[:, :-1].any(axis=1)

    def render(self, state: Wrapped, seat: int | None = None) -> str:
        """Return the fields of the state; for a seat, the numbers that it observes."""
        lines = [f"time {int(state.time)}"]
        if seat is not None:
            return "\n".join([*lines, f"{self.seat_names[seat]} observes {_format(state.obs[seat])}"])
        leaves = jax.tree_util.tree_leaves_with_path(state.inner)
        return "\n".join([*lines, *(f"{_name(path)}: {_format(key_as_bits(leaf))}" for path, leaf in leaves)])

    def scene(self, state: Wrapped, seat: int | None = None) -> Scene:
        """Return the text of `render` as shapes."""
        lines = self.render(state, seat).splitlines()
        shapes = tuple(("text", 8, 14 * (i + 1), line[:90], 10, "#23262b", "start") for i, line in enumerate(lines))
        return Scene(560, 14 * (len(lines) + 1), (("rect", 0, 0, 560, 14 * (len(lines) + 1), "#ffffff", 0),), shapes)


def _num_actions(env: Any, agent: str, name: str) -> int:
    count = getattr(env.action_space(agent), "n", None)
    if count is None:
        raise InterplayError(f"{agent} of JaxMARL's {name} has no discrete actions; only those can be wrapped")
    return int(count)


def _mask_method(env: Any, inner: Any) -> Any:
    """Return the environment's function for legal actions; None if it has none."""
    for method in ("get_avail_actions", "get_legal_moves"):
        function = getattr(env, method, None)
        if function is None:
            continue
        try:
            jax.eval_shape(function, inner)
        except NotImplementedError:
            continue
        return function
    return None


def _name(path: Any) -> str:
    return "state." + jax.tree_util.keystr(path, simple=True, separator=".")


def _from_bits(value: Any, like: Any) -> Array:
    if is_key(like):
        return jax.random.wrap_key_data(jnp.asarray(value))
    return jnp.asarray(value, like.dtype).reshape(like.shape)


def _format(array: Any) -> str:
    return np.array2string(np.asarray(array).reshape(-1), max_line_width=10_000, threshold=24, precision=3)
