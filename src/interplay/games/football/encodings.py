"""What a seat sees as numbers, from the pitch of either engine; `xp` is `numpy` or `jax.numpy`.

`simple115` are the 115 numbers of Google Research Football (simple115_v2), `relative` the 58 numbers that ZSC-Eval's
football agents read: the same facts with places relative to the own player.
"""

from __future__ import annotations

from typing import Any

from jaxtyping import Array, Float, Int

from interplay.games.football.pitch import MODES, SEATS, Pitch
from interplay.games.records import record

TEAM = 11  # players for which simple115 has room
SIMPLE115, RELATIVE = 115, 58
OURS, THEIRS = 4, 2  # players here


def simple115(pitch: Pitch, xp: Any) -> Float[Array, "seat 115"]:
    """Return both teams' places and ways (absent players are -1), ball, ownership, own number and kind of play."""

    def team(rows: Array) -> Array:
        return xp.concatenate([rows.reshape(-1), xp.full(2 * (TEAM - len(rows)), -1.0)])

    teams = [team(x) for x in (pitch.left, pitch.left_direction, pitch.right, pitch.right_direction)]
    common = xp.concatenate([*teams, pitch.ball, pitch.ball_direction, _owned(pitch, xp)])
    mode = xp.eye(MODES)[pitch.mode]
    rows = [xp.concatenate([common, xp.eye(TEAM)[seat + 1], mode]) for seat in range(SEATS)]
    return xp.stack(rows).astype(xp.float32)


def relative(pitch: Pitch, xp: Any) -> Float[Array, "seat 58"]:
    """Return what each seat sees: itself, the others from where it stands, then everything in places of the pitch."""
    rows = []
    for seat in range(SEATS):
        me = seat + 1
        others = [i for i in range(OURS) if i != me]
        mates = xp.stack([pitch.left[i] for i in others])
        ways = xp.stack([pitch.left_direction[i] for i in others])
        here = pitch.left[me]
        parts = [
            *(here, pitch.left_direction[me], pitch.sticky[seat, 8:10]),
            *((mates - here).reshape(-1), (pitch.right - here).reshape(-1), pitch.ball[:2] - here),
            *(mates.reshape(-1), ways.reshape(-1), pitch.right.reshape(-1), pitch.right_direction.reshape(-1)),
            *(pitch.ball, pitch.ball_direction, _owned(pitch, xp), xp.eye(MODES)[pitch.mode], xp.eye(OURS)[me]),
        ]
        rows.append(xp.concatenate(parts))
    return xp.stack(rows).astype(xp.float32)


def _owned(pitch: Pitch, xp: Any) -> Float[Array, " 3"]:
    """Return nobody, ours, theirs as three numbers of which one is 1."""
    return xp.eye(3)[pitch.owner_team + 1]


@record
class SeatView:
    """The encoding `pitch`: the whole pitch, which everybody sees, and the own seat."""

    pitch: Pitch
    seat: Int[Array, ""]


def views(pitch: Pitch, xp: Any) -> SeatView:
    """Return the views of all seats, [seat, ...]."""
    everyone = {name: xp.broadcast_to(value, (SEATS, *xp.shape(value))) for name, value in vars(pitch).items()}
    return SeatView(pitch=Pitch(**everyone), seat=xp.arange(SEATS))
