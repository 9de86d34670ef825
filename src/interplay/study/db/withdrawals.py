"""Withdrawals: participants who stop taking part, on which page and in which step of which game."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from interplay.server.clock import Clock
from interplay.server.database import Tx
from interplay.study.db.game_rows import ABANDONED, PLAYING
from interplay.study.db.participants import OVER, WITHDRAWN, end, person
from interplay.study.db.schema import events, games, people
from interplay.study.protocol.model import Protocol

WITHDRAW = "withdraw"  # the kind of event


def withdrawn(tx: Tx, numbers: Sequence[int]) -> list[int]:
    """Return those of these participants who have withdrawn."""
    query = sa.select(people.c.id).where(people.c.id.in_(numbers), people.c.status == WITHDRAWN)
    return list(tx.execute(query).scalars())


def withdraw(tx: Tx, clock: Clock, protocol: Protocol, number: int, t: int | None = None) -> bool:
    """End a participant's study by their own choice; a participant whose study is over already is left as they are.

    Args:
        tx: The transaction.
        clock: Gives the time that is noted.
        protocol: The study.
        number: The participant.
        t: The step of the game that they were in; None if in no game.

    Returns:
        Whether they have withdrawn, now or before.
    """
    before = person(tx, number).status
    if before in OVER:
        return before == WITHDRAWN
    # Lock the game before the person, in the same order as `game_rows.finish`, so that the two cannot deadlock.
    own = (games.c.person == number) & (games.c.status == PLAYING)
    left = sa.update(games).where(own).values(status=ABANDONED, finished=clock.now()).returning(games.c.id)
    game = tx.execute(left).scalars().first()
    who = person(tx, number, lock=True)
    if who.status in OVER:
        return who.status == WITHDRAWN
    page = who.pages(protocol)[who.position].id
    row = {"person": number, "kind": WITHDRAW, "at": clock.now(), "payload": {"page": page}}
    # The event names no game to which they never came: a bot plays that one in their place.
    tx.execute(sa.insert(events).values(**row, game=None if t is None else game, t=t))
    end(tx, clock, protocol, who, WITHDRAWN)
    return True
