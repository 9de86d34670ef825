"""Games that are not over, rebuilt by replaying the stored steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from interplay.agents.api import Identity
from interplay.games.registry import make_recorded
from interplay.rollout.episode import Episode
from interplay.rollout.live import LiveTable, live_engine
from interplay.server.database import Tx
from interplay.study.db.game_events import same_game, stored_events
from interplay.study.db.schema import games
from interplay.study.live.game_session import PERSON
from interplay.study.protocol.model import Protocol


def so_far(tx: Tx, protocol: Protocol, row: Any) -> dict[str, Any]:
    """Return all that is needed to replay an unfinished game, as plain values."""
    lead = row.joint or row.id
    stored = stored_events(tx, lead)
    seats = tx.execute(sa.select(games.c.seat).where(same_game(lead))).scalars()
    setting = protocol.games[row.setting]
    return {
        "world": setting.game, "options": setting.options, "chance": row.chance, "number": lead,
        "joints": stored.joints, "remarks": [*stored.remarks, *stored.attention()],
        "people": sorted(seats), "partner": row.partner,
    }  # fmt: skip


def rebuilt(stored: Mapping[str, Any]) -> Episode:
    """Replay an unfinished game up to its last stored step, from what `so_far` returns."""
    game = make_recorded(stored["world"], stored["options"])
    engine = live_engine(game, {}, sizes=(1,))
    table = LiveTable((stored["chance"][0], stored["chance"][1]), {})
    try:
        engine.begin(table, stored["joints"]).result()
        table.break_off()
        for t, seat, kind, payload in stored["remarks"]:
            table.add_event(seat, kind, payload, min(t, table.t))
        names = [PERSON if seat in stored["people"] else stored["partner"] for seat in range(game.num_seats)]
        return table.episode([Identity(name, "", False) for name in names], stored["number"])
    finally:
        table.close()
        engine.close()
