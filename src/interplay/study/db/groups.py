"""Rows of waiting rooms: who went on together, and who of them is still there."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import sqlalchemy as sa

from interplay.server.clock import Clock
from interplay.server.database import Tx
from interplay.study.db.participants import OVER, Person, advance, person
from interplay.study.db.schema import events, members, people, slots
from interplay.study.pages.wait import Wait
from interplay.study.protocol.flow import Page
from interplay.study.protocol.model import Protocol

WAIT = "wait"  # the kind of event that notes an arrival in a waiting room


class Room(NamedTuple):
    """A waiting room page as one participant passed it."""

    page: str
    item: Wait
    directly: bool = False  # whether the game comes right after it


def room_of(all_pages: Sequence[Page], position: int, partner: str) -> Room | None:
    """Return the waiting room that a game's partner names: the last one of that id before the game.

    Args:
        all_pages: The participant's pages.
        position: The place of the game among them.
        partner: The partner of the game; None is returned if it names no waiting room.
    """
    for at in reversed(range(position)):
        page = all_pages[at]
        if page.item.kind == "wait" and page.item.id == partner:
            return Room(page.id, page.item, at == position - 1)
    return None


def waiting_at(protocol: Protocol, who: Person) -> Room | None:
    """Return the waiting room that a participant is in; None if in none."""
    if who.status in OVER:
        return None
    page = who.pages(protocol)[who.position]
    return Room(page.id, page.item) if page.item.kind == "wait" else None


def came(tx: Tx, clock: Clock, number: int, page: str) -> datetime:
    """Note that a participant waits, and return since when; reloads and restarts of the server do not reset it."""
    query = sa.select(events.c.at, events.c.payload).where(events.c.person == number, events.c.kind == WAIT)
    for at, payload in tx.execute(query.order_by(events.c.id)):
        if payload["page"] == page:
            return at
    now = clock.now()
    row = {"person": number, "game": None, "t": None, "kind": WAIT, "at": now, "payload": {"page": page}}
    tx.execute(sa.insert(events).values(**row))
    return now


def join(tx: Tx, clock: Clock, protocol: Protocol, numbers: Sequence[int], page: str) -> list[int]:
    """Let these participants go on together, or a single one alone. Either all go on or none.

    Args:
        tx: The transaction.
        clock: Gives the time that is noted.
        protocol: The study.
        numbers: The participants; the first has place 0 in the group.
        page: The waiting room's page.

    Returns:
        Those who are no longer in this waiting room; if there are any, nothing is done.
    """
    locked = [person(tx, number, lock=True) for number in sorted(numbers)]
    by_number = {who.id: who for who in locked}
    gone = []
    for number in numbers:
        room = waiting_at(protocol, by_number[number])
        if room is None or room.page != page:
            gone.append(number)
    if gone:
        return gone
    group, now = secrets.token_hex(8), clock.now()
    for place, number in enumerate(numbers):
        row = {"group": group, "person": number, "page": page, "place": place, "left": False, "at": now}
        tx.execute(sa.insert(members).values(**row))
        who = by_number[number]
        if place:
            _share_order(tx, protocol, by_number[numbers[0]], who)
        advance(tx, clock, protocol, person(tx, number))
    return []


def _share_order(tx: Tx, protocol: Protocol, first: Person, who: Person) -> None:
    """Give a member the first one's order in all designs that are still to come, so that they play the same games."""
    all_pages = who.pages(protocol)
    for key in who.slots:
        begins = next((at for at, page in enumerate(all_pages) if page.id.startswith(f"{key}.")), None)
        if begins is not None and begins > who.position:
            here = (slots.c.person == who.id) & (slots.c.key == key)
            tx.execute(sa.update(slots).where(here).values(number=first.slots[key]))


def present(tx: Tx, number: int, room: Room) -> list[int]:
    """Return those who play together with a participant, in their places.

    Members who have left are not among them; a participant who has left plays alone.
    """
    own = tx.execute(
        sa.select(members.c.group, members.c.left).where(members.c.person == number, members.c.page == room.page)
    ).one()
    # Lock the group: members who come to the game at the same time must not begin it twice.
    query = sa.select(members.c.person, members.c.left).where(members.c.group == own.group)
    rows = list(tx.execute(query.order_by(members.c.place).with_for_update()))
    if own.left:
        return [number]
    over = set(
        tx.execute(
            sa.select(people.c.id).where(people.c.id.in_([row.person for row in rows]), people.c.status.in_(OVER))
        ).scalars()
    )
    return [row.person for row in rows if not row.left and (row.person not in over or row.person == number)]


def leave(tx: Tx, numbers: Sequence[int], room: Room) -> None:
    """Mark members who were away when a game ended; from then on bots play in their place."""
    for number in numbers:
        here = (members.c.person == number) & (members.c.page == room.page)
        tx.execute(sa.update(members).where(here).values(left=True))
