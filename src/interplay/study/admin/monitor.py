"""The state of a running study: who is on which page, which games run and how late, how full the designs are."""

from __future__ import annotations

from collections import Counter
from typing import Any

import sqlalchemy as sa

from interplay.server.database import Tx
from interplay.study.admin.erase import ERASED
from interplay.study.db.participant_pages import participant_view
from interplay.study.db.participants import ACTIVE, DONE, DROPPED, NEW, SCREENED, WITHDRAWN
from interplay.study.db.schema import events, games, people, slots
from interplay.study.protocol.design import count, places
from interplay.study.protocol.flow import assign, first_slots
from interplay.study.protocol.model import Protocol
from interplay.study.protocol.texts import say

STATUSES = (NEW, ACTIVE, DONE, SCREENED, DROPPED, WITHDRAWN, ERASED)
RECENT = 60  # participants that are listed with their page
MOST_SEQUENCES = 200


def counts(tx: Tx, protocol: Protocol) -> dict[str, int]:
    """Count participants by status."""
    mine = people.c.study == protocol.name, people.c.test.is_(False)
    query = sa.select(people.c.status, sa.func.count()).where(*mine).group_by(people.c.status)
    by_status = {row[0]: row[1] for row in tx.execute(query)}
    return {status: by_status.get(status, 0) for status in STATUSES}


def whereabouts(tx: Tx, protocol: Protocol) -> list[dict[str, Any]]:
    """List those who take part now, the last seen first, with the page that is open."""
    query = (
        sa.select(people)
        .where(people.c.study == protocol.name, people.c.status.in_((NEW, ACTIVE)))
        .order_by(people.c.seen.desc())
        .limit(RECENT)
    )
    active = tx.execute(query).all()
    rows = []
    for row in active:
        mine = tx.execute(sa.select(slots.c.key, slots.c.number).where(slots.c.person == row.id))
        view = participant_view(protocol, row, {r.key: r.number for r in mine})
        page = view.pages[row.position]
        rows.append(
            {
                "participant": row.public,
                "number": row.id,
                "status": row.status,
                "page": page.id,
                "title": title(page.item.title, protocol, row.language, turn=str(page.turn or 1)),
                "kind": page.item.kind,
                "position": row.position,
                "of": len(view.pages),
                "seen": row.seen.isoformat(),
            }
        )
    return rows


def title(text: Any, protocol: Protocol, language: str, **values: str) -> str:
    """Return a page's title for researchers; placeholders without a value stay as they are written."""
    return say(text, language if language in protocol.languages else protocol.languages[0], **values)


def leaves(tx: Tx, numbers: list[int]) -> dict[int, int]:
    """Count by game how often its person lost the connection."""
    query = sa.select(events.c.game, sa.func.count()).where(events.c.game.in_(numbers), events.c.kind == "leave")
    return {row[0]: row[1] for row in tx.execute(query.group_by(events.c.game))}


def cells(tx: Tx, protocol: Protocol) -> list[dict[str, Any]]:
    """Count for each use of a design how often each sequence was assigned, and how many of those were completed."""
    query = (
        sa.select(slots.c.key, slots.c.number, slots.c.released, people.c.status, sa.func.count())
        .join(people, people.c.id == slots.c.person)
        .where(slots.c.study == protocol.name)
        .group_by(slots.c.key, slots.c.number, slots.c.released, people.c.status)
    )
    tally: dict[tuple[str, int | None], Counter[str]] = {}
    for key, number, released, status, amount in tx.execute(query):
        kind = "released" if released else "done" if status in (DONE, ERASED) else "active"
        tally.setdefault((key, number), Counter())[kind] += amount
    uses = []
    for place in places(protocol):
        design = protocol.designs[place.design]
        size = count(design)
        used = sorted((n for key, n in tally if key == place.key), key=lambda n: (n is not None, n or 0))
        numbers = used if size is None or size > MOST_SEQUENCES else list(range(size))
        rows = [
            {"number": n, "order": _order(protocol, place.key, n) if n is not None else None}
            | {kind: tally.get((place.key, n), Counter())[kind] for kind in ("done", "active", "released")}
            for n in numbers[:MOST_SEQUENCES]
        ]
        uses.append({"key": place.key, "design": place.design, "sequences": size, "used": len(used), "rows": rows})
    return uses


def _order(protocol: Protocol, key: str, number: int) -> list[str]:
    rows = assign(protocol, first_slots(protocol) | {key: number}, 0)[key]
    return [", ".join(cell.values()) for cell in rows]


def played(tx: Tx, protocol: Protocol) -> list[dict[str, Any]]:
    """Count the finished games by setting and partner, with their mean score; practice games are left out."""
    query = (
        sa.select(games.c.setting, games.c.partner, sa.func.count(), sa.func.avg(games.c.score))
        .join(people, people.c.id == games.c.person)
        .where(people.c.study == protocol.name, games.c.status == "done", games.c.practice.is_(False))
        .group_by(games.c.setting, games.c.partner)
        .order_by(games.c.setting, games.c.partner)
    )
    return [
        {"setting": row[0], "partner": row[1], "agent": protocol.partners.get(row[1]), "games": row[2], "mean": row[3]}
        for row in tx.execute(query)
    ]
