"""The pitch as both engines show it: actions, seats, places, and who has the ball.

Places are those of Google Research Football: x from -1 to 1 with the attacked goal at 1, y from -0.42 (top) to 0.42.
"""

from __future__ import annotations

from jaxtyping import Array, Float, Int

from interplay.games.records import record

DIRECTION_NAMES = ("left", "top_left", "top", "top_right", "right", "bottom_right", "bottom", "bottom_left")
ACTIONS = (
    *("stay", *DIRECTION_NAMES),
    *("long_pass", "high_pass", "short_pass", "shot", "sprint"),
    *("release_direction", "release_sprint", "slide", "dribble", "release_dribble"),
)
STAY, LEFT, RIGHT, BOTTOM_LEFT = 0, 1, 5, 8
LONG_PASS, HIGH_PASS, SHORT_PASS, SHOT, SPRINT = range(9, 14)
RELEASE_DIRECTION, RELEASE_SPRINT, SLIDE, DRIBBLE, RELEASE_DRIBBLE = range(14, 19)

_DIAGONAL = 0.70710678
DIRECTIONS = (  # unit vectors of DIRECTION_NAMES
    *((-1.0, 0.0), (-_DIAGONAL, -_DIAGONAL), (0.0, -1.0), (_DIAGONAL, -_DIAGONAL)),
    *((1.0, 0.0), (_DIAGONAL, _DIAGONAL), (0.0, 1.0), (-_DIAGONAL, _DIAGONAL)),
)

SEATS = 3
SEAT_NAMES = ("centre", "bottom wing", "top wing")
STARTS = ((0.6, 0.0), (0.7, 0.2), (0.7, -0.2))  # of the seats
OWN_KEEPER, DEFENDER, KEEPER = (-1.0, 0.0), (0.75, 0.0), (1.0, 0.0)
BALL_START = (0.62, 0.0, 0.11)
GOAL_X, GOAL_Y, SIDE_Y = 1.0, 0.044, 0.42  # the goal's line, half the goal's width, the side lines
NOBODY, OURS, THEIRS = -1, 0, 1  # teams; NOBODY is also no seat
MODES = 7  # kinds of play of the real engine: 0 is open play


@record
class Pitch:
    """What everybody sees. Our team is the own keeper and the three seats; theirs is the keeper and the defender."""

    time: Int[Array, ""]  # steps played
    left: Float[Array, "4 2"]  # our team
    left_direction: Float[Array, "4 2"]  # way of the last step
    right: Float[Array, "2 2"]  # their keeper, their defender
    right_direction: Float[Array, "2 2"]
    ball: Float[Array, " 3"]  # x, y, height
    ball_direction: Float[Array, " 3"]
    owner_team: Int[Array, ""]  # NOBODY, OURS, THEIRS
    owner_player: Int[Array, ""]  # of that team; NOBODY
    sticky: Int[Array, "3 10"]  # of each seat: eight directions, sprint, dribble
    mode: Int[Array, ""]  # of MODES
    score: Int[Array, " 2"]  # our goals and theirs


def owner_seat(pitch: Pitch, xp) -> Int[Array, ""]:
    """Return the seat that has the ball, or NOBODY: also where the own keeper or the other team has it."""
    ours = (pitch.owner_team == OURS) & (pitch.owner_player >= 1)
    return xp.where(ours, pitch.owner_player - 1, NOBODY)
