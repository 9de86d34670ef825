"""The books of waiting rooms: who went on together, and who of them is still there."""

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
from interplay.study.protocol.flow import Page
from interplay.study.protocol.model import Protocol, Wait

WAIT = "wait"  # the event of coming to a waiting room


class Room(NamedTuple):
    """A waiting room as one person passed it."""

    page: str
    item: Wait
    directly: bool = False  # whether the game comes right after it


def room_of(held: Sequence[Page], position: int, partner: str) -> Room | None:
    """The waiting room that a game's partner names: the last one of that id before the game."""
    for at in reversed(range(position)):
        page = held[at]
        if page.item.kind == "wait" and page.item.id == partner:
            return Room(page.id, page.item, at == position - 1)
    return None


def waiting_at(protocol: Protocol, who: Person) -> Room | None:
    """The waiting room in which a person is, if in one."""
    if who.status in OVER:
        return None
    page = who.pages(protocol)[who.position]
    return Room(page.id, page.item) if page.item.kind == "wait" else None


def came(tx: Tx, clock: Clock, number: int, page: str) -> datetime:
    """Note that a person waits; since when. The time counts on over reloads and restarts of the server."""
    query = sa.select(events.c.at, events.c.payload).where(events.c.person == number, events.c.kind == WAIT)
    for at, payload in tx.execute(query.order_by(events.c.id)):
        if payload["page"] == page:
            return at
    now = clock.now()
    row = {"person": number, "game": None, "t": None, "kind": WAIT, "at": now, "payload": {"page": page}}
    tx.execute(sa.insert(events).values(**row))
    return now


def join(tx: Tx, clock: Clock, protocol: Protocol, numbers: Sequence[int], page: str) -> list[int]:
    """These people go on together, the first of them in the first place; alone, if there is but one. All of them or
    nobody: those who are no longer in this waiting room are handed back, and nothing is done."""
    found = [person(tx, number, lock=True) for number in sorted(numbers)]
    by_number = {who.id: who for who in found}
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
    """Designs that are still to come are gone through in the first one's order: they play the same games."""
    held = who.pages(protocol)
    for key in who.slots:
        begins = next((at for at, page in enumerate(held) if page.id.startswith(f"{key}.")), None)
        if begins is not None and begins > who.position:
            here = (slots.c.person == who.id) & (slots.c.key == key)
            tx.execute(sa.update(slots).where(here).values(number=first.slots[key]))


def present(tx: Tx, number: int, room: Room) -> list[int]:
    """Those who play together with this person, in their places: none that has left, and nobody if this one has."""
    own = tx.execute(
        sa.select(members.c.group, members.c.left).where(members.c.person == number, members.c.page == room.page)
    ).one()
    # Whoever comes to the game at the same time waits here, so that it is dealt once.
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
    """These people were still away when a game ended: from now on they and the others play with bots."""
    for number in numbers:
        here = (members.c.person == number) & (members.c.page == room.page)
        tx.execute(sa.update(members).where(here).values(left=True))
