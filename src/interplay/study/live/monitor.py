"""The games that are in play now, for the researchers' monitor: of this process, and of those that serve with it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import sqlalchemy as sa

from interplay.server.clock import Clock
from interplay.server.database import Tx, insert
from interplay.study.db.schema import live
from interplay.study.protocol.model import Protocol

RECENT_STEPS = 300  # steps over which lateness is reported
STALE = timedelta(seconds=10)  # after which a list of another process counts no more


def running(games_by_person: Mapping[Any, Any]) -> list[dict[str, Any]]:
    """List the games in memory, a row for each of their participants; partners are named by their agents."""
    rows = []
    for game in {id(game): game for game in list(games_by_person.values())}.values():
        late = sorted(game.late_s[-RECENT_STEPS:])  # must be quick: this thread drives the games
        shared = {
            "setting": game.record.setting,
            "partner": ", ".join(sorted(set(game.record.bots.values()))) or "another participant",
            "t": game.table.t,
            "of": game.engine.game.horizon,
            "score": game.table.score if game.table.recorder is not None else None,
            "late_ms": round(1000 * game.late_s[-1], 1) if late else None,
            "late_p99_ms": round(1000 * late[int(0.99 * (len(late) - 1))], 1) if late else None,
            "missed": sum(remark.kind == "deadline" for remark in list(game.table.log.events)),
        }
        for slot in game.slots.values():
            mine = {"number": slot.person, "game": slot.seated.game, "page": slot.seated.page.id}
            rows.append({**mine, **shared, "present": slot.attending})
    return rows


def publish(tx: Tx, clock: Clock, protocol: Protocol, owner: str, rows: list[dict[str, Any]]) -> None:
    """Store the games that this process plays."""
    values = {"study": protocol.name, "at": clock.now(), "games": rows}
    statement = insert(tx, live).values(owner=owner, **values)
    tx.execute(statement.on_conflict_do_update(index_elements=["owner"], set_=values))
    tx.execute(sa.delete(live).where(live.c.at < clock.now() - 6 * STALE))


def elsewhere(tx: Tx, clock: Clock, protocol: Protocol, owner: str) -> list[dict[str, Any]]:
    """Return the games that the other processes play."""
    recent = live.c.at >= clock.now() - STALE
    query = sa.select(live.c.games).where(live.c.study == protocol.name, live.c.owner != owner, recent)
    return [row for rows in tx.execute(query).scalars() for row in rows]
