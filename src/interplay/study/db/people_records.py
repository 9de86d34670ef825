"""Participants with the ways that were laid out for them: which pages they see, with whom they play."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sqlalchemy as sa

from interplay.server.database import Tx
from interplay.study.db import schema
from interplay.study.db.participants import Person
from interplay.study.protocol.flow import Page
from interplay.study.protocol.model import Protocol


@dataclass(frozen=True)
class ParticipantView:
    """A participant with the way that was laid out for them."""

    row: Any
    person: Person
    pages: list[Page]

    @cached_property
    def places(self) -> dict[str, int]:
        return {page.id: at for at, page in enumerate(self.pages)}

    def page(self, name: str) -> Page | None:
        return self.pages[self.places[name]] if name in self.places else None

    def game_before(self, name: str) -> Page | None:
        """The last game before a page."""
        end = self.places.get(name, 0)
        return next((page for page in reversed(self.pages[:end]) if page.item.kind == "game"), None)


def people(tx: Tx, protocol: Protocol) -> dict[int, ParticipantView]:
    """Everyone who ever came, by number, in the order of coming."""
    slots: dict[int, dict[str, int | None]] = {}
    for row in tx.execute(sa.select(schema.slots).where(schema.slots.c.study == protocol.name)):
        slots.setdefault(row.person, {})[row.key] = row.number
    return {
        row.id: participant_view(protocol, row, slots.get(row.id, {})) for row in tx.execute(people_query(protocol))
    }


def some_people(tx: Tx, protocol: Protocol, status: str | None, first: int, most: int) -> dict[int, ParticipantView]:
    """A page of those with a status, newest first."""
    query = people_query(protocol).order_by(None).order_by(schema.people.c.id.desc()).offset(first).limit(most)
    return with_slots(tx, protocol, query.where(schema.people.c.status == status) if status else query)


def named(tx: Tx, protocol: Protocol, public: str) -> dict[int, ParticipantView]:
    """The participant of this name; nobody, if there is none."""
    if not public.isalnum():
        return {}
    return with_slots(tx, protocol, people_query(protocol).where(schema.people.c.public == public))


def with_slots(tx: Tx, protocol: Protocol, query: Any) -> dict[int, ParticipantView]:
    held = tx.execute(query).all()
    slots: dict[int, dict[str, int | None]] = {}
    for row in tx.execute(sa.select(schema.slots).where(schema.slots.c.person.in_([row.id for row in held]))):
        slots.setdefault(row.person, {})[row.key] = row.number
    return {row.id: participant_view(protocol, row, slots.get(row.id, {})) for row in held}


def people_query(protocol: Protocol) -> Any:
    return sa.select(schema.people).where(schema.people.c.study == protocol.name).order_by(schema.people.c.id)


def participant_view(protocol: Protocol, row: Any, slots: Mapping[str, int | None]) -> ParticipantView:
    person = Person(
        row.id, row.public, row.status, row.language, row.position, row.tries, row.seed, slots, row.payment, row.code
    )
    return ParticipantView(row, person, person.pages(protocol))
