"""The books of those who stop taking part: when, on which page, in which step of which game."""

from __future__ import annotations

import sqlalchemy as sa

from interplay.server.clock import Clock
from interplay.server.database import Tx
from interplay.study.db.game_rows import ABANDONED, PLAYING
from interplay.study.db.participants import OVER, WITHDRAWN, end, person
from interplay.study.db.schema import events, games
from interplay.study.protocol.model import Protocol

WITHDRAW = "withdraw"  # the event


def withdraw(tx: Tx, clock: Clock, protocol: Protocol, number: int, t: int | None = None) -> bool:
    """Someone stops, for good; `t` is the step of the game that they were in. Once is enough: whoever sends it again,
    or has come to the end meanwhile, changes nothing. Whether they have stopped, now or before."""
    before = person(tx, number).status
    if before in OVER:
        return before == WITHDRAWN
    # The game before the person, in the order in which a game's end takes them, so that neither waits for the other.
    own = (games.c.person == number) & (games.c.status == PLAYING)
    left = sa.update(games).where(own).values(status=ABANDONED, finished=clock.now()).returning(games.c.id)
    game = tx.execute(left).scalars().first()
    who = person(tx, number, lock=True)
    if who.status in OVER:
        return who.status == WITHDRAWN
    page = who.pages(protocol)[who.position].id
    row = {"person": number, "kind": WITHDRAW, "at": clock.now(), "payload": {"page": page}}
    # Of a game to which they never came nothing is kept: a bot plays it in their place.
    tx.execute(sa.insert(events).values(**row, game=None if t is None else game, t=t))
    end(tx, clock, protocol, who, WITHDRAWN)
    return True
