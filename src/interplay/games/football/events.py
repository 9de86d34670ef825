"""Who did what: possession, passes, catches, shots, assists and goals, credited to seats. The same for both engines.

| event | when | to whom |
|---|---|---|
| possession | a seat has the ball before the step | that seat |
| pass, shot | the seat with the ball chooses one of three passes, or the shot | that seat |
| catch | a seat has the ball after the step, and the last seat that had it is another one | who has it now |
| goal | our score rises | the last seat that had the ball |
| assist | the same | the seat that had the ball before the scorer's run of ownership |

Once the other team has had the ball, nothing that came before counts for catches and assists.
"""

from __future__ import annotations

from typing import Any

from jaxtyping import Array, Float, Int

from interplay.games.football.pitch import (
    GOAL_X,
    LONG_PASS,
    NOBODY,
    SEATS,
    SHORT_PASS,
    SHOT,
    THEIRS,
    Pitch,
    owner_seat,
)
from interplay.games.records import record

EVENTS = ("possession", "pass", "catch", "shot", "assist", "goal")
RINGS, RING_REWARD = 10, 0.1  # shaped help: the first time that the ball comes nearer to the goal, in ten rings
FAR = 0.5  # distance to the goal at which the first ring lies


@record
class BallHistory:
    """Which seats had the ball in this episode."""

    last: Int[Array, ""]  # the last seat that had it, or NOBODY
    previous: Int[Array, ""]  # the seat before that one's run of ownership, or NOBODY
    rings: Int[Array, ""]  # rings that the ball has reached with one of our seats


def new_history(pitch: Pitch, xp: Any) -> BallHistory:
    """Return the history at the start of an episode: who has the ball is known, nobody had it before."""
    return BallHistory(last=owner_seat(pitch, xp), previous=xp.asarray(NOBODY), rings=_rings(pitch, xp))


def record_step(
    history: BallHistory, before: Pitch, after: Pitch, actions: Any, xp: Any
) -> tuple[BallHistory, Int[Array, "seat event"], Float[Array, " seat"]]:
    """Return the history after a step, the events of each seat, and the shaped help of each seat.

    Args:
        history: Before the step.
        before: The pitch before the step.
        after: The pitch after it.
        actions: What the seats chose, [seat].
        xp: `numpy` or `jax.numpy`.
    """
    seats = xp.arange(SEATS)
    had, has = owner_seat(before, xp), owner_seat(after, xp)
    possession = seats == had
    passed = possession & (actions >= LONG_PASS) & (actions <= SHORT_PASS)
    shot = possession & (actions == SHOT)
    caught = (seats == has) & (history.last >= 0) & (has != history.last)
    new_run = (has >= 0) & (has != history.last)
    last, previous = xp.where(new_run, has, history.last), xp.where(new_run, history.last, history.previous)
    scored = after.score[0] > before.score[0]
    goal, assist = (seats == last) & scored, (seats == previous) & scored
    lost = after.owner_team == THEIRS
    last, previous = (xp.where(lost, NOBODY, x) for x in (last, previous))
    rings = xp.where(has >= 0, xp.maximum(history.rings, _rings(after, xp)), history.rings)
    shaped = xp.where(seats == has, (rings - history.rings) * RING_REWARD, 0.0)
    events = xp.stack([possession, passed, caught, shot, assist, goal], axis=1).astype(xp.int32)
    return BallHistory(last=last, previous=previous, rings=rings), events, shaped.astype(xp.float32)


def _rings(pitch: Pitch, xp: Any) -> Int[Array, ""]:
    distance = xp.sqrt((pitch.ball[0] - GOAL_X) ** 2 + pitch.ball[1] ** 2)
    return xp.clip(xp.floor((FAR - distance) / FAR * RINGS), 0, RINGS).astype(xp.int32)
