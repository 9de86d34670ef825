"""One seat of a game as a Gymnasium environment, with partners drawn from a panel or a population.

Needs the optional package: pip install "interplay[pettingzoo]".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import jax
import numpy as np

from interplay.agents.api import Agent, as_agent
from interplay.errors import IllegalAction, InterplayError, UnknownName
from interplay.games.api import Game, is_jax
from interplay.games.interop.pettingzoo import RENDER_MODES, default_encoding, require_render_mode, space_of
from interplay.games.registry import as_game
from interplay.rollout.seat import START, Seat, ask_all, chance_key, view_of
from interplay.trust import admit

try:
    import gymnasium
    from gymnasium import spaces
except ImportError as error:
    raise InterplayError(f'Gymnasium is not installed ({error}); run: pip install "interplay[pettingzoo]"') from error


def to_gymnasium(
    game: Game | str,
    partners: Any,
    *,
    seat: int | Literal["random"] = "random",
    encoding: str | None = None,
    render_mode: Literal["ansi", "rgb_array"] | None = None,
) -> PartnerEnv:
    """Make a single-agent environment of a game: you take one seat, partners take the others.

    Args:
        game: The game, or its name.
        partners: A panel, or agents (names, policies, players); every episode one of them is drawn and takes all other
            seats.
        seat: Your seat, or "random" to be given one in every episode.
        encoding: What you observe; by default the first one of the game that is an array and not privileged.
        render_mode: What `render` gives: "ansi" text, or "rgb_array" a picture.

    Returns:
        A `gymnasium.Env`. Rewards are the team's; `info["action_mask"]` says which actions are legal, `info["partner"]`
        who plays with you, `info["seat"]` where you sit. In games by turns a step goes on until you are to move again.
    """
    game = as_game(game)
    chosen = getattr(partners, "partners", partners)
    listed = [chosen] if isinstance(chosen, str | Agent) or not isinstance(chosen, Sequence) else list(chosen)
    admit(listed)
    agents = [as_agent(partner, game=game) for partner in listed]
    if not agents:
        raise InterplayError("partners: give at least one agent to play with")
    if seat not in ("random", *range(game.num_seats)):
        raise InterplayError(f"seat: {seat!r:.40}; {game.id} has the seats 0 to {game.num_seats - 1}, or 'random'")
    name = encoding or default_encoding(game)
    if name not in game.encodings:
        raise UnknownName("encoding", name, list(game.encodings))
    require_render_mode(render_mode)
    return PartnerEnv(game, agents, seat, name, render_mode)


class PartnerEnv(gymnasium.Env):
    """A seat beside partners; made by `to_gymnasium`."""

    metadata = {"render_modes": RENDER_MODES}  # noqa: RUF012 - as Gymnasium has it

    def __init__(self, game: Game, partners: Sequence[Agent], seat: Any, encoding: str, render_mode: Any):
        self.game, self.partners, self.encoding, self.render_mode = game, list(partners), encoding, render_mode
        self._wanted = seat
        self.action_space = spaces.Discrete(len(game.action_names))
        compiled = jax.jit if is_jax(game) else (lambda function: function)
        self._init, self._step = compiled(game.init), compiled(game.step)
        self._facts = compiled(lambda s: (game.legal(s), game.to_move(s), game.observe(s, encoding)))
        state = self._init(jax.random.key(0))
        if game.encodings[encoding].shape is None:
            raise InterplayError(f"encoding {encoding!r} is a record; a Gymnasium environment shows an array")
        self.observation_space = space_of(game, encoding)
        self._state, self._seats, self._t, self._over = state, {}, 0, True
        self._key, self.seat, self.partner = jax.random.key(0), 0, partners[0]
        self._look()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode with a partner that chance chooses."""
        super().reset(seed=seed)
        self._key = jax.random.key(int(self.np_random.integers(2**31)))
        self.partner = self.partners[int(self.np_random.integers(len(self.partners)))]
        seats = self.game.num_seats
        self.seat = int(self.np_random.integers(seats)) if self._wanted == "random" else int(self._wanted)
        self._state = self._init(chance_key(self._key, START, seats))
        self.close()
        others = [s for s in range(seats) if s != self.seat]
        self._seats = {s: Seat(self.game, self.partner, s, self._key) for s in others}
        self._t, self._over = 0, False
        self._look()
        reward, terminated, truncated = self._until_asked()
        if terminated or truncated:
            raise InterplayError(f"{self.game.id} was over before seat {self.seat} was to move")
        return self._observation(), self._info(reward)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take an action; partners take theirs.

        Raises:
            IllegalAction: The action is not legal now.
        """
        if self._over:
            raise InterplayError("the episode is over: call reset() first")
        chosen = int(action)
        if not (0 <= chosen < len(self.game.action_names) and self._legal[self.seat, chosen]):
            names = ", ".join(n for n, ok in zip(self.game.action_names, self._legal[self.seat], strict=True) if ok)
            raise IllegalAction(f"action {chosen} is not legal now; legal: {names} (see info['action_mask'])")
        reward, terminated, truncated = self._advance(chosen)
        if not (terminated or truncated):
            more, terminated, truncated = self._until_asked()
            reward += more
        self._over = terminated or truncated
        return self._observation(), reward, terminated, truncated, self._info(reward)

    def close(self) -> None:
        """The episode is over, for partners too."""
        for partner in self._seats.values():
            partner.close()
        self._seats, self._over = {}, True

    def render(self) -> Any:
        """The state as text or picture."""
        if self.render_mode == "ansi":
            return self.game.render(self._state, self.seat)
        if self.render_mode == "rgb_array":
            return self.game.scene(self._state, self.seat).rgb()
        return None

    def _until_asked(self) -> tuple[float, bool, bool]:
        """Let partners play until this seat is to move."""
        reward, terminated, truncated = 0.0, False, False
        while not (self._turn[self.seat] or terminated or truncated):
            more, terminated, truncated = self._advance(int(np.argmax(self._legal[self.seat])))
            reward += more
        return reward, terminated, truncated

    def _advance(self, own: int) -> tuple[float, bool, bool]:
        actions = np.zeros(self.game.num_seats, np.int32)
        to_ask = []
        for number, seat in self._seats.items():
            view = view_of(self.game, self._state, self._t, number, self._legal[number], seat.encoding)
            to_ask.append((seat, view, bool(self._turn[number])))
        for number, move in zip(self._seats, ask_all(to_ask), strict=True):
            actions[number] = move.action
        actions[self.seat] = own
        key = chance_key(self._key, self._t, self.game.num_seats)
        self._state, step = self._step(self._state, actions, key)
        self._t += 1
        self._look()
        terminated = bool(step.terminated)
        truncated = not terminated and (bool(step.truncated) or self._t >= self.game.horizon)
        return float(np.sum(np.asarray(step.reward))), terminated, truncated

    def _look(self) -> None:
        self._legal, self._turn, self._seen = jax.tree_util.tree_map(np.asarray, self._facts(self._state))

    def _observation(self) -> np.ndarray:
        return np.array(self._seen[self.seat])

    def _info(self, reward: float) -> dict[str, Any]:
        mask = self._legal[self.seat].astype(np.int8)
        return {"action_mask": mask, "seat": self.seat, "partner": self.partner.name, "team_reward": reward}
