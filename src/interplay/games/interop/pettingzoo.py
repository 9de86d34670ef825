"""Any game as a PettingZoo parallel environment: `to_pettingzoo(interplay.make("overcooked/cramped_room"))`.

Needs the optional package: pip install "interplay[pettingzoo]".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import jax
import numpy as np

from interplay.errors import IllegalAction, InterplayError, UnknownName
from interplay.games.api import Game, is_jax
from interplay.games.registry import as_game

try:
    import gymnasium
    from gymnasium import spaces
    from pettingzoo import ParallelEnv
except ImportError as error:
    raise InterplayError(
        f'PettingZoo or Gymnasium is not installed ({error}); run: pip install "interplay[pettingzoo]"'
    ) from error

Masks = Literal["info", "observation"]
RENDER_MODES = ["ansi", "rgb_array"]


def to_pettingzoo(
    game: Game | str,
    encoding: str | None = None,
    *,
    action_mask: Masks = "info",
    illegal: Literal["error", "replace"] = "error",
    share_reward: bool = True,
    render_mode: Literal["ansi", "rgb_array"] | None = None,
) -> GameEnv:
    """Make a `pettingzoo.ParallelEnv` of a game. Its agents are the game's seats, under their names.

    Args:
        game: The game, or its name.
        encoding: What agents observe; by default the game's first encoding that is an array and not privileged.
        action_mask: Legal actions are always in `infos[agent]["action_mask"]`; with "observation" an observation is a
            dict of "observation" and "action_mask", as in PettingZoo's turn-based games.
        illegal: An illegal action is an error, or is replaced by the first legal one (off turn, the no-op).
        share_reward: Every agent gets the team's reward; otherwise each gets what its seat has earned.
        render_mode: What `render` returns: "ansi" text, or "rgb_array" an image.
    """
    game = as_game(game)
    require_render_mode(render_mode)
    name = encoding or default_encoding(game)
    if name not in game.encodings:
        raise UnknownName("encoding", name, list(game.encodings))
    return GameEnv(game, name, action_mask, illegal, share_reward, render_mode)


def require_render_mode(mode: str | None) -> None:
    """Raise `InterplayError` for a mode of which there are no pictures."""
    if mode not in (None, *RENDER_MODES):
        raise UnknownName("render_mode", str(mode), RENDER_MODES)


def default_encoding(game: Game) -> str:
    """Return the first encoding of a game that is an array and not privileged."""
    for name, encoding in game.encodings.items():
        if encoding.shape not in (None, (0,)) and not encoding.privileged:
            return name
    raise InterplayError(f"{game.id} has no encoding that is an array and not privileged; choose one of its encodings")


class GameEnv(ParallelEnv):
    """A game behind PettingZoo's parallel interface; made by `to_pettingzoo`."""

    def __init__(self, game: Game, encoding: str, action_mask: Masks, illegal: str, share_reward: bool, render_mode):
        self.game, self.encoding = game, encoding
        self.metadata = {"name": game.id, "render_modes": RENDER_MODES, "is_parallelizable": True}
        self.render_mode = render_mode
        self.possible_agents = list(game.seat_names)
        self.agents: list[str] = []
        self._mask_in_view, self._illegal, self._share = action_mask == "observation", illegal, share_reward
        compiled: Callable[..., Any] = jax.jit if is_jax(game) else (lambda function: function)
        self._init, self._step, self._legal = compiled(game.init), compiled(game.step), compiled(game.legal)
        self._observe = compiled(lambda state: game.observe(state, encoding))
        self._state, self._key, self._mask = None, jax.random.key(np.random.default_rng().integers(2**31)), np.zeros(0)
        self._make_spaces()

    def _make_spaces(self) -> None:
        """Make one space object per agent and keep it, since PettingZoo seeds them."""
        actions = len(self.game.action_names)

        def view() -> Any:
            space = space_of(self.game, self.encoding)
            if not self._mask_in_view:
                return space
            return spaces.Dict({"observation": space, "action_mask": spaces.MultiBinary(actions)})

        self.observation_spaces: dict[str, Any] = {agent: view() for agent in self.possible_agents}
        self.action_spaces: dict[str, Any] = {agent: spaces.Discrete(actions) for agent in self.possible_agents}

    def observation_space(self, agent: str) -> gymnasium.Space:
        """Return an agent's observation space."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.Space:
        """Return an agent's action space."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict, dict]:
        """Start a new episode. `options["start"]` fixes what chance would decide, as in `game.init`."""
        if seed is not None:
            self._key = jax.random.key(seed)
        self._key, for_start = jax.random.split(self._key)
        start = (options or {}).get("start") or {}
        self._state = self.game.init(for_start, **start) if start else self._init(for_start)
        self.agents = list(self.possible_agents)
        return self._views()

    def step(self, actions: dict[str, Any]) -> tuple[dict, dict, dict, dict, dict]:
        """Play one joint action.

        Returns:
            Observations, rewards, terminations, truncations and infos, by agent.

        Raises:
            InterplayError: The episode is over, or an action is illegal.
        """
        if not self.agents:
            raise InterplayError("this episode is over (or has not begun): call reset()")
        chosen = np.array([self._checked(agent, actions) for agent in self.agents], np.int32)
        self._key, for_step = jax.random.split(self._key)
        self._state, step = self._step(self._state, chosen, for_step)
        reward = np.asarray(step.reward, float)
        reward = np.full_like(reward, reward.sum()) if self._share else reward
        agents, over = self.agents, bool(step.terminated) or bool(step.truncated)
        observations, infos = self._views()
        for seat, agent in enumerate(agents):
            infos[agent]["shaped_reward"] = float(step.shaped[seat])
            counts = np.asarray(step.events[seat])
            infos[agent]["events"] = {n: int(c) for n, c in zip(self.game.event_names, counts, strict=True) if c}
        self.agents = [] if over else agents
        return (
            observations,
            {agent: float(r) for agent, r in zip(agents, reward, strict=True)},
            dict.fromkeys(agents, bool(step.terminated)),
            dict.fromkeys(agents, bool(step.truncated)),
            infos,
        )

    def _checked(self, agent: str, actions: dict[str, Any]) -> int:
        if agent not in actions:
            raise IllegalAction(f"no action for {agent!r}; every agent acts in every step, off turn with the no-op")
        action, mask = int(actions[agent]), self._mask[self.possible_agents.index(agent)]
        if 0 <= action < len(mask) and mask[action]:
            return action
        if self._illegal == "replace":
            return int(np.flatnonzero(mask)[0])
        allowed = ", ".join(f"{i} {n}" for i, n in enumerate(self.game.action_names) if mask[i])
        raise IllegalAction(f"{agent!r} chose action {action}, which is not legal now; legal: {allowed}")

    def _views(self) -> tuple[dict[str, Any], dict[str, Any]]:
        self._mask = np.asarray(self._legal(self._state)).astype(np.int8)
        views = jax.tree.map(np.asarray, self._observe(self._state))
        observations, infos = {}, {}
        for seat, agent in enumerate(self.possible_agents):
            seen = _as_plain(_seat_view(views, seat))
            mask = self._mask[seat]
            observations[agent] = {"observation": seen, "action_mask": mask} if self._mask_in_view else seen
            infos[agent] = {"action_mask": mask}
        return observations, infos

    def render(self) -> Any:
        """Return the state as text or as an image; None without a render mode."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() without a render_mode; give to_pettingzoo(..., render_mode='ansi')")
            return None
        if self._state is None:
            raise InterplayError("nothing to render yet: call reset()")
        if self.render_mode == "ansi":
            return self.game.render(self._state)
        return self.game.scene(self._state).rgb()

    def close(self) -> None:
        """End the episode."""
        self._state, self.agents = None, []


def _seat_view(views: Any, seat: int) -> Any:
    return jax.tree.map(lambda leaf: leaf[seat], views)


def _as_plain(view: Any) -> Any:
    """Return an array as it is; a record as a flat dict from the field's path to its array."""
    if isinstance(view, np.ndarray | np.generic):
        return np.asarray(view)
    leaves = jax.tree_util.tree_leaves_with_path(view)
    return {jax.tree_util.keystr(path, simple=True, separator="."): np.asarray(leaf) for path, leaf in leaves}


def space_of(game: Game, encoding: str) -> gymnasium.Space:
    """Return the space of what one seat sees in an encoding."""
    shape, dtype = game.encodings[encoding].shape, game.encodings[encoding].dtype
    if shape is not None:
        return _box(shape, np.dtype(dtype))
    views = jax.tree.map(np.asarray, game.observe(game.init(jax.random.key(0)), encoding))
    plain = _as_plain(_seat_view(views, 0))
    if isinstance(plain, np.ndarray):
        return _box(plain.shape, plain.dtype)
    return spaces.Dict({name: _box(leaf.shape, leaf.dtype) for name, leaf in plain.items()})


def _box(shape: tuple[int, ...], dtype: Any) -> gymnasium.Space:
    dtype = np.dtype(dtype)
    if dtype == np.bool_:
        return spaces.Box(0, 1, shape, np.bool_)  # type: ignore[arg-type]
    if np.issubdtype(dtype, np.integer):
        return spaces.Box(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype.type)  # type: ignore[arg-type]
    return spaces.Box(-np.inf, np.inf, shape, dtype.type)  # type: ignore[arg-type]
