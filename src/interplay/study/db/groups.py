"""Rows of waiting rooms: who went on together, and who of them is still there."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import sqlalchemy as sa

from interplay.server.clock import Clock, boot
from interplay.server.database import Tx
from interplay.study.db.participants import OVER, Person, advance, person
from interplay.study.db.schema import events, files, members, people, slots, waiting
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


HERE_S = 8.0  # browsers poll every three seconds; one that has not for so long has gone


def attend(tx: Tx, clock: Clock, protocol: Protocol, number: int, speed: float = 1.0) -> float | None:
    """Handle a poll of a waiting participant's browser. Those who have waited longest go on first.

    Args:
        tx: The transaction.
        clock: The clock; times in waiting rooms are its monotonic ones, which nobody sets.
        protocol: The study.
        number: The participant.
        speed: How many times faster than real time everything goes.

    Returns:
        The seconds left to wait; None for a participant who is in no waiting room, or has just left it.
    """
    # One poll at a time, of all processes that serve this study.
    tx.execute(sa.select(files.c.name).where(files.c.name == protocol.name).with_for_update()).one_or_none()
    who = person(tx, number)
    room = waiting_at(protocol, who)
    if room is None:
        return None
    began = _note_poll(tx, clock, number, room)
    while True:
        here = _here(tx, clock, room, who.test)
        left = room.item.patience_s / speed - (clock.monotonic() - began)
        enough = len(here) >= room.item.people
        if not enough and left > 0:
            return left
        together = here[: room.item.people] if enough else [*dict.fromkeys([number, *here])]
        gone = join(tx, clock, protocol, together, room.page)
        leave_room(tx, gone or together)
        if number in (gone or together):
            return None


def _note_poll(tx: Tx, clock: Clock, number: int, room: Room) -> float:
    """Note that a participant is there, and return since when, on this machine's monotonic clock."""
    now, row = clock.monotonic(), tx.execute(sa.select(waiting).where(waiting.c.person == number)).one_or_none()
    if row is None or row.page != room.page:
        came(tx, clock, number, room.page)
        began = now
    else:  # after the machine was started again, only the time before counts
        began = row.began if row.boot == boot() else now - (row.asked - row.began)
    values = {"page": room.page, "boot": boot(), "began": began, "asked": now}
    if row is None:
        tx.execute(sa.insert(waiting).values(person=number, **values))
    else:
        tx.execute(sa.update(waiting).where(waiting.c.person == number).values(**values))
    return began


def _here(tx: Tx, clock: Clock, room: Room, test: bool) -> list[int]:
    """Return who waits, the longest first, without those whose browsers have gone."""
    recent = (waiting.c.boot == boot()) & (waiting.c.asked >= clock.monotonic() - HERE_S)
    query = sa.select(waiting.c.person).join(people).where(waiting.c.page == room.page, recent, people.c.test == test)
    return list(tx.execute(query.order_by(waiting.c.began, waiting.c.person)).scalars())


def leave_room(tx: Tx, numbers: Sequence[int]) -> None:
    """Take participants off the list of those who wait."""
    tx.execute(sa.delete(waiting).where(waiting.c.person.in_(numbers)))


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
