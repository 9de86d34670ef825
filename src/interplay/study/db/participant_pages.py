"""Participants together with the pages that were laid out for them."""

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
    """A participant, their row in the database, and all of their pages."""

    row: Any
    person: Person
    pages: list[Page]

    @cached_property
    def places(self) -> dict[str, int]:
        """By page id: its place among the pages."""
        return {page.id: at for at, page in enumerate(self.pages)}

    def page(self, name: str) -> Page | None:
        """Return a page by its id; None if the participant has no such page."""
        return self.pages[self.places[name]] if name in self.places else None


def people(tx: Tx, protocol: Protocol, *, tests: bool = False) -> dict[int, ParticipantView]:
    """Return everyone who ever came, by number, in the order of coming; those who tried it out only with `tests`."""
    slots: dict[int, dict[str, int | None]] = {}
    for row in tx.execute(sa.select(schema.slots).where(schema.slots.c.study == protocol.name)):
        slots.setdefault(row.person, {})[row.key] = row.number
    return {
        row.id: participant_view(protocol, row, slots.get(row.id, {}))
        for row in tx.execute(people_query(protocol))
        if tests or not row.test
    }


def some_people(tx: Tx, protocol: Protocol, status: str | None, first: int, most: int) -> dict[int, ParticipantView]:
    """Return at most `most` participants with a status (any for None), newest first, without the `first` newest."""
    query = people_query(protocol).order_by(None).order_by(schema.people.c.id.desc()).offset(first).limit(most)
    return with_slots(tx, protocol, query.where(schema.people.c.status == status) if status else query)


def named(tx: Tx, protocol: Protocol, public: str) -> dict[int, ParticipantView]:
    """Return the participant with this public name; empty if there is none."""
    if not public.isalnum():
        return {}
    return with_slots(tx, protocol, people_query(protocol).where(schema.people.c.public == public))


def with_slots(tx: Tx, protocol: Protocol, query: Any) -> dict[int, ParticipantView]:
    """Run a query of participants, and return them with their pages."""
    rows = tx.execute(query).all()
    slots: dict[int, dict[str, int | None]] = {}
    for row in tx.execute(sa.select(schema.slots).where(schema.slots.c.person.in_([row.id for row in rows]))):
        slots.setdefault(row.person, {})[row.key] = row.number
    return {row.id: participant_view(protocol, row, slots.get(row.id, {})) for row in rows}


def people_query(protocol: Protocol) -> Any:
    """Return the query of all participants of a study."""
    return sa.select(schema.people).where(schema.people.c.study == protocol.name).order_by(schema.people.c.id)


def participant_view(protocol: Protocol, row: Any, slots: Mapping[str, int | None]) -> ParticipantView:
    """Return a participant from their row and the sequences assigned to them."""
    person = Person(
        row.id,
        row.public,
        row.status,
        row.language,
        row.position,
        row.tries,
        row.seed,
        slots,
        row.payment,
        row.code,
        row.test,
        row.page_opened,
    )
    return ParticipantView(row, person, person.pages(protocol))
