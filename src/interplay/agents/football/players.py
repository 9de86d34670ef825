"""Scripted attackers: who passes, who shoots, and who keeps to a place. They play in both engines."""

from __future__ import annotations

from typing import ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from interplay.agents.api import Info, Policy
from interplay.errors import InterplayError
from interplay.games.api import Game
from interplay.games.football.encodings import SeatView
from interplay.games.football.pitch import (
    ACTIONS,
    DIRECTIONS,
    GOAL_X,
    NOBODY,
    RELEASE_DIRECTION,
    SEATS,
    SHORT_PASS,
    SHOT,
    SPRINT,
    STARTS,
    owner_seat,
)

CLOSE = 0.02  # near enough to a target
SURE = 30.0  # logit of the chosen action


class ScriptedAttacker(Policy):
    """Runs at the goal with the ball, shoots, passes under pressure, and finds a place without it.

    What tells the scripted players apart are three numbers.
    """

    identity_kind: ClassVar[str] = "football attacker"
    encoding: ClassVar[str] = "pitch"  # that `act` reads
    version: ClassVar[int] = 1
    shoot_within: Float[Array, ""]  # distance to the goal from which it shoots
    pass_within: Float[Array, ""]  # distance of the defender at which it passes
    holds: Bool[Array, ""]  # keeps to its place rather than running ahead

    def __init__(self, shoot_within: float, pass_within: float, holds: bool):
        self.shoot_within, self.pass_within = jnp.float32(shoot_within), jnp.float32(pass_within)
        self.holds = jnp.bool_(holds)

    def fingerprint(self) -> dict[str, Array]:
        """Return the numbers that decide how it plays."""
        return {"shoot_within": self.shoot_within, "pass_within": self.pass_within, "holds": self.holds}

    def bind(self, game: Game) -> Policy:
        """Return the player.

        Raises:
            InterplayError: The game is not football.
        """
        if "pitch" not in game.encodings or tuple(game.action_names) != ACTIONS:
            raise InterplayError(f"a scripted attacker plays football/..., not {game.id}")
        return self

    def act(self, memory, obs: SeatView, legal, key):
        """Choose an action."""
        pitch, seat = obs.pitch, obs.seat
        here, sticky = pitch.left[seat + 1], pitch.sticky[seat]
        to_goal = jnp.array([GOAL_X, 0.0]) - here
        shoots = jnp.linalg.norm(to_goal) < self.shoot_within
        pressed = jnp.linalg.norm(pitch.right[1] - here) < self.pass_within
        mate_way = _way(self._free_mate(obs) - here)
        passing = jnp.where(sticky[mate_way] == 1, SHORT_PASS, 1 + mate_way)
        carrying = jnp.where((sticky[8] == 0) & ~self.holds, SPRINT, 1 + _way(to_goal))
        with_ball = jnp.where(shoots, SHOT, jnp.where(pressed, passing, carrying))
        to_target = self._target(obs) - here
        moving = jnp.where(jnp.linalg.norm(to_target) < CLOSE, RELEASE_DIRECTION, 1 + _way(to_target))
        action = jnp.where(owner_seat(pitch, jnp) == seat, with_ball, moving).astype(jnp.int32)
        logits = jnp.where(jnp.arange(legal.shape[0]) == action, 0.0, -SURE)
        return memory, action, Info(logits)

    def _free_mate(self, obs: SeatView) -> Float[Array, " 2"]:
        """Return the place of the team mate who is freest and farthest ahead."""
        places = obs.pitch.left[1:]
        free = jnp.linalg.norm(places - obs.pitch.right[1], axis=1) + 0.5 * places[:, 0]
        return places[jnp.argmax(jnp.where(jnp.arange(SEATS) == obs.seat, -jnp.inf, free))]

    def _target(self, obs: SeatView) -> Float[Array, " 2"]:
        """Return where to go without the ball: to a loose ball as the nearest, else to the own place."""
        pitch, starts = obs.pitch, jnp.array(STARTS)
        coming = pitch.ball[:2] + 5.0 * pitch.ball_direction[:2]
        nearest = jnp.argmin(jnp.linalg.norm(pitch.left[1:] - coming, axis=1)) == obs.seat
        ahead = jnp.clip(pitch.ball[0] + 0.08, starts[obs.seat, 0], 0.92)
        place = jnp.stack([jnp.where(self.holds, starts[obs.seat, 0], ahead), 0.6 * starts[obs.seat, 1]])
        return jnp.where((pitch.owner_team == NOBODY) & nearest, coming, place)


def _way(vector: Float[Array, " 2"]) -> Int[Array, ""]:
    """Return the number of the direction that is nearest to a vector."""
    return jnp.argmax(jnp.array(DIRECTIONS) @ vector)
