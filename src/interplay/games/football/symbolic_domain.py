"""The symbolic domain of football: the ball goes from player to player, and into the goal.

A pass is a link: one kicks the ball loose, another catches it. It is constructive if the ball ends in the goal after
it, so that assists are constructive and so are the passes before them. A ball that comes back to who kicked it no
nearer to the goal has gone round in a loop.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.games.football.pitch import GOAL_X, NOBODY, OURS, SEAT_NAMES, THEIRS
from interplay.symbolic.declare import NATURE, DomainError, Recorder, SymbolicTrace, SymbolicWorld, declare_beside

ZONE = 0.1  # width of a ring around the goal, in which the ball counts as equally near
ZONES = 21
BALL = "the_ball"

DOMAIN = declare_beside(__file__, "football")


class FootballReader:
    """Reads episodes of either engine."""

    domain = DOMAIN

    def __init__(self, game: Any):
        if not str(getattr(game, "id", "")).startswith("football/"):
            raise DomainError(f"the domain 'football' cannot read {getattr(game, 'id', game)!r}: it is another game")
        self.game = game
        self.agents = tuple(name.replace(" ", "_") for name in SEAT_NAMES)
        self.zones = [f"zone_{i}" for i in range(ZONES)]
        things = dict.fromkeys(self.agents, "player") | {BALL: "ball"} | dict.fromkeys(self.zones, "zone")
        self.world = SymbolicWorld(DOMAIN, things)

    def read(self, states: Any, actions: Any) -> SymbolicTrace:
        """Return the symbolic trace of an episode: stacked states of the light engine, a list of the real one's."""
        teams, players, balls, goals = _columns(states)
        seats = np.where((teams == OURS) & (players >= 1), players - 1, NOBODY)
        zones = np.clip(np.hypot(balls[:, 0] - GOAL_X, balls[:, 1]) / ZONE, 0, ZONES - 1).astype(int)
        fact, owner, zone = self.world.fact, int(seats[0]), int(zones[0])
        first = fact("loose", BALL) if owner < 0 else fact("has", self.agents[owner], BALL)
        recorder = Recorder(self.world, self.agents, [first, fact("near", BALL, self.zones[zone])])

        def do(t: int, seat: int, operator: str) -> None:
            nonlocal zone
            now = int(zones[t + 1])
            recorder.do(t, seat, operator, self.agents[seat], BALL, self.zones[zone], self.zones[now])
            zone = now

        for t in range(len(actions)):
            after = int(seats[t + 1])
            scored = goals[t + 1] > goals[t]
            if owner >= 0 and (after != owner or scored):
                do(t, owner, "kick")
                owner = NOBODY
            if scored:
                recorder.do(t, NATURE, "goal", BALL)
                break
            if teams[t + 1] == THEIRS:
                break
            if owner < 0 and after >= 0:
                do(t, after, "take")
                owner = after
        return recorder.finish(len(actions), self.game.horizon, game_id=self.game.id)


def _columns(states: Any) -> tuple[np.ndarray, ...]:
    """Return owner's team, owner's number, the ball's place and our goals, [step + 1, ...]."""
    pitches: Any = [s.pitch for s in states] if isinstance(states, list) else states.pitch

    def column(name: str) -> np.ndarray:
        if isinstance(pitches, list):
            return np.stack([np.asarray(getattr(p, name)) for p in pitches])
        return np.asarray(getattr(pitches, name))

    return column("owner_team"), column("owner_player"), column("ball"), column("score")[:, 0]
